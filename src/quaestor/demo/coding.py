"""The coding rounds of the demo, rated by simulated raters, and the round that is left for the visitor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit

from quaestor.base.errors import StateError
from quaestor.coding.agreement import find_estimate
from quaestor.coding.model.closing import build_close_acts
from quaestor.coding.model.codebook.file import read_codebook
from quaestor.coding.model.decisions import list_disagreements, list_kept
from quaestor.coding.model.phrases import build_curves, list_agreed_phrases, propose_objects
from quaestor.coding.model.records import Codebook
from quaestor.coding.model.rounds import build_waive_act
from quaestor.coding.model.state import RoundState
from quaestor.coding.round_acts import check_gate, open_round
from quaestor.coding.session import CodingSession
from quaestor.demo.folder import VISITOR
from quaestor.demo.progress import ProgressReporter
from quaestor.evidence.funnel import read_passed, step_number
from quaestor.evidence.samples import build_sample_settings, draw_sample
from quaestor.measures.records import Agreement
from quaestor.render.figures.records import SetCurve
from quaestor.store.records import NewAct
from quaestor.study.folder import Study, append_tables, edit_study_file, open_study, toml_table
from quaestor.synth.simulated_raters import read_planted_truth, simulate_ratings, simulate_sets, simulate_settling

# These accuracies give about the published agreement: moderate in the pilot, 174 disagreements among 3,842 posts.
_ACCURACY = {"pilot": 0.89, "refinement": 0.977, "phrases": 0.995, "phases": 0.96, "triplets": 0.93}


@dataclass(frozen=True)
class CodingOutcome:
    """The number of posts the raters kept, compared with the planted posts."""

    kept: int
    planted: int
    correct: int
    curves: tuple[SetCurve, ...]


def import_bundled_codebook(coding: CodingSession, path: Path) -> Codebook:
    payload = read_codebook(path)
    coding.act(lambda state: NewAct("codebook.import", coding.lead, payload, key="codebook/first"), "codebook/first")
    return coding.state.history.latest


def run_rounds(coding: CodingSession, seed: int, reporter: ProgressReporter) -> CodingOutcome:
    """Opens, rates, closes and settles the rounds pilot, refinement, phrases, phases and triplets."""
    _run_pilot(coding, seed, reporter)
    kept_count, planted_count, correct_count = _run_refinement(coding, seed, reporter)
    curve = _run_phrases(coding, seed, reporter)
    for name in ("phases", "triplets"):
        reporter.begin(name)
        _rate_round(coding, name, seed)
        agreement = check_gate(coding, name)[0]
        settled = _settle(coding, name, seed)
        reporter.say(f"{name.capitalize()}: {_format_agreement(agreement)}; settled {_format_methods(settled)}")
        for warning in agreement.warnings[:1] if agreement else ():
            reporter.say(warning)
        if name == "phases":
            state = coding.state
            proposed = propose_objects(
                list_agreed_phrases(state.round("phrases")), state.round("phases").last_decisions("phase"), 3
            )
            phases = len({phase for phase, _, _ in proposed})
            reporter.say(f"{len(proposed)} core objects proposed in {phases} phases, for the lead to adopt")
    return CodingOutcome(kept_count, planted_count, correct_count, tuple(curve))


def _run_pilot(coding: CodingSession, seed: int, reporter: ProgressReporter) -> None:
    reporter.begin("pilot")
    plan = _rate_round(coding, "pilot", seed).plan
    agreement, passed = check_gate(coding, "pilot")
    if agreement is None:
        return
    value = find_estimate(agreement, plan.statistic)
    interval = f"{value.low:.2f} to {value.high:.2f}" if value.low is not None and value.high is not None else "none"
    verdict = "reached" if passed else "missed and waived"
    if passed is False:
        reason = "the demo continues whatever its pilot gives"
        coding.act(lambda state: build_waive_act(state, "pilot", coding.lead, reason))
    reporter.say(
        f"Pilot of {len(plan.items)}: {plan.statistic} {value.value or 0:.2f} ({agreement.band}, "
        f"95 % CI {interval}), threshold {plan.threshold:g} {verdict}"
    )


def _run_refinement(coding: CodingSession, seed: int, reporter: ProgressReporter) -> tuple[int, int, int]:
    reporter.begin("refinement")
    items = _rate_round(coding, "refinement", seed).plan.items
    agreement = check_gate(coding, "refinement")[0]
    open_cases = len(list_disagreements(coding.state, "refinement"))
    settled = _settle(coding, "refinement", seed)
    chosen = list_kept(coding.state, "refinement") or set()
    truth = read_planted_truth(coding.study.root)
    planted = {item for item in items if truth[item]["topic"] == "implementation"}
    kappa = f"{agreement.kappa.value:.2f}" if agreement and agreement.kappa.value is not None else "undefined"
    methods = _format_methods(settled)
    reporter.say(f"Main round of {len(items):,}: κ {kappa}, {open_cases} disagreements, settled {methods}")
    reporter.say(
        f"{len(chosen):,} kept, {len(planted):,} planted; {len(chosen & planted):,} are in both, "
        f"{len(chosen ^ planted)} differ because both raters erred"
    )
    return len(chosen), len(planted), len(chosen & planted)


def _run_phrases(coding: CodingSession, seed: int, reporter: ProgressReporter) -> list[SetCurve]:
    reporter.begin("phrases")
    open_round(coding, "phrases", coding.lead)
    simulate_sets(
        coding,
        "phrases",
        accuracy=_ACCURACY["phrases"],
        seed=seed,
        report_progress=lambda *counts: reporter.count("sets", *counts),
    )
    coding.act(lambda state: build_close_acts(state, "phrases", coding.lead))
    _settle(coding, "phrases", seed)
    points = build_curves(coding.state.round("phrases"))
    differing, incompatible = (_format_trend(points, name) for name in ("discrepancy", "incompatibility"))
    reporter.say(f"Phrases in {len(points)} sets: raters differ on {differing} of the items")
    reporter.say(f"{incompatible} do not fit the earlier sets (in the first, 10th, 20th, 50th and last set)")
    return points


def _format_trend(points: list[SetCurve], name: str) -> str:
    indexes = sorted({0, 9, 19, 49, len(points) - 1} & set(range(len(points))))
    return " → ".join(f"{getattr(points[index], name):.0%}" for index in indexes)


def _rate_round(coding: CodingSession, name: str, seed: int) -> RoundState:
    open_round(coding, name, coding.lead)
    simulate_ratings(coding, name, accuracy=_ACCURACY[name], confusion=0.5, seed=seed)
    coding.act(lambda state: build_close_acts(state, name, coding.lead))
    return coding.state.round(name)


def _settle(coding: CodingSession, name: str, seed: int) -> dict[str, int]:
    return simulate_settling(coding, name, seed=seed)


def _format_agreement(agreement: Agreement | None) -> str:
    if (
        agreement is None
        or agreement.kappa.value is None
        or agreement.ac1.value is None
        or agreement.percent.value is None
    ):
        return "agreement undefined"
    percent, kappa, ac1 = agreement.percent.value, agreement.kappa.value, agreement.ac1.value
    return f"{percent:.0%} agreement, κ {kappa:.2f} ({agreement.band}), AC1 {ac1:.2f}"


def _format_methods(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} by {how}" if how != "together" else f"{count} together" for how, count in counts.items())


ROUND = "your-turn"
SIMULATED_RATER = "rater-2"
PHASE = "your-phase"
SIZE = 20
_AFTER = "not closed"
_SIMULATED_ACCURACY = 0.95
_INSTRUCTIONS = (
    "Read the title, then the question. Keep a post that asks how to implement something with a framework; otherwise "
    "exclude it with the topic that fits best. If you keep it, choose the phase of the work it belongs to. The first "
    "two posts are for practice and do not count. Another rater rates the same posts; neither of you sees the other's "
    "ratings."
)


def add_visitor_round(study: Study) -> Study:
    """Adds the visitor's round to the demo's study file; the bundled study does not change."""
    drawn = draw_sample(study, None, build_sample_settings(after=_AFTER, size=SIZE))
    rated = {item for items in drawn.strata.values() for item in items}
    others = sorted(set(read_passed(study, step_number(study, _AFTER))) - rated)
    tables = _format_tables(_choose_practice(study, others))
    edit_study_file(study, lambda text: append_tables(text, tables))
    return open_study(study.root)


def open_visitor_round(coding: CodingSession, seed: int) -> RoundState:
    """Opens the round and lets the simulated second rater rate every item."""
    open_round(coding, ROUND, coding.lead)
    simulate_ratings(coding, ROUND, accuracy=_SIMULATED_ACCURACY, confusion=0.5, seed=seed, only=SIMULATED_RATER)
    return coding.state.round(ROUND)


def _choose_practice(study: Study, items: list[str]) -> list[dict[str, Any]]:
    """Returns a post to keep and one to exclude, with the right answers and the reason."""
    truth = read_planted_truth(study.root)
    kept = _find_item(truth, items, {"topic": "implementation", "phase": "Data processing"})
    dropped = _find_item(truth, items, {"topic": "installation"})
    task = f"{truth[kept]['verb']} {truth[kept]['object']}".lower()
    return [
        {
            "item": kept,
            "answers": {"relevance": "keep", PHASE: "data-processing"},
            "feedback": f"It asks how to implement something ({task}) that happens to the data before training.",
        },
        {
            "item": dropped,
            "answers": {"relevance": "exclude: installation"},
            "feedback": "It asks how to install a framework, not how to implement something with it.",
        },
    ]


def _find_item(truth: Mapping[str, Mapping[str, str]], items: list[str], properties: Mapping[str, str]) -> str:
    for item in items:
        if all(truth[item][name] == value for name, value in properties.items()):
            return item
    raise StateError(f"no practice post with {', '.join(properties.values())} was planted: try another --seed")


def _format_tables(practice: list[dict[str, Any]]) -> str:
    """Returns the TOML that is added to the study file."""
    rounds = tomlkit.aot()
    rounds.append(
        toml_table(
            {
                "round": ROUND,
                "items": {"sample": ROUND},
                "facets": ["relevance", PHASE],
                "raters": [VISITOR, SIMULATED_RATER],
                "instructions": _INSTRUCTIONS,
                "practice": practice,
            }
        )
    )
    facet = {
        "kind": "single",
        "question": "If you keep it: which phase does it belong to?",
        "codes": "issue",
        "level": "phase",
        "required": False,
    }
    tables = {"samples": {ROUND: {"after": _AFTER, "size": SIZE}}, "facets": {PHASE: facet}, "rounds": rounds}
    return f"# The demo's own round: a few posts for the visitor to rate.\n{tomlkit.dumps(tables)}"
