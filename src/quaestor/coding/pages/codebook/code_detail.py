"""The page of one code: its definition, its relatives, its changes and its decided items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import StateError
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.coding.model.codebook.history import History
from quaestor.coding.model.decisions import find_excluded_items
from quaestor.coding.model.facet_kinds.passages import list_codes
from quaestor.coding.model.records import DRIFT, Code, Codebook, Decision, Rating
from quaestor.coding.model.state import State
from quaestor.coding.pages.codebook.change_log import CodebookChange


@dataclass(frozen=True)
class CodedItem:
    """The codes of an item in a rating or a decision, as recorded."""

    round: str
    facet: str
    item: str
    codes: tuple[str, ...]
    answers: Mapping[str, Any]
    """All answers of the rating or decision, which the rules of a split may use."""
    number: int


@dataclass(frozen=True)
class CodeUses:
    """The decisions and ratings that use codes, copied under the lock so that counting needs no lock."""

    history: History
    decisions: Mapping[str, list[Decision]]
    ratings: Mapping[str, list[Rating]]
    coded_facets: Mapping[str, frozenset[str]]
    """The facets with codes, by round."""
    excluded: frozenset[str] = frozenset()
    """Items that raters decided to exclude, which are not counted."""

    def iterate_decided(self) -> Iterator[CodedItem]:
        """Yields the final answers that contain codes."""
        for name, decisions in self.decisions.items():
            answers: dict[str, dict[str, Any]] = {}
            for decision in decisions:
                answers.setdefault(decision.item, {})[decision.facet] = decision.answer
            for decision in decisions:
                if decision.item in self.excluded:
                    continue
                if codes := self._codes(name, decision.facet, decision.answer):
                    yield CodedItem(name, decision.facet, decision.item, codes, answers[decision.item], decision.number)

    def iterate_rated(self) -> Iterator[CodedItem]:
        """Yields the ratings that contain codes, one for each slot and item."""
        for name, ratings in self.ratings.items():
            for rating in ratings:
                for facet in self.coded_facets[name]:
                    if codes := self._codes(name, facet, rating.answers.get(facet)):
                        yield CodedItem(name, facet, rating.item, codes, rating.answers, rating.number)

    def _codes(self, name: str, facet: str, answer: Any) -> tuple[str, ...]:
        facets = self.coded_facets.get(name)
        if facets is not None and facet not in facets:
            return ()
        codes = list_codes(answer) if isinstance(answer, str | list | tuple) else []
        # Published decisions have no plan that tells which facets have codes, so unknown answers are skipped.
        return tuple(code for code in codes if code in self.history.latest.codes)


def collect_uses(state: State, *, decided: Iterable[str] = (), rated: Iterable[str] = ()) -> CodeUses:
    """Copies the decisions and ratings of these rounds, or published decisions of these names.

    Decisions of drift rounds are left out: they rate items again, and change no result.
    """
    rated = list(rated)
    drift = {name for name, round_state in state.rounds.items() if round_state.plan.kind == DRIFT}
    decided = [name for name in decided if name not in drift]
    return CodeUses(
        History(list(state.history.changes), list(state.history.versions)),
        {name: _list_decisions(state, name) for name in decided},
        {name: _list_ratings(state, name) for name in rated},
        {name: list_coded_facets(state, name) for name in (*decided, *rated) if name in state.rounds},
        find_excluded_items(state) if decided else frozenset(),
    )


def list_coded_facets(state: State, name: str) -> frozenset[str]:
    """Returns the facets of a round that are answered with codes."""
    return frozenset(facet.id for facet in state.round(name).plan.facets if facet.codes)


def _list_decisions(state: State, name: str) -> list[Decision]:
    if name in state.published:
        return list(state.published[name].values())
    return state.round(name).counted_decisions()


def _list_ratings(state: State, name: str) -> list[Rating]:
    round_state = state.round(name)
    ratings = (round_state.rating_in_slot(slot, item) for slot in round_state.slots for item in slot.items[0])
    return [rating for rating in ratings if rating is not None and rating.item not in round_state.gone]


@dataclass(frozen=True)
class CodeItemCounts:
    """Decided items by code: those with exactly this code, and those with it or a code below it."""

    own: Mapping[str, frozenset[str]]
    below: Mapping[str, frozenset[str]]
    decided: int
    """Items with any code."""

    def items(self, code: str) -> frozenset[str]:
        return self.below.get(code, frozenset())


def count_items(uses: CodeUses, book: Codebook) -> CodeItemCounts:
    """Counts decided items by code; if several rounds decided the same facet, the newest decision counts."""
    newest: dict[tuple[str, str], CodedItem] = {}
    for coded_item in uses.iterate_decided():
        known = newest.get((coded_item.facet, coded_item.item))
        if known is None or known.number < coded_item.number:
            newest[coded_item.facet, coded_item.item] = coded_item
    own: dict[str, set[str]] = {}
    for coded_item in newest.values():
        for code in coded_item.codes:
            read = uses.history.find_code(code, book.version, coded_item.item, coded_item.answers).code
            if read is not None:
                own.setdefault(read, set()).add(coded_item.item)
    below: dict[str, set[str]] = {}
    for code, items in own.items():
        for above in book.path(code):
            below.setdefault(above, set()).update(items)
    return CodeItemCounts(_freeze_sets(own), _freeze_sets(below), len(set().union(*own.values())))


def _freeze_sets(sets: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {code: frozenset(items) for code, items in sets.items()}


_MOST_ITEMS = 8


@dataclass(frozen=True)
class CodePage:
    """A code under one version of the codebook."""

    code: Code
    level: str
    ancestors: tuple[Code, ...]
    """From the root down to the parent."""
    below: tuple[Code, ...]
    across: tuple[tuple[str, Code], ...]
    """The codes of other facets that it refers to, by the title of the facet."""
    pointing: tuple[Code, ...]
    """Codes of other facets that refer to it."""
    successors: tuple[Code, ...]
    """The codes that replaced an inactive code."""
    origin: Code | None
    changes: tuple[CodebookChange, ...]
    own: int
    items: int
    """Decided items with it (`own`), and with it or a code below it (`items`)."""
    examples: tuple[str, ...]


def build_code_page(
    book: Codebook, name: str, changes: Sequence[CodebookChange], counts: CodeItemCounts | None
) -> CodePage:
    """Builds the page of a code; an unknown name raises StateError with the nearest ones."""
    code = book.codes.get(name)
    if code is None:
        options = join_with_or(sort_by_similarity(name, book.codes)[:3]) or "none"
        raise StateError(f"version {book.version} of the codebook has no code {name!r}, nearest: {options}")
    items = counts.items(name) if counts else frozenset()
    return CodePage(
        code=code,
        level=book.level(name),
        ancestors=tuple(book.codes[other] for other in book.path(name)[:-1]),
        below=tuple(book.children(name)),
        across=tuple((book.facets[facet].title or facet, book.codes[other]) for facet, other in code.across.items()),
        pointing=tuple(other for other in book.codes.values() if other.active and name in other.across.values()),
        successors=_list_successors(book, code),
        origin=book.codes.get(code.origin),
        changes=tuple(change for change in changes if name in change.codes),
        own=len(counts.own.get(name, ())) if counts else 0,
        items=len(items),
        examples=tuple(sorted(items)[:_MOST_ITEMS]),
    )


def _list_successors(book: Codebook, code: Code) -> tuple[Code, ...]:
    if code.into:
        return (book.codes[code.into],)
    if code.split:
        return tuple(part for part in book.codes.values() if part.origin == code.id and part.active)
    return ()
