"""Adds synthetic interviews and simulated coding to a study with the functions that people use."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from quaestor.base.clock import exact_now
from quaestor.base.errors import InputError, StateError
from quaestor.coding.model.facet_kinds.passages import require_passage_facet
from quaestor.coding.model.records import Codebook, Facet
from quaestor.coding.session import coding_session
from quaestor.interviews.conduct.acts import Stamp, mark_question, move_clock, take_note, tick_item
from quaestor.interviews.conduct.conversation_state import ASKED, END, SECTION, SKIPPED, START
from quaestor.interviews.model.records import Guide, parse_item_id
from quaestor.interviews.names.known_names import add_name, list_all_names
from quaestor.interviews.participants.consent import ACCEPTED, SPOKEN, record_consent
from quaestor.interviews.participants.people import Contact, add_participant, set_contact
from quaestor.interviews.repository import Interviews, open_files, open_interviews
from quaestor.interviews.transcripts.import_file import (
    TranscriptImport,
    find_latest_import,
    import_bytes,
    read_transcript_file,
)
from quaestor.study.folder import Study, open_journal
from quaestor.synth.interview_truth import InterviewTruth, WrittenInterview, read_truth
from quaestor.synth.interviews import PlantedPassage
from quaestor.synth.simulated_raters import add_missing_ratings, require_open, simulate_settling
from quaestor.synth.transcript_files import time_turns

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class SimulatedCoder:
    """A simulated rater: how often a planted passage is found, its ends are a word off, or its code is confused."""

    name: str
    detection: float
    shift: float
    confusion: float
    seed: int

    def __post_init__(self) -> None:
        for name in ("detection", "shift", "confusion"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise InputError(f"the {name} of a simulated rater is {value:g}: use a share between 0 and 1")

    def answer(
        self,
        item: str,
        text: str,
        planted: Sequence[PlantedPassage],
        siblings: Mapping[str, Sequence[str]],
        fields: Mapping[str, Sequence[str]],
    ) -> list[dict[str, Any]]:
        """Returns the passages that this rater codes in a turn; `fields` lists the fields of each code."""
        passages = []
        for index, passage in enumerate(planted):
            dice = random.Random(f"{self.seed}/{self.name}/{item}/{index}")
            if dice.random() >= self.detection:
                continue
            start, end = (
                (passage.start, passage.end) if dice.random() >= self.shift else _shift_end(text, passage, dice)
            )
            others = siblings.get(passage.code, ())
            code = dice.choice(others) if others and dice.random() < self.confusion else passage.code
            field_values = {name: words for name, words in passage.fields.items() if name in fields.get(code, ())}
            passages.append(
                {"start": start, "end": end, "code": code, **({"fields": field_values} if field_values else {})}
            )
        return passages


def _shift_end(text: str, passage: PlantedPassage, dice: random.Random) -> tuple[int, int]:
    """Moves one end of a passage by a word, within the turn."""
    words = [match.span() for match in _WORD.finditer(text)]
    first = next(index for index, (_, end) in enumerate(words) if end > passage.start)
    last = next(index for index, (_, end) in enumerate(words) if end >= passage.end)
    step = dice.choice((-1, 1))
    if dice.random() < 0.5:
        first = min(max(first + step, 0), last)
        return words[first][0], passage.end
    last = min(max(last + step, first), len(words) - 1)
    return passage.start, words[last][1]


LISTED_NAMES = ("person", "organisation", "product")
"""The kinds of planted names that the lead must add; others come from contact details or are found by their form."""
_NOTE_WORDS = 8
_SHIFT, _CONFUSION = 0.15, 0.03
Planted = Mapping[str, tuple[str, Sequence[PlantedPassage]]]
"""The recorded text and the planted passages of each item."""


@dataclass(frozen=True)
class ImportedInterviews:
    """The counts of interviews that were added to a study."""

    interviews: tuple[str, ...]
    turns: int
    words: int
    questions_asked: int
    questions_found: int
    names: int


class _ManualClock:
    """A clock that moves only when told to, so that interviews can be dated in the past."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        return self.moment

    def move_to(self, moment: datetime) -> None:
        self.moment = moment


def import_interviews(
    study: Study, folder: Path, truth: InterviewTruth, report: Callable[[int, int], None] = lambda done, total: None
) -> ImportedInterviews:
    """Adds participants, consent, conversations with notes, transcripts and names; one interview per day."""
    clock = _ManualClock(exact_now() - timedelta(days=len(truth.interviews)))
    imported = []
    with _interviews_at(study, clock) as interviews:
        if interviews.interviews():
            raise StateError("this study already has interviews: import synthetic interviews into a study of their own")
        for index, written in enumerate(truth.interviews):
            imported.append(_hold_interview(interviews, clock, folder, truth.guide, written))
            clock.move_to(clock() + timedelta(days=1))
            report(index + 1, len(truth.interviews))
        clock.move_to(exact_now())
        _add_known_names(interviews, truth)
        turns = sum(transcript.turns for transcript in imported)
        questions_asked = sum(turn.asks for interview in truth.interviews for turn in interview.interview.turns)
        questions_found = sum(transcript.asked for transcript in imported)
        names_known = len(list_all_names(interviews))
        return ImportedInterviews(
            tuple(transcript.interview for transcript in imported),
            turns,
            sum(transcript.words for transcript in imported),
            questions_asked,
            questions_found,
            names_known,
        )


@contextmanager
def _interviews_at(study: Study, clock: _ManualClock) -> Iterator[Interviews]:
    with open_journal(study, clock) as journal:
        coding = coding_session(study, journal)
        interviews = Interviews(coding, *open_files(study))
        try:
            yield interviews
        finally:
            interviews.close()
            coding.close()


def _hold_interview(
    interviews: Interviews, clock: _ManualClock, folder: Path, guide: str, written: WrittenInterview
) -> TranscriptImport:
    """Adds the participant, holds the interview and imports its transcript."""
    plan = written.interview.plan
    pseudonym = add_participant(interviews, plan.role, float(plan.years), plan.field, synthetic=True).pseudonym
    first = {kind: forms[0] for kind, forms in plan.names.items() if forms}
    set_contact(interviews, pseudonym, Contact(plan.name, first.get("email", ""), first.get("phone", "")))
    record_consent(interviews, pseudonym, ACCEPTED, SPOKEN)
    interview = interviews.plan(pseudonym, guide, interviews.coding.lead)
    _converse(interviews, clock, interview.id, interviews.guide_of(interview), written)
    return import_bytes(interviews, interview.id, read_transcript_file(folder / written.file), written.file)


def _converse(interviews: Interviews, clock: _ManualClock, name: str, guide: Guide, written: WrittenInterview) -> None:
    """Records the clock, questions, ticks and notes of a conversation, each at its time."""
    stamp = Stamp(interviews.coding.lead)
    began = clock()
    move_clock(interviews, name, stamp, START)
    current_section, noted = guide.sections[0].id, {""}
    for turn, start, ends in time_turns(written.interview):
        clock.move_to(began + timedelta(seconds=start))
        section = guide.section_of(turn.question)
        if turn.asks and section is not None and section.id != current_section:
            current_section = section.id
            move_clock(interviews, name, stamp, SECTION, current_section)
        if turn.asks:
            mark_question(interviews, name, stamp, turn.question, ASKED)
            _tick(interviews, name, stamp, guide, turn.question, written)
        clock.move_to(began + timedelta(seconds=ends[-1]))
        if turn.passages and turn.question not in noted:
            noted.add(turn.question)
            words = turn.text[turn.passages[0].start : turn.passages[0].end].split()
            take_note(interviews, name, stamp, " ".join(words[:_NOTE_WORDS]) + " …", turn.question)
    for question in written.interview.skipped:
        mark_question(interviews, name, stamp, question, SKIPPED)
    move_clock(interviews, name, stamp, END)


def _tick(
    interviews: Interviews, name: str, stamp: Stamp, guide: Guide, question: str, written: WrittenInterview
) -> None:
    guide_question = guide.question(question)
    if guide_question is None or not guide_question.items:
        return
    for item in written.interview.plan.ticks:
        tick_item(interviews, name, stamp, question, item)
    for other in written.interview.plan.other:
        tick_item(interviews, name, stamp, question, other=other)


def _add_known_names(interviews: Interviews, truth: InterviewTruth) -> None:
    """Adds the planted names that only a person can recognise."""
    mentioned: set[str] = set()
    for written in truth.interviews:
        for kind in LISTED_NAMES:
            for form in written.interview.plan.names.get(kind, ()):
                if form not in mentioned:
                    mentioned.add(form)
                    add_name(interviews, kind, [form])


def find_planted_passages(interviews: Interviews, truth: InterviewTruth) -> Planted:
    """Finds the planted passages of the study's transcripts, which are identified by the hash of their file."""
    by_hash = truth.by_hash()
    planted: dict[str, tuple[str, Sequence[PlantedPassage]]] = {}
    for interview in interviews.interviews():
        latest = find_latest_import(interviews.file.read_entries(about=interview.id))
        written = by_hash.get(latest.content["sha256"]) if latest else None
        if written is None:
            continue
        transcript = interviews.transcript(interview.id)
        for turn, planned_turn in zip(transcript.turns, written.interview.turns, strict=True):
            planted[transcript.item(turn.number)] = (turn.raw, planned_turn.passages)
    return planted


def simulate_coding(
    interviews: Interviews, name: str, truth: InterviewTruth, *, detection: float, seed: int, only: str | None = None
) -> int:
    """Codes every uncoded turn of a round with simulated raters and returns the number of ratings."""
    coding = interviews.coding
    round_state = coding.state.round(name)
    require_open(round_state)
    facet = require_passage_facet(round_state.plan)
    planted = find_planted_passages(interviews, truth)
    siblings = _list_siblings(coding.state.history.at(round_state.plan.codebook), facet)
    raters = {slot.rater: SimulatedCoder(slot.rater, detection, _SHIFT, _CONFUSION, seed) for slot in round_state.slots}

    def answer_facet(rater: str, facet_asked: Facet, item: str) -> Any:
        text, passages = _require_planted(planted, facet_asked, facet, item)
        return raters[rater].answer(item, text, passages, siblings, dict(facet.fields))

    return add_missing_ratings(coding, name, answer_facet, seed=seed, only=only)


def simulate_round(
    study: Study, name: str, path: Path, *, accuracy: float, seed: int, only: str | None = None, settle: bool = False
) -> dict[str, int]:
    """Codes an open round, or settles a closed one, with the truth in a folder, and returns the counts."""
    truth = read_truth(path)
    with open_interviews(study) as interviews:
        if settle:
            return settle_round(interviews, name, truth, seed=seed)
        return {"ratings": simulate_coding(interviews, name, truth, detection=accuracy, seed=seed, only=only)}


def settle_round(interviews: Interviews, name: str, truth: InterviewTruth, *, seed: int) -> dict[str, int]:
    """Settles every disagreement with the planted passages and returns the counts by method."""
    planted = find_planted_passages(interviews, truth)
    facet = require_passage_facet(interviews.coding.state.round(name).plan)

    def find_answer(facet_asked: Facet, item: str) -> Any:
        return [_passage_json(passage) for passage in _require_planted(planted, facet_asked, facet, item)[1]]

    return simulate_settling(interviews.coding, name, seed=seed, planted=find_answer)


def _require_planted(
    planted: Planted, facet_asked: Facet, facet: Facet, item: str
) -> tuple[str, Sequence[PlantedPassage]]:
    if facet_asked.id != facet.id:
        raise StateError(
            f"simulated raters of transcripts answer only {facet.id!r}: leave {facet_asked.id!r} to people"
        )
    if item not in planted:
        interview, turn = parse_item_id(item)
        raise StateError(
            f"turn {turn + 1} of {interview} is not synthetic: simulated raters need synthetic transcripts"
        )
    return planted[item]


def _passage_json(passage: PlantedPassage) -> dict[str, Any]:
    fields = {"fields": dict(passage.fields)} if passage.fields else {}
    return {"start": passage.start, "end": passage.end, "code": passage.code, **fields}


def _list_siblings(book: Codebook, facet: Facet) -> dict[str, list[str]]:
    """Lists the other codes with the same parent, by code."""
    active = [code for code in book.active(facet.codes, None) if code.parent]
    return {
        code.id: [other.id for other in active if other.parent == code.parent and other is not code] for code in active
    }
