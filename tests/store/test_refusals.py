"""An invalid or unreachable store is refused with a message that shows no password."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.store_backup import back_up

from quaestor.base.errors import InputError, MissingDependency, QuaestorError, StateError, TemporarilyUnavailable
from quaestor.store.journal import Journal
from quaestor.store.records import NewAct


def refusal(address: str | Path, kind: type[QuaestorError] = InputError) -> str:
    with pytest.raises(kind) as refused:
        Journal.open(address)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_file_that_is_not_a_database_is_refused_and_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "study.db"
    file.write_text("no database at all, but long enough to be looked at" * 100)
    before = file.read_bytes()
    assert "damaged or not a store of Quaestor (file is not a database)" in refusal(file, TemporarilyUnavailable)
    assert file.read_bytes() == before


def test_a_database_of_another_program_is_refused_and_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "study.db"
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE acts (number)")
    before = file.read_bytes()
    assert "is a database of another program: name another file" in refusal(file)
    assert file.read_bytes() == before


def test_a_table_of_another_program_on_a_server_is_refused(postgresql: str) -> None:
    import psycopg

    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE TABLE acts (number bigint)")
    assert "has a table `acts` of another program" in refusal(postgresql)


def test_a_database_without_utf8_is_refused(postgresql: str) -> None:
    import psycopg

    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    name = postgresql.partition("?")[0].rpartition("/")[2]
    assert "is encoded as LATIN1: create a database with ENCODING 'UTF8'" in refusal(postgresql.replace(name, "latin"))


def test_a_backup_is_not_opened_as_a_store(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "study.db") as journal:
        back_up(journal, tmp_path / "one.backup")
    assert "is a backup: restore it with `quaestor restore" in refusal(tmp_path / "one.backup")


@pytest.mark.parametrize("place", [lambda size: size // 3, lambda size: size // 2, lambda size: size - 5000])
def test_a_damaged_store_is_refused_when_the_damage_is_found(tmp_path: Path, place: Callable[[int], int]) -> None:
    file = tmp_path / "study.db"
    with Journal.open(file) as journal:
        journal.append([NewAct("rating", "r1", {"text": "x" * 500}, key=f"{number:03}") for number in range(500)])
    content = bytearray(file.read_bytes())
    start = place(len(content)) // 4096 * 4096
    content[start : start + 4096] = b"\xff" * 4096
    file.write_bytes(content)
    with (
        pytest.raises(TemporarilyUnavailable, match="is damaged or not a store") as refused,
        Journal.open(file) as journal,
    ):
        list(journal.acts())
        journal.append([NewAct("rating", "r1", {}, key=f"{number:03}, another") for number in range(500)])
    assert "\n" not in str(refused.value)


def test_a_folder_or_a_missing_folder_is_refused(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)
    assert "does not exist: create it, or name another store" in refusal(tmp_path / "none" / "study.db", StateError)


@pytest.mark.parametrize(
    "address",
    [
        "study.db",
        "mysql://r1:geheim@host/study",
        "postgresql://r1:ge@heim@host/study",
        "postgresql://r1:geheim@host:port/study",
        "postgresql://r1:geheim/study",
        "sqlite://",
        "sqlite:///study.db?password=geheim",
    ],
)
def test_an_invalid_address_is_refused_without_showing_it(address: str) -> None:
    message = refusal(address)
    assert "write sqlite:///FILE or postgresql://USER@HOST/DATABASE" in message
    assert "heim" not in message


@pytest.mark.parametrize(
    "address", ["postgresql://r1:geheim@127.0.0.1:1/study?password=geheim", "postgres:///study?host=/nowhere"]
)
def test_an_unreachable_server_is_reported_without_the_password(address: str) -> None:
    pytest.importorskip("psycopg")
    message = refusal(address, StateError)
    assert "cannot be reached" in message
    assert "start the server, or correct the address" in message
    assert "geheim" not in message


def end_connections(postgresql: str) -> None:
    """As a restart of the server does."""
    import psycopg

    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )


def test_a_stopped_server_is_reported_and_works_again_after_a_start(postgresql: str) -> None:
    with Journal.open(postgresql) as journal:
        with pytest.raises(StateError, match=r"cannot be (reached|used)") as refused, journal.writing() as writing:
            end_connections(postgresql)
            writing.append([NewAct("rating", "r1", {})])
        assert "\n" not in str(refused.value)
        assert [act.number for act in journal.append([NewAct("rating", "r1", {})])] == [1]


def test_a_server_restart_between_two_acts_does_not_fail(postgresql: str) -> None:
    with Journal.open(postgresql) as journal:
        journal.append([NewAct("rating", "r1", {})])
        end_connections(postgresql)
        assert journal.append([NewAct("rating", "r1", {})])[0].number == 2


def test_a_missing_psycopg_is_reported_with_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "pip install 'quaestor[postgres]'" in refusal("postgresql://host/study", MissingDependency)


def test_a_full_disk_is_reported_and_loses_nothing(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "study.db") as journal:
        journal.append([NewAct("rating", "r1", {})])
        with pytest.raises(StateError, match="the disk is full: free some space"), journal.writing() as writing:
            writing._connection.exec_driver_sql("PRAGMA max_page_count = 6")
            writing.append([NewAct("rating", "r1", {"text": "x" * 10_000}) for _ in range(10)])
        assert journal.head() == 1
