"""What somebody wants as one question to the index: tables, conditions, values, and nothing they typed in between."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.coding.model.state import State
from quaestor.coding.session import CodingSession
from quaestor.coding.visibility import Sight, Viewer
from quaestor.evidence.funnel import current_result
from quaestor.evidence.text_index import Index
from quaestor.search.coded_items import FilterOption, VisibleDecisions, find_coded_items, list_hidden_rounds
from quaestor.search.query import Query, Terms, parse_terms
from quaestor.study.folder import Study

_Known = TypeVar("_Known")


class RecentResults:
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


_NUMBERS, _YEARS_AND_TAGS = RecentResults(8), RecentResults(8)
_TAGS = 200


@dataclass(frozen=True)
class FilterOptions:
    """What a search can be narrowed by, for the lists of a form; only what can find something is offered."""

    years: tuple[int, ...]
    tags: tuple[str, ...]
    """The most frequent ones."""
    steps: tuple[str, ...]
    rounds: tuple[str, ...]
    decisions: dict[str, tuple[FilterOption, ...]]
    """By facet."""
    has_disagreements: bool
    """Whether there is a round whose disagreements the viewer may see."""


@dataclass(frozen=True)
class SearchCondition:
    """What is asked of the index: the tables, the conditions and their values."""

    tables: str
    conditions: str
    values: tuple[Any, ...]
    terms: Terms
    hidden_rounds: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        return f"FROM {self.tables}{' WHERE ' + self.conditions if self.conditions else ''}"


def open_state(coding: CodingSession | None) -> AbstractContextManager[State]:
    return coding.locked_state() if coding is not None else nullcontext(State())


@dataclass(frozen=True)
class Search:
    """What one viewer may find: a study with its index, and its rounds where anybody has acted."""

    study: Study
    coding: CodingSession | None
    index: Index
    viewer: Viewer

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the funnel that have run; raises StateError where it has to run first, or again."""
        return tuple(step.step for step in current_result(self.study, self.coding).steps)

    @contextmanager
    def open_decisions(self) -> Iterator[VisibleDecisions]:
        """The decisions that the viewer may see, and nobody of this process changes them meanwhile."""
        with open_state(self.coding) as state:
            yield VisibleDecisions(Sight(state, self.study.settings.study.lead, self.viewer))

    def build_condition(self, connection: sqlite3.Connection, query: Query) -> SearchCondition:
        """A query as one question; raises InputError or StateError in a sentence where it cannot be asked."""
        terms = parse_terms(query.words)
        with self.open_decisions() as outcomes:
            chosen = find_coded_items(outcomes, query)
            why = tuple(list_hidden_rounds(outcomes, query)) if chosen is not None and not query.round else ()
        parts: list[tuple[str, Any]] = []
        if terms.required:
            parts.append(("texts MATCH ?", terms.match_expression))
        elif terms.excluded:
            excluded = " OR ".join(terms.excluded)
            parts.append(("items.number NOT IN (SELECT rowid FROM texts WHERE texts MATCH ?)", excluded))
        if query.tag:
            parts.append(("items.number IN (SELECT number FROM tagged WHERE tag = ?)", query.tag))
        if query.year is not None:
            parts.append(("items.year = ?", query.year))
        if query.step:
            compared = "=" if query.side == "dropped" else ">"
            parts.append((f"items.fell_at {compared} ?", self._step_number(query.step)))
        if chosen is not None:
            few = frozenset(chosen)
            numbers = _NUMBERS.get((self.index.key, few), lambda: _numbers(connection, few))
            parts.append(("items.number IN (SELECT value FROM json_each(?))", numbers))
        tables = "texts JOIN items ON items.number = texts.rowid" if terms.required else "items"
        return SearchCondition(
            tables, " AND ".join(sql for sql, _ in parts), tuple(value for _, value in parts), terms, why
        )

    def _step_number(self, name: str) -> int:
        if name not in self.steps:
            options = join_with_or(sort_by_similarity(name[:60], self.steps)) or "none"
            raise InputError(f"the funnel has run no step {name[:60]!r}, allowed: {options}")
        return self.steps.index(name)

    def list_filters(self) -> FilterOptions:
        """What a query can be narrowed by."""
        years, tags = _YEARS_AND_TAGS.get(self.index.key, lambda: _years_and_tags(self.index))
        with self.open_decisions() as outcomes:
            state, sight = outcomes.state, outcomes.sight
            rounds = (*state.rounds, *state.published)
            differ = any(not sight.why_no_disagreements(name) for name in state.rounds)
            return FilterOptions(years, tags, self.steps, rounds, outcomes.list_options(), differ)


def _years_and_tags(index: Index) -> tuple[tuple[int, ...], tuple[str, ...]]:
    with index.reading() as connection:
        years = connection.execute("SELECT DISTINCT year FROM items WHERE year IS NOT NULL ORDER BY year").fetchall()
        tags = connection.execute("SELECT tag FROM tag_counts ORDER BY items DESC, tag LIMIT ?", (_TAGS,)).fetchall()
    return tuple(year for (year,) in years), tuple(tag for (tag,) in tags)


def _numbers(connection: sqlite3.Connection, items: frozenset[str]) -> str:
    rows = connection.execute(
        "SELECT number FROM items WHERE item IN (SELECT value FROM json_each(?)) ORDER BY number",
        (json.dumps(list(items)),),
    )
    return json.dumps([number for (number,) in rows])
