"""The journal: one table of acts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "acts",
        sa.Column("number", number, primary_key=True, autoincrement=False),
        sa.Column("time", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("codebook", number, nullable=False),
        sa.Column("key", sa.Text, nullable=False, unique=True),
        sa.Column("payload", sa.Text, nullable=False),
    )
