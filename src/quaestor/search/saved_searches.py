"""Saved filters: named searches of one account, erased with it."""

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
_MAX_NAME_LENGTH, _MAX_QUERY_LENGTH = 80, 4_000


@dataclass(frozen=True)
class SavedFilter:
    """A search that an account has saved under a name."""

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
    """Saves a filter, replacing one of the same name."""
    name = _require_valid_name(name)
    if len(query) > _MAX_QUERY_LENGTH:
        raise InputError("this filter is too long to save: shorten the search text")
    with directory.file.writing() as writing:
        (count,) = writing.execute(
            "SELECT count(*) FROM filters WHERE account = ? AND name <> ?", (account, name)
        ).fetchone()
        if count >= MAX_FILTERS:
            raise StateError(f"you can save at most {MAX_FILTERS} filters: delete one first")
        if writing.execute("SELECT 1 FROM accounts WHERE name = ?", (account,)).fetchone() is None:
            raise StateError(f"{account!r} has no account: only accounts can save filters")
        writing.execute(
            "INSERT INTO filters (account, name, query, made) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (account, name) DO UPDATE SET query = excluded.query, made = excluded.made",
            (account, name, query, format_timestamp(now)),
        )


def rename_filter(directory: Directory, account: str, number: int, name: str) -> None:
    name = _require_valid_name(name)
    with directory.file.writing() as writing:
        duplicate = writing.execute(
            "SELECT 1 FROM filters WHERE account = ? AND name = ? AND number <> ?", (account, name, number)
        ).fetchone()
        if duplicate is not None:
            raise StateError(f"you already have a filter {name!r}: use another name")
        changed = writing.execute(
            "UPDATE filters SET name = ? WHERE account = ? AND number = ?", (name, account, number)
        ).rowcount
        if not changed:
            raise StateError("this filter no longer exists: reload the page")


def delete_filter(directory: Directory, account: str, number: int) -> None:
    """Deletes a filter of an account; does nothing if the account has no such filter."""
    with directory.file.writing() as writing:
        writing.execute("DELETE FROM filters WHERE account = ? AND number = ?", (account, number))


def _require_valid_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or not name.isprintable() or len(name) > _MAX_NAME_LENGTH:
        raise InputError(
            f"{name[:60]!r} cannot be the name of a filter: use 1 to {_MAX_NAME_LENGTH} visible characters"
        )
    return name


SAVE, RENAME, DELETE = "save", "rename", "delete"


def can_save(viewer: Viewer) -> bool:
    """Whether a viewer can save filters; a reviewer's link is read-only and may be shared."""
    return viewer.role is not Role.REVIEWER


def list_saved(directory: Directory, viewer: Viewer) -> list[SavedFilter]:
    return list_filters(directory, viewer.name) if can_save(viewer) else []


def change_saved_filter(
    directory: Directory, viewer: Viewer, act: str, *, name: str, query: str, number: str, now: datetime
) -> str:
    """Saves, renames or deletes a filter of the viewer and returns the query string of the current search."""
    if not can_save(viewer):
        raise StateError("a reviewer's link is read-only: save the URL of the search instead")
    search_query = Query.from_parameters(dict(parse_qsl(query)))
    if act == SAVE:
        save_filter(directory, viewer.name, name, search_query.to_query_string(page=1), now)
    elif act == RENAME:
        rename_filter(directory, viewer.name, _parse_number(number), name)
    elif act == DELETE:
        delete_filter(directory, viewer.name, _parse_number(number))
    else:
        raise InputError(f"a filter can be saved, renamed or deleted, not {act[:60]!r}")
    return search_query.to_query_string()


def _parse_number(text: str) -> int:
    number = parse_whole_number(text)
    if number is None:
        raise InputError("this filter no longer exists: reload the page")
    return number
