"""Previews which decisions and ratings a change of the codebook would affect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from quaestor.coding.codebook import CODEBOOK_FILE, preview_import, require_free_keys, require_usable_rules
from quaestor.coding.model.codebook.history import History
from quaestor.coding.model.records import Codebook
from quaestor.coding.model.state import CLOSED, OPEN, State
from quaestor.coding.pages.codebook.change_log import CodeDifference, describe_change, list_code_differences
from quaestor.coding.pages.codebook.code_detail import CodedItem, CodeUses, collect_uses, list_coded_facets
from quaestor.coding.session import CodingSession, StudyOrSession, open_coding
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

    at: int
    words: str
    changed: tuple[CodeDifference, ...]
    moves: tuple[RatingMove, ...]
    frozen: tuple[tuple[str, int], ...]
    """Open rounds with their versions, which the change does not affect."""
    unseen: tuple[tuple[str, str], ...]
    """Rounds with effects that the viewer may not see, each with the reason."""
    acts: tuple[str, ...] = ()
    """What each act of an imported file does."""
    stamp: str = ""
    """Identifies the preview of an imported file."""
    replaces: bool = False
    """Whether the file replaces the whole codebook."""

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
        history = coding.state.history
        book = history.preview_change(kind, payload)
        require_usable_rules(coding.state, kind, payload)
        after = History([*history.changes, (kind, payload)], [*history.versions, book])
        effects = _collect_effects(coding, book, viewer)
    return _build_preview(describe_change(kind, payload, after, book.version - 1), after, effects)


def preview_file(study: StudyOrSession, viewer: Viewer | None = None) -> ChangePreview:
    """Returns the effects of importing the codebook file of the study folder."""
    with open_coding(study) as coding:
        planned = preview_import(coding)
        history = coding.state.history
        after = History(list(history.changes), list(history.versions))
        for kind, payload in planned.acts:
            after.record(kind, payload)
        effects = _collect_effects(coding, planned.after, viewer)
    acts = tuple(
        describe_change(kind, payload, after, version)
        for version, (kind, payload) in enumerate(planned.acts, start=planned.before.version)
    )
    preview = _build_preview(f"Import {CODEBOOK_FILE}", after, effects)
    return replace(preview, acts=acts, stamp=planned.stamp, replaces=not planned.is_in_use)


@dataclass(frozen=True)
class _Effects:
    """What a preview needs, copied under the lock."""

    uses: CodeUses
    frozen: tuple[tuple[str, int], ...]
    unseen: tuple[tuple[str, str], ...]


def _collect_effects(coding: CodingSession, book: Codebook, viewer: Viewer | None) -> _Effects:
    state = coding.state
    require_free_keys(coding.study, state.history.latest, book)
    visibility = Visibility(state, coding.lead, viewer or Viewer(coding.lead, Role.LEAD))
    decided = [name for name in (*state.rounds, *state.published) if not visibility.why_no_decisions(name)]
    rated = [
        name
        for name, round_state in state.rounds.items()
        if round_state.status == CLOSED and not visibility.why_no_ratings(name)
    ]
    frozen = tuple(
        (name, round_state.plan.codebook)
        for name, round_state in state.rounds.items()
        if round_state.status == OPEN and list_coded_facets(state, name)
    )
    unseen = tuple(_list_unseen(state, visibility, decided, rated))
    return _Effects(collect_uses(state, decided=decided, rated=rated), frozen, unseen)


def _build_preview(words: str, after: History, effects: _Effects) -> ChangePreview:
    before = effects.uses.history.latest
    return ChangePreview(
        before.version,
        words,
        tuple(list_code_differences(before, after.latest)),
        tuple(list_moves(effects.uses, after)),
        effects.frozen,
        effects.unseen,
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
