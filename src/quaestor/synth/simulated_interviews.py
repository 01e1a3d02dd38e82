"""Synthetic interviews and simulated raters in a study: they come in through the doors that people use."""

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
from quaestor.interviews.conduct.acts import Stamp, mark, move_clock, take_note, tick
from quaestor.interviews.conduct.conversation_state import ASKED, END, SECTION, SKIPPED, START
from quaestor.interviews.model.records import Guide, place_of
from quaestor.interviews.names.known_names import add_name, all_names
from quaestor.interviews.participants.consent import ACCEPTED, SPOKEN, record_consent
from quaestor.interviews.participants.people import Contact, add_participant, set_contact
from quaestor.interviews.repository import Interviews, open_interviews, opened_files
from quaestor.interviews.transcripts.import_file import Imported, import_transcript, latest_import
from quaestor.study.folder import Study, open_journal
from quaestor.synth.interview_truth import InterviewTruth, WrittenInterview, read_truth
from quaestor.synth.interviews import PlantedPassage
from quaestor.synth.simulated_raters import add_missing_ratings, require_open, simulate_settling
from quaestor.synth.transcript_files import time_turns

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class SimulatedCoder:
    """A rater: how often a planted stretch is found, its ends are a word off, or a sibling is taken."""

    name: str
    detection: float
    shift: float
    confusion: float
    seed: int

    def __post_init__(self) -> None:
        for word in ("finding", "shifting", "mistaking"):
            value = getattr(self, word)
            if not 0 <= value <= 1:
                raise InputError(f"--{word} is {value:g}: a share between 0 and 1 is needed")

    def answer(
        self,
        item: str,
        text: str,
        planted: Sequence[PlantedPassage],
        siblings: Mapping[str, Sequence[str]],
        fields: Mapping[str, Sequence[str]],
    ) -> list[dict[str, Any]]:
        """The stretches that this rater codes in a turn; `fields` has what each code asks for."""
        passages = []
        for place, passage in enumerate(planted):
            dice = random.Random(f"{self.seed}/{self.name}/{item}/{place}")
            if dice.random() >= self.detection:
                continue
            start, end = (passage.start, passage.end) if dice.random() >= self.shift else _shifted(text, passage, dice)
            others = siblings.get(passage.code, ())
            code = dice.choice(others) if others and dice.random() < self.confusion else passage.code
            field_values = {name: words for name, words in passage.fields.items() if name in fields.get(code, ())}
            passages.append(
                {"start": start, "end": end, "code": code, **({"fields": field_values} if field_values else {})}
            )
        return passages


def _shifted(text: str, planted_stretch: PlantedPassage, dice: random.Random) -> tuple[int, int]:
    """One of the ends a word further in or out, as far as there are words."""
    words = [match.span() for match in _WORD.finditer(text)]
    first = next(place for place, (_, end) in enumerate(words) if end > planted_stretch.start)
    last = next(place for place, (_, end) in enumerate(words) if end >= planted_stretch.end)
    step = dice.choice((-1, 1))
    if dice.random() < 0.5:
        first = min(max(first + step, 0), last)
        return words[first][0], planted_stretch.end
    last = min(max(last + step, first), len(words) - 1)
    return planted_stretch.start, words[last][1]


LISTED_NAMES = ("person", "organisation", "product")
"""Kinds of planted names that the lead has to tell; the others follow from contact data, or are found by their form."""
_NOTE_WORDS = 8
_SHIFT, _CONFUSION = 0.15, 0.03
Planted = Mapping[str, tuple[str, Sequence[PlantedPassage]]]
"""By item its words as they were recorded, and what is planted in them."""


@dataclass(frozen=True)
class ImportedInterviews:
    """What synthetic interviews brought into a study."""

    interviews: tuple[str, ...]
    turns: int
    words: int
    questions_asked: int
    questions_found: int
    names: int


class _Days:
    """A clock that stands until it is moved: interviews that are told of now were held before."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        return self.moment

    def move_to(self, moment: datetime) -> None:
        self.moment = moment


def import_interviews(
    study: Study, folder: Path, truth: InterviewTruth, tell: Callable[[int, int], None] = lambda done, total: None
) -> ImportedInterviews:
    """Participants, what they agreed to, the conversation with its notes, the transcript, the names: one talk a day."""
    days = _Days(exact_now() - timedelta(days=len(truth.interviews)))
    imported = []
    with _interviews_at(study, days) as interviews:
        if interviews.interviews():
            raise StateError(
                "interviews have been planned in this study: take synthetic ones into a study of their own"
            )
        for place, written in enumerate(truth.interviews):
            imported.append(_held(interviews, days, folder, truth.guide, written))
            days.move_to(days() + timedelta(days=1))
            tell(place + 1, len(truth.interviews))
        days.move_to(exact_now())
        _tell_names(interviews, truth)
        turns = sum(transcript.turns for transcript in imported)
        questions_asked = sum(turn.asks for interview in truth.interviews for turn in interview.interview.turns)
        questions_found = sum(transcript.asked for transcript in imported)
        names_known = len(all_names(interviews))
        return ImportedInterviews(
            tuple(transcript.interview for transcript in imported),
            turns,
            sum(transcript.words for transcript in imported),
            questions_asked,
            questions_found,
            names_known,
        )


@contextmanager
def _interviews_at(study: Study, days: _Days) -> Iterator[Interviews]:
    with open_journal(study, days) as journal:
        coding = coding_session(study, journal)
        interviews = Interviews(coding, *opened_files(study))
        try:
            yield interviews
        finally:
            interviews.close()
            coding.close()


def _held(interviews: Interviews, days: _Days, folder: Path, guide: str, written: WrittenInterview) -> Imported:
    """One interview, from who takes part to the file of what was said."""
    plan = written.interview.plan
    who = add_participant(interviews, plan.role, float(plan.years), plan.field, synthetic=True).pseudonym
    first = {kind: forms[0] for kind, forms in plan.names.items() if forms}
    set_contact(interviews, who, Contact(plan.name, first.get("email", ""), first.get("phone", "")))
    record_consent(interviews, who, ACCEPTED, SPOKEN)
    interview = interviews.plan(who, guide, interviews.coding.lead)
    _converse(interviews, days, interview.id, interviews.guide_of(interview), written)
    return import_transcript(interviews, interview.id, folder / written.file)


def _converse(interviews: Interviews, days: _Days, name: str, guide: Guide, written: WrittenInterview) -> None:
    """The clock, what was asked and skipped, ticks and notes, each at the moment of what was said."""
    stamp = Stamp(interviews.coding.lead)
    began = days()
    move_clock(interviews, name, stamp, START)
    at, noted = guide.sections[0].id, {""}
    for timed_turn in time_turns(written.interview):
        days.move_to(began + timedelta(seconds=timed_turn.start))
        turn = timed_turn.turn
        section = guide.section_of(turn.question)
        if turn.asks and section is not None and section.id != at:
            at = section.id
            move_clock(interviews, name, stamp, SECTION, at)
        if turn.asks:
            mark(interviews, name, stamp, turn.question, ASKED)
            _tick(interviews, name, stamp, guide, turn.question, written)
        days.move_to(began + timedelta(seconds=timed_turn.ends[-1]))
        if turn.passages and turn.question not in noted:
            noted.add(turn.question)
            words = turn.text[turn.passages[0].start : turn.passages[0].end].split()
            take_note(interviews, name, stamp, " ".join(words[:_NOTE_WORDS]) + " …", turn.question)
    for question in written.interview.skipped:
        mark(interviews, name, stamp, question, SKIPPED)
    move_clock(interviews, name, stamp, END)


def _tick(
    interviews: Interviews, name: str, stamp: Stamp, guide: Guide, question: str, written: WrittenInterview
) -> None:
    guide_question = guide.question(question)
    if guide_question is None or not guide_question.items:
        return
    for item in written.interview.plan.ticks:
        tick(interviews, name, stamp, question, item)
    for other in written.interview.plan.other:
        tick(interviews, name, stamp, question, other=other)


def _tell_names(interviews: Interviews, truth: InterviewTruth) -> None:
    """The names that nothing but a person could know for names."""
    mentioned: set[str] = set()
    for written in truth.interviews:
        for kind in LISTED_NAMES:
            for form in written.interview.plan.names.get(kind, ()):
                if form not in mentioned:
                    mentioned.add(form)
                    add_name(interviews, kind, [form])


def find_planted_passages(interviews: Interviews, truth: InterviewTruth) -> Planted:
    """What is planted in the turns of the study's transcripts, which are known by the bytes of their files."""
    by_file = truth.by_hash()
    planted: dict[str, tuple[str, Sequence[PlantedPassage]]] = {}
    for interview in interviews.interviews():
        came = latest_import(interviews.file.read_entries(about=interview.id))
        written = by_file.get(came.said["sha256"]) if came else None
        if written is None:
            continue
        transcript = interviews.transcript(interview.id)
        for turn, planned_turn in zip(transcript.turns, written.interview.turns, strict=True):
            planted[transcript.item(turn.number)] = (turn.raw, planned_turn.passages)
    return planted


def simulate_coding(
    interviews: Interviews, name: str, truth: InterviewTruth, *, detection: float, seed: int, only: str | None = None
) -> int:
    """Let simulated raters code every turn of a round that they have not coded; how many ratings they gave."""
    coding = interviews.coding
    round_state = coding.state.round(name)
    require_open(round_state)
    facet = require_passage_facet(round_state.plan)
    planted = find_planted_passages(interviews, truth)
    siblings = _siblings(coding.state.history.at(round_state.plan.codebook), facet)
    raters = {seat.rater: SimulatedCoder(seat.rater, detection, _SHIFT, _CONFUSION, seed) for seat in round_state.slots}

    def said(rater: str, facet_asked: Facet, item: str) -> Any:
        words, stretches = _planted_in(planted, facet_asked, facet, item)
        return raters[rater].answer(item, words, stretches, siblings, dict(facet.fields))

    return add_missing_ratings(coding, name, said, seed=seed, only=only)


def simulate_round(
    study: Study, name: str, path: Path, *, accuracy: float, seed: int, only: str | None = None, settle: bool = False
) -> dict[str, int]:
    """A round coded, or a closed one settled, by what a folder of synthetic interviews knows; how many."""
    truth = read_truth(path)
    with open_interviews(study) as interviews:
        if settle:
            return settle_round(interviews, name, truth, seed=seed)
        return {"ratings": simulate_coding(interviews, name, truth, detection=accuracy, seed=seed, only=only)}


def settle_round(interviews: Interviews, name: str, truth: InterviewTruth, *, seed: int) -> dict[str, int]:
    """Settle every turn on which the raters differ as it was planted; how many each way."""
    planted = find_planted_passages(interviews, truth)
    facet = require_passage_facet(interviews.coding.state.round(name).plan)

    def right(facet_asked: Facet, item: str) -> Any:
        return [_payload(passage) for passage in _planted_in(planted, facet_asked, facet, item)[1]]

    return simulate_settling(interviews.coding, name, seed=seed, planted=right)


def _planted_in(planted: Planted, facet_asked: Facet, facet: Facet, item: str) -> tuple[str, Sequence[PlantedPassage]]:
    if facet_asked.id != facet.id:
        raise StateError(
            f"simulated raters of transcripts answer {facet.id!r} alone: leave {facet_asked.id!r} to people"
        )
    if item not in planted:
        interview, turn = place_of(item)
        raise StateError(f"nothing is planted about turn {turn + 1} of {interview}: its transcript is not synthetic")
    return planted[item]


def _payload(planted_stretch: PlantedPassage) -> dict[str, Any]:
    fields = {"fields": dict(planted_stretch.fields)} if planted_stretch.fields else {}
    return {"start": planted_stretch.start, "end": planted_stretch.end, "code": planted_stretch.code, **fields}


def _siblings(book: Codebook, facet: Facet) -> dict[str, list[str]]:
    """By code the others under the same one."""
    active = [code for code in book.active(facet.codes, None) if code.parent]
    return {
        code.id: [other.id for other in active if other.parent == code.parent and other is not code] for code in active
    }
