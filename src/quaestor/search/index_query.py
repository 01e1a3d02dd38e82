"""Translates a search query into SQL for the index; typed text is passed only as parameters."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from quaestor.base.errors import InputError
from quaestor.base.names import suggest
from quaestor.coding.coded_items import (
    CodedAnswer,
    FilterOption,
    VisibleDecisions,
    find_coded_items,
    list_hidden_rounds,
)
from quaestor.coding.model.state import State
from quaestor.coding.session import CodingSession
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.evidence.funnel import current_result
from quaestor.evidence.text_index import Index
from quaestor.search.query import Query, Terms, parse_terms
from quaestor.study.contributions import NoNames, TextMask
from quaestor.study.folder import Study

_Value = TypeVar("_Value")


class RecentResults:
    """A thread-safe cache of the most recently used results."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], _Value]) -> _Value:
        """Returns the cached value of a key, or computes it outside the lock."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                cached: _Value = self._values[key]
                return cached
        value = compute()
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._size:
                self._values.popitem(last=False)
        return value


_NUMBERS, _YEARS_AND_TAGS = RecentResults(8), RecentResults(8)
_MAX_TAGS = 200


@dataclass(frozen=True)
class FilterOptions:
    """The filters that a search form offers; only those that can match an item."""

    years: tuple[int, ...]
    tags: tuple[str, ...]
    """The most frequent tags."""
    steps: tuple[str, ...]
    rounds: tuple[str, ...]
    decisions: dict[str, tuple[FilterOption, ...]]
    """By facet."""
    has_disagreements: bool
    """Whether the viewer may see the disagreements of any round."""


@dataclass(frozen=True)
class SearchCondition:
    """A query as SQL: the tables, the conditions and their parameters."""

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


def choose_strand(study: Study, coding: CodingSession | None, query: Query) -> Query:
    """Returns a query that names no strand with the strand of its step, or of the round or facet that it asks for."""
    if query.strand or len(study.strands) == 1:
        return query
    for strand in study.in_each_strand():
        if query.step and query.step in (step.step for step in strand.funnel.steps):
            return replace(query, strand=strand.strand)
    with open_state(coding) as state:
        for name, round_state in state.rounds.items():
            plan = round_state.plan
            has_facet = not query.round and query.facet in (facet.id for facet in plan.facets)
            if (name == query.round or has_facet) and plan.items:
                return replace(query, strand=study.in_strand_of(plan.items[0]).strand)
    return query


@dataclass(frozen=True)
class Search:
    """A viewer's search in a study: its index, and its rounds if the study has a journal."""

    study: Study
    coding: CodingSession | None
    index: Index
    viewer: Viewer
    mask: TextMask = field(default_factory=NoNames)
    """Masks known names in the answers that people wrote; the index is masked already."""

    def list_answers(self, decisions: VisibleDecisions, item: str) -> tuple[CodedAnswer, ...]:
        """Returns the visible decisions about an item, without known names."""
        return tuple(
            replace(answer, label=self.mask.mask(answer.label), decision=self.mask.mask(answer.decision))
            for answer in decisions.list_answers(item)
        )

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the funnel; raises StateError if the funnel must run first."""
        return tuple(step.step for step in current_result(self.study, self.coding).steps)

    @contextmanager
    def open_decisions(self) -> Iterator[VisibleDecisions]:
        """Yields the decisions that the viewer may see; no thread of this process changes them in the meantime."""
        with open_state(self.coding) as state:
            yield VisibleDecisions(Visibility(state, self.study.settings.study.lead, self.viewer))

    def build_condition(self, connection: sqlite3.Connection, query: Query) -> SearchCondition:
        """Translates a query into SQL; raises InputError or StateError for one that cannot be answered."""
        terms = parse_terms(query.words)
        with self.open_decisions() as decisions:
            coded = find_coded_items(decisions, query)
            hidden = tuple(list_hidden_rounds(decisions, query)) if coded is not None and not query.round else ()
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
            operator = "=" if query.side == "dropped" else ">"
            parts.append((f"items.fell_at {operator} ?", self._step_number(query.step)))
        if coded is not None:
            items = frozenset(coded)
            numbers = _NUMBERS.get((self.index.key, items), lambda: _read_numbers(connection, items))
            parts.append(("items.number IN (SELECT value FROM json_each(?))", numbers))
        tables = "texts JOIN items ON items.number = texts.rowid" if terms.required else "items"
        return SearchCondition(
            tables, " AND ".join(sql for sql, _ in parts), tuple(value for _, value in parts), terms, hidden
        )

    def _step_number(self, name: str) -> int:
        if name not in self.steps:
            options = suggest(name[:60], self.steps) or "none"
            raise InputError(f"the funnel has no step {name[:60]!r}; choose from: {options}")
        return self.steps.index(name)

    def list_filters(self) -> FilterOptions:
        """Returns the filters for the search form."""
        years, tags = _YEARS_AND_TAGS.get(self.index.key, lambda: _read_years_and_tags(self.index))
        with self.open_decisions() as decisions:
            state, sight = decisions.state, decisions.sight
            rounds = (*state.rounds, *state.published)
            has_disagreements = any(not sight.why_no_disagreements(name) for name in state.rounds)
            # An answer with a known name cannot be a filter: its own words would be in the address of the page.
            options = {
                facet: tuple(option for option in known if not self.mask.find(option.label))
                for facet, known in decisions.list_options().items()
            }
            return FilterOptions(years, tags, self.steps, rounds, options, has_disagreements)


def _read_years_and_tags(index: Index) -> tuple[tuple[int, ...], tuple[str, ...]]:
    with index.reading() as connection:
        years = connection.execute("SELECT DISTINCT year FROM items WHERE year IS NOT NULL ORDER BY year").fetchall()
        tags = connection.execute(
            "SELECT tag FROM tag_counts ORDER BY items DESC, tag LIMIT ?", (_MAX_TAGS,)
        ).fetchall()
    return tuple(year for (year,) in years), tuple(tag for (tag,) in tags)


def _read_numbers(connection: sqlite3.Connection, items: frozenset[str]) -> str:
    rows = connection.execute(
        "SELECT number FROM items WHERE item IN (SELECT value FROM json_each(?)) ORDER BY number",
        (json.dumps(list(items)),),
    )
    return json.dumps([number for (number,) in rows])
