"""The demo's survey: answered by simulated respondents, and open for whoever looks at the demo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import tomlkit

from quaestor.base.files import write_whole
from quaestor.coding.session import Coding
from quaestor.study.folder import Study
from quaestor.study.templates import template_folder
from quaestor.surveys.lifecycle import Surveys, answers_path, open_survey
from quaestor.surveys.model.questionnaire_file import questionnaire_from
from quaestor.surveys.model.records import Answer, Question, ResponseStatus
from quaestor.surveys.store.answers import AnswerFile
from quaestor.synth.simulated_respondents import SimulatedSurvey, bundled_plan, simulate_responses

SURVEY = "onnx"
STUDY, INSTRUMENT = "onnx-interoperability", "fielded"
WATCHED = ("uses-onnx", "problems")
"""Questions whose answers the page of the demo shows as they come in."""


@dataclass(frozen=True)
class Bar:
    """How many chose an option, of all who answered its question."""

    label: str
    count: int
    share: float


@dataclass(frozen=True)
class Watched:
    """One question as it has been answered so far."""

    id: str
    text: str
    base: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class SurveySoFar:
    """What has come in: from simulated respondents, and from people."""

    simulated: int
    people: int
    questions: tuple[Watched, ...]


def open_demo_survey(coding: Coding, seed: int) -> SimulatedSurvey:
    """The survey of the bundled study, with the printed answers planted; anybody with the link can answer it."""
    _add_questionnaire(coding.study)
    with AnswerFile(answers_path(coding.study)) as answers:
        surveys = Surveys(coding, answers)
        open_survey(surveys, SURVEY, coding.lead)
        return simulate_responses(surveys, SURVEY, seed=seed, plan=bundled_plan(STUDY, INSTRUMENT))


def survey_so_far(study: Study) -> SurveySoFar | None:
    """What was answered up to now by whoever finished; None before there is a survey."""
    if not answers_path(study).exists():
        return None
    with AnswerFile(answers_path(study)) as answers:
        version = answers.version(SURVEY)
        found = [one for one in answers.responses(SURVEY) if one.standing is ResponseStatus.FINISHED]
    if version is None:
        return None
    asked = questionnaire_from(version.text, SURVEY)
    watched = [question for question in asked.questions() if question.id in WATCHED]
    return SurveySoFar(
        simulated=sum(one.synthetic for one in found),
        people=sum(not one.synthetic for one in found),
        questions=tuple(_watched(one, [response.answers.get(one.id, {}) for response in found]) for one in watched),
    )


def _add_questionnaire(study: Study) -> None:
    """The demo's own copy, which needs no invitation; the bundled study stays as it is."""
    text = (template_folder(STUDY) / "instruments" / f"{INSTRUMENT}.toml").read_text("utf-8")
    asked = tomlkit.parse(text)
    asked["survey"]["by_invitation"] = False
    place = study.root / "instruments"
    place.mkdir(exist_ok=True)
    write_whole(place / f"{SURVEY}.toml", tomlkit.dumps(asked).encode())


def _watched(question: Question, answers: Sequence[Answer]) -> Watched:
    base = sum(1 for one in answers if one)
    counts = Counter(code for one in answers for code in one.get("choices", ()))
    bars = (Bar(one.label, counts[one.code], counts[one.code] / base if base else 0.0) for one in question.options)
    return Watched(question.id, question.text, base, tuple(bars))
