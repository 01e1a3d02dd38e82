"""Interrater agreement on each code of transcripts, by turn, by answer to a question of the guide, or by passage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from quaestor.base.errors import InputError
from quaestor.coding.agreement_access import require_agreement_access
from quaestor.coding.agreement_cache import build_change_stamp
from quaestor.coding.model.facet_kinds.base import Label
from quaestor.coding.model.facet_kinds.passages import require_passage_facet
from quaestor.coding.model.ratings import ComparedLabel, list_labels, list_rated_passages
from quaestor.coding.model.records import CANNOT_JUDGE
from quaestor.coding.model.views import require_lead_view
from quaestor.coding.rating_files import record_view
from quaestor.interviews.model.records import SpokenTurn, Transcript, Voice
from quaestor.interviews.repository import Interviews
from quaestor.measures.agreement import agreement, build_rating_table, build_set_table
from quaestor.measures.agreement.unitizing import CodedText, keep_codes
from quaestor.measures.records import Agreement, Estimate
from quaestor.render.number_format import decimal, interval

TURN, ANSWER, PASSAGE = "turn", "answer", "passage"
UNITS = (TURN, ANSWER, PASSAGE)


@dataclass(frozen=True)
class Segment:
    """The turns of a participant that answer one question of the guide."""

    id: str
    """`P1/factors@00011` for the answer to `factors`, which turn 11 asks."""
    turns: tuple[SpokenTurn, ...]


def split_answers(transcript: Transcript) -> list[Segment]:
    """Splits a transcript into the participant's answers to questions of the guide; empty answers are left out."""
    segments: list[Segment] = []
    question: SpokenTurn | None = None
    answer: list[SpokenTurn] = []
    for turn in (*transcript.turns, None):
        if turn is None or turn.asks or not turn.question:
            if question is not None and answer:
                name = f"{transcript.interview}/{question.question}@{question.number:05d}"
                segments.append(Segment(name, tuple(answer)))
            question, answer = turn if turn is not None and turn.asks else None, []
        if turn is not None and turn.voice is Voice.PARTICIPANT:
            answer.append(turn)
    return segments


MEASURES = {
    TURN: {"percent": "percent", "kappa": "kappa", "ac1": "AC1", "alpha": "alpha"},
    PASSAGE: {"u_alpha": "uα", "u_alpha_binary": "coded or not", "cu_alpha": "cuα"},
}
"""The statistics that a table shows, with their column titles; by answer they are those by turn."""
GIVEN, NOT_GIVEN = "given", "not given"
_Labels = Sequence[ComparedLabel]


@dataclass(frozen=True)
class CodesAgreement:
    """Agreement on all codes together, as sets, and on each single code: given or not given."""

    round: str
    facet: str
    unit: str
    overall: Agreement
    codes: tuple[tuple[str, str, Agreement], ...]
    """(code, its name, the agreement), most used first."""
    blindness: str = ""
    """Empty if the raters were blind."""

    @property
    def heading(self) -> tuple[str, ...]:
        """The titles of the columns of numbers."""
        return "answers" if self.unit == ANSWER else "turns", *MEASURES.get(self.unit, MEASURES[TURN]).values()

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """All codes together, then each code: its name, the number of turns or answers, and the statistics."""
        measures = MEASURES.get(self.unit, MEASURES[TURN])
        named = [("all codes together", self.overall), *((title, code) for _, title, code in self.codes)]
        return [
            (title, f"{code.n:,}", *(format_estimate(code.estimates.get(name)) for name in measures))
            for title, code in named
        ]


def compute_agreement_by_code(
    interviews: Interviews, name: str, unit: str = TURN, actor: str | None = None, version: int | None = None
) -> CodesAgreement:
    """Computes a round's agreement from its ratings, under any version of the codebook."""
    _check_unit(unit)
    coding = interviews.coding
    require_lead_view(coding.state, name, actor or coding.lead, coding.lead)
    segments = map_items_to_answers(interviews) if unit == ANSWER else {}
    with coding.locked_state() as state:
        plan, blindness = state.round(name).plan, state.round(name).blindness
        facet = require_passage_facet(plan).id
        book = state.history.at(plan.codebook if version is None else version)
        ratings: _Labels = list_labels(state, name, facet, version)
        passages = list_rated_passages(state, name, facet, version) if unit == PASSAGE else []
    texts = _list_texts(interviews, passages) if unit == PASSAGE else None
    record_view(coding, name, actor or coding.lead)
    if unit == ANSWER:
        ratings = join_labels(ratings, segments)
    sets = [(item, rater, label if isinstance(label, frozenset) else None) for item, rater, label in ratings]
    overall = agreement(build_set_table(sets, cannot_judge=[CANNOT_JUDGE]), facet=facet, texts=texts)
    uses: dict[str, int] = {}
    for _, _, codes in sets:
        for code in codes or ():
            uses[code] = uses.get(code, 0) + 1
    uses.pop(CANNOT_JUDGE, None)
    ordered = sorted(uses, key=lambda code: (-uses[code], code))
    each = tuple(
        (code, book.path_name(code) if code in book.codes else code, _compute_code_agreement(code, sets, texts))
        for code in ordered
    )
    return CodesAgreement(name, facet, unit, overall, each, blindness)


def _check_unit(unit: str) -> None:
    if unit not in UNITS:
        raise InputError(f"agreement cannot be computed by {unit[:40]!r}; choose from: {', '.join(UNITS)}")


def find_agreement_by_code(interviews: Interviews, name: str, unit: str, actor: str) -> CodesAgreement:
    """Returns a round's agreement for a page, cached until its ratings or the transcripts change; records the view."""
    _check_unit(unit)
    round_state = require_agreement_access(interviews.coding, name, actor)
    mark = (build_change_stamp(round_state), interviews.version())
    return interviews.computed_once(
        f"agreement by {unit} in {name}", mark, lambda: compute_agreement_by_code(interviews, name, unit, actor)
    )


def _list_texts(
    interviews: Interviews, rated: Iterable[tuple[str, str, list[tuple[int, int, str]] | None]]
) -> list[CodedText]:
    """Returns each turn with the passages of its raters; without turns that are no longer in a transcript."""
    lengths = {
        transcript.item(turn.number): len(turn.raw)
        for transcript in interviews.transcripts()
        for turn in transcript.turns
    }
    by_item: dict[str, dict[str, list[tuple[int, int, str]]]] = {}
    for item, rater, passages in rated:
        if passages is not None and lengths.get(item):
            by_item.setdefault(item, {})[rater] = passages
    return [CodedText(lengths[item], passages) for item, passages in by_item.items()]


def _compute_code_agreement(
    code: str, sets: Sequence[tuple[str, str, frozenset[str] | None]], texts: Sequence[CodedText] | None
) -> Agreement:
    judgements = [(item, rater, _judge_code(code, codes)) for item, rater, codes in sets]
    table = build_rating_table(judgements, cannot_judge=[CANNOT_JUDGE])
    return agreement(table, facet=code, texts=None if texts is None else keep_codes(texts, [code]))


def _judge_code(code: str, codes: frozenset[str] | None) -> str | None:
    if codes is None:
        return None
    if CANNOT_JUDGE in codes:
        return CANNOT_JUDGE
    return GIVEN if code in codes else NOT_GIVEN


def format_estimate(estimate: Estimate | None) -> str:
    """Formats an estimate with its interval, if it has one; empty if it does not apply."""
    if estimate is None:
        return ""
    if estimate.value is None:
        return "undefined"
    return decimal(estimate.value) + ("" if estimate.low is None else f" ({interval(estimate.low, estimate.high)})")


def map_items_to_answers(interviews: Interviews) -> dict[str, str]:
    """Maps each item to the answer that its turn belongs to; turns before the first question are left out."""
    return {
        transcript.item(turn.number): segment.id
        for transcript in interviews.transcripts()
        for segment in split_answers(transcript)
        for turn in segment.turns
    }


def join_labels(labels: _Labels, segments: Mapping[str, str]) -> list[tuple[str, str, Label | None]]:
    """Joins labels of turns into labels of answers, with all their codes; None if a rater has not rated every turn."""
    gathered: dict[tuple[str, str], list[object]] = {}
    whole: dict[str, set[str]] = {}
    for item, rater, label in labels:
        segment = segments.get(item)
        if segment is None:
            continue
        gathered.setdefault((segment, rater), []).append(label)
        whole.setdefault(segment, set()).add(item)
    joined_labels: list[tuple[str, str, Label | None]] = []
    for (segment, rater), segment_labels in gathered.items():
        sets = [label for label in segment_labels if isinstance(label, frozenset) and CANNOT_JUDGE not in label]
        judged = len(sets) == len(whole[segment])
        joined_labels.append((segment, rater, frozenset().union(*sets) if judged else None))
    return joined_labels
