"""The demo's interviews: six synthetic interviews as a strand of the study, from the guide to the saturation curve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from quaestor.base.errors import StateError
from quaestor.coding.agreement import find_estimate
from quaestor.coding.model.closing import build_close_acts
from quaestor.coding.model.decisions import list_disagreements
from quaestor.coding.model.rounds import build_waive_act
from quaestor.coding.round_acts import check_gate, open_round
from quaestor.coding.session import CodingSession
from quaestor.demo.progress import Indicator, InterviewsCoded
from quaestor.evidence.funnel import run_funnel
from quaestor.interviews.items import make_items
from quaestor.interviews.names.confirmations import answer_all_places, mark_as_read
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.interviews.themes.co_occurrence import compute_saturation
from quaestor.interviews.themes.quotations import read_themes
from quaestor.synth.interview_truth import InterviewTruth, synthesise_interviews
from quaestor.synth.simulated_interviews import ImportedInterviews, import_interviews, settle_round, simulate_coding

TRANSCRIPTS = "talks"
INDICATOR = "indicator"
_DETECTION_RATE = 0.93
Say = Callable[[str], None]


class CountProgress(Protocol):
    """Receives the progress of a step."""

    def __call__(self, label: str, done: int = 0, total: int = 0) -> None: ...


def build_demo_interviews(
    coding: CodingSession, seed: int, say: Say, count: CountProgress = lambda label, done=0, total=0: None
) -> InterviewsCoded:
    """Adds six interviews to the study, masks names, codes the turns twice and settles the disagreements."""
    study = coding.study
    truth = synthesise_interviews(study.root / TRANSCRIPTS, seed=seed)
    imported = import_interviews(
        study, study.root / TRANSCRIPTS, truth, lambda done, total: count("interviews", done, total)
    )
    with open_interviews(coding) as interviews:
        replaced = answer_all_places(interviews, confirmed=True)
        _require_masked_names(interviews, truth)
        for name in imported.interviews:
            mark_as_read(interviews, name)
        items = make_items(interviews)
    say(_format_interviews(truth, imported, replaced))
    run_funnel(study.in_strand(items.strand))
    _run_round(coding, "interviews-pilot", truth, seed)
    alpha, differing = _run_round(coding, "interviews-main", truth, seed)
    value = "undefined" if alpha is None else f"{alpha:.2f}"
    say(f"Two simulated raters coded {items.items} turns: α {value}; {differing} disagreements were settled")
    with open_interviews(coding) as interviews:
        coded = _compare_codes(interviews, truth)
    say(format_outcome(coded))
    return coded


def _require_masked_names(interviews: Interviews, truth: InterviewTruth) -> None:
    """Raises StateError if a planted name is left in a transcript."""
    names = {
        turn.text[name.start : name.end]
        for interview in truth.interviews
        for turn in interview.interview.turns
        for name in turn.names
    }
    shown = [turn.text for transcript in interviews.transcripts() for turn in transcript.turns]
    if any(name in text for name in names for text in shown):
        raise StateError("a planted name was left in a transcript: please report this with the seed")


def _run_round(coding: CodingSession, name: str, truth: InterviewTruth, seed: int) -> tuple[float | None, int]:
    """Opens, codes, closes and settles a round; returns α and the number of disagreements."""
    open_round(coding, name, coding.lead)
    with open_interviews(coding) as interviews:
        simulate_coding(interviews, name, truth, detection=_DETECTION_RATE, seed=seed)
        coding.act(lambda state: build_close_acts(state, name, coding.lead))
        agreement, passed = check_gate(coding, name)
        if passed is False:
            reason = "the demo continues whatever its pilot gives"
            coding.act(lambda state: build_waive_act(state, name, coding.lead, reason))
        differing = len(list_disagreements(coding.state, name))
        settle_round(interviews, name, truth, seed=seed)
    return (None if agreement is None else find_estimate(agreement, "alpha").value), differing


def _compare_codes(interviews: Interviews, truth: InterviewTruth) -> InterviewsCoded:
    themes = read_themes(interviews)
    saturation = compute_saturation(themes)
    used = {code.id for code in themes.codes}
    indicators = tuple(
        Indicator(quotation.fields.get("what", ""), quotation.fields.get("threshold", ""), quotation.participant)
        for quotation in themes.quotations
        if quotation.code == INDICATOR
    )
    return InterviewsCoded(
        planted=len(truth.codes),
        recovered=len(truth.codes & used),
        more=len(used - truth.codes),
        new_planted=truth.new_codes,
        new_recovered=saturation.new,
        stopped=next((stop.reached for stop in saturation.stops if stop.rule.threshold == 0 and stop.reached), None),
        indicators=indicators,
        indicators_planted=len(truth.list_fields(INDICATOR)),
    )


def _format_interviews(truth: InterviewTruth, imported: ImportedInterviews, replaced: int) -> str:
    formats = len({interview.format for interview in truth.interviews})
    return (
        f"{len(imported.interviews)} synthetic interviews in {formats} formats: {imported.turns:,} turns, "
        f"{imported.questions_found} of {imported.questions_asked} guide questions found, "
        f"{imported.names} names replaced in {replaced} places"
    )


def format_outcome(coded: InterviewsCoded) -> str:
    """Describes how many planted codes were recovered and when the interviews were saturated."""
    more = f" and {coded.more} others" if coded.more else ""
    stopped = f"saturated after interview {coded.stopped}" if coded.stopped else "not saturated"
    return (
        f"{coded.recovered} of {coded.planted} planted codes recovered{more}; new codes by interview: "
        f"{', '.join(map(str, coded.new_recovered))}, {stopped}; {len(coded.indicators)} of "
        f"{coded.indicators_planted} indicators with their thresholds"
    )
