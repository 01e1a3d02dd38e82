"""Simulated respondents in a survey: they begin, send page after page, and end, through the doors that people use."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import listed, nearest_first
from quaestor.instruments.answers import form_of as fields_of
from quaestor.instruments.records import Answer, Question
from quaestor.instruments.sending import Sending
from quaestor.store.records import new_key
from quaestor.study.surveys.answering import SurveyPage, begin, sent, shown
from quaestor.study.surveys.fielding import Surveys
from quaestor.study.templates import template_folder
from quaestor.synth.respondents import PlantedTruth, Respondent, draw_respondents, planted_truth
from quaestor.synth.survey_plan import PlantedAnswers, SurveyPlan

DEFAULT = 100
_TOGETHER = 500
"""Respondents who answer at once, and share the wait for the disk."""
Form = dict[str, list[str]]
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class SimulatedSurvey:
    """What simulated respondents have answered, which is what results have to find."""

    responses: int
    seed: int
    truth: Mapping[str, PlantedTruth]

    def as_json(self, name: str) -> dict[str, object]:
        planted = {one: {"answered": said.answered, "counts": dict(said.counts)} for one, said in self.truth.items()}
        kept = {"survey": name, "responses": self.responses, "seed": self.seed}
        return {**kept, "planted": planted, "synthetic": True}


def bundled_plan(study: str, name: str) -> SurveyPlan:
    """What a bundled study plants in its survey of a name, or in its only one."""
    described = template_folder(study) / "synthetic.toml"
    planted = tomllib.loads(described.read_text("utf-8")).get("surveys", {}) if described.exists() else {}
    if not planted:
        raise InputError(f"the bundled study {study!r} does not say what to plant in a survey: leave --like out")
    if name not in planted and len(planted) > 1:
        options = listed(nearest_first(name, planted))
        raise InputError(f"the bundled study {study!r} plants nothing in a survey {name!r}, only in: {options}")
    said = planted[name] if name in planted else next(iter(planted.values()))
    return SurveyPlan(said["responses"], {question: _planted(counts) for question, counts in said["questions"].items()})


def simulate_responses(
    surveys: Surveys,
    name: str,
    *,
    seed: int,
    responses: int | None = None,
    plan: SurveyPlan | None = None,
    tell: Tell = lambda done, total: None,
) -> SimulatedSurvey:
    """Let simulated respondents answer an open survey; where people have answered, they stay away."""
    people = sum(1 for one in surveys.answers.responses(name) if not one.synthetic)
    if people:
        raise StateError(
            f"people have answered {name!r} already ({people}), and simulated answers would stand among theirs: "
            "simulate in a study of its own"
        )
    number = responses if responses is not None else plan.responses if plan else DEFAULT
    asked = surveys.questionnaire(name, surveys.fielding(name).version)
    drawn = draw_respondents(asked, number, seed, plan)
    waiting, done = iter(drawn), 0
    while together := list(islice(waiting, _TOGETHER)):
        _answer(surveys, name, together)
        done += len(together)
        tell(done, number)
    return SimulatedSurvey(number, seed, planted_truth(asked, drawn))


def _answer(surveys: Surveys, name: str, together: Sequence[Respondent]) -> None:
    """All of them, page by page, until nobody has anything left to answer."""
    going = {begin(surveys, name, synthetic=True)[0]: one for one in together}
    while going:
        sendings = [
            _sent(surveys, code, met, going[code])
            for code in going
            if isinstance(met := shown(surveys, code), SurveyPage)
        ]
        surveys.answers.record()
        for sending in sendings:
            sending.response()
        going = {sending.code: going[sending.code] for sending in sendings}


def _sent(surveys: Surveys, code: str, met: SurveyPage, respondent: Respondent) -> Sending:
    # All of the page: where a condition looks at an answer of its own page, what it shows is sent as well.
    whole = next(page for page in met.questionnaire.pages if page.id == met.page.id)
    form = form_of(whole.questions, respondent.answers)
    made = sent(surveys, code, met.page.id, form, new_key(), respondent.seconds.get(met.page.id, 0.0))
    if isinstance(made, SurveyPage):
        question, words = next(iter(made.problems.items()))
        raise StateError(f"a simulated answer to {question!r} was not taken: {words}")
    return made


def form_of(questions: Sequence[Question], answers: Mapping[str, Answer]) -> Form:
    """The fields that a page would send with these answers."""
    form: Form = {}
    for question in questions:
        form.update(fields_of(question, answers.get(question.id, {})))
    return form


def _planted(said: Mapping[str, object]) -> PlantedAnswers:
    unknown = set(said) - set(PlantedAnswers.__dataclass_fields__)
    if unknown:
        raise InputError(f"synthetic.toml: {sorted(unknown)[0]} is not a known key: take it out")
    return PlantedAnswers(**said)  # type: ignore[arg-type]
