"""Records of a transcript file: utterances and turns with speaker, text and times."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Utterance:
    """Text that a file has as one unit: a cue, a paragraph, a row."""

    speaker: str
    """The label in the file; empty if it has none."""
    text: str
    start: float | None = None
    """Seconds from the beginning of the recording."""
    end: float | None = None


@dataclass(frozen=True)
class CuePlace:
    """Where the words of a cue begin in the text of a turn, and when they were said."""

    place: int
    """In characters, which are Unicode code points."""
    start: float
    end: float | None = None


@dataclass(frozen=True)
class RecordedTurn:
    """What a speaker said before somebody else spoke."""

    speaker: str
    text: str
    start: float | None = None
    end: float | None = None
    cues: tuple[CuePlace, ...] = ()
    """Empty if the turn is a single unit in the file."""


@dataclass(frozen=True)
class ReadTranscript:
    """The content of a transcript file."""

    format: str
    encoding: str
    turns: tuple[RecordedTurn, ...]
    left_out: tuple[str, ...] = ()
    """Text in the file that is not part of the conversation."""
    doubtful: bool = False
    """Whether letters may be wrong: the file does not declare its encoding, and their combinations are unusual."""

    @property
    def words(self) -> int:
        return sum(len(turn.text.split()) for turn in self.turns)

    @property
    def speakers(self) -> tuple[str, ...]:
        """The speakers in the order of their first turns."""
        return tuple(dict.fromkeys(turn.speaker for turn in self.turns))
