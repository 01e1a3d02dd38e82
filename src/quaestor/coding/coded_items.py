"""The decisions on items that a viewer may see, by label and by item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or, sort_by_similarity, suggest
from quaestor.coding.model.decisions import list_differing
from quaestor.coding.model.facet_kinds.base import NOTHING_CODED, write_answer
from quaestor.coding.model.facet_kinds.passages import list_codes
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Decision
from quaestor.coding.model.state import State
from quaestor.coding.visibility import Visibility

Labels = Mapping[str, Mapping[str, list[str]]]
"""facet → label → items; a label is a code of the newest codebook, or the text of an answer."""
_MAX_OPTIONS = 300
"""Answers that the list of one facet offers; phrase facets have more, which are found by searching their words."""


class CodedItemsQuery(Protocol):
    """The conditions on decisions and disagreements; empty ones do not count."""

    @property
    def round(self) -> str: ...
    @property
    def facet(self) -> str: ...
    @property
    def code(self) -> str:
        """The decided answer: a code with all codes below it, or the text of an answer."""

    @property
    def disagreement(self) -> str:
        """Items on which the raters of a closed round disagree: any, open or settled."""


@dataclass(frozen=True)
class CodedAnswer:
    """The final answer on an item for one facet."""

    facet: str
    label: str
    decision: str
    """The value of the query parameter `code` that finds items with the same answer."""


@dataclass(frozen=True)
class FilterOption:
    """An answer to filter by; `depth` is the level of a code in the codebook."""

    decision: str
    label: str
    depth: int = 0


class VisibleDecisions:
    """The decisions in one state of the study that a viewer may see."""

    def __init__(self, sight: Visibility) -> None:
        self.sight = sight
        self.state = sight.state
        self.book = sight.state.history.latest

    @cached_property
    def labels(self) -> dict[str, Labels]:
        """The labels by round, or by the name of published decisions."""
        names = [*self.state.rounds, *self.state.published]
        return {name: collect_labels(self.state, name) for name in names if not self.sight.why_no_decisions(name)}

    @cached_property
    def facets(self) -> dict[str, list[str]]:
        """The facets, each with the rounds that have decisions on it."""
        rounds_by_facet: dict[str, list[str]] = {}
        for name, labels in self.labels.items():
            for facet in labels:
                rounds_by_facet.setdefault(facet, []).append(name)
        return rounds_by_facet

    def list_labels(self, facet: str) -> set[str]:
        return {label for name in self.facets.get(facet, ()) for label in self.labels[name][facet]}

    def find_items(self, facet: str, accepted: set[str], only: str = "") -> set[str]:
        """Returns the items whose newest decision on a facet, in all rounds or in one, has one of the labels."""
        rounds = [name for name in self.facets.get(facet, ()) if only in ("", name)]
        items = {
            item
            for name in rounds
            for label in accepted & self.labels[name][facet].keys()
            for item in self.labels[name][facet][label]
        }
        if len(rounds) < 2:
            return items
        # Another round may have a newer decision with another label.
        newest = ((item, self.find_newest(rounds, item, facet)) for item in items)
        return {
            item
            for item, decision in newest
            if decision and accepted.intersection(_list_labels(self.state, self.book, decision))
        }

    def find_newest(self, rounds: Iterable[str], item: str, facet: str) -> Decision | None:
        """Returns the newest decision on a facet of an item in any of the rounds."""
        decisions = (find_decision(self.state, name, item, facet) for name in rounds)
        return max((decision for decision in decisions if decision), key=lambda decision: decision.number, default=None)

    def list_answers(self, item: str) -> tuple[CodedAnswer, ...]:
        """Returns the newest final answer on an item for each facet."""
        decisions = (self.find_newest(rounds, item, facet) for facet, rounds in self.facets.items())
        return tuple(format_decision(self.state, self.book, decision) for decision in decisions if decision is not None)

    def list_options(self) -> dict[str, tuple[FilterOption, ...]]:
        """Returns the answers to filter by for each facet; codes include all codes above a decided one."""
        options = {}
        for facet in self.facets:
            labels = self.list_labels(facet)
            used = {above for label in labels & self.book.codes.keys() for above in self.book.path(label)}
            codes = [FilterOption(f"{facet}:{code}", self.book.codes[code].name, self.book.depth(code) - 1)
                     for code in sorted(used, key=self.book.path_name)]  # fmt: skip
            others = [FilterOption(f"{facet}:{label}", label) for label in sorted(labels - self.book.codes.keys())]
            if len(codes) + len(others) <= _MAX_OPTIONS:
                options[facet] = (*codes, *others)
        return options

    def matches_code(self, label: str, code: str) -> bool:
        """Whether a label is the code with this id or name, lies below it, or is a part into which it was split."""
        path = list(self._list_ancestors(label)) if label in self.book.codes else [label]
        names = {self.book.codes[part].name if part in self.book.codes else part for part in path}
        return code in path or code.casefold() in {name.casefold() for name in names}

    def _list_ancestors(self, code: str) -> Iterator[str]:
        """Yields the codes from the root down to a code, each with the split codes that it is a part of."""
        for ancestor in self.book.path(code):
            part = ancestor
            while part in self.book.codes:
                yield part
                part = self.book.codes[part].origin


def find_decision(state: State, name: str, item: str, facet: str) -> Decision | None:
    """Returns the current decision of a round, or of published decisions, on a facet of an item."""
    if name in state.published:
        return state.published[name].get((item, facet))
    round_state = state.rounds[name]
    decisions = round_state.decisions.get((item, facet))
    counts = decisions and item not in round_state.gone and round_state.find_asked(item, facet)
    return decisions[-1] if decisions and counts else None


def format_decision(state: State, book: Codebook, decision: Decision) -> CodedAnswer:
    """Returns a decision as the answer that pages show."""
    labels = _list_labels(state, book, decision)
    shown = labels if isinstance(decision.answer, list | tuple) else labels[-1:]
    text = "; ".join(book.path_name(label) if label in book.codes else label for label in shown)
    return CodedAnswer(decision.facet, text, f"{decision.facet}:{labels[-1]}")


_PUBLISHED: dict[str, tuple[object, dict[object, Any]]] = {}
"""By name: published decisions and the values computed from them."""


def collect_labels(state: State, name: str) -> Labels:
    """Returns the decided items of a round by facet and label, cached for each state of its decisions."""
    memory = state.rounds[name].cache if name in state.rounds else _get_published_memory(name, state.published[name])
    at = (state.head, state.history.latest.version)
    if memory.get("labels at") != at:
        if name in state.published:
            decisions = list(state.published[name].values())
        else:
            decisions = state.rounds[name].counted_decisions()
        key = (at[1], len(decisions), max((decision.number for decision in decisions), default=0))
        if memory.get("labels of") != key:
            memory["labels"] = _group_by_label(state, decisions)
            memory["labels of"] = key
        memory["labels at"] = at
    labels: Labels = memory["labels"]
    return labels


def _get_published_memory(name: str, published: object) -> dict[object, Any]:
    known = _PUBLISHED.get(name)
    if known is None or known[0] is not published:
        known = _PUBLISHED[name] = published, {}
    return known[1]


def _group_by_label(state: State, decisions: Iterable[Decision]) -> Labels:
    book = state.history.latest
    items: dict[str, dict[str, list[str]]] = {}
    for decision in decisions:
        for label in _list_labels(state, book, decision):
            items.setdefault(decision.facet, {}).setdefault(label, []).append(decision.item)
    return items


def _list_labels(state: State, book: Codebook, decision: Decision) -> list[str]:
    """Returns the labels that find a decision, the most specific last; codes as in the newest codebook."""
    answer: Any = decision.answer
    if isinstance(answer, Mapping) and "answer" in answer:
        return list(dict.fromkeys([str(answer["answer"]), write_answer(answer)]))
    if isinstance(answer, list | tuple):
        return [_translate_code(state, book, decision, code) for code in list_codes(answer)] or [NOTHING_CODED]
    if isinstance(answer, str) and answer != CANNOT_JUDGE:
        return [_translate_code(state, book, decision, answer)]
    return [write_answer(answer)]


def _translate_code(state: State, book: Codebook, decision: Decision, code: str) -> str:
    """Returns the code that a decided code is in the newest codebook."""
    if code not in book.codes:
        return code
    return state.history.find_code(code, book.version, decision.item, {decision.facet: decision.answer}).code or code


def find_coded_items(decisions: VisibleDecisions, query: CodedItemsQuery) -> set[str] | None:
    """Returns the items that match a query's round, code and disagreement; None if it has none of them."""
    matches: list[set[str]] = []
    if query.disagreement:
        matches.append(_find_disputed_items(decisions, query))
    if query.code or (query.facet and not query.disagreement):
        matches.append(_find_items_with_code(decisions, query))
    if query.round and not matches:
        published = decisions.state.published.get(query.round)
        if published is None:
            matches.append(set(decisions.state.round(query.round).items_left()))
        else:
            matches.append({item for item, _ in published})
    return set.intersection(*matches) if matches else None


def list_hidden_rounds(decisions: VisibleDecisions, query: CodedItemsQuery) -> list[str]:
    """Returns the reasons why rounds are left out of a query."""
    sight = decisions.sight
    reasons = []
    for name in sight.state.rounds:
        if query.disagreement:
            reasons.append(sight.why_no_disagreements(name))
        elif query.code or query.facet:
            reasons.append(sight.why_no_decisions(name))
    return [reason for reason in reasons if reason]


def _find_disputed_items(decisions: VisibleDecisions, query: CodedItemsQuery) -> set[str]:
    sight = decisions.sight
    items: set[str] = set()
    for name in [query.round] if query.round else list(sight.state.rounds):
        if name in sight.state.published:
            continue  # published decisions do not include disagreements
        reason = sight.why_no_disagreements(name)
        if reason and query.round:
            raise StateError(reason)
        if not reason:
            pairs, decided = list_differing(sight.state, name), sight.state.round(name).decisions.keys()
            chosen = {"any": pairs, "open": pairs - decided, "settled": pairs & decided}[query.disagreement]
            items |= {item for item, facet in chosen if query.facet in ("", facet)}
    return items


def _find_items_with_code(decisions: VisibleDecisions, query: CodedItemsQuery) -> set[str]:
    reason = decisions.sight.why_no_decisions(query.round) if query.round else ""
    if reason:
        raise StateError(reason)
    if query.facet and query.facet not in decisions.facets:
        options = suggest(query.facet[:60], decisions.facets) or "none"
        raise InputError(f"there are no decisions on the facet {query.facet[:60]!r}; choose from: {options}")
    items: set[str] = set()
    for facet in [query.facet] if query.facet else decisions.facets:
        labels = decisions.list_labels(facet)
        accepted = {label for label in labels if not query.code or decisions.matches_code(label, query.code)}
        items |= decisions.find_items(facet, accepted, query.round)
    if not items:
        _require_known_label(decisions, query.code)
    return items


def _require_known_label(decisions: VisibleDecisions, code: str) -> None:
    """Raises InputError with the most similar labels, unless the label is known; a known code may have no items."""
    codes = decisions.book.codes.values()
    known = {*(entry.id for entry in codes), *(entry.name for entry in codes)}
    known.update(label for facet in decisions.facets for label in decisions.list_labels(facet))
    if code and code.casefold() not in {label.casefold() for label in known}:
        options = join_with_or(sort_by_similarity(code[:60], known)[:5]) or "none yet"
        raise InputError(f"no item was coded {code[:60]!r}, most similar: {options}")
