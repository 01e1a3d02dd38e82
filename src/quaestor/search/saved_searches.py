"""Searches that people keep under a name, for themselves alone; erased with the account."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl

from quaestor.base.clock import format_timestamp
from quaestor.base.errors import InputError, StateError
from quaestor.base.names import parse_whole_number
from quaestor.coding.visibility import Viewer
from quaestor.people.directory import Directory
from quaestor.people.roles import Role
from quaestor.search.query import Query

MAX_FILTERS = 100
_LONGEST_NAME, _LONGEST_QUERY = 80, 4_000


@dataclass(frozen=True)
class SavedFilter:
    """A search somebody wants to come back to."""

    number: int
    name: str
    query: str


def list_filters(directory: Directory, account: str) -> list[SavedFilter]:
    with directory.file.reading() as reading:
        rows = reading.execute(
            "SELECT number, name, query FROM filters WHERE account = ? ORDER BY name COLLATE NOCASE", (account,)
        ).fetchall()
    return [SavedFilter(*row) for row in rows]


def save_filter(directory: Directory, account: str, name: str, query: str, now: datetime) -> None:
    """Keep a filter; one of the same name is replaced."""
    name = _checked(name)
    if len(query) > _LONGEST_QUERY:
        raise InputError("this filter is too long to be kept: shorten its words")
    with directory.file.writing() as writing:
        (count,) = writing.execute(
            "SELECT count(*) FROM filters WHERE account = ? AND name <> ?", (account, name)
        ).fetchone()
        if count >= MAX_FILTERS:
            raise StateError(f"you have {MAX_FILTERS} filters: delete one first")
        if writing.execute("SELECT 1 FROM accounts WHERE name = ?", (account,)).fetchone() is None:
            raise StateError(f"{account!r} has no account to keep filters in")
        writing.execute(
            "INSERT INTO filters (account, name, query, made) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (account, name) DO UPDATE SET query = excluded.query, made = excluded.made",
            (account, name, query, format_timestamp(now)),
        )


def rename_filter(directory: Directory, account: str, number: int, name: str) -> None:
    name = _checked(name)
    with directory.file.writing() as writing:
        taken = writing.execute(
            "SELECT 1 FROM filters WHERE account = ? AND name = ? AND number <> ?", (account, name, number)
        ).fetchone()
        if taken is not None:
            raise StateError(f"you have a filter {name!r} already: take another name")
        changed = writing.execute(
            "UPDATE filters SET name = ? WHERE account = ? AND number = ?", (name, account, number)
        ).rowcount
        if not changed:
            raise StateError("this filter is not there any more: load the page again")


def delete_filter(directory: Directory, account: str, number: int) -> None:
    """Forget a filter; one that is gone already, or another's, is left alone."""
    with directory.file.writing() as writing:
        writing.execute("DELETE FROM filters WHERE account = ? AND number = ?", (account, number))


def _checked(name: str) -> str:
    name = " ".join(name.split())
    if not name or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise InputError(f"{name[:60]!r} cannot be the name of a filter: take 1 to {_LONGEST_NAME} visible characters")
    return name


SAVE, RENAME, DELETE = "save", "rename", "delete"


def can_save(viewer: Viewer) -> bool:
    """A reviewer's link only reads, and may be in several hands."""
    return viewer.role is not Role.REVIEWER


def list_saved(directory: Directory, viewer: Viewer) -> list[SavedFilter]:
    return list_filters(directory, viewer.name) if can_save(viewer) else []


def change_saved_filter(
    directory: Directory, viewer: Viewer, act: str, *, name: str, query: str, number: str, now: datetime
) -> str:
    """Save, rename or delete one of one's filters; the query of the search it was done from."""
    if not can_save(viewer):
        raise StateError("a reviewer's link only reads: keep the address of the search instead")
    wanted = Query.from_parameters(dict(parse_qsl(query)))
    if act == SAVE:
        save_filter(directory, viewer.name, name, wanted.to_query_string(page=1), now)
    elif act == RENAME:
        rename_filter(directory, viewer.name, _number(number), name)
    elif act == DELETE:
        delete_filter(directory, viewer.name, _number(number))
    else:
        raise InputError(f"a filter can be saved, renamed or deleted, not {act[:60]!r}")
    return wanted.to_query_string()


def _number(text: str) -> int:
    number = parse_whole_number(text)
    if number is None:
        raise InputError("this filter is not there any more: load the page again")
    return number
