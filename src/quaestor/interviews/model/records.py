"""Values of interviews: guides, participants, interviews, transcripts and their turns."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from quaestor.base.errors import InputError
from quaestor.base.names import strip_strand

_SPACE, _WORD = re.compile(r"\s"), re.compile(r"\S+")
_TURN = re.compile(r"(P\d{1,9})(?:-\d{1,9})?/\d{1,9}")
_NOTHING: Mapping[str, str] = MappingProxyType({})


class Asks(StrEnum):
    """How a question of a guide is asked."""

    OPEN = "open"
    GUIDED = "guided"
    BRIEF = "brief"
    REFERENCE = "reference"
    """With reference items: several can be ticked, and others added."""


@dataclass(frozen=True)
class ReferenceItem:
    """An item that an interviewee may refer to."""

    code: str
    label: str


@dataclass(frozen=True)
class GuideQuestion:
    """One question of a guide."""

    id: str
    text: str
    asks: Asks = Asks.OPEN
    optional: bool = False
    probes: tuple[str, ...] = ()
    note: str = ""
    """For the interviewer only."""
    items: tuple[ReferenceItem, ...] = ()
    other: bool = False
    """Whether items may be added that the guide does not list."""
    research: tuple[str, ...] = ()


@dataclass(frozen=True)
class GuideSection:
    """A part of an interview and its planned time."""

    id: str
    title: str
    minutes: float
    questions: tuple[GuideQuestion, ...] = ()
    script: str = ""
    """What the interviewer says before its questions, as Markdown."""
    note: str = ""
    """For the interviewer only."""
    part: str = ""  # opening, closing


@dataclass(frozen=True)
class Guide:
    """An interview guide."""

    id: str
    title: str
    minutes: float
    sections: tuple[GuideSection, ...]
    agreement: str = ""
    """The file of the consent form, in the guide's folder."""
    research: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    language: str = "en"

    @property
    def opening(self) -> str:
        """What is said first."""
        return next((section.script for section in self.sections if section.part == "opening"), "")

    @property
    def closing(self) -> str:
        """What is said last."""
        return next((section.script for section in self.sections if section.part == "closing"), "")

    def questions(self) -> Iterator[GuideQuestion]:
        for section in self.sections:
            yield from section.questions

    def question(self, name: str) -> GuideQuestion | None:
        return next((question for question in self.questions() if question.id == name), None)

    def section_of(self, question: str) -> GuideSection | None:
        return next((section for section in self.sections if any(q.id == question for q in section.questions)), None)


class Voice(StrEnum):
    """Who speaks a turn of a transcript."""

    PARTICIPANT = "participant"
    INTERVIEWER = "interviewer"
    OTHER = "other"


@dataclass(frozen=True)
class Replacement:
    """A name of a person, an organisation or a product in a turn, and what is shown instead."""

    turn: int
    start: int
    end: int
    shown: str
    name: str = ""
    """The id of the name in the identities file."""


@dataclass(frozen=True)
class SpokenTurn:
    """A turn with its voice, the question it answers, and its replacements."""

    number: int
    voice: Voice
    raw: str
    replacements: tuple[Replacement, ...] = ()
    """Confirmed replacements in order; they do not overlap."""
    question: str = ""
    """The question of the guide that is being answered; empty outside of its questions."""
    asks: bool = False
    """Whether the interviewer asks that question here."""
    start: float | None = None
    end: float | None = None
    cues: tuple[tuple[int, float | None, float | None], ...] = ()
    """Positions in the recorded text where a cue of the file began, each with its start and end time."""

    @property
    def text(self) -> str:
        """The shown text, with names masked."""
        return "".join(piece for piece, _, _ in self.shown_pieces())

    def shown_pieces(self) -> Iterator[tuple[str, int, int]]:
        """Yields (shown text, start, end): each piece of the shown text with its position in the recorded text."""
        place = 0
        for replacement in self.replacements:
            if replacement.start > place:
                yield self.raw[place : replacement.start], place, replacement.start
            yield replacement.shown, replacement.start, replacement.end
            place = replacement.end
        if place < len(self.raw):
            yield self.raw[place:], place, len(self.raw)

    @property
    def words(self) -> list[tuple[int, int]]:
        """The positions of the words in the shown text; a masked name such as [place A] is one word."""
        masked = {(replacement.start, replacement.end) for replacement in self.replacements}
        joined = "".join(
            _SPACE.sub("_", piece) if (low, high) in masked else piece for piece, low, high in self.shown_pieces()
        )
        return [match.span() for match in _WORD.finditer(joined)]

    def to_shown(self, start: int, end: int) -> tuple[int, int]:
        """Maps a range of the recorded text to the shown text; a replacement that it touches counts as a whole."""
        shown, first, last = 0, None, 0
        replaced = {(replacement.start, replacement.end) for replacement in self.replacements}
        for piece, low, high in self.shown_pieces():
            if high > start and low < end:
                whole = (low, high) in replaced
                here = shown if whole else shown + max(start - low, 0)
                first = here if first is None else first
                last = shown + (len(piece) if whole else min(end, high) - low)
            shown += len(piece)
        return (first, last) if first is not None else (shown, shown)

    def to_raw(self, start: int, end: int) -> tuple[int, int]:
        """Maps a range of the shown text to the recorded text; a replacement that it touches counts as a whole."""
        shown, first, last = 0, None, 0
        replaced = {(replacement.start, replacement.end) for replacement in self.replacements}
        for piece, low, high in self.shown_pieces():
            after = shown + len(piece)
            if after > start and shown < end:
                whole = (low, high) in replaced
                here = low if whole else low + max(start - shown, 0)
                first = here if first is None else first
                last = high if whole else low + min(end, after) - shown
            shown = after
        return (first, last) if first is not None else (len(self.raw), len(self.raw))


def is_coded(turn: SpokenTurn) -> bool:
    """Whether raters code a turn: it is a participant's and not empty."""
    return turn.voice is Voice.PARTICIPANT and bool(turn.text.strip())


@dataclass(frozen=True)
class Transcript:
    """The transcript of one interview."""

    interview: str
    participant: str
    guide: str
    version: int
    turns: tuple[SpokenTurn, ...]
    item_prefix: str = ""
    """The strand of the turns, at the beginning of their item ids."""

    def item(self, turn: int) -> str:
        """Returns the id of a turn as an item that raters code."""
        return f"{self.item_prefix}{build_item_id(self.interview, turn)}"


@dataclass(frozen=True)
class Participant:
    """An interviewee, identified by a pseudonym from the start."""

    pseudonym: str
    role: str = ""
    years: float | None = None
    field: str = ""
    synthetic: bool = False
    attributes: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False)
    """Further attributes that study.toml declares, such as seniority; only those that are known."""


@dataclass(frozen=True)
class Interview:
    """One interview: with whom, by which version of which guide, and its status."""

    id: str
    participant: str
    guide: str
    version: int
    status: str = "planned"  # planned, under way, held
    day: str = ""
    """When it was held: when its clock was started, or as given with the transcript; empty if nobody knows."""
    began: str = ""
    """When its clock was started; empty if it was not held at the desk."""
    seconds: float = 0.0
    transcript: bool = False
    group: str = ""
    """The name of the group, if several participants were interviewed together."""

    @property
    def length(self) -> str:
        """The duration in whole minutes."""
        minutes = round(self.seconds / 60)
        return f"{minutes} {'minute' if minutes == 1 else 'minutes'}" if minutes else "under a minute"


def build_item_id(interview: str, turn: int) -> str:
    """Returns the id of a turn within its source; `Interviews.item` adds the strand."""
    return f"{interview}/{turn:05d}"


def parse_item_id(item: str) -> tuple[str, int]:
    """Returns the interview and the turn that an item id stands for."""
    interview, _, turn = strip_strand(item).rpartition("/")
    if not interview or not (turn.isascii() and turn.isdigit()):
        raise InputError(f"{item!r} is not a turn of a transcript: give an id such as P1/00012")
    return interview, int(turn)


def find_participant(item: str) -> str | None:
    """Returns the participant of a turn by its item id; None for other items. The interviews of P1 are P1, P1-2 …"""
    turn = _TURN.fullmatch(strip_strand(item))
    return turn[1] if turn else None


def describe_participant(participant: Participant) -> str:
    """Describes a participant in one line that contains no name."""
    years = "" if participant.years is None else f"{participant.years:g} year{'' if participant.years == 1 else 's'}"
    synthetic = "synthetic" if participant.synthetic else ""
    more = [f"{name}: {value}" for name, value in participant.attributes.items()]
    return " · ".join(part for part in (participant.role, years, participant.field, *more, synthetic) if part)


def format_clock(seconds: float | None) -> str:
    """Formats seconds as `4:05`, or `1:02:09` after an hour; empty if the recording has no times."""
    if seconds is None:
        return ""
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
