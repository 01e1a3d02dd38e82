"""The demo's interviews: six synthetic ones in a study of their own, from the guide to the saturation curve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from quaestor.base.errors import StateError
from quaestor.coding.agreement import statistic
from quaestor.coding.codebook import import_codebook
from quaestor.coding.model.decisions import decide_agreed, disagreements
from quaestor.coding.model.rounds import waive_gate
from quaestor.coding.round_acts import close_by_name, gate, open_by_name
from quaestor.demo.progress import Indicator, InterviewsCoded
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.items import SOURCE, make_items
from quaestor.interviews.names.confirmations import answer_all, looked_through
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.interviews.themes.co_occurrence import saturation_of
from quaestor.interviews.themes.quotations import themes_of
from quaestor.publication.report.make import build_report
from quaestor.study.folder import Study, open_study
from quaestor.study.templates import new_study
from quaestor.synth.interview_truth import STUDY, InterviewTruth, synthesise_interviews
from quaestor.synth.simulated_interviews import TakenIn, settle_coding, simulate_coding, take_in_talks

FOLDER = "interviews"
"""In the folder of the demo: a study has one funnel, and these are other items."""
TRANSCRIPTS = "talks"
INDICATOR = "indicator"
_DETECTION_RATE = 0.93
Say = Callable[[str], None]


class CountProgress(Protocol):
    """Hears how far something has come."""

    def __call__(self, what: str, done: int = 0, total: int = 0) -> None: ...


def build_demo_interviews(
    root: Path, seed: int, say: Say, count: CountProgress = lambda what, done=0, total=0: None
) -> InterviewsCoded:
    """The bundled study with its six interviews held, transcribed, made nameless, coded twice and settled."""
    study = open_study(new_study(root / FOLDER, STUDY))
    truth = synthesise_interviews(study.root / TRANSCRIPTS, seed=seed)
    taken = take_in_talks(study, study.root / TRANSCRIPTS, truth, lambda done, total: count("interviews", done, total))
    with open_interviews(study) as interviews:
        replaced = answer_all(interviews, confirmed=True)
        _require_nameless(interviews, truth)
        for name in taken.interviews:
            looked_through(interviews, name)
        items = make_items(interviews)
    say(_held(truth, taken, replaced))
    ingest_source(study, SOURCE)
    run_funnel(study)
    import_codebook(study)
    _round(study, "pilot", truth, seed)
    say(_coded_in_words(_round(study, "main", truth, seed), items.items))
    with open_interviews(study) as interviews:
        coded = _compared(interviews, truth)
    say(format_outcome(coded))
    made = build_report(study, count)
    say(f"Their report: {made.tables} tables, {made.figures} figures; every number opens its quotations")
    return coded


def _require_nameless(interviews: Interviews, truth: InterviewTruth) -> None:
    """Nothing that was planted as a name is left in what anybody reads."""
    names = {
        turn.text[name.start : name.end] for one in truth.interviews for turn in one.talk.turns for name in turn.names
    }
    shown = [turn.text for transcript in interviews.transcripts() for turn in transcript.turns]
    if any(name in text for name in names for text in shown):
        raise StateError("a planted name was left in a transcript: please report this with the seed")


def _round(study: Study, name: str, truth: InterviewTruth, seed: int) -> tuple[float | None, int]:
    """A round opened, coded, closed and settled as people would; its agreement, and how many turns differed."""
    open_by_name(study, name, None)
    with open_interviews(study) as interviews:
        coding = interviews.coding
        simulate_coding(interviews, name, truth, finding=_DETECTION_RATE, seed=seed)
        close_by_name(coding, name, None)
        found, passed = gate(coding, name)
        if passed is False:
            reason = "the demo goes on whatever chance gave its pilot"
            coding.act(lambda state: waive_gate(state, name, coding.lead, reason))
        differing = len(disagreements(coding.state, name))
        coding.act(lambda state: decide_agreed(state, name, coding.lead))
        settle_coding(interviews, name, truth, seed=seed)
    return (None if found is None else statistic(found, "alpha").value), differing


def _compared(interviews: Interviews, truth: InterviewTruth) -> InterviewsCoded:
    themes = themes_of(interviews)
    found = saturation_of(themes)
    used = {one.id for one in themes.codes}
    told = (one for one in themes.quotations if one.code == INDICATOR)
    named = tuple(
        Indicator(one.fields.get("what", ""), one.fields.get("threshold", ""), one.participant) for one in told
    )
    return InterviewsCoded(
        planted=len(truth.codes),
        recovered=len(truth.codes & used),
        more=len(used - truth.codes),
        new_planted=truth.new_codes,
        new_recovered=found.new,
        stopped=next((one.reached for one in found.stops if one.rule.threshold == 0 and one.reached), None),
        indicators=named,
        indicators_planted=len(truth.of_code(INDICATOR)),
    )


def _held(truth: InterviewTruth, taken: TakenIn, replaced: int) -> str:
    formats = len({one.format for one in truth.interviews})
    return (
        f"{len(taken.interviews)} synthetic interviews in {formats} formats: {taken.turns:,} turns, "
        f"{taken.questions_found} of {taken.questions_asked} questions of the guide found in them, "
        f"{replaced} places of {taken.names} names replaced"
    )


def _coded_in_words(found: tuple[float | None, int], turns: int) -> str:
    alpha, differing = found
    told = "undefined" if alpha is None else f"{alpha:.2f}"
    return f"Two simulated raters coded {turns} turns: α {told}; {differing} turns differed and were settled"


def format_outcome(coded: InterviewsCoded) -> str:
    """What was planted beside what came out."""
    more = f" and {coded.more} besides" if coded.more else ""
    stopped = f"nothing new after interview {coded.stopped}" if coded.stopped else "still something new at the end"
    return (
        f"{coded.recovered} of {coded.planted} planted codes came out{more}, new ones by interview "
        f"{', '.join(map(str, coded.new_recovered))}: {stopped}; {len(coded.indicators)} of {coded.indicators_planted} "
        "indicators with their thresholds"
    )
