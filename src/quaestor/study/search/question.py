"""What somebody wants as one question to the index: tables, conditions, values, and nothing they typed in between."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

from quaestor.base.errors import InputError
from quaestor.base.names import listed, nearest_first
from quaestor.coding.state import State
from quaestor.study.coding import Coding
from quaestor.study.folder import Study
from quaestor.study.search.index import Index
from quaestor.study.search.outcomes import Outcomes
from quaestor.study.search.selection import chosen_items, unseen
from quaestor.study.search.standing import standing_result
from quaestor.study.search.wanted import Wanted
from quaestor.study.search.words import Terms, terms_of
from quaestor.study.sight import Sight, Viewer

_Known = TypeVar("_Known")


class Recent:
    """The answers to the last few questions; safe for many threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], _Known]) -> _Known:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                known: _Known = self._known[key]
                return known
        made = make()
        with self._lock:
            self._known[key] = made
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return made


_NUMBERS = Recent(8)


@dataclass(frozen=True)
class Question:
    """What is asked of the index: the tables, the conditions and their values."""

    tables: str
    conditions: str
    values: tuple[Any, ...]
    terms: Terms
    unseen: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        return f"FROM {self.tables}{' WHERE ' + self.conditions if self.conditions else ''}"


def looking(coding: Coding | None) -> AbstractContextManager[State]:
    return coding.looking() if coding is not None else nullcontext(State())


def question(
    study: Study, coding: Coding | None, index: Index, connection: sqlite3.Connection, wanted: Wanted, viewer: Viewer
) -> Question:
    """What somebody wants, as one question; raises InputError or StateError in a sentence where it cannot be asked."""
    terms = terms_of(wanted.words)
    with looking(coding) as state:
        outcomes = Outcomes(Sight(state, study.settings.study.lead, viewer))
        chosen = chosen_items(outcomes, wanted)
        why = tuple(unseen(outcomes, wanted)) if chosen is not None and not wanted.round else ()
    parts: list[tuple[str, Any]] = []
    if terms.having:
        parts.append(("texts MATCH ?", terms.matching))
    elif terms.without:
        parts.append(("items.number NOT IN (SELECT rowid FROM texts WHERE texts MATCH ?)", " OR ".join(terms.without)))
    if wanted.tag:
        parts.append(("items.number IN (SELECT number FROM tagged WHERE tag = ?)", wanted.tag))
    if wanted.year is not None:
        parts.append(("items.year = ?", wanted.year))
    if wanted.step:
        compared = "=" if wanted.side == "dropped" else ">"
        parts.append((f"items.fell_at {compared} ?", _step(study, coding, wanted.step)))
    if chosen is not None:
        few = frozenset(chosen)
        numbers = _NUMBERS.get((index.key, few), lambda: _numbers(connection, few))
        parts.append(("items.number IN (SELECT value FROM json_each(?))", numbers))
    tables = "texts JOIN items ON items.number = texts.rowid" if terms.having else "items"
    return Question(tables, " AND ".join(sql for sql, _ in parts), tuple(value for _, value in parts), terms, why)


def _step(study: Study, coding: Coding | None, name: str) -> int:
    names = [step.step for step in standing_result(study, coding).steps]
    if name not in names:
        options = listed(nearest_first(name[:60], names)) or "none"
        raise InputError(f"the funnel has run no step {name[:60]!r}, allowed: {options}")
    return names.index(name)


def _numbers(connection: sqlite3.Connection, items: frozenset[str]) -> str:
    rows = connection.execute(
        "SELECT number FROM items WHERE item IN (SELECT value FROM json_each(?)) ORDER BY number",
        (json.dumps(list(items)),),
    )
    return json.dumps([number for (number,) in rows])
