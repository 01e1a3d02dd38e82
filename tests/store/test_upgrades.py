"""An older store is upgraded after a verified backup; a newer one is refused."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.exc import DBAPIError
from tests.support.store_backup import restore

import quaestor.store
from quaestor.base.clock import exact_now
from quaestor.base.errors import StateError
from quaestor.store.journal import Journal, parse_database_url
from quaestor.store.records import ActRow, NewAct, build_row
from quaestor.store.schema import LATEST, REVISIONS, VERSIONS, acts, add_rows, upgrade_store
from quaestor.store.sqlite import SQLite, verify_copy

OLD = [build_row(NewAct("rating", "r1", {"item": number}), f"t{number}", number) for number in range(1, 8)]


def make_old(address: str | Path, rows: list[ActRow]) -> None:
    """A store as the first revision left it: without triggers."""
    database = parse_database_url(address)
    database.prepare()
    upgrade_store(database, exact_now, None, target="0001")
    with database.writing() as connection:
        add_rows(connection, rows)
    database.close()


@pytest.fixture
def old(address: str | Path) -> str | Path:
    make_old(address, OLD)
    return address


def test_the_migrations_create_the_table_of_the_code(journal: Journal) -> None:
    with journal.database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSIONS})
        assert compare_metadata(context, acts.metadata) == []


def test_the_list_of_revisions_is_complete() -> None:
    versions = Path(quaestor.store.__path__[0]) / "migrations" / "versions"
    assert sorted(path.name[:4] for path in versions.glob("0*.py")) == list(REVISIONS)


def test_an_older_store_is_upgraded_after_a_backup(old: str | Path, tmp_path: Path) -> None:
    with Journal.open(old, backups=tmp_path / "backups") as journal:
        assert [act.payload["item"] for act in journal.acts()] == list(range(1, 8))
        with pytest.raises(DBAPIError, match="never"), journal.database.writing() as connection:
            connection.exec_driver_sql("DELETE FROM acts")
    (kept,) = (tmp_path / "backups").iterdir()
    assert f".before-{LATEST}-" in kept.name
    report = restore(kept, tmp_path / "restored.db")
    assert report.acts == 7
    with Journal.open(tmp_path / "restored.db") as again:
        assert [act.time for act in again.acts()] == [row.time for row in OLD]


def test_an_up_to_date_store_needs_no_backup(old: str | Path, tmp_path: Path) -> None:
    for _ in range(2):
        with Journal.open(old, backups=tmp_path / "backups"):
            pass
    assert len(list((tmp_path / "backups").iterdir())) == 1


def test_the_backup_is_next_to_the_store_by_default(tmp_path: Path) -> None:
    make_old(tmp_path / "study.db", OLD)
    with Journal.open(tmp_path / "study.db"):
        pass
    (kept,) = tmp_path.glob("study.db.before-0002-*")
    with closing(sqlite3.connect(kept)) as copy:
        assert copy.execute("SELECT count(*) FROM acts").fetchone() == (7,)
        assert copy.execute("SELECT version_num FROM quaestor_revision").fetchone() == ("0001",)


def test_an_upgrade_without_a_verified_backup_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_old(tmp_path / "study.db", OLD)

    def refuse(*given: object) -> None:
        raise StateError("no")

    monkeypatch.setattr("quaestor.store.sqlite.verify_copy", refuse)
    with pytest.raises(StateError, match="no"):
        Journal.open(tmp_path / "study.db")
    database = SQLite(tmp_path / "study.db")
    with database.reading() as connection:
        assert database.read_revision(connection) == "0001"
    database.close()
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]


def test_a_copy_without_an_act_is_refused_as_a_backup(tmp_path: Path) -> None:
    make_old(tmp_path / "study.db", OLD)
    make_old(tmp_path / "other.db", OLD[:6])
    database = SQLite(tmp_path / "study.db")
    with (
        database.reading() as connection,
        closing(sqlite3.connect(tmp_path / "other.db")) as copy,
        pytest.raises(StateError, match="could not be verified, so the store was not changed"),
    ):
        verify_copy(copy, connection, tmp_path / "kept")
    database.close()


def test_a_newer_store_is_refused(address: str | Path) -> None:
    with Journal.open(address) as journal, journal.database.writing() as connection:
        connection.exec_driver_sql("UPDATE quaestor_revision SET version_num = '9999'")
    with pytest.raises(
        StateError, match=r"newer Quaestor \(revision 9999, this one knows 0002\): update Quaestor"
    ) as no:
        Journal.open(address)
    assert "\n" not in str(no.value)


def test_opening_an_up_to_date_store_does_not_import_alembic(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "study.db"):
        pass
    program = (
        "import sys; from pathlib import Path; from quaestor.store.journal import Journal; "
        "Journal.open(Path(sys.argv[1])).close(); sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program, tmp_path / "study.db"], check=False).returncode == 0
