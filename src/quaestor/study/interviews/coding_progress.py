"""How far a rater is with the transcripts of a round."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.coding.records import Rating, stretches_in
from quaestor.coding.state import OPEN
from quaestor.coding.views import rater_place
from quaestor.study.coding import Coding
from quaestor.study.interviews.coding_sheet import CodingSheet, required_facet
from quaestor.study.interviews.items import place_of
from quaestor.study.interviews.room import Interviews


@dataclass(frozen=True)
class TranscriptProgress:
    """How far a rater is with one transcript."""

    interview: str
    participant: str
    done: int
    total: int
    stretches: int
    erased: bool = False

    @property
    def left(self) -> int:
        return self.total - self.done


@dataclass(frozen=True)
class RoundProgress:
    """The transcripts of a round for one rater."""

    round: str
    instructions: str
    is_open: bool
    transcripts: tuple[TranscriptProgress, ...]

    @property
    def first_left(self) -> str:
        """The first transcript that is not read to the end."""
        return next((one.interview for one in self.transcripts if one.left and not one.erased), "")


def round_progress(coding: Coding, interviews: Interviews, name: str, rater: str) -> RoundProgress:
    """The transcripts of a round with how far this rater is, in the order of the interviews."""
    known = {one.id: place for place, one in enumerate(interviews.interviews())}
    with coding.looking() as state:
        place = rater_place(state, name, rater)
        facet = required_facet(place.plan)
        is_open = state.round(name).status == OPEN
        counted: dict[str, list[Rating | None]] = {}
        for item in place.progress:
            counted.setdefault(place_of(item)[0], []).append(place.rating(item))
    found = [
        TranscriptProgress(
            interview,
            interview,
            sum(one is not None for one in ratings),
            len(ratings),
            sum(len(stretches_in(one.answers.get(facet.id))) for one in ratings if one is not None),
            interview not in known,
        )
        for interview, ratings in counted.items()
    ]
    ordered = sorted(found, key=lambda one: (known.get(one.interview, len(known)), one.interview))
    return RoundProgress(name, place.plan.instructions, is_open, tuple(ordered))


def next_transcript(coding: Coding, interviews: Interviews, sheet: CodingSheet) -> str:
    """The transcript that a rater goes on with, where this page holds all that is left of the one it shows."""
    if sheet.left > sheet.left_here:
        return ""
    known = [one.id for one in interviews.interviews()]
    with coding.looking() as state:
        place = rater_place(state, sheet.round, sheet.rater)
        left = {place_of(item)[0] for item in place.progress if place.rating(item) is None}
    here = known.index(sheet.interview)
    return next((one for one in [*known[here + 1 :], *known[:here]] if one in left), "")
