"""The demo's survey: answered by simulated respondents, and open to the visitor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import tomlkit

from quaestor.base.files import write_atomically
from quaestor.coding.session import CodingSession
from quaestor.study.folder import Study
from quaestor.study.templates import template_folder
from quaestor.surveys.lifecycle import Surveys, answers_path, open_survey
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import Answer, Question, ResponseStatus
from quaestor.surveys.store.answers import AnswerFile
from quaestor.synth.simulated_respondents import SimulatedSurvey, read_bundled_plan, simulate_responses

SURVEY = "onnx"
STUDY, INSTRUMENT = "onnx-interoperability", "fielded"
SHOWN_QUESTIONS = ("uses-onnx", "problems")
"""The questions whose answers the demo's page shows live."""


@dataclass(frozen=True)
class Bar:
    """The number and share of responses that chose an option."""

    label: str
    count: int
    share: float


@dataclass(frozen=True)
class AnsweredQuestion:
    """The answers to a question so far."""

    id: str
    text: str
    base: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class SurveyCounts:
    """The finished responses so far, from simulated respondents and from people."""

    simulated: int
    people: int
    questions: tuple[AnsweredQuestion, ...]


def open_demo_survey(coding: CodingSession, seed: int) -> SimulatedSurvey:
    """Opens the bundled survey with simulated responses that match the published counts."""
    # The demo has its own copy of the questionnaire, which needs no invitation.
    text = (template_folder(STUDY) / "instruments" / f"{INSTRUMENT}.toml").read_text("utf-8")
    questionnaire = tomlkit.parse(text)
    questionnaire["survey"]["by_invitation"] = False
    folder = coding.study.root / "instruments"
    folder.mkdir(exist_ok=True)
    write_atomically(folder / f"{SURVEY}.toml", tomlkit.dumps(questionnaire).encode())
    with AnswerFile(answers_path(coding.study)) as answers:
        surveys = Surveys(coding, answers)
        open_survey(surveys, SURVEY, coding.lead)
        return simulate_responses(surveys, SURVEY, seed=seed, plan=read_bundled_plan(STUDY, INSTRUMENT))


def count_survey_responses(study: Study) -> SurveyCounts | None:
    """Counts the finished responses; None before there is a survey."""
    if not answers_path(study).exists():
        return None
    with AnswerFile(answers_path(study)) as answers:
        version = answers.version(SURVEY)
        finished = [response for response in answers.responses(SURVEY) if response.standing is ResponseStatus.FINISHED]
    if version is None:
        return None
    questionnaire = parse_questionnaire(version.text, SURVEY)
    watched = [question for question in questionnaire.questions() if question.id in SHOWN_QUESTIONS]
    return SurveyCounts(
        simulated=sum(response.synthetic for response in finished),
        people=sum(not response.synthetic for response in finished),
        questions=tuple(
            _count_answers(question, [response.answers.get(question.id, {}) for response in finished])
            for question in watched
        ),
    )


def _count_answers(question: Question, answers: Sequence[Answer]) -> AnsweredQuestion:
    base = sum(1 for answer in answers if answer)
    counts = Counter(code for answer in answers for code in answer.get("choices", ()))
    bars = (
        Bar(option.label, counts[option.code], counts[option.code] / base if base else 0.0)
        for option in question.options
    )
    return AnsweredQuestion(question.id, question.text, base, tuple(bars))
