"""Only its owner can read the journal, from its creation."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.store_backup import back_up, restore

from quaestor.base.clock import exact_now
from quaestor.base.errors import InputError
from quaestor.base.files import lock_folder
from quaestor.base.table_files import ExportTable, write_table
from quaestor.store.erasure import ErasedList
from quaestor.store.journal import Journal, parse_database_url
from quaestor.store.records import NewAct
from quaestor.store.schema import upgrade_store

CREATED = """
import os, stat, sys
from pathlib import Path

def watch(event, arguments):
    if event == "sqlite3.connect":
        mode = stat.S_IMODE(os.stat(arguments[0]).st_mode)
        print(oct(mode), flush=True)

os.umask(0)
sys.addaudithook(watch)
from quaestor.store.journal import Journal
with Journal.open(Path(sys.argv[1])):
    pass
"""


@pytest.fixture(autouse=True)
def everybody_may_read() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@contextmanager
def written(path: Path) -> Iterator[Journal]:
    with Journal.open(path) as journal:
        journal.append([NewAct("rating", "r1", {"item": "a"})])
        yield journal


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}


def test_only_its_owner_can_read_a_new_journal_and_its_log_files(tmp_path: Path) -> None:
    with written(tmp_path / "study.db"):
        assert modes(tmp_path) == {"study.db": 0o600, "study.db-wal": 0o600, "study.db-shm": 0o600}


def test_a_new_journal_is_never_readable_by_others(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CREATED, str(tmp_path / "study.db")], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == {"0o600"}


def test_opening_makes_a_readable_journal_private(tmp_path: Path) -> None:
    with written(tmp_path / "study.db"):
        for path in tmp_path.iterdir():
            path.chmod(0o644)
        with Journal.open(tmp_path / "study.db"):
            assert set(modes(tmp_path).values()) == {0o600}


def test_the_file_of_another_program_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    subprocess.run(
        [sys.executable, "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('CREATE TABLE a (b)')", path],
        check=True,
    )
    path.chmod(0o644)
    with pytest.raises(InputError, match="another program"):
        Journal.open(path)
    assert modes(tmp_path) == {"study.db": 0o644}


def test_backups_and_copies_of_a_journal_are_private(tmp_path: Path) -> None:
    old = parse_database_url(tmp_path / "old.db")
    old.prepare()
    upgrade_store(old, exact_now, None, target="0001")
    old.close()
    with Journal.open(tmp_path / "old.db", backups=tmp_path / "before-the-upgrade"):
        pass
    with written(tmp_path / "study.db") as journal:
        back_up(journal, tmp_path / "one.backup")
    restore(tmp_path / "one.backup", tmp_path / "restored.db")
    table = ExportTable.from_mappings("ratings", [{"item": "a", "code": "x"}])
    write_table(table, tmp_path / "ratings.csv", private=True)
    write_table(table, tmp_path / "ratings.xlsx", private=True)
    ErasedList.for_file(tmp_path / "interviews.db").add({"P1": "2026-01-01"})
    with lock_folder(tmp_path, "a test"):
        assert {name: oct(mode) for name, mode in modes(tmp_path).items() if mode != 0o600} == {}
        assert len(modes(tmp_path)) >= 7
