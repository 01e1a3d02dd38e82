"""A survey whose respondents are not like the population: six in research, two in engineering, one silent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.study.folder import Study, open_study
from quaestor.surveys.lifecycle import Surveys, close_survey
from quaestor.surveys.open_answers import list_open_answers, make_items
from tests.support.small_survey import STUDY, answered, fielded

NAME = "panel"
QUESTIONNAIRE = """
[survey]
title = "Who answers"

[[pages]]
page = "consent"

[[pages.questions]]
id = "channel"
kind = "link-value"
text = "Where the link was published"

[[pages.questions]]
id = "consent"
kind = "consent"
text = "Do you agree to take part?"

[[pages]]
page = "you"

[[pages.questions]]
id = "role"
kind = "single"
text = "What is your role?"
options = ["Research", "Engineering", "Teaching"]

[[pages.questions]]
id = "size"
kind = "single"
text = "How large is your team?"
options = ["Small", "Large"]

[[pages.questions]]
id = "uses"
kind = "multiple"
text = "What do you use?"
options = ["ONNX", "Keras"]

[[pages.questions]]
id = "met"
kind = "matrix"
text = "How often does it fail?"
options = ["Never", "Often"]
rows = ["Training", "Export"]

[[pages.questions]]
id = "years"
kind = "number"
text = "For how many years?"

[[pages.questions]]
id = "order"
kind = "ranking"
text = "What matters most?"
options = ["Speed", "Size"]

[[pages.questions]]
id = "hardest"
kind = "long-text"
text = "What was hardest?"
"""
WEIGHTS = """
[weights.panel]
method = "post-stratification"

[[weights.panel.margins]]
by = "role"
targets = { research = 0.5, engineering = 0.5 }
source = "Register of developers, 2026"
"""
FACET = '\n[facets.theme]\nkind = "multiple"\ncodes = "theme"\n'
CODEBOOK = """
name = "themes"

[[facet]]
id = "theme"
levels = ["theme"]

[[code]]
id = "layers"
facet = "theme"
name = "custom layers"

[[code]]
id = "speed"
facet = "theme"
name = "inference speed"

[[code]]
id = "nothing"
facet = "theme"
name = "says nothing"
"""
ROUND: dict[str, Any] = {"round": "themes", "items": {"after": "open answers"}, "facets": ["theme"]}

PEOPLE = (
    ("research", "small", "onnx", "never", "1"),
    ("research", "small", "onnx", "never", "2"),
    ("research", "small", "onnx", "never", "3"),
    ("research", "large", "keras", "never", "4"),
    ("research", "large", "keras", "often", "5"),
    ("research", "large", "keras", "often", "6"),
    ("engineering", "small", "onnx", "often", "10"),
    ("engineering", "large", "onnx", "often", "20"),
    ("", "small", "keras", "never", "7"),
)
"""Role, size, use, failure of the export, and years."""


@contextmanager
def weighted_survey(folder: Path, weights: str = WEIGHTS) -> Iterator[Surveys]:
    """An open survey that nine people finished, with weights in study.toml."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(STUDY + weights, "utf-8")
    with fielded(folder, QUESTIONNAIRE, NAME) as surveys:
        for number, (role, size, use, fails, years) in enumerate(PEOPLE):
            form = {
                "q.role": [role] if role else [], "q.size": [size], "q.uses": [use], "q.met.export": [fails],
                "q.years": [years], "q.order.speed.rank": ["1" if use == "onnx" else "2"],
                "q.order.size.rank": ["2" if use == "onnx" else "1"], "q.hardest": [f"It took {number + 1} weeks."],
            }  # fmt: skip
            channel = {"channel": {"text": "forum" if number < 6 else f"mail-{number}"}}
            answered(surveys, NAME, {"consent": {"q.consent": ["agree"]}, "you": form}, hidden_answers=channel)
        yield surveys


def themes_of(number: int) -> list[str]:
    """The codes that both raters give to what the person with this number wrote."""
    return [code for code, divisor in (("layers", 2), ("speed", 3)) if number % divisor == 0] or ["nothing"]


def coded_survey(folder: Path, more: str = "", raters: tuple[str, str] = ("rater-1", "rater-2")) -> Study:
    """The same survey with its open answers coded by two raters who agree; `more` is added to study.toml."""
    with weighted_survey(folder) as surveys:
        make_items(surveys, NAME, "hardest")
        number_of = {answer.item: int(answer.text.split()[2]) for answer in list_open_answers(surveys, NAME, "hardest")}
        close_survey(surveys, NAME)
    (folder / "codebook.toml").write_text(CODEBOOK, "utf-8")
    file = folder / "study.toml"
    file.write_text(more + file.read_text("utf-8") + FACET, "utf-8")
    study = open_study(folder)
    ingest_source(study, f"{NAME}-hardest")
    run_funnel(study)
    add_round(study, {**ROUND, "raters": list(raters)})
    study = open_study(folder)
    import_codebook(study)
    open_by_name(study, ROUND["round"], None)
    with open_coding(study) as coding:
        for item, number in number_of.items():
            for rater in raters:
                rate(coding, ROUND["round"], rater, item, {"theme": "; ".join(themes_of(number))})
    close_by_name(study, ROUND["round"], None)
    return study
