"""Saved filters belong to one account, have unique names and are erased with it; an older file is upgraded."""

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


def read_saved(directory: Directory, account: str) -> dict[str, str]:
    return {saved.name: saved.query for saved in list_filters(directory, account)}


def find_number(directory: Directory, account: str, name: str) -> int:
    return next(saved.number for saved in list_filters(directory, account) if saved.name == name)


def test_a_filter_is_saved_replaced_renamed_and_deleted(directory: Directory) -> None:
    joined(directory, "reader")
    save_filter(directory, "reader", "  layers   of keras ", "tag=keras", NOW)
    save_filter(directory, "reader", "all", "", NOW)
    assert read_saved(directory, "reader") == {"all": "", "layers of keras": "tag=keras"}
    save_filter(directory, "reader", "all", "year=2016", NOW)
    assert read_saved(directory, "reader")["all"] == "year=2016"
    with pytest.raises(StateError, match="already have a filter 'all'"):
        rename_filter(directory, "reader", find_number(directory, "reader", "layers of keras"), "all")
    rename_filter(directory, "reader", find_number(directory, "reader", "all"), "one year")
    assert set(read_saved(directory, "reader")) == {"one year", "layers of keras"}
    delete_filter(directory, "reader", find_number(directory, "reader", "one year"))
    assert set(read_saved(directory, "reader")) == {"layers of keras"}


def test_nobody_can_change_filters_of_others(directory: Directory) -> None:
    joined(directory, "reader")
    joined(directory, "other")
    save_filter(directory, "reader", "mine", "tag=keras", NOW)
    number = find_number(directory, "reader", "mine")
    assert read_saved(directory, "other") == {}
    delete_filter(directory, "other", number)
    with pytest.raises(StateError, match="no longer exists"):
        rename_filter(directory, "other", number, "taken")
    assert read_saved(directory, "reader") == {"mine": "tag=keras"}


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\x00b", "\u202e"])
def test_a_name_must_be_visible(directory: Directory, name: str) -> None:
    joined(directory, "reader")
    with pytest.raises(InputError, match="cannot be the name of a filter"):
        save_filter(directory, "reader", name, "", NOW)


def test_the_number_of_filters_is_limited(directory: Directory) -> None:
    joined(directory, "reader")
    for number in range(MAX_FILTERS):
        save_filter(directory, "reader", f"filter {number}", "", NOW)
    with pytest.raises(StateError, match="delete one first"):
        save_filter(directory, "reader", "one more", "", NOW)
    save_filter(directory, "reader", "filter 1", "tag=keras", NOW)
    with pytest.raises(InputError, match="too long"):
        save_filter(directory, "reader", "filter 1", "x" * 5_000, NOW)


def test_filters_need_an_account_and_are_erased_with_it(directory: Directory) -> None:
    joined(directory, "reader")
    save_filter(directory, "reader", "mine", "", NOW)
    directory.remove("reader")
    assert list_filters(directory, "reader") == []
    with pytest.raises(StateError, match="no account"):
        save_filter(directory, "reader", "mine", "", NOW)


def test_a_people_file_from_before_filters_is_upgraded(tmp_path: Path) -> None:
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
        assert read_saved(again, "reader") == {"mine": "tag=keras"}
