"""Measures how much respondents without pauses slow down raters, and the reverse."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from benchmarks.desk import row
from benchmarks.desk_client import Client
from benchmarks.desk_raters import Log, at_the_desk, lasting
from benchmarks.desk_study import RoundStudy, Serving, all_joined, make, serving
from benchmarks.survey import BUNDLED, SURVEY
from benchmarks.survey_respondents import Log as AnswersLog
from benchmarks.survey_respondents import Walker, many_respondents
from quaestor.surveys.lifecycle import answers_path, open_survey, open_surveys
from quaestor.surveys.model.records import Questionnaire

ITEMS, RATERS, RESPONDENTS = 8_000, 8, 200
SECONDS, EVERY = 12.0, 0.4
"""How long each phase lasts, and after how many seconds a rater saves the next rating."""


def main(folder: Path, options: argparse.Namespace) -> None:
    made = make(folder, ITEMS, RATERS)
    asked = _with_survey(made)
    print("\n| raters at a pace | median | 95th percentile | bar |\n| --- | --- | --- | --- |")
    with serving(made.study) as desk:
        asyncio.run(_measure(desk, made, asked))


def _with_survey(made: RoundStudy) -> Questionnaire:
    """The same study with a public open survey without answers."""
    for path in made.study.root.glob(f"{answers_path(made.study).name}*"):
        path.unlink()
    file = made.study.root / "instruments" / f"{SURVEY}.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(BUNDLED.read_text("utf-8").replace("by_invitation = true", "by_invitation = false"), "utf-8")
    with open_surveys(made.study) as surveys:
        open_survey(surveys, SURVEY)
        return surveys.questionnaire(SURVEY)


async def _measure(desk: Serving, made: RoundStudy, asked: Questionnaire) -> None:
    clients = await all_joined(desk, made)
    waiting = many_respondents(asked, seed=5)
    await _phase("alone", made, clients, [])
    walkers = [Walker(desk.address, SURVEY, asked, waiting) for _ in range(RESPONDENTS)]
    await _phase(f"among {RESPONDENTS} respondents", made, clients, walkers)


async def _phase(name: str, made: RoundStudy, clients: Sequence[Client], walkers: Sequence[Walker]) -> None:
    log, answers = Log(), AnswersLog()
    raters = await at_the_desk(made.raters, clients, log)
    going = lasting(SECONDS)
    await asyncio.gather(
        *(rater.by_script(going, EVERY) for rater in raters), *(walker.walk(answers, going) for walker in walkers)
    )
    row(f"{name}: rating saved", log.saved)
    row(f"{name}: the next sheets fetched ahead", log.ahead)
    if walkers:
        row(f"{name}: a respondent's page saved", answers.saved)
