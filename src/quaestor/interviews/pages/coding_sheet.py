"""A transcript as one rater codes it: the turns of a page with the rater's own passages only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from quaestor.base.errors import InputError, StateError
from quaestor.coding.model.code_proposals import list_parents
from quaestor.coding.model.facet_kinds.base import AnswerChoice
from quaestor.coding.model.facet_kinds.passages import LONGEST_FIELD, LONGEST_MEMO, require_passage_facet
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, CodeProposal, Facet, Passage, read_passages
from quaestor.coding.model.state import OPEN
from quaestor.coding.model.views import RaterPosition, build_rater_position
from quaestor.coding.rating import list_choices
from quaestor.coding.session import CodingSession
from quaestor.interviews.model.records import (
    Guide,
    SpokenTurn,
    Transcript,
    Voice,
    format_clock,
    parse_item_id,
)
from quaestor.interviews.names.masking import show_transcript
from quaestor.interviews.repository import Interviews


@dataclass(frozen=True)
class TextSegment:
    """Words that lie in the same passages, given by their indexes."""

    words: str
    inside: tuple[int, ...] = ()


def assign_lanes(places: Sequence[tuple[int, int]]) -> list[int]:
    """Assigns each passage the first lane that is free at its start, so that overlapping passages never share one.

    Longer passages come first, so that a passage within another one is drawn next to it.
    """
    lanes = [0] * len(places)
    ends: list[int] = []
    for number in sorted(range(len(places)), key=lambda index: (places[index][0], -places[index][1], index)):
        start, end = places[number]
        lane = next((place for place, lane_end in enumerate(ends) if lane_end <= start), len(ends))
        ends[lane : lane + 1] = [end]
        lanes[number] = lane
    return lanes


def split_text(text: str, places: Sequence[tuple[int, int]]) -> list[TextSegment]:
    """Splits a text into segments, each with the passages that contain it."""
    cuts = sorted({0, len(text), *(min(max(cut, 0), len(text)) for place in places for cut in place)})
    return [
        TextSegment(
            text[low:high],
            tuple(number for number, (start, end) in enumerate(places) if start <= low and end >= high),
        )
        for low, high in pairwise(cuts)
    ]


MOST_TURNS, MOST_CHARACTERS = 120, 14_000
"""Limits of one page, so that a long transcript opens as fast as a short one."""
_VOICES = {Voice.INTERVIEWER: "Interviewer", Voice.PARTICIPANT: "Participant", Voice.OTHER: "Somebody else"}


@dataclass(frozen=True)
class Highlight:
    """A passage as the page shows it: its position in the shown text, and the lane in which it is drawn."""

    start: int
    end: int
    code: str
    name: str
    lane: int
    words: str
    memo: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    """All fields of its code, filled in or not."""
    link: str = ""

    @property
    def in_vivo(self) -> bool:
        return not self.code


@dataclass(frozen=True)
class CodedTurn:
    """A turn on the page; a rater can code only their own."""

    number: int
    item: str
    who: str
    text: str
    at: str
    own: bool
    read: bool
    """Whether this rater has rated it, even if there was nothing to code."""
    marks: tuple[Highlight, ...] = ()
    pieces: tuple[TextSegment, ...] = ()
    asks: bool = False


@dataclass(frozen=True)
class Answer:
    """Turns that belong to one question of the guide."""

    question: str
    words: str
    section: str
    turns: tuple[CodedTurn, ...]


@dataclass(frozen=True)
class CodingSheet:
    """One page of a transcript with everything it shows."""

    round: str
    kind: str
    rater: str
    queue: str
    """The name under which the browser keeps unsaved acts; a rater who is renamed keeps it."""
    instructions: str
    opened: str
    is_open: bool
    facet: Facet
    interview: str
    participant: str
    answers: tuple[Answer, ...]
    codes: tuple[AnswerChoice, ...]
    page: int
    pages: int
    first: int
    last: int
    """The first and last turn of the page."""
    done: int
    total: int
    left_here: int
    """Turns of the page that are not rated yet."""
    seen: int
    """The state of the transcript that the page shows: positions count characters in this text."""
    longest_memo: int = LONGEST_MEMO
    longest_field: int = LONGEST_FIELD
    parents: tuple[tuple[str, str], ...] = ()
    """The codes that a proposed code can be below."""
    proposals: tuple[CodeProposal, ...] = ()
    """The codes that this rater proposed in the round."""

    @property
    def left(self) -> int:
        return self.total - self.done


def build_coding_sheet(
    coding: CodingSession,
    interviews: Interviews,
    name: str,
    rater: str,
    interview: str,
    *,
    page: int | None = None,
    turn: int | None = None,
) -> CodingSheet:
    """Builds a page of a transcript: the requested one, that of a turn, or the first with unrated turns."""
    shown_as = show_transcript(interviews, interview)
    transcript = shown_as.transcript
    guide = interviews.guide(transcript.guide, transcript.version)
    windows, items = interviews.remembered(
        f"windows/{interview}", shown_as.seen, lambda: _list_pages_and_items(transcript)
    )
    with coding.locked_state() as state:
        place = build_rater_position(state, name, rater)
        facet = require_passage_facet(place.plan)
        is_open = state.round(name).status == OPEN
        own = [number for number, item in enumerate(items) if place.progress.turn_of(item) >= 0]
        if not own:
            raise StateError(f"the transcript {interview!r} is not assigned to you in {name!r}")
        left = {number for number in own if place.rating(items[number]) is None}
        number = _window(windows, page, turn, left)
        low, high = windows[number]
        shown = [_turn(place, facet, items[turn_shown.number], turn_shown) for turn_shown in transcript.turns[low:high]]
    return CodingSheet(
        round=name,
        kind=place.plan.kind,
        rater=rater,
        queue=place.first_name,
        instructions=place.plan.instructions,
        opened=place.opened,
        is_open=is_open,
        facet=facet,
        interview=interview,
        participant=transcript.participant,
        answers=tuple(_answers(guide, shown, transcript.turns[low:high])),
        codes=list_coding_choices(facet, place.codebook),
        page=number + 1,
        pages=len(windows),
        first=low,
        last=high - 1,
        done=len(own) - len(left),
        total=len(own),
        left_here=sum(low <= turn_number < high for turn_number in left),
        seen=shown_as.seen,
        parents=tuple(list_parents(place.codebook, facet)),
        proposals=place.own_proposals,
    )


def find_next_transcript(coding: CodingSession, interviews: Interviews, sheet: CodingSheet) -> str:
    """Returns the rater's next transcript if this page has all that is left of the current one; else an empty text."""
    if sheet.left > sheet.left_here:
        return ""
    known = [interview.id for interview in interviews.interviews()]
    with coding.locked_state() as state:
        place = build_rater_position(state, sheet.round, sheet.rater)
        left = {parse_item_id(item)[0] for item in place.progress if place.rating(item) is None}
    here = known.index(sheet.interview)
    return next((interview_id for interview_id in [*known[here + 1 :], *known[:here]] if interview_id in left), "")


def _list_pages_and_items(transcript: Transcript) -> tuple[list[tuple[int, int]], list[str]]:
    """Returns the pages of a transcript and the items of its turns, which are the same for every page."""
    return split_pages(transcript), [transcript.item(turn.number) for turn in transcript.turns]


def split_pages(transcript: Transcript) -> list[tuple[int, int]]:
    """Splits a transcript into pages of limited size, as (first turn, turn after the last)."""
    windows: list[tuple[int, int]] = []
    low = size = 0
    for number, turn in enumerate(transcript.turns):
        if number > low and (number - low >= MOST_TURNS or size + len(turn.raw) > MOST_CHARACTERS):
            windows.append((low, number))
            low, size = number, 0
        size += len(turn.raw)
    return [*windows, (low, len(transcript.turns))]


def _window(windows: Sequence[tuple[int, int]], page: int | None, turn: int | None, left: Iterable[int]) -> int:
    if turn is None and page is None:
        turn = min(left, default=0)
    if page is not None:
        if not 1 <= page <= len(windows):
            raise InputError(f"the transcript has {len(windows)} pages: there is no page {page}")
        return page - 1
    return next((number for number, (low, high) in enumerate(windows) if low <= (turn or 0) < high), 0)


def list_coding_choices(facet: Facet, book: Codebook) -> tuple[AnswerChoice, ...]:
    """Returns the codes by theme; codes without children get keys first."""
    offered = list_choices(facet, book)
    above = {book.codes[choice.value].parent for choice in offered}
    keyed = {
        choice.value: choice.key for choice in offered if choice.key and choice.key == book.codes[choice.value].key
    }
    free = iter([choice.key for choice in offered if choice.value not in keyed])
    for choice in sorted(
        (choice for choice in offered if choice.value not in keyed), key=lambda choice: choice.value in above
    ):
        keyed[choice.value] = next(free, "")
    return tuple(
        AnswerChoice(choice.value, choice.label, keyed[choice.value], choice.definition, choice.group)
        for choice in offered
    )


def _turn(place: RaterPosition, facet: Facet, item: str, turn: SpokenTurn) -> CodedTurn:
    own = place.progress.turn_of(item) >= 0
    rating = place.rating(item) if own else None
    answer = rating.answers.get(facet.id) if rating else None
    marks = build_highlights(turn, facet, place.codebook, () if answer == CANNOT_JUDGE else read_passages(answer))
    text = turn.text
    return CodedTurn(
        turn.number,
        item,
        _VOICES[turn.voice],
        text,
        format_clock(turn.start),
        own,
        rating is not None,
        marks,
        tuple(split_text(text, [(mark.start, mark.end) for mark in marks])),
        turn.asks,
    )


def build_highlights(
    turn: SpokenTurn, facet: Facet, book: Codebook, passages: Iterable[Passage]
) -> tuple[Highlight, ...]:
    """Returns passages at their positions in the shown text; passages without any text left are omitted."""
    text = turn.text
    placed = [(passage, turn.to_shown(passage.start, passage.end)) for passage in passages]
    kept = [(passage, place) for passage, place in placed if place[0] < place[1]]
    lanes = assign_lanes([place for _, place in kept])
    return tuple(
        Highlight(
            start,
            end,
            passage.code,
            book.codes[passage.code].name if passage.code in book.codes else passage.code,
            lane,
            text[start:end],
            passage.memo,
            tuple((name, passage.fields.get(name, "")) for name in facet.list_fields(passage.code)),
            passage.link,
        )
        for (passage, (start, end)), lane in zip(kept, lanes, strict=True)
    )


def _answers(guide: Guide, shown: Sequence[CodedTurn], spoken: Sequence[SpokenTurn]) -> Iterable[Answer]:
    together = zip(shown, spoken, strict=True)
    for question, turns in groupby(together, key=lambda pair: pair[1].question):
        guide_question, section = guide.question(question), guide.section_of(question)
        words = guide_question.text if guide_question else ""
        yield Answer(question, words, section.title if section else "", tuple(coded_turn for coded_turn, _ in turns))
