"""Searches that people keep under a name, for themselves alone."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import parse_qsl

from quaestor.base.errors import InputError, StateError
from quaestor.base.numbers import whole_number
from quaestor.people.directory import Directory
from quaestor.people.filters import SavedFilter, delete_filter, filters_of, rename_filter, save_filter
from quaestor.people.roles import Role
from quaestor.study.search.wanted import Wanted
from quaestor.study.sight import Viewer

SAVE, RENAME, DELETE = "save", "rename", "delete"


def can_save(viewer: Viewer) -> bool:
    """A reviewer's link only reads, and may be in several hands."""
    return viewer.role is not Role.REVIEWER


def saved_by(directory: Directory, viewer: Viewer) -> list[SavedFilter]:
    return filters_of(directory, viewer.name) if can_save(viewer) else []


def change_saved(
    directory: Directory, viewer: Viewer, act: str, *, name: str, query: str, number: str, now: datetime
) -> str:
    """Save, rename or delete one of one's filters; the query of the search it was done from."""
    if not can_save(viewer):
        raise StateError("a reviewer's link only reads: keep the address of the search instead")
    wanted = Wanted.of(dict(parse_qsl(query)))
    if act == SAVE:
        save_filter(directory, viewer.name, name, wanted.query(page=1), now)
    elif act == RENAME:
        rename_filter(directory, viewer.name, _number(number), name)
    elif act == DELETE:
        delete_filter(directory, viewer.name, _number(number))
    else:
        raise InputError(f"a filter can be saved, renamed or deleted, not {act[:60]!r}")
    return wanted.query()


def _number(text: str) -> int:
    number = whole_number(text)
    if number is None:
        raise InputError("this filter is not there any more: load the page again")
    return number
