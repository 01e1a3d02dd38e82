"""A page of a transcript: its turns under the questions they answer, and what can be corrected in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quaestor.base.errors import InputError
from quaestor.coding.session import require_lead
from quaestor.interviews.left_out_turns import list_uncounted_turns
from quaestor.interviews.model.records import (
    Guide,
    GuideQuestion,
    Interview,
    SpokenTurn,
    Transcript,
    Voice,
    format_clock,
)
from quaestor.interviews.names.masking import mask_text, read_transcript_as
from quaestor.interviews.repository import Interviews
from quaestor.interviews.transcripts.corrections import Speaker, list_manual_matches, list_speakers
from quaestor.interviews.transcripts.import_file import find_latest_import, list_entries_since_import

WINDOW = 150
"""Turns per page, so that a long interview opens as fast as a short one."""
VOICE_WORDS = {Voice.INTERVIEWER: "Interviewer", Voice.OTHER: "Somebody else"}
"""What a voice is called on pages; the participant has a pseudonym."""


@dataclass(frozen=True)
class TurnLine:
    """A turn as it is shown."""

    turn: SpokenTurn
    who: str
    time: str
    heading: GuideQuestion | None = None
    """The question that it asks."""
    by_hand: bool = False
    """Whether a person decided which question it asks, or that it asks none."""
    leaves_guide: bool = False
    """Whether an answer ends here, because a question outside the guide is asked."""
    is_uncounted: bool = False
    """Whether it was coded before its speaker was corrected, so that no result counts it."""

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
    turns_by_question: dict[str, int]
    """The questions that were found, each with the first turn that asks it."""
    answering: GuideQuestion | None
    """The question that the first turn of the page belongs to."""

    @property
    def missing(self) -> list[GuideQuestion]:
        """Questions of the guide that were not found."""
        return [question for question in self.guide.questions() if question.id not in self.turns_by_question]


def build_transcript_sheet(
    interviews: Interviews, name: str, page: int = 1, actor: str | None = None
) -> TranscriptSheet | None:
    """Returns a page of a transcript, counted from 1, as the actor may read it; None if there is no transcript yet."""
    interview = interviews.interview(name)
    if not interview.transcript:
        return None
    transcript = read_transcript_as(interviews, name, actor)
    pages = max(1, -(-len(transcript.turns) // WINDOW))
    if not 1 <= page <= pages:
        raise InputError(f"the transcript of {name} has {pages} pages: there is no page {page}")
    guide = interviews.guide_of(interview)
    imported = find_latest_import(list_entries_since_import(interviews.file.read_entries(about=name)))
    shown = transcript.turns[(page - 1) * WINDOW : page * WINDOW]
    turns_by_question: dict[str, int] = {}
    for turn in transcript.turns:
        if turn.asks:
            turns_by_question.setdefault(turn.question, turn.number)
    return TranscriptSheet(
        interview,
        guide,
        tuple(_lines(interviews, shown, transcript, guide)),
        page,
        pages,
        len(transcript.turns),
        sum(len(turn.words) for turn in transcript.turns),
        max((turn.end or turn.start or 0.0 for turn in transcript.turns), default=0.0) or None,
        imported.content["format"] if imported else "",
        imported.time[:10] if imported else "",
        tuple(list_speakers(interviews, name)),
        turns_by_question,
        guide.question(shown[0].question) if shown else None,
    )


def find_page(turn: int) -> int:
    """Returns the page that a turn is on."""
    return turn // WINDOW + 1


def list_turn_lines(interviews: Interviews, name: str, raw: bool = False, actor: str | None = None) -> list[TurnLine]:
    """Returns all turns of a transcript; the recorded text with names is for the lead only."""
    if raw:
        require_lead(interviews.coding, actor, "read the recorded text")
    transcript = read_transcript_as(interviews, name, actor)
    guide = interviews.guide(transcript.guide, transcript.version)
    return list(_lines(interviews, transcript.turns, transcript, guide))


def _lines(
    interviews: Interviews, turns: Sequence[SpokenTurn], transcript: Transcript, guide: Guide
) -> Iterator[TurnLine]:
    decided = list_manual_matches(interviews, transcript.interview)
    uncounted = list_uncounted_turns(interviews, transcript.interview)
    for turn in turns:
        who = VOICE_WORDS.get(turn.voice, transcript.participant)
        heading = guide.question(turn.question) if turn.asks else None
        is_answer_over = not turn.question and turn.number > 0 and bool(transcript.turns[turn.number - 1].question)
        by_hand, is_uncounted = turn.number in decided, turn.number in uncounted
        yield TurnLine(turn, who, format_clock(turn.start), heading, by_hand, is_answer_over, is_uncounted)


MOST = 20
"""Most lines that are listed; the others are counted."""
_LONGEST = 200


@dataclass(frozen=True)
class SkippedLines:
    """What was left out of a file when it was imported."""

    lines: tuple[str, ...] = ()
    """Notes, styles, headers and footnotes, with known names masked."""
    count: int = 0
    encoding: str = ""
    doubtful: bool = False
    """Whether letters may be wrong, because the file does not declare its encoding."""

    @property
    def more(self) -> int:
        return self.count - len(self.lines)


def read_omitted_text(interviews: Interviews, name: str) -> SkippedLines:
    """Returns what was left out of an interview's current transcript; empty if it has none."""
    known = find_latest_import(interviews.file.read_entries(about=name))
    if known is None:
        return SkippedLines()
    kept = known.content.get("left_out", [])
    lines = (mask_text(interviews, _in_a_line(line)) for line in kept[:MOST])
    return SkippedLines(
        tuple(line if len(line) <= _LONGEST else f"{line[:_LONGEST].rstrip()} …" for line in lines),
        known.content.get("left_out_count", len(kept)),
        known.content.get("encoding", ""),
        known.content.get("doubtful", False),
    )


def _in_a_line(text: str) -> str:
    """Returns a text in one line without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
