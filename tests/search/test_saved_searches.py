"""Filters people keep: each their own, by name, gone with the account; an older file is led on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from quaestor.base.errors import InputError, StateError
from quaestor.people import directory as people_directory
from quaestor.people.directory import Directory
from quaestor.people.roles import Role
from quaestor.search.saved_searches import MAX_FILTERS, delete_filter, list_filters, rename_filter, save_filter

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Directory]:
    with Directory(tmp_path / "people.db") as opened:
        yield opened


def joined(directory: Directory, name: str) -> None:
    token, _ = directory.invite(name, Role.VIEWER, NOW)
    directory.accept_invitation(token, "hashed", NOW)


def kept(directory: Directory, account: str) -> dict[str, str]:
    return {one.name: one.query for one in list_filters(directory, account)}


def number_of(directory: Directory, account: str, name: str) -> int:
    return next(one.number for one in list_filters(directory, account) if one.name == name)


def test_a_filter_is_kept_replaced_renamed_and_deleted(directory: Directory) -> None:
    joined(directory, "reader")
    save_filter(directory, "reader", "  layers   of keras ", "tag=keras", NOW)
    save_filter(directory, "reader", "all", "", NOW)
    assert kept(directory, "reader") == {"all": "", "layers of keras": "tag=keras"}
    save_filter(directory, "reader", "all", "year=2016", NOW)
    assert kept(directory, "reader")["all"] == "year=2016"
    with pytest.raises(StateError, match="a filter 'all' already"):
        rename_filter(directory, "reader", number_of(directory, "reader", "layers of keras"), "all")
    rename_filter(directory, "reader", number_of(directory, "reader", "all"), "one year")
    assert set(kept(directory, "reader")) == {"one year", "layers of keras"}
    delete_filter(directory, "reader", number_of(directory, "reader", "one year"))
    assert set(kept(directory, "reader")) == {"layers of keras"}


def test_nobody_touches_what_is_another_s(directory: Directory) -> None:
    joined(directory, "reader")
    joined(directory, "other")
    save_filter(directory, "reader", "mine", "tag=keras", NOW)
    number = number_of(directory, "reader", "mine")
    assert kept(directory, "other") == {}
    delete_filter(directory, "other", number)
    with pytest.raises(StateError, match="not there any more"):
        rename_filter(directory, "other", number, "taken")
    assert kept(directory, "reader") == {"mine": "tag=keras"}


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\x00b", "\u202e"])
def test_a_name_must_be_visible(directory: Directory, name: str) -> None:
    joined(directory, "reader")
    with pytest.raises(InputError, match="cannot be the name of a filter"):
        save_filter(directory, "reader", name, "", NOW)


def test_there_is_an_end_to_them(directory: Directory) -> None:
    joined(directory, "reader")
    for number in range(MAX_FILTERS):
        save_filter(directory, "reader", f"filter {number}", "", NOW)
    with pytest.raises(StateError, match="delete one first"):
        save_filter(directory, "reader", "one more", "", NOW)
    save_filter(directory, "reader", "filter 1", "tag=keras", NOW)
    with pytest.raises(InputError, match="too long"):
        save_filter(directory, "reader", "filter 1", "x" * 5_000, NOW)


def test_they_go_with_the_account_and_come_only_with_one(directory: Directory) -> None:
    joined(directory, "reader")
    save_filter(directory, "reader", "mine", "", NOW)
    directory.remove("reader")
    assert list_filters(directory, "reader") == []
    with pytest.raises(StateError, match="no account"):
        save_filter(directory, "reader", "mine", "", NOW)


def test_a_file_from_before_there_were_filters_keeps_its_people(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as old:
        old.executescript(people_directory._FIRST)
        old.execute(f"PRAGMA application_id = {people_directory._KIND}")
        old.execute("PRAGMA user_version = 1")
        old.execute("INSERT INTO accounts VALUES ('reader', 'viewer', 'hashed', '2026-03-01T00:00:00+00:00')")
    old.close()
    with Directory(path) as directory:
        assert [account.name for account in directory.list_accounts()] == ["reader"]
        save_filter(directory, "reader", "mine", "tag=keras", NOW)
    with Directory(path) as again:
        assert kept(again, "reader") == {"mine": "tag=keras"}
