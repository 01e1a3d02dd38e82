"""The desk of a study: its journal kept open, and for each rater the next sheet to fill in."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import StateError
from quaestor.coding.answers import choices, written
from quaestor.coding.ratings import to_practise
from quaestor.coding.records import CANNOT_JUDGE, Codebook, Facet, RaterView, Rating
from quaestor.coding.views import rater_view
from quaestor.store.records import new_key
from quaestor.study.coding import Coding
from quaestor.study.folder import Study
from quaestor.study.journal import open_journal
from quaestor.study.rating_desk import tried
from quaestor.study.ratings import rate
from quaestor.study.reading import BATCH, Reading, ReadingRoom

_KEYS = "123456789abcdefghijklmnopqrstuvwxyz"
_RESERVED = set("umsbpn0/?")
"""Keys that do something else on the desk."""
_RECENT = 30


@dataclass(frozen=True)
class Choice:
    """One answer that can be chosen, and the key that chooses it."""

    value: str
    label: str
    key: str = ""
    definition: str = ""
    group: str = ""


@dataclass(frozen=True)
class Asked:
    """One facet as a sheet asks it."""

    facet: str
    kind: str
    question: str
    choices: tuple[Choice, ...] = ()
    proposed: tuple[tuple[str, str], ...] = ()
    given: Any = None
    """What this rater said before, as one writes it."""
    unsure: bool = False
    required: bool = True


@dataclass(frozen=True)
class Sheet:
    """One item to rate and all that belongs on the page; nothing of it comes from another rater."""

    round: str
    kind: str
    rater: str
    instructions: str
    item: str
    reading: Reading
    asked: tuple[Asked, ...]
    memo: str
    rated: bool
    practice: bool
    before: str
    after: str
    done: int
    total: int
    set: int
    sets: int
    pace: float | None
    """Seconds an item took, in the middle of the last ones."""


class Desk:
    """A study that pages work on: one journal, open as long as the server runs."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.journal = open_journal(study)
        self.coding = Coding(study, self.journal)
        self.room = ReadingRoom(study)

    def close(self) -> None:
        self.journal.close()

    def sheet(self, name: str, rater: str, item: str = "") -> Sheet | None:
        """A rater's sheet: the item asked for, else the next one; None where nothing is left."""
        state = self.coding.state
        view = rater_view(state, name, rater)
        trying = [one.item for one in to_practise(state.round(name), rater)]
        if trying and not item:
            return self._sheet(view, trying[0], practice=True)
        left = view.left
        if not item and not left:
            return None
        wanted = item or left[0]
        if wanted not in view.items and wanted not in trying:
            raise StateError(f"the item {wanted!r} is not among yours in {name!r}")
        return self._sheet(view, wanted, practice=wanted in trying)

    def ahead(self, name: str, rater: str, after: str, most: int) -> list[Sheet]:
        """The sheets that come after an item: what is left behind it, then what was skipped before it."""
        view = rater_view(self.coding.state, name, rater)
        left, order = set(view.left), list(view.items)
        place = order.index(after) + 1 if after in order else 0
        following = [item for item in (*order[place:], *order[:place]) if item in left and item != after]
        return [self._sheet(view, item, practice=False) for item in following[:most]]

    def _sheet(self, view: RaterView, item: str, *, practice: bool) -> Sheet:
        order = list(view.items)
        place = order.index(item) if item in order else -1
        given = view.ratings.get(item)
        ahead = order[place + 1 : place + 1 + BATCH] if place >= 0 else order[:BATCH]
        waiting = set(view.left)
        left = [one for one in order[place + 1 :] if one in waiting] or [one for one in view.left if one != item]
        return Sheet(
            round=view.round,
            kind=view.kind,
            rater=view.rater,
            instructions=view.instructions,
            item=item,
            reading=self.room.get(item, ahead),
            asked=tuple(_asked(facet, view, item, given) for facet in view.facets),
            memo=given.memo if given else "",
            rated=given is not None,
            practice=practice,
            before=order[place - 1] if place > 0 else "",
            after=left[0] if left else "",
            done=len(view.items) - len(view.left),
            total=len(view.items),
            set=view.set,
            sets=view.sets,
            pace=_pace(view.ratings.values()),
        )

    def give(
        self,
        name: str,
        rater: str,
        item: str,
        answers: Mapping[str, Any],
        *,
        unsure: Sequence[str] = (),
        memo: str = "",
        seconds: float = 0.0,
        key: str = "",
    ) -> int:
        """Record a rating; the number of its act, which the disk has."""
        return rate(self.coding, name, rater, item, answers, unsure=tuple(unsure), memo=memo, seconds=seconds, key=key)

    def practise(self, name: str, rater: str, item: str, answers: Mapping[str, Any]) -> dict[str, Any]:
        """Try a practice item and hear what would have been right."""
        return tried(self.coding, name, rater, item, answers)

    def own_ratings(self, name: str, rater: str) -> list[Rating]:
        """What a rater has said so far, the newest first."""
        view = rater_view(self.coding.state, name, rater)
        return sorted(view.ratings.values(), key=lambda one: -one.number)


def _pace(ratings: Any) -> float | None:
    spent = [one.seconds for one in sorted(ratings, key=lambda one: one.number)[-_RECENT:] if one.seconds > 0]
    return statistics.median(spent) if spent else None


def _asked(facet: Facet, view: RaterView, item: str, given: Rating | None) -> Asked:
    proposed = view.proposals.get(item, {}) if facet.kind == "confirm" else {}
    said = given.answers.get(facet.id) if given else None
    return Asked(
        facet.id,
        facet.kind,
        facet.question,
        _choices(facet, view.codebook),
        tuple(sorted(proposed.items())),
        CANNOT_JUDGE if said == CANNOT_JUDGE else said,
        given is not None and facet.id in given.unsure,
        facet.required,
    )


def _choices(facet: Facet, book: Codebook) -> tuple[Choice, ...]:
    if facet.kind == "keep":
        reasons = [Choice(f"exclude: {reason}", reason, group="exclude") for reason in facet.reasons]
        return _keyed([Choice("keep", "keep"), *(reasons or [Choice("exclude", "exclude")])])
    if facet.kind == "confirm":
        return (Choice("yes", "yes", "y"), Choice("no", "no", "n"))
    if facet.kind not in ("single", "multiple"):
        return ()
    found = []
    for value, label in choices(facet, book).items():
        code = book.codes.get(value)
        parent = book.codes[code.parent].name if code is not None and code.parent else ""
        found.append(Choice(value, label, code.key if code else "", code.definition if code else "", parent))
    return _keyed(found)


def _keyed(found: Sequence[Choice]) -> tuple[Choice, ...]:
    """A key for each choice: its own, where the codebook gives one, else the next that is free."""
    taken = {one.key for one in found if one.key}
    free = [key for key in _KEYS if key not in taken and key not in _RESERVED]
    keyed = []
    for one in found:
        key = one.key or (free.pop(0) if free else "")
        keyed.append(Choice(one.value, one.label, key, one.definition, one.group))
    return tuple(keyed)


def answer_in_words(answer: Any) -> str:
    """An answer as one line of text."""
    return written(answer)


def fresh_key() -> str:
    """What makes a rating sent twice one rating."""
    return new_key()
