"""A private file keeps no byte of erased content, and reports an erasure as pending until then."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.reading_elsewhere import files_with, read_elsewhere

from quaestor.store.erasure import finish_erasures, list_pending_erasures
from quaestor.store.private_file import PrivateFile

pytestmark = pytest.mark.usefixtures("little_patience")

KIND = 0x51746573
TABLE = "CREATE TABLE notes (name TEXT PRIMARY KEY, words TEXT NOT NULL) WITHOUT ROWID"
WORDS = "zebra-said-this"
KILLED = """
import os, sys
from pathlib import Path
from quaestor.store.private_file import PrivateFile
file = PrivateFile(Path(sys.argv[1]), int(sys.argv[2]), (sys.argv[3],), "")
with file.erasing() as writing:
    writing.execute("DELETE FROM notes")
    writing.set_trace_callback(lambda statement: os.kill(os.getpid(), 9) if statement == "VACUUM" else None)
"""


def opened(path: Path) -> PrivateFile:
    return PrivateFile(path, KIND, (TABLE,), "bring it back")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.db"


@pytest.fixture
def file(path: Path) -> Iterator[PrivateFile]:
    with opened(path) as made:
        with made.writing() as writing:
            writing.execute("INSERT INTO notes VALUES ('a', ?)", (WORDS * 50,))
        yield made


def erase(file: PrivateFile) -> None:
    with file.erasing() as writing:
        writing.execute("DELETE FROM notes")


def test_no_byte_of_erased_content_is_left(file: PrivateFile, path: Path) -> None:
    assert files_with(path.parent, WORDS)
    erase(file)
    assert files_with(path.parent, WORDS) == []
    assert not file.erasure_pending
    assert list_pending_erasures(path.parent) == []


def test_rows_that_moved_between_pages_leave_no_copy(path: Path) -> None:
    """SQLite overwrites a row where it lies, and not where it lay before its page was split."""
    chosen = random.Random(4)
    names = [f"{chosen.getrandbits(64):016x}" for _ in range(1_500)]
    with opened(path) as file:
        with file.writing() as writing:
            for name in names:
                writing.execute("INSERT INTO notes VALUES (?, ?)", (name, f"<{name}>{'x' * chosen.randrange(300)}"))
        gone = chosen.sample(names, 300)
        with file.erasing() as writing:
            writing.executemany("DELETE FROM notes WHERE name = ?", [(name,) for name in gone])
    left = path.read_bytes()
    assert [name for name in gone if f"<{name}>".encode() in left] == []


def test_an_erasure_is_pending_while_another_process_reads_and_the_next_write_finishes_it(
    file: PrivateFile, path: Path
) -> None:
    with read_elsewhere(path):
        erase(file)
        assert files_with(path.parent, WORDS), "the reader still needs what it began with"
        assert file.erasure_pending
        assert list_pending_erasures(path.parent) == ["notes.db"]
        assert finish_erasures(path.parent) == ["notes.db"]
    with file.writing() as writing:
        writing.execute("INSERT INTO notes VALUES ('b', 'plain')")
    assert files_with(path.parent, WORDS) == []
    assert not file.erasure_pending


def test_the_next_opening_finishes_an_erasure(file: PrivateFile, path: Path) -> None:
    with read_elsewhere(path):
        erase(file)
    with opened(path) as again:
        assert not again.erasure_pending
        assert files_with(path.parent, WORDS) == []


def test_finish_erasures_finishes_an_erasure_without_opening_the_file(file: PrivateFile, path: Path) -> None:
    with read_elsewhere(path):
        erase(file)
    assert finish_erasures(path.parent) == []
    assert files_with(path.parent, WORDS) == []


def test_a_process_killed_before_overwriting_leaves_a_pending_erasure(file: PrivateFile, path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path), str(KIND), TABLE], check=False)
    assert killed.returncode == -9
    assert list_pending_erasures(path.parent) == ["notes.db"]
    with opened(path):
        assert files_with(path.parent, WORDS) == []
        assert list_pending_erasures(path.parent) == []


def test_a_pending_erasure_rewrites_the_file_only_once(file: PrivateFile, path: Path) -> None:
    with file.writing() as writing:
        writing.executemany("INSERT INTO notes VALUES (?, ?)", [(str(n), "x" * 900) for n in range(500)])
    with read_elsewhere(path):
        with file.erasing() as writing:
            writing.execute("DELETE FROM notes WHERE name = 'a'")
        log = path.with_name("notes.db-wal")
        size = log.stat().st_size
        for _ in range(3):
            finish_erasures(path.parent)
            opened(path).close()
        assert log.stat().st_size == size


def test_an_erasure_without_changes_is_not_pending(file: PrivateFile, path: Path) -> None:
    with read_elsewhere(path):
        with file.erasing() as writing:
            writing.execute("DELETE FROM notes WHERE name = 'nobody'")
        assert not file.erasure_pending


def test_a_failed_erasure_changes_nothing(file: PrivateFile, path: Path) -> None:
    with pytest.raises(RuntimeError), file.erasing() as writing:
        writing.execute("DELETE FROM notes")
        raise RuntimeError
    with file.reading() as reading:
        assert reading.execute("SELECT count(*) FROM notes").fetchone() == (1,)
    assert not file.erasure_pending


def test_only_its_owner_can_read_the_note_of_an_erasure(file: PrivateFile, path: Path) -> None:
    before = os.umask(0)
    try:
        with read_elsewhere(path):
            erase(file)
            assert {stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()} == {0o600}
    finally:
        os.umask(before)


def test_a_note_without_its_file_is_removed_and_creates_no_file(tmp_path: Path) -> None:
    (tmp_path / "notes.db-erasing").write_text("0123 rows")
    assert finish_erasures(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_opening_empties_a_log_left_by_an_earlier_version(file: PrivateFile, path: Path) -> None:
    with file.writing() as writing:
        writing.execute("DELETE FROM notes")
    assert files_with(path.parent, WORDS), "written to the log, and not emptied"
    with opened(path):
        assert files_with(path.parent, WORDS) == []


def test_emptying_the_log_is_deferred_while_another_process_reads(file: PrivateFile, path: Path) -> None:
    with read_elsewhere(path):
        with file.writing() as writing:
            writing.execute("UPDATE notes SET words = 'plain'")
        file.clear_log()
        assert file.erasure_pending
    assert finish_erasures(path.parent) == []
    assert files_with(path.parent, WORDS) == []


def test_a_file_in_use_by_another_program_is_rewritten_later(file: PrivateFile, path: Path) -> None:
    with file.writing() as writing:
        writing.execute("DELETE FROM notes")
    path.with_name("notes.db-erasing").write_text("0123 rows")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert finish_erasures(path.parent) == ["notes.db"]
        other.execute("ROLLBACK")
    assert finish_erasures(path.parent) == []
    assert files_with(path.parent, WORDS) == []
