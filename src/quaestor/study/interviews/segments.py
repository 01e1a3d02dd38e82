"""What a transcript falls into: turns, or answers to the questions of the guide; ids that stay, places that fit.

Selections that a rater makes freely are stretches of turns, and belong to their rating.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from quaestor.base.errors import InputError
from quaestor.instruments.interviews.records import SpokenTurn, Transcript, Voice

TURN, ANSWER = "turn", "answer"
JOINT = "\n"
"""Stands between two turns of an answer."""


@dataclass(frozen=True)
class Segment:
    """A part of a transcript: the turns of a participant that belong together."""

    id: str
    """`P1/00012` for a turn; `P1/factors@00011` for the answer to `factors`, which turn 11 asks."""
    kind: str
    interview: str
    participant: str
    question: str
    turns: tuple[SpokenTurn, ...]

    @property
    def raw(self) -> str:
        """Its words as they were recorded."""
        return JOINT.join(turn.raw for turn in self.turns)

    @property
    def text(self) -> str:
        """Its words with nobody's name in them."""
        return JOINT.join(turn.text for turn in self.turns)

    @property
    def start(self) -> float | None:
        return next((turn.start for turn in self.turns if turn.start is not None), None)

    @property
    def end(self) -> float | None:
        return next((turn.end for turn in reversed(self.turns) if turn.end is not None), None)

    def to_segment(self, turn: int, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of a turn's recorded words stands in those of the segment."""
        for begins, one in zip(self._begins(), self.turns, strict=True):
            if one.number == turn:
                return begins + start, begins + end
        raise InputError(f"turn {turn} is not in {self.id}")

    def to_turns(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """The stretches (turn, start, end) of recorded words that a stretch of the segment covers."""
        begins = list(self._begins())
        found = []
        for place in range(max(bisect_right(begins, start) - 1, 0), len(begins)):
            low, one = begins[place], self.turns[place]
            first, last = max(start - low, 0), min(end - low, len(one.raw))
            if first < last:
                found.append((one.number, first, last))
        return found

    def _begins(self) -> Iterator[int]:
        place = 0
        for turn in self.turns:
            yield place
            place += len(turn.raw) + len(JOINT)


def turn_segments(transcript: Transcript) -> list[Segment]:
    """Each turn of the participant."""
    return [
        Segment(
            transcript.item(turn.number), TURN, transcript.interview, transcript.participant, turn.question, (turn,)
        )
        for turn in transcript.turns
        if turn.voice is Voice.PARTICIPANT
    ]


def answer_segments(transcript: Transcript) -> list[Segment]:
    """What the participant says from one question of the guide to the next; nothing where they say nothing."""
    found: list[Segment] = []
    asked: SpokenTurn | None = None
    said: list[SpokenTurn] = []
    for turn in (*transcript.turns, None):
        if turn is None or turn.asks:
            if asked is not None and said:
                name = f"{transcript.interview}/{asked.question}@{asked.number:05d}"
                found.append(
                    Segment(name, ANSWER, transcript.interview, transcript.participant, asked.question, tuple(said))
                )
            asked, said = turn, []
        if turn is not None and turn.voice is Voice.PARTICIPANT:
            said.append(turn)
    return found
