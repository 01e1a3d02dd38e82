"""Previews which decisions and ratings a change of the codebook would affect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from quaestor.coding.codebook import require_free_keys, require_usable_rules
from quaestor.coding.model.codebook.history import History
from quaestor.coding.model.state import CLOSED, OPEN, State
from quaestor.coding.pages.codebook.change_log import CodeDifference, describe_change, list_code_differences
from quaestor.coding.pages.codebook.code_detail import CodedItem, CodeUses, collect_uses, list_coded_facets
from quaestor.coding.session import StudyOrSession, open_coding
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.people.roles import Role

DECIDED, RATED = "decided items", "ratings"
_EXAMPLES = 3


@dataclass(frozen=True)
class CodeAtVersion:
    """A code under one version of the codebook."""

    code: str
    name: str
    """The names from the root down to the code."""
    offered: bool


@dataclass(frozen=True)
class RatingMove:
    """Decided items or ratings of one round whose code differs before and after a change."""

    what: str
    round: str
    facet: str
    before: CodeAtVersion | None
    after: CodeAtVersion | None
    """None if they would have no code."""
    count: int
    items: tuple[str, ...]
    """A few examples."""

    @property
    def left(self) -> bool:
        """Whether they would have no code or one that is no longer active."""
        return self.after is None or not self.after.offered


@dataclass(frozen=True)
class ChangePreview:
    """A change, the version it applies to, and its effects as far as the viewer may see them."""

    kind: str
    payload: Mapping[str, Any]
    at: int
    words: str
    changed: tuple[CodeDifference, ...]
    moves: tuple[RatingMove, ...]
    frozen: tuple[tuple[str, int], ...]
    """Open rounds with their versions, which the change does not affect."""
    unseen: tuple[tuple[str, str], ...]
    """Rounds with effects that the viewer may not see, each with the reason."""

    def total(self, what: str) -> int:
        return sum(move.count for move in self.moves if move.what == what)

    @property
    def left(self) -> tuple[RatingMove, ...]:
        return tuple(move for move in self.moves if move.left)

    @property
    def rounds(self) -> dict[str, list[RatingMove]]:
        """Returns the moves by round, decided items first."""
        moves_by_round: dict[str, list[RatingMove]] = {}
        for move in self.moves:
            moves_by_round.setdefault(move.round, []).append(move)
        return moves_by_round


def preview_change(
    study: StudyOrSession, kind: str, payload: Mapping[str, Any], viewer: Viewer | None = None
) -> ChangePreview:
    """Returns the effects of a change for a viewer, by default the lead; raises if the change is not allowed."""
    with open_coding(study) as coding:
        state = coding.state
        visibility = Visibility(state, coding.lead, viewer or Viewer(coding.lead, Role.LEAD))
        book = state.history.preview_change(kind, payload)
        require_usable_rules(state, kind, payload)
        require_free_keys(coding.study, state.history.latest, book)
        decided = [name for name in (*state.rounds, *state.published) if not visibility.why_no_decisions(name)]
        rated = [
            name
            for name, round_state in state.rounds.items()
            if round_state.status == CLOSED and not visibility.why_no_ratings(name)
        ]
        uses = collect_uses(state, decided=decided, rated=rated)
        frozen = tuple(
            (name, round_state.plan.codebook)
            for name, round_state in state.rounds.items()
            if round_state.status == OPEN and list_coded_facets(state, name)
        )
        unseen = tuple(_list_unseen(state, visibility, decided, rated))
    history = uses.history
    before = history.latest
    after = History([*history.changes, (kind, payload)], [*history.versions, book])
    return ChangePreview(
        kind,
        dict(payload),
        before.version,
        describe_change(kind, payload, history, before.version),
        tuple(list_code_differences(before, book)),
        tuple(list_moves(uses, after)),
        frozen,
        unseen,
    )


def _list_unseen(
    state: State, visibility: Visibility, decided: list[str], rated: list[str]
) -> Iterable[tuple[str, str]]:
    for name, round_state in state.rounds.items():
        if round_state.status == CLOSED and list_coded_facets(state, name) and not (name in decided and name in rated):
            yield name, visibility.why_no_decisions(name) or visibility.why_no_ratings(name)


def list_moves(uses: CodeUses, after: History) -> list[RatingMove]:
    """Returns the moves to the newest version of a later history, the largest first in each round."""
    before = _CodeReader(uses.history)
    then = _CodeReader(after)
    items_by_move: dict[tuple[str, str, str, CodeAtVersion | None, CodeAtVersion | None], list[str]] = {}
    for what, coded_items in ((DECIDED, uses.iterate_decided()), (RATED, uses.iterate_rated())):
        for coded_item in coded_items:
            for code in coded_item.codes:
                old, new = before.read(coded_item, code), then.read(coded_item, code)
                if old != new:
                    items_by_move.setdefault((what, coded_item.round, coded_item.facet, old, new), []).append(
                        coded_item.item
                    )
    moves = [
        RatingMove(*key, len(items), tuple(dict.fromkeys(items))[:_EXAMPLES]) for key, items in items_by_move.items()
    ]
    order = {name: number for number, name in enumerate((*uses.ratings, *uses.decisions))}
    return sorted(moves, key=lambda move: (order[move.round], move.what != DECIDED, -move.count))


class _CodeReader:
    """Finds codes under the newest version of a history; cached."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._book = history.latest
        self._places: dict[str, CodeAtVersion] = {}

    def read(self, coded_item: CodedItem, code: str) -> CodeAtVersion | None:
        read = self._history.find_code(code, self._book.version, coded_item.item, coded_item.answers).code
        if read is None:
            return None
        if read not in self._places:
            self._places[read] = CodeAtVersion(read, self._book.path_name(read), self._book.codes[read].active)
        return self._places[read]
