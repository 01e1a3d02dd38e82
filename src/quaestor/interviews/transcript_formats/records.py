"""What a file of a conversation says: who, when, which words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Utterance:
    """Words that a file gives as one: a cue, a paragraph, a row."""

    speaker: str
    """As the file calls them; empty where it does not say."""
    text: str
    start: float | None = None
    """Seconds from the beginning of the recording."""
    end: float | None = None


@dataclass(frozen=True)
class CuePlace:
    """Where in the text of a turn the words of a cue begin, and when they were said."""

    place: int
    """In characters, which are Unicode code points."""
    start: float
    end: float | None = None


@dataclass(frozen=True)
class RecordedTurn:
    """What somebody said before somebody else spoke."""

    speaker: str
    text: str
    start: float | None = None
    end: float | None = None
    cues: tuple[CuePlace, ...] = ()
    """None where the turn was given as one."""


@dataclass(frozen=True)
class ReadTranscript:
    """A file that was read whole."""

    format: str
    encoding: str
    turns: tuple[RecordedTurn, ...]
    left_out: tuple[str, ...] = ()
    """What the file says beside the conversation."""
    doubtful: bool = False
    """Whether its letters hardly belong together, since it does not say its encoding."""

    @property
    def words(self) -> int:
        return sum(len(turn.text.split()) for turn in self.turns)

    @property
    def speakers(self) -> tuple[str, ...]:
        """In the order in which they first speak."""
        return tuple(dict.fromkeys(turn.speaker for turn in self.turns))
