"""A study with rated rounds, made with the public functions: some closed, some open, one in which the lead rates."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from quaestor.coding.codebook import import_codebook
from quaestor.coding.model.ratings import build_rating_act
from quaestor.coding.model.state import State
from quaestor.coding.round_acts import close_by_name, next_set_by_name, open_by_name
from quaestor.coding.session import CodingSession, open_coding
from quaestor.store.records import NewAct
from quaestor.study.folder import Study
from tests.support.made_once import study_of

TELLING = "tellingmemo"
"""A memo that appears only on pages that show answers."""

_STUDY = """
[study]
name = "rated"
title = "How people use layers"
lead = "lead"

[sources.sheet]
kind = "table"
path = "posts.csv"
item = "forum/question/{id}"
columns.id = { type = "whole" }
columns.title = {}
columns.body = {}

[[funnel.steps]]
step = "how-to"
where = "title.contains('how to')"

[facets.relevance]
kind = "keep"
question = "Does it ask how to write something?"
reasons = ["crash", "installation"]

[facets.phase]
kind = "single"
question = "In which phase does the problem stand?"
codes = "issue"

[facets.topics]
kind = "multiple"
options = ["data", "model", "speed"]

[facets.phrase]
kind = "phrase"

[facets.why]
kind = "text"
required = false
"""

_ROUND = """
[[rounds]]
round = "{name}"
kind = "{kind}"
items = {{ after = "how-to"{more} }}
facets = {facets}
raters = {raters}
{settings}
"""

_CODES = {
    "setting": ("model setting", "", "Layers, shapes and parameters of a model, before it is trained."),
    "training": ("model training", "", "Everything that happens while a model learns."),
    "training/loss": ("loss", "training", "How far the model is off, and how that is computed."),
    "training/step": ("step", "training", "One update of the parameters."),
    "data": ("data preparation", "", "Reading, cutting and shuffling what a model learns from."),
    "evaluation": ("evaluation", "", "Whether the model is any good."),
}


def rated_study(folder: Path, items: int = 30) -> Study:
    """Pilot, phases and topics are closed; phrases is in its third set; later is open, and in own the lead rates."""
    study = unrated_study(folder, items)
    with open_coding(study) as coding:
        _rate(coding, random.Random(5))
    return study


def _rate(coding: CodingSession, dice: random.Random) -> None:
    import_codebook(coding)
    for name, answers in (("pilot", _relevance), ("phases", _phase), ("topics", _topics)):
        open_by_name(coding, name, None)
        rate_now(coding, name, answers, dice)
        close_by_name(coding, name, None)
    open_by_name(coding, "phrases", None)
    for _ in range(2):
        rate_now(coding, "phrases", _phrase, dice)
        next_set_by_name(coding, "phrases", None)
    for name in ("later", "own"):
        open_by_name(coding, name, None)
    rate_now(coding, "later", _relevance, dice, most={"rater-1": 24, "rater-2": 20})
    rate_now(coding, "own", _relevance, dice, most={"lead": 3, "rater-1": 6})


def unrated_study(folder: Path, items: int = 30) -> Study:
    """Evidence and funnel are there; nobody has acted."""
    posts = [f"{number},how to save layer {number},<p>I want to save it</p>" for number in range(1, items + 1)]
    pair, three = '["rater-1", "rater-2"]', '["rater-1", "rater-2", "rater-3"]'
    rounds = [
        ("pilot", "pilot", '["relevance"]', pair, "", "threshold = 0.4"),
        ("phases", "main", '["phase", "relevance", "why"]', pair, "", 'tie_breaker = "tie-breaker"'),
        ("topics", "main", '["topics"]', three, "", ""),
        ("phrases", "main", '["phrase"]', pair, ", set_size = 6", ""),
        ("later", "main", '["relevance"]', pair, "", ""),
        ("own", "main", '["relevance"]', '["lead", "rater-1"]', "", ""),
    ]
    parts = [
        _ROUND.format(name=name, kind=kind, facets=facets, raters=raters, more=more, settings=settings)
        for name, kind, facets, raters, more, settings in rounds
    ]
    return study_of(folder, {
        "posts.csv": "\n".join(["id,title,body", *posts, "900,why does it crash,x"]),
        "study.toml": _STUDY + "".join(parts),
        "codebook.toml": _codebook(),
    })  # fmt: skip


def _codebook() -> str:
    parts = ['name = "rated"\n[[facet]]\nid = "issue"\nlevels = ["phase", "object"]\n']
    for code, (name, parent, definition) in _CODES.items():
        below = f'parent = "{parent}"\n' if parent else ""
        parts.append(f'[[code]]\nid = "{code}"\nfacet = "issue"\nname = "{name}"\n{below}definition = "{definition}"\n')
    return "\n".join(parts)


Answers = Callable[[random.Random, int, str], Mapping[str, Any]]


def rate_now(
    study: Study | CodingSession,
    name: str,
    answers: Answers,
    dice: random.Random,
    most: Mapping[str, int] | None = None,
) -> None:
    """Every rater rates what is open, or the first of it; each at one go, since every act waits for the disk."""
    with open_coding(study) as coding:
        one = coding.state.round(name)
        now = coding.now()
        for seat in one.slots:
            items = one.open_items()[: (most or {}).get(seat.rater)]
            said = [(item, answers(dice, place, seat.rater), dice.uniform(60, 600)) for place, item in enumerate(items)]

            def ratings(state: State, rater: str = seat.rater, said: Sequence[Any] = said) -> list[NewAct]:
                return [
                    build_rating_act(state, name, rater, item, answer, now=now, seconds=seconds, memo=TELLING)
                    for item, answer, seconds in said
                ]

            coding.act(ratings)


def _relevance(dice: random.Random, place: int, rater: str) -> dict[str, Any]:
    truth = "exclude: crash" if place % 3 == 0 else "keep"
    return {"relevance": truth if dice.random() < 0.85 else "cannot judge" if dice.random() < 0.2 else "keep"}


def _phase(dice: random.Random, place: int, rater: str) -> dict[str, Any]:
    codes = list(_CODES)
    truth = codes[place % len(codes)]
    return {**_relevance(dice, place, rater), "phase": truth if dice.random() < 0.75 else dice.choice(codes)}


def _topics(dice: random.Random, place: int, rater: str) -> dict[str, Any]:
    truth = [["data"], ["data", "model"], ["speed"]][place % 3]
    return {"topics": truth if dice.random() < 0.8 else dice.choice([["model"], ["data", "speed"]])}


def _phrase(dice: random.Random, place: int, rater: str) -> dict[str, Any]:
    return {"phrase": dice.choice(["load, model", "load, model", "read, file", "restore, model"])}
