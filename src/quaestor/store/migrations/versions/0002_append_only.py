"""The database itself refuses to change or remove an act."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

SQLITE = (
    """
    CREATE TRIGGER acts_are_never_changed BEFORE UPDATE ON acts
    BEGIN SELECT RAISE(ABORT, 'an act on record is never changed'); END
    """,
    """
    CREATE TRIGGER acts_are_never_removed BEFORE DELETE ON acts
    BEGIN SELECT RAISE(ABORT, 'an act on record is never removed'); END
    """,
    # INSERT OR REPLACE removes a row without asking the trigger above.
    """
    CREATE TRIGGER acts_are_never_replaced BEFORE INSERT ON acts
    WHEN EXISTS (SELECT 1 FROM acts WHERE number = NEW.number OR key = NEW.key)
    BEGIN SELECT RAISE(ABORT, 'an act on record is never replaced'); END
    """,
)

POSTGRESQL = (
    """
    CREATE FUNCTION acts_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'an act on record is never changed or removed' USING ERRCODE = 'restrict_violation'; END $$
    """,
    """
    CREATE TRIGGER acts_are_never_changed BEFORE UPDATE OR DELETE ON acts
    FOR EACH ROW EXECUTE FUNCTION acts_are_append_only()
    """,
    """
    CREATE TRIGGER acts_are_never_emptied BEFORE TRUNCATE ON acts
    FOR EACH STATEMENT EXECUTE FUNCTION acts_are_append_only()
    """,
)


def upgrade() -> None:
    for statement in SQLITE if op.get_bind().dialect.name == "sqlite" else POSTGRESQL:
        op.execute(statement)
