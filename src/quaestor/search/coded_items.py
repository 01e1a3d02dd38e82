"""What was decided about items, by label and by item, as far as the viewer may see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import listed, nearest_first
from quaestor.coding.model.decisions import differing
from quaestor.coding.model.facet_kinds.base import write_answer
from quaestor.coding.model.facet_kinds.passages import codes_in
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Decision
from quaestor.coding.model.state import State
from quaestor.coding.visibility import Sight
from quaestor.search.query import Query

Labels = Mapping[str, Mapping[str, list[str]]]
"""facet → label → items; a label is a code of the newest codebook, or an answer in words."""
_MOST_OPTIONS = 300
"""Answers of one facet that a list offers; phrases are more, and are found by their words."""


@dataclass(frozen=True)
class Answer:
    """The final answer about an item to one facet, in words."""

    facet: str
    words: str
    decision: str
    """What to ask for to find the items with the same answer."""


@dataclass(frozen=True)
class Option:
    """An answer that can be asked for; codes stand below one another."""

    decision: str
    words: str
    depth: int = 0


class Outcomes:
    """The decisions that one viewer may see, before one state of the study."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight
        self.state = sight.state
        self.book = sight.state.history.latest

    @cached_property
    def labels(self) -> dict[str, Labels]:
        """By round, or by the name of published decisions."""
        names = [*self.state.rounds, *self.state.published]
        return {name: labels_of(self.state, name) for name in names if not self.sight.why_no_decisions(name)}

    @cached_property
    def facets(self) -> dict[str, list[str]]:
        """Each facet with the rounds that decided on it."""
        found: dict[str, list[str]] = {}
        for name, labels in self.labels.items():
            for facet in labels:
                found.setdefault(facet, []).append(name)
        return found

    def labels_on(self, facet: str) -> set[str]:
        return {label for name in self.facets.get(facet, ()) for label in self.labels[name][facet]}

    def items_with(self, facet: str, accepted: set[str], only: str = "") -> set[str]:
        """Items whose newest decision on a facet has one of the labels; or what one round alone decided."""
        asking = [name for name in self.facets.get(facet, ()) if only in ("", name)]
        found = {
            item
            for name in asking
            for label in accepted & self.labels[name][facet].keys()
            for item in self.labels[name][facet][label]
        }
        if len(asking) < 2:
            return found
        return {item for item in found if accepted.intersection(self._labels_now(asking, item, facet))}

    def _labels_now(self, names: Iterable[str], item: str, facet: str) -> list[str]:
        made = self.newest(names, item, facet)
        return _labels(self.state, self.book, made) if made else []

    def newest(self, names: Iterable[str], item: str, facet: str) -> Decision | None:
        made = [one for name in names if (one := decision_on(self.state, name, item, facet)) is not None]
        return max(made, key=lambda one: one.number) if made else None

    def about(self, item: str) -> tuple[Answer, ...]:
        """The newest final answers about an item, one a facet."""
        made = (self.newest(names, item, facet) for facet, names in self.facets.items())
        return tuple(in_words(self.state, self.book, one) for one in made if one is not None)

    def options(self) -> dict[str, tuple[Option, ...]]:
        """By facet the answers that can be asked for: of codes the tree as far as something was decided in it."""
        offered = {}
        for facet in self.facets:
            labels = self.labels_on(facet)
            used = {above for label in labels & self.book.codes.keys() for above in self.book.way(label)}
            codes = [Option(f"{facet}:{code}", self.book.codes[code].name, self.book.depth(code) - 1)
                     for code in sorted(used, key=self.book.path_name)]  # fmt: skip
            others = [Option(f"{facet}:{label}", label) for label in sorted(labels - self.book.codes.keys())]
            if len(codes) + len(others) <= _MOST_OPTIONS:
                offered[facet] = (*codes, *others)
        return offered

    def means(self, label: str, code: str) -> bool:
        """Whether a label is a code, lies below it, or below a code of that name."""
        way = self.book.way(label) if label in self.book.codes else (label,)
        names = {self.book.codes[one].name if one in self.book.codes else one for one in way}
        return code in way or code.casefold() in {name.casefold() for name in names}


def decision_on(state: State, name: str, item: str, facet: str) -> Decision | None:
    """The decision that counts."""
    if name in state.published:
        return state.published[name].get((item, facet))
    made = state.rounds[name].decisions.get((item, facet))
    return made[-1] if made else None


def in_words(state: State, book: Codebook, made: Decision) -> Answer:
    labels = _labels(state, book, made)
    shown = labels if isinstance(made.answer, list | tuple) else labels[-1:]
    words = "; ".join(book.path_name(label) if label in book.codes else label for label in shown)
    return Answer(made.facet, words, f"{made.facet}:{labels[-1]}")


_PUBLISHED: dict[str, tuple[object, dict[object, Any]]] = {}
"""By name: published decisions and what was worked out from them."""


def labels_of(state: State, name: str) -> Labels:
    """What a round decided, by facet and label; worked out once for each state of its decisions."""
    memory = state.rounds[name].memory if name in state.rounds else _memory_of(name, state.published[name])
    at = (state.head, state.history.latest.version)
    if memory.get("labels at") != at:
        made = _decisions(state, name)
        key = (at[1], len(made), max((decision.number for decision in made), default=0))
        if memory.get("labels of") != key:
            memory["labels"] = _collected(state, made)
            memory["labels of"] = key
        memory["labels at"] = at
    found: Labels = memory["labels"]
    return found


def _memory_of(name: str, published: object) -> dict[object, Any]:
    known = _PUBLISHED.get(name)
    if known is None or known[0] is not published:
        known = _PUBLISHED[name] = published, {}
    return known[1]


def _decisions(state: State, name: str) -> list[Decision]:
    if name in state.published:
        return list(state.published[name].values())
    return [made[-1] for made in state.rounds[name].decisions.values()]


def _collected(state: State, made: Iterable[Decision]) -> Labels:
    book = state.history.latest
    found: dict[str, dict[str, list[str]]] = {}
    for one in made:
        for label in _labels(state, book, one):
            found.setdefault(one.facet, {}).setdefault(label, []).append(one.item)
    return found


def _labels(state: State, book: Codebook, made: Decision) -> list[str]:
    """What a decision can be asked for by, the most special last; codes as the newest codebook has them."""
    answer: Any = made.answer
    if isinstance(answer, Mapping) and "answer" in answer:
        return list(dict.fromkeys([str(answer["answer"]), write_answer(answer)]))
    if isinstance(answer, list | tuple):
        return [_read(state, book, made, one) for one in codes_in(answer)] or [""]
    if isinstance(answer, str) and answer != CANNOT_JUDGE:
        return [_read(state, book, made, answer)]
    return [write_answer(answer)]


def _read(state: State, book: Codebook, made: Decision, code: str) -> str:
    if code not in book.codes:
        return code
    return state.history.read(code, book.version, made.item, {made.facet: made.answer}).code or code


def chosen_items(outcomes: Outcomes, query: Query) -> set[str] | None:
    """None where neither round, nor code, nor disagreement is asked for."""
    found: list[set[str]] = []
    if query.disagreement:
        found.append(_in_dispute(outcomes, query))
    if query.code or (query.facet and not query.disagreement):
        found.append(_with_code(outcomes, query))
    if query.round and not found:
        found.append(set(_items_of(outcomes.state, query.round)))
    return set.intersection(*found) if found else None


def unseen(outcomes: Outcomes, query: Query) -> list[str]:
    """Why rounds are left out of what was asked for."""
    sight = outcomes.sight
    found = []
    for name in sight.state.rounds:
        if query.disagreement:
            found.append(sight.why_no_disagreements(name))
        elif query.code or query.facet:
            found.append(sight.why_no_decisions(name))
    return [why for why in found if why]


def _items_of(state: State, name: str) -> Iterable[str]:
    if name in state.published:
        return {item for item, _ in state.published[name]}
    return state.round(name).plan.items


def _in_dispute(outcomes: Outcomes, query: Query) -> set[str]:
    sight = outcomes.sight
    found: set[str] = set()
    for name in [query.round] if query.round else list(sight.state.rounds):
        if name in sight.state.published:
            continue  # nobody knows who differed
        why = sight.why_no_disagreements(name)
        if why and query.round:
            raise StateError(why)
        if not why:
            pairs, decided = differing(sight.state, name), sight.state.round(name).decisions.keys()
            chosen = {"any": pairs, "open": pairs - decided, "settled": pairs & decided}[query.disagreement]
            found |= {item for item, facet in chosen if query.facet in ("", facet)}
    return found


def _with_code(outcomes: Outcomes, query: Query) -> set[str]:
    why = outcomes.sight.why_no_decisions(query.round) if query.round else ""
    if why:
        raise StateError(why)
    if query.facet and query.facet not in outcomes.facets:
        options = listed(nearest_first(query.facet[:60], outcomes.facets)) or "none"
        raise InputError(f"nothing is decided on {query.facet[:60]!r}, allowed: {options}")
    found: set[str] = set()
    for facet in [query.facet] if query.facet else outcomes.facets:
        labels = outcomes.labels_on(facet)
        accepted = {label for label in labels if not query.code or outcomes.means(label, query.code)}
        found |= outcomes.items_with(facet, accepted, query.round)
    if not found:
        _require_known(outcomes, query.code)
    return found


def _require_known(outcomes: Outcomes, code: str) -> None:
    """A code of the codebook may have no items yet; a word that means nothing is answered with the nearest."""
    codes = outcomes.book.codes.values()
    known = {*(one.id for one in codes), *(one.name for one in codes)}
    known.update(label for facet in outcomes.facets for label in outcomes.labels_on(facet))
    if code and code.casefold() not in {one.casefold() for one in known}:
        options = listed(nearest_first(code[:60], known)[:5]) or "none yet"
        raise InputError(f"nothing is decided to be {code[:60]!r}, nearest: {options}")
