"""What a change of the codebook would move, worked out before anybody makes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from quaestor.coding.codebook import require_usable_rules
from quaestor.coding.model.codebook.history import History
from quaestor.coding.model.state import CLOSED, OPEN, State
from quaestor.coding.pages.codebook.change_log import Compared, compared, told
from quaestor.coding.pages.codebook.code_detail import Material, Said, coded_facets, taken_out
from quaestor.coding.session import Where, open_coding
from quaestor.coding.visibility import Visibility, Viewer
from quaestor.people.roles import Role

DECIDED, RATED = "decided items", "ratings"
_EXAMPLES = 3


@dataclass(frozen=True)
class Place:
    """A code as it is under one version."""

    code: str
    name: str
    """The names on the way to it."""
    offered: bool


@dataclass(frozen=True)
class Move:
    """Decided items, or ratings, of one round that are read in one way before a change and in another after it."""

    what: str
    round: str
    facet: str
    before: Place | None
    after: Place | None
    """None where they would be left without a code."""
    count: int
    items: tuple[str, ...]
    """A few of them."""

    @property
    def left(self) -> bool:
        """Whether they are left with a code that is no longer offered, or with none."""
        return self.after is None or not self.after.offered


@dataclass(frozen=True)
class Preview:
    """A change, the version it is looked at from, and all that it would move as far as the viewer may see."""

    kind: str
    payload: Mapping[str, Any]
    at: int
    words: str
    changed: tuple[Compared, ...]
    moves: tuple[Move, ...]
    frozen: tuple[tuple[str, int], ...]
    """Open rounds and their versions: they go on as they are."""
    unseen: tuple[tuple[str, str], ...]
    """Rounds that may hold more, and why the viewer does not see it."""

    def total(self, what: str) -> int:
        return sum(move.count for move in self.moves if move.what == what)

    @property
    def left(self) -> tuple[Move, ...]:
        return tuple(move for move in self.moves if move.left)

    @property
    def rounds(self) -> dict[str, list[Move]]:
        """The moves by round, decided items first."""
        found: dict[str, list[Move]] = {}
        for move in self.moves:
            found.setdefault(move.round, []).append(move)
        return found


def preview_change(where: Where, kind: str, payload: Mapping[str, Any], viewer: Viewer | None = None) -> Preview:
    """What a change would move for somebody who may see it, by default the lead; refused as the change would be."""
    with open_coding(where) as coding:
        state = coding.state
        sight = Visibility(state, coding.lead, viewer or Viewer(coding.lead, Role.LEAD))
        book = state.history.preview_change(kind, payload)
        require_usable_rules(state, kind, payload)
        decided = [name for name in (*state.rounds, *state.published) if not sight.why_no_decisions(name)]
        rated = [
            name
            for name, round_state in state.rounds.items()
            if round_state.status == CLOSED and not sight.why_no_ratings(name)
        ]
        material = taken_out(state, decided=decided, rated=rated)
        frozen = tuple(
            (name, round_state.plan.codebook)
            for name, round_state in state.rounds.items()
            if round_state.status == OPEN and coded_facets(state, name)
        )
        unseen = tuple(_unseen(state, sight, decided, rated))
    history = material.history
    before = history.latest
    after = History([*history.changes, (kind, payload)], [*history.versions, book])
    return Preview(
        kind,
        dict(payload),
        before.version,
        told(kind, payload, history, before.version),
        tuple(compared(before, book)),
        tuple(moves_between(material, after)),
        frozen,
        unseen,
    )


def _unseen(state: State, sight: Visibility, decided: list[str], rated: list[str]) -> Iterable[tuple[str, str]]:
    for name, round_state in state.rounds.items():
        if round_state.status == CLOSED and coded_facets(state, name) and not (name in decided and name in rated):
            yield name, sight.why_no_decisions(name) or sight.why_no_ratings(name)


def moves_between(material: Material, after: History) -> list[Move]:
    """Everything that the newest version of a later history reads in another way, the most first within a round."""
    before = _Reader(material.history)
    then = _Reader(after)
    found: dict[tuple[str, str, str, Place | None, Place | None], list[str]] = {}
    for what, every in ((DECIDED, material.decided()), (RATED, material.rated())):
        for said in every:
            for code in said.codes:
                old, new = before.place(said, code), then.place(said, code)
                if old != new:
                    found.setdefault((what, said.round, said.facet, old, new), []).append(said.item)
    moves = [Move(*key, len(items), tuple(dict.fromkeys(items))[:_EXAMPLES]) for key, items in found.items()]
    order = {name: place for place, name in enumerate((*material.ratings, *material.decisions))}
    return sorted(moves, key=lambda move: (order[move.round], move.what != DECIDED, -move.count))


class _Reader:
    """Reads codes under the newest version of a history."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._book = history.latest
        self._places: dict[str, Place] = {}

    def place(self, said: Said, code: str) -> Place | None:
        read = self._history.find_code(code, self._book.version, said.item, said.answers).code
        if read is None:
            return None
        if read not in self._places:
            self._places[read] = Place(read, self._book.path_name(read), self._book.codes[read].active)
        return self._places[read]
