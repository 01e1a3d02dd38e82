"""The demo from the funnel on: simulated raters take the study through its rounds, and the truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit

from quaestor.base.errors import StateError
from quaestor.coding.agreement import statistic
from quaestor.coding.model.codebook.file import read_codebook
from quaestor.coding.model.decisions import decide_agreed, disagreements, kept
from quaestor.coding.model.phrases import agreed_phrases, curves, propose_objects
from quaestor.coding.model.records import Codebook
from quaestor.coding.model.rounds import close_round, waive_gate
from quaestor.coding.model.state import RoundState
from quaestor.coding.round_acts import gate, open_named
from quaestor.coding.session import CodingSession
from quaestor.demo.folder import VISITOR
from quaestor.demo.progress import ProgressReporter
from quaestor.evidence.funnel import read_passed, step_number
from quaestor.evidence.samples import build_sample_settings, draw_sample
from quaestor.measures.records import Agreement
from quaestor.render.figures.records import SetCurve
from quaestor.store.records import NewAct
from quaestor.study.file_edit import append_tables, edit_study_file, toml_table
from quaestor.study.folder import Study, open_study
from quaestor.synth.simulated_raters import planted_truth, simulate_ratings, simulate_sets, simulate_settling

# Accuracies that give about the printed agreement: moderate in the pilot, 174 disagreements among 3,842.
_ACCURACY = {"pilot": 0.89, "refinement": 0.977, "phrases": 0.995, "phases": 0.96, "triplets": 0.93}


@dataclass(frozen=True)
class CodingOutcome:
    """What the raters decided beside what was planted."""

    kept: int
    planted: int
    correct: int
    curves: tuple[SetCurve, ...]


def import_bundled_codebook(coding: CodingSession, path: Path) -> Codebook:
    payload = read_codebook(path)
    coding.act(lambda state: NewAct("codebook.import", coding.lead, payload, key="codebook/first"), "codebook/first")
    return coding.state.history.latest


def run_rounds(coding: CodingSession, seed: int, teller: ProgressReporter) -> CodingOutcome:
    """Pilot, main round, phrases, phases, triplets; each is opened, rated, closed and settled as people would."""
    _pilot(coding, seed, teller)
    outcome = _refinement(coding, seed, teller)
    shown = _phrases(coding, seed, teller)
    for name in ("phases", "triplets"):
        teller.begin(name)
        _round(coding, name, seed)
        found = gate(coding, name)[0]
        ways = _settle(coding, name, seed)
        teller.say(f"{name.capitalize()}: {_numbers(found)}; settled {_told(ways)}")
        for warning in found.warnings[:1] if found else ():
            teller.say(warning)
        if name == "phases":
            _say_objects(coding, teller)
    return CodingOutcome(outcome[0], outcome[1], outcome[2], tuple(shown))


def _pilot(coding: CodingSession, seed: int, teller: ProgressReporter) -> None:
    teller.begin("pilot")
    one = _round(coding, "pilot", seed)
    found, passed = gate(coding, "pilot")
    if found is None:
        return
    value = statistic(found, one.plan.statistic)
    interval = f"{value.low:.2f} to {value.high:.2f}" if value.low is not None and value.high is not None else "none"
    verdict = "reached" if passed else "missed, and waived on the record"
    if passed is False:
        reason = "the demo goes on whatever chance gave its pilot"
        coding.act(lambda state: waive_gate(state, "pilot", coding.lead, reason))
    teller.say(
        f"Pilot of {len(one.plan.items)}: {one.plan.statistic} {value.value or 0:.2f} ({found.band}, "
        f"95 % CI {interval}), threshold {one.plan.threshold:g} {verdict}"
    )


def _refinement(coding: CodingSession, seed: int, teller: ProgressReporter) -> tuple[int, int, int]:
    teller.begin("refinement")
    one = _round(coding, "refinement", seed)
    found = gate(coding, "refinement")[0]
    open_cases = len(disagreements(coding.state, "refinement"))
    ways = _settle(coding, "refinement", seed)
    chosen = kept(coding.state, "refinement") or set()
    truth = planted_truth(coding.study.root)
    planted = {item for item in one.plan.items if truth[item]["topic"] == "implementation"}
    kappa = f"{found.kappa.value:.2f}" if found and found.kappa.value is not None else "undefined"
    teller.say(f"Main round of {len(one.plan.items):,}: κ {kappa}, {open_cases} disagreements, settled {_told(ways)}")
    teller.say(
        f"kept {len(chosen):,} as decided, {len(planted):,} planted; {len(chosen & planted):,} are the same, "
        f"{len(chosen ^ planted)} differ because both raters erred"
    )
    return len(chosen), len(planted), len(chosen & planted)


def _phrases(coding: CodingSession, seed: int, teller: ProgressReporter) -> list[SetCurve]:
    teller.begin("phrases")
    open_named(coding, "phrases", coding.lead)
    simulate_sets(
        coding, "phrases", accuracy=_ACCURACY["phrases"], seed=seed, tell=lambda *counts: teller.count("sets", *counts)
    )
    coding.act(lambda state: close_round(state, "phrases", coding.lead))
    _settle(coding, "phrases", seed)
    found = curves(coding.state.round("phrases"))
    teller.say(f"Phrases in {len(found)} sets: raters differ in {_falling(found, 'discrepancy')} of the items")
    teller.say(f"sets do not fit in {_falling(found, 'incompatibility')} (in the first, 10th, 20th, 50th and last set)")
    return found


def _falling(found: list[SetCurve], name: str) -> str:
    places = sorted({0, 9, 19, 49, len(found) - 1} & set(range(len(found))))
    return " → ".join(f"{getattr(found[place], name):.0%}" for place in places)


def _say_objects(coding: CodingSession, teller: ProgressReporter) -> None:
    state = coding.state
    proposed = propose_objects(agreed_phrases(state.round("phrases")), state.round("phases").decided("phase"), 3)
    phases = len({phase for phase, _, _ in proposed})
    teller.say(f"{len(proposed)} core objects proposed in {phases} phases, for the lead to adopt")


def _round(coding: CodingSession, name: str, seed: int) -> RoundState:
    open_named(coding, name, coding.lead)
    simulate_ratings(coding, name, accuracy=_ACCURACY[name], confusion=0.5, seed=seed)
    coding.act(lambda state: close_round(state, name, coding.lead))
    return coding.state.round(name)


def _settle(coding: CodingSession, name: str, seed: int) -> dict[str, int]:
    coding.act(lambda state: decide_agreed(state, name, coding.lead))
    return simulate_settling(coding, name, seed=seed)


def _numbers(found: Agreement | None) -> str:
    if found is None or found.kappa.value is None or found.ac1.value is None or found.percent.value is None:
        return "agreement undefined"
    return f"{found.percent.value:.0%} the same, κ {found.kappa.value:.2f} ({found.band}), AC1 {found.ac1.value:.2f}"


def _told(ways: dict[str, int]) -> str:
    return ", ".join(f"{count} by {how}" if how != "together" else f"{count} together" for how, count in ways.items())


ROUND = "your-turn"
SIMULATED_RATER = "rater-2"
PHASE = "your-phase"
SIZE = 20
_AFTER = "not closed"
_SIMULATED_ACCURACY = 0.95
_INSTRUCTIONS = (
    "Read the title, then the question. Keep a post that asks how to write something with a framework; exclude it for "
    "the topic that fits best. If you keep it, say to which phase of the work it belongs. The first two posts are for "
    "practice and count for nothing. Somebody else rates the same posts: neither of you sees what the other says."
)


def add_visitor_round(study: Study) -> Study:
    """The demo's own study file with one round more; the bundled study stays as it is."""
    drawn = draw_sample(study, None, build_sample_settings(after=_AFTER, size=SIZE))
    rated = {item for items in drawn.strata.values() for item in items}
    others = sorted(set(read_passed(study, step_number(study, _AFTER))) - rated)
    tables = _tables(_practice(study, others))
    edit_study_file(study, lambda text: append_tables(text, tables))
    return open_study(study.root)


def open_visitor_round(coding: CodingSession, seed: int) -> RoundState:
    """Open the round; the simulated rater beside the visitor has rated everything."""
    open_named(coding, ROUND, coding.lead)
    simulate_ratings(coding, ROUND, accuracy=_SIMULATED_ACCURACY, confusion=0.5, seed=seed, only=SIMULATED_RATER)
    return coding.state.round(ROUND)


def _practice(study: Study, items: list[str]) -> list[dict[str, Any]]:
    """A post to keep and one to exclude, with what would be right and why."""
    truth = planted_truth(study.root)
    kept = _first(truth, items, {"topic": "implementation", "phase": "Data processing"})
    dropped = _first(truth, items, {"topic": "installation"})
    asked = f"{truth[kept]['verb']} {truth[kept]['object']}".lower()
    return [
        {
            "item": kept,
            "answers": {"relevance": "keep", PHASE: "data-processing"},
            "feedback": f"It asks how to write something ({asked}), and that is about the data before a model sees"
            " them.",
        },
        {
            "item": dropped,
            "answers": {"relevance": "exclude: installation"},
            "feedback": "It asks how to get a framework to run at all, not how to write something with it.",
        },
    ]


def _first(truth: Mapping[str, Mapping[str, str]], items: list[str], wanted: Mapping[str, str]) -> str:
    for item in items:
        if all(truth[item][name] == value for name, value in wanted.items()):
            return item
    raise StateError(f"no planted post has {', '.join(wanted.values())} to practise on: take another --seed")


def _tables(practice: list[dict[str, Any]]) -> str:
    """What is added to the study file."""
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
        "question": "If you keep it: to which phase does it belong?",
        "codes": "issue",
        "level": "phase",
        "required": False,
    }
    tables = {"samples": {ROUND: {"after": _AFTER, "size": SIZE}}, "facets": {PHASE: facet}, "rounds": rounds}
    return f"# The demo's own round: a few posts for whoever looks at it.\n{tomlkit.dumps(tables)}"
