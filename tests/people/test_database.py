"""people.db is private from its creation, safe with several processes, and refuses files of other kinds."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from quaestor.base.errors import InputError, StateError, TemporarilyUnavailable
from quaestor.people.database import PeopleFile
from quaestor.people.directory import Directory
from quaestor.people.roles import Role

NOW = datetime(2026, 3, 1, tzinfo=UTC)
INVITE = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from quaestor.people.directory import Directory
from quaestor.people.roles import Role
with Directory(Path(sys.argv[1])) as directory:
    for number in range(20):
        directory.invite(f"{sys.argv[2]}-{number}", Role.VIEWER, datetime(2026, 3, 1, tzinfo=UTC))
"""


def read_modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_only_its_owner_can_read_it_with_any_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Directory(tmp_path / "people.db") as directory:
            directory.invite("rater-1", Role.RATER, NOW)
            assert len(list(tmp_path.iterdir())) == 3
            assert read_modes(tmp_path) == {0o600}
    finally:
        os.umask(before)


def test_opening_makes_a_readable_file_private(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    path.touch()
    path.chmod(0o644)
    with PeopleFile(path):
        assert read_modes(tmp_path) == {0o600}


def test_several_processes_can_create_it_and_write_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    writers = [
        subprocess.Popen([sys.executable, "-c", INVITE, str(path), f"writer{number}"], stderr=subprocess.PIPE)
        for number in range(4)
    ]
    for writer in writers:
        _, stderr = writer.communicate(timeout=60)
        assert writer.returncode == 0, stderr
    with Directory(path) as directory:
        assert len(directory.list_invitations(NOW)) == 80


def test_a_process_sees_changes_of_another_immediately(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    with Directory(path) as server:
        assert server.list_invitations(NOW) == []
        subprocess.run([sys.executable, "-c", INVITE, str(path), "line"], check=True)
        assert len(server.list_invitations(NOW)) == 20


def test_opening_it_twice_in_one_process_keeps_its_locks(tmp_path: Path) -> None:
    """A lock lost this way lets another process remove the log that the first one still writes to."""
    path = tmp_path / "people.db"
    with Directory(path) as server:
        with Directory(path) as second:
            second.invite("lead", Role.LEAD, NOW)
        for number in (1, 2):
            subprocess.run([sys.executable, "-c", INVITE, str(path), f"line{number}"], check=True)
            assert len(server.list_invitations(NOW)) == 1 + 20 * number
        server.invite("rater-1", Role.RATER, NOW)
    with Directory(path) as later:
        assert len(later.list_invitations(NOW)) == 42


def test_a_failed_transaction_writes_nothing(tmp_path: Path) -> None:
    with PeopleFile(tmp_path / "people.db") as file:
        with pytest.raises(RuntimeError), file.writing() as writing:
            writing.execute("INSERT INTO accounts VALUES ('a', 'lead', 'x', 'y')")
            raise RuntimeError
        with file.reading() as reading:
            assert reading.execute("SELECT count(*) FROM accounts").fetchone() == (0,)


def test_a_file_of_another_kind_raises_an_error_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database at all, but long enough to be looked at as one" * 20)
    with sqlite3.connect(tmp_path / "other") as other:
        other.execute("CREATE TABLE things (x)")
    other.close()
    (tmp_path / "folder").mkdir()
    with pytest.raises(TemporarilyUnavailable, match="is damaged"):
        PeopleFile(tmp_path / "text")
    for name, message in (("other", "another program"), ("folder", "is a folder")):
        with pytest.raises(InputError, match=message):
            PeopleFile(tmp_path / name)
    with pytest.raises(StateError, match="does not exist"):
        PeopleFile(tmp_path / "nowhere" / "people.db")
