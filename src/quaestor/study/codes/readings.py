"""Codes that raters and decisions named, taken out of the state and read under any version of the codebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quaestor.coding.codebook.history import History
from quaestor.coding.records import Decision, Rating
from quaestor.coding.state import State
from quaestor.coding.stretches import codes_in


@dataclass(frozen=True)
class Said:
    """The codes that an item was given, by a rater or by a decision, as they were given."""

    round: str
    facet: str
    item: str
    codes: tuple[str, ...]
    answers: Mapping[str, Any]
    """All that was said with them: the rules of a split code go by it."""
    number: int


@dataclass(frozen=True)
class Material:
    """What is to be read, taken out while nobody changes it, so that the reading holds up nobody."""

    history: History
    decisions: Mapping[str, list[Decision]]
    ratings: Mapping[str, list[Rating]]
    asked: Mapping[str, frozenset[str]]
    """By round the facets that are answered with codes."""

    def decided(self) -> Iterator[Said]:
        """The final answers that name codes."""
        for name, made in self.decisions.items():
            answers: dict[str, dict[str, Any]] = {}
            for one in made:
                answers.setdefault(one.item, {})[one.facet] = one.answer
            for one in made:
                if codes := self._codes(name, one.facet, one.answer):
                    yield Said(name, one.facet, one.item, codes, answers[one.item], one.number)

    def rated(self) -> Iterator[Said]:
        """The ratings that name codes, one for each seat and item."""
        for name, given in self.ratings.items():
            for one in given:
                for facet in self.asked[name]:
                    if codes := self._codes(name, facet, one.answers.get(facet)):
                        yield Said(name, facet, one.item, codes, one.answers, one.number)

    def _codes(self, name: str, facet: str, answer: Any) -> tuple[str, ...]:
        asked = self.asked.get(name)
        if asked is not None and facet not in asked:
            return ()
        given = codes_in(answer) if isinstance(answer, str | list | tuple) else []
        # Published decisions have no plan that says which facets have codes; an answer that is none is no code.
        return tuple(code for code in given if code in self.history.latest.codes)


def taken_out(state: State, *, decided: Iterable[str] = (), rated: Iterable[str] = ()) -> Material:
    """The decisions and the ratings of these rounds, or published decisions of these names."""
    decided, rated = list(decided), list(rated)
    return Material(
        History(list(state.history.changes), list(state.history.versions)),
        {name: _decisions(state, name) for name in decided},
        {name: _ratings(state, name) for name in rated},
        {name: coded_facets(state, name) for name in (*decided, *rated) if name in state.rounds},
    )


def coded_facets(state: State, name: str) -> frozenset[str]:
    """What a round asks that is answered with codes."""
    return frozenset(facet.id for facet in state.round(name).plan.facets if facet.codes)


def _decisions(state: State, name: str) -> list[Decision]:
    if name in state.published:
        return list(state.published[name].values())
    return [made[-1] for made in state.round(name).decisions.values()]


def _ratings(state: State, name: str) -> list[Rating]:
    one = state.round(name)
    found = (one.of_seat(seat, item) for seat in one.seats for item in seat.items[0])
    return [rating for rating in found if rating is not None]
