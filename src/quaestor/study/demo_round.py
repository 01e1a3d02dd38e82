"""The round that waits for whoever looks at the demo: a few posts to rate, beside a simulated rater."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow.parquet as pq

from quaestor.base.errors import StateError
from quaestor.base.files import write_whole
from quaestor.coding.state import RoundState
from quaestor.study.coding import Coding
from quaestor.study.demo_doors import VISITOR
from quaestor.study.folder import Study, open_study
from quaestor.study.funnel import fell_file, step_number
from quaestor.study.rounds import open_named
from quaestor.study.samples import describe_sample, draw_sample
from quaestor.study.simulated import planted_truth, simulate_ratings

ROUND = "your-turn"
BESIDE = "rater-2"
PHASE = "your-phase"
SIZE = 20
_AFTER = "not closed"
_ACCURACY = 0.95
_INSTRUCTIONS = (
    "Read the title, then the question. Keep a post that asks how to write something with a framework; exclude it for "
    "the topic that fits best. If you keep it, say to which phase of the work it belongs. The first two posts are for "
    "practice and count for nothing. Somebody else rates the same posts: neither of you sees what the other says."
)


def add_visitors_round(study: Study) -> Study:
    """The demo's own study file with one round more; the bundled study stays as it is."""
    drawn = draw_sample(study, None, describe_sample(after=_AFTER, size=SIZE))
    rated = {item for items in drawn.strata.values() for item in items}
    passed = pq.read_table(fell_file(study), filters=[("fell_at", ">", step_number(study, _AFTER))], columns=["item"])
    others = sorted(set(passed.column("item").to_pylist()) - rated)
    text = study.file.read_text("utf-8")
    write_whole(study.file, f"{text.rstrip()}\n{_block(_practice(study, others))}".encode())
    return open_study(study.root)


def open_visitors_round(coding: Coding, seed: int) -> RoundState:
    """Open the round; the simulated rater beside the visitor has rated everything."""
    open_named(coding, ROUND, coding.lead)
    simulate_ratings(coding, ROUND, accuracy=_ACCURACY, confusion=0.5, seed=seed, only=BESIDE)
    return coding.state.round(ROUND)


def _practice(study: Study, items: list[str]) -> list[tuple[str, dict[str, str], str]]:
    """A post to keep and one to exclude, with what would be right and why."""
    truth = planted_truth(study.root)
    kept = _first(truth, items, {"topic": "implementation", "phase": "Data processing"})
    dropped = _first(truth, items, {"topic": "installation"})
    asked = f"{truth[kept]['verb']} {truth[kept]['object']}".lower()
    return [
        (
            kept,
            {"relevance": "keep", PHASE: "data-processing"},
            f"It asks how to write something ({asked}), and that is about the data before a model sees them.",
        ),
        (
            dropped,
            {"relevance": "exclude: installation"},
            "It asks how to get a framework to run at all, not how to write something with it.",
        ),
    ]


def _first(truth: Mapping[str, Mapping[str, str]], items: list[str], wanted: Mapping[str, str]) -> str:
    for item in items:
        if all(truth[item][name] == value for name, value in wanted.items()):
            return item
    raise StateError(f"no planted post has {', '.join(wanted.values())} to practise on: take another --seed")


def _block(practice: list[tuple[str, dict[str, str], str]]) -> str:
    """What is added to the study file."""
    tries = "".join(
        f"\n  {{ item = {_text(item)}, answers = {_table(answers)}, feedback = {_text(why)} }},"
        for item, answers, why in practice
    )
    return f"""
# The demo's own round: a few posts for whoever looks at it.
[samples.{ROUND}]
after = {_text(_AFTER)}
size = {SIZE}

[facets.{PHASE}]
kind = "single"
question = "If you keep it: to which phase does it belong?"
codes = "issue"
level = "phase"
required = false

[[rounds]]
round = "{ROUND}"
items = {{ sample = "{ROUND}" }}
facets = ["relevance", "{PHASE}"]
raters = ["{VISITOR}", "{BESIDE}"]
instructions = {_text(_INSTRUCTIONS)}
practice = [{tries}
]
"""


def _table(values: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f"{name} = {_text(value)}" for name, value in values.items()) + " }"


def _text(words: str) -> str:
    """A text as TOML writes it, which for one line is as JSON does."""
    return json.dumps(words, ensure_ascii=False)
