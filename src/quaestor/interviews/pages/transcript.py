"""A transcript to be read: a window of its turns under the questions they answer, and what can be corrected in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from quaestor.base.errors import InputError
from quaestor.instruments.interviews.records import Guide, GuideQuestion, Interview, SpokenTurn, Transcript, Voice
from quaestor.study.coding import require_lead
from quaestor.study.interviews.correcting import Speaker, decided_by_hand, speakers_of
from quaestor.study.interviews.masking import read_by
from quaestor.study.interviews.room import Interviews
from quaestor.study.interviews.transcripts import latest_import, since_import

WINDOW = 150
"""Turns of a page: a long interview opens as fast as a short one."""
VOICE_WORDS = {Voice.INTERVIEWER: "Interviewer", Voice.OTHER: "Somebody else"}
"""What a voice is called on pages; the participant has a pseudonym."""


@dataclass(frozen=True)
class TurnLine:
    """A turn as it is read."""

    turn: SpokenTurn
    who: str
    time: str
    heading: GuideQuestion | None = None
    """The question that it asks."""
    by_hand: bool = False
    """Whether a person said which question it asks, or that it asks none."""

    @property
    def shown(self) -> str:
        return self.turn.text


@dataclass(frozen=True)
class TranscriptSheet:
    """A page of a transcript."""

    interview: Interview
    guide: Guide
    lines: tuple[TurnLine, ...]
    page: int
    pages: int
    turns: int
    words: int
    seconds: float | None
    format: str
    day: str
    speakers: tuple[Speaker, ...]
    asked: dict[str, int]
    """Questions that were found, with the first turn that asks each."""
    answering: GuideQuestion | None
    """The question that the first turn of the page belongs to."""

    @property
    def missing(self) -> list[GuideQuestion]:
        """Questions of the guide that nobody was found to ask."""
        return [one for one in self.guide.questions() if one.id not in self.asked]


def transcript_sheet(
    interviews: Interviews, name: str, page: int = 1, actor: str | None = None
) -> TranscriptSheet | None:
    """A page of a transcript, from 1, as somebody may read it; None where none has come in yet."""
    interview = interviews.interview(name)
    if not interview.transcript:
        return None
    transcript = read_by(interviews, name, actor)
    pages = max(1, -(-len(transcript.turns) // WINDOW))
    if not 1 <= page <= pages:
        raise InputError(f"the transcript of {name} has {pages} pages: there is no page {page}")
    guide = interviews.guide_of(interview)
    imported = latest_import(since_import(interviews.file.entries(about=name)))
    shown = transcript.turns[(page - 1) * WINDOW : page * WINDOW]
    asked: dict[str, int] = {}
    for turn in transcript.turns:
        if turn.asks:
            asked.setdefault(turn.question, turn.number)
    return TranscriptSheet(
        interview,
        guide,
        tuple(_lines(shown, transcript, guide, decided_by_hand(interviews, name))),
        page,
        pages,
        len(transcript.turns),
        sum(len(turn.text.split()) for turn in transcript.turns),
        max((turn.end or turn.start or 0.0 for turn in transcript.turns), default=0.0) or None,
        imported.said["format"] if imported else "",
        imported.time[:10] if imported else "",
        tuple(speakers_of(interviews, name)),
        asked,
        guide.question(shown[0].question) if shown else None,
    )


def page_of(turn: int) -> int:
    """The page that a turn is on."""
    return turn // WINDOW + 1


def told_turns(interviews: Interviews, name: str, raw: bool = False, actor: str | None = None) -> list[TurnLine]:
    """All turns of a transcript; the recorded words, names and all, are for the lead alone."""
    if raw:
        require_lead(interviews.coding, actor, "read the words as they were recorded")
    transcript = read_by(interviews, name, actor)
    guide = interviews.guide(transcript.guide, transcript.version)
    return list(_lines(transcript.turns, transcript, guide, decided_by_hand(interviews, name)))


def _lines(
    turns: Sequence[SpokenTurn], transcript: Transcript, guide: Guide, decided: Collection[int]
) -> Iterator[TurnLine]:
    for turn in turns:
        who = VOICE_WORDS.get(turn.voice, transcript.participant)
        heading = guide.question(turn.question) if turn.asks else None
        yield TurnLine(turn, who, clock_words(turn.start), heading, turn.number in decided)


def clock_words(seconds: float | None) -> str:
    """`1:02:03`, or `2:03` within the first hour; nothing where nobody knows."""
    if seconds is None:
        return ""
    whole = int(seconds)
    minutes = f"{whole // 60 % 60}:{whole % 60:02d}"
    return minutes if whole < 3600 else f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
