"""Simulated respondents in a survey: they begin, send page after page, and end, through the doors that people use."""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import suggest
from quaestor.store.records import new_key
from quaestor.study.templates import template_folder
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import Answer, Option, Question, Questionnaire
from quaestor.surveys.respond import SurveyPage, begin, sent, shown
from quaestor.surveys.store.page_submission import PageSubmission
from quaestor.synth.phrases import apportion
from quaestor.synth.survey_plan import PlantedAnswers, SurveyPlan, fit_plan

_ANSWER_SHARE, _OPEN_ANSWER_SHARE = 0.93, 0.4
"""How many answer what they need not: a question with options, an open one."""
_PAGE_SECONDS = 3.0
"""Seconds for looking at a page."""
_MOST_WEIGHT = 10
_NO_PLAN = PlantedAnswers()
_OPENINGS = ("Mostly", "In our team mainly", "For me above all", "Usually", "As far as I can tell,")
_REASONS = (
    "because the documentation was clear", "for lack of time", "because the others use it too",
    "since it came with the project", "because nothing else worked on our machines",
    "for reasons of speed", "because it is easy to undo", "since somebody else decided it years ago",
    "to keep what we deploy small", "because we know its limits by now",
)  # fmt: skip
_THINGS = ("a tool of our own", "a plain script", "something from a course", "a library of a partner", "a paid service")


@dataclass(frozen=True)
class Respondent:
    """What one respondent answers; a question that is shown and left out here is skipped."""

    answers: Mapping[str, Answer]
    seconds: Mapping[str, float]
    """Spent on each page."""


@dataclass(frozen=True)
class QuestionTruth:
    """What results have to find: how many answered a question, and how many chose each option."""

    answered: int
    counts: Mapping[str, int]
    """By option; in a matrix by `row/step`."""


def draw_respondents(
    questionnaire: Questionnaire, responses: int, seed: int, plan: SurveyPlan | None = None
) -> list[Respondent]:
    """So many respondents with the planned answers; the same seed draws the same."""
    if responses < 1:
        raise InputError(f"{responses} responses are asked for: ask for at least one")
    planned = fit_plan(plan, questionnaire, responses).questions if plan else {}
    answers: list[dict[str, Answer]] = [{} for _ in range(responses)]
    seconds: list[dict[str, float]] = [{} for _ in range(responses)]
    going = list(range(responses))
    for page in questionnaire.pages:
        here = [respondent for respondent in going if page.show_if is None or page.show_if.holds(answers[respondent])]
        dice = random.Random(f"{seed}/{page.id}")
        for respondent in here:
            seconds[respondent][page.id] = round(_PAGE_SECONDS * dice.lognormvariate(0, 0.4), 1)
        for question in page.questions:
            respondents = [
                respondent
                for respondent in here
                if question.show_if is None or question.show_if.holds(answers[respondent])
            ]
            drawing = _AnswerSampler(
                question, planned.get(question.id, _NO_PLAN), random.Random(f"{seed}/{question.id}")
            )
            for respondent, answer in drawing.answers(respondents, answers).items():
                answers[respondent][question.id] = answer
                spent = kind_of(question).simulated_seconds * dice.lognormvariate(0, 0.4)
                seconds[respondent][page.id] = round(seconds[respondent][page.id] + spent, 1)
        going = [respondent for respondent in going if not _is_ended(page.questions, answers[respondent])]
    return [Respondent(*both) for both in zip(answers, seconds, strict=True)]


def count_planted_answers(questionnaire: Questionnaire, respondents: Iterable[Respondent]) -> dict[str, QuestionTruth]:
    """What these respondents answer, counted, by question."""
    answered: Counter[str] = Counter()
    counts = {
        question.id: Counter(dict.fromkeys(kind_of(question).countable_codes(question), 0))
        for question in questionnaire.questions()
    }
    for respondent in respondents:
        for name, answer in respondent.answers.items():
            answered[name] += 1
            counts[name].update(answer.get("choices", ()))
            counts[name].update(f"{row}/{step}" for row, step in answer.get("rows", {}).items())
    return {name: QuestionTruth(answered[name], dict(count)) for name, count in counts.items()}


def _is_ended(questions: Sequence[Question], answers: Mapping[str, Answer]) -> bool:
    return any(kind_of(question).end(question, answers.get(question.id, {})) for question in questions)


class _AnswerSampler:
    """The answers of all respondents to one question."""

    def __init__(self, question: Question, planted: PlantedAnswers, dice: random.Random) -> None:
        self._question = question
        self._kind = kind_of(question)
        self._planted = planted
        self._dice = dice

    def answers(self, asked: Sequence[int], said: Sequence[Mapping[str, Answer]]) -> dict[int, Answer]:
        """By respondent; who is not in it says nothing."""
        if "rows" in self._kind.takes:
            return self._matrix(asked, said)
        who = self._who(asked, said, self._wanted(len(asked)))
        if self._kind.is_choice:
            return self._with_texts(self._dealt(who))
        return {one: self._kind.draw_answer(self._question, self._dice, self._sentence) for one in who}

    def _wanted(self, asked: int) -> int:
        planted, question = self._planted, self._question
        if planted.answered is not None:
            return planted.answered
        if planted.counts and not self._kind.has_several_choices:
            return sum(planted.counts.values())
        if question.required or question.attention:
            return asked
        return round(asked * (_OPEN_ANSWER_SHARE if self._kind.is_free_text else _ANSWER_SHARE))

    def _who(self, asked: Sequence[int], said: Sequence[Mapping[str, Answer]], wanted: int) -> list[int]:
        """So many of those who are asked; first those the plan names, and among them in any order."""
        if wanted > len(asked):
            raise InputError(
                f"{wanted} answer {self._question.id!r} in the plan, but only {len(asked)} are asked: plan fewer"
            )
        mixed = self._dice.sample(list(asked), len(asked))
        first = self._planted.first.items()
        mixed.sort(key=lambda one: -sum(bool(_chosen(said[one], name) & set(codes)) for name, codes in first))
        return self._dice.sample(mixed[:wanted], wanted)

    def _dealt(self, who: list[int]) -> dict[int, list[str]]:
        counts = self._planted.counts or self._drawn_counts(len(who))
        if not self._kind.has_several_choices:
            codes = [code for code, count in counts.items() for _ in range(count)]
            return {respondent: [code] for respondent, code in zip(who, codes, strict=True)}
        apart = {*self._planted.alone, *(option.code for option in self._question.options if option.alone)}
        lonely = [code for code, count in counts.items() if code in apart for _ in range(count)]
        given: dict[int, list[str]] = {one: [code] for one, code in zip(who, lonely, strict=False)}
        rest = who[len(lonely) :]
        together = {code: count for code, count in counts.items() if code not in apart and count}
        self._check_cover(len(who), len(lonely), rest, together)
        place = 0
        for code, count in together.items():
            # Each option goes on where the one before it ended, in a circle: nobody is left out, nobody gets one twice.
            for step in range(count):
                given.setdefault(rest[(place + step) % len(rest)], []).append(code)
            place += count
        return given

    def _check_cover(self, who: int, lonely: int, rest: list[int], together: Mapping[str, int]) -> None:
        most = max(together.values(), default=0)
        if lonely > who or most > len(rest) or sum(together.values()) < len(rest):
            raise InputError(
                f"{who} answer {self._question.id!r} in the plan, which its options do not allow "
                f"({lonely} choose one that goes alone, the others sum to {sum(together.values())}): mend the counts"
            )

    def _drawn_counts(self, answered: int) -> dict[str, int]:
        question = self._question
        if question.attention:
            return {question.attention: answered}
        free = [option for option in question.options if not option.ends] or [question.options[0]]
        if self._kind.asks_consent:
            return {free[0].code: answered}
        weights = {option.code: self._weight(option) for option in free}
        if not self._kind.has_several_choices:
            return self._shares(weights, answered)
        alone = {one.code: weights.pop(one.code) for one in free if one.alone}
        if not weights:
            return self._shares(alone, answered)
        apart = self._shares({**alone, "": 4 * _MOST_WEIGHT}, answered)
        rest = apart.pop("")
        counts = {code: round(rest * weight / (_MOST_WEIGHT + 2)) for code, weight in weights.items()}
        # Whoever answers says something: what is left over goes to the option that most choose anyway.
        counts[max(counts, key=lambda code: counts[code])] += max(0, rest - sum(counts.values()))
        return apart | counts

    def _weight(self, option: Option) -> int:
        """How often an option is chosen beside others: rarely where it is what the questionnaire did not think of."""
        return self._dice.randint(1, 2) if option.text or option.alone else self._dice.randint(3, _MOST_WEIGHT)

    def _shares(self, weights: Mapping[str, int], total: int) -> dict[str, int]:
        """A total divided in proportion."""
        if not total:
            return dict.fromkeys(weights, 0)
        parts = apportion(list(weights.values()), total)
        return {code: int(part) for code, part in zip(weights, parts, strict=True)}

    def _with_texts(self, given: Mapping[int, list[str]]) -> dict[int, Answer]:
        asks = {option.code for option in self._question.options if option.text}
        order = {option.code: place for place, option in enumerate(self._question.options)}
        made: dict[int, Answer] = {}
        for one, codes in given.items():
            answer: dict[str, Any] = {"choices": sorted(codes, key=order.__getitem__)}
            texts = {code: self._words(_THINGS) for code in answer["choices"] if code in asks}
            made[one] = answer | ({"texts": texts} if texts else {})
        return made

    def _matrix(self, asked: Sequence[int], said: Sequence[Mapping[str, Answer]]) -> dict[int, Answer]:
        made: dict[int, dict[str, Any]] = {}
        for row in self._question.rows:
            steps = {option.code: self._weight(option) for option in self._question.options}
            share = 0.1 if row.text else _ANSWER_SHARE
            drawn = round(len(asked) * (1 if self._question.required and not row.text else share))
            counts = self._planted.rows.get(row.code) or self._shares(steps, drawn)
            codes = [code for code, count in counts.items() for _ in range(count)]
            for one, code in zip(self._who(asked, said, len(codes)), codes, strict=True):
                answer = made.setdefault(one, {"rows": {}})
                answer["rows"][row.code] = code
                if row.text:
                    answer.setdefault("texts", {})[row.code] = self._words(_THINGS)
        return dict(made)

    def _sentence(self) -> str:
        return self._words((f"{self._dice.choice(_OPENINGS)} {self._dice.choice(_REASONS)}.",))

    def _words(self, otherwise: Sequence[str]) -> str:
        return self._dice.choice(self._planted.texts or otherwise)


def _chosen(said: Mapping[str, Answer], question: str) -> set[str]:
    return set(said.get(question, {}).get("choices", ()))


DEFAULT_RESPONSES = 100
_BATCH_SIZE = 500
"""Respondents who answer at once, and share the wait for the disk."""
FormFields = dict[str, list[str]]
ReportProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class SimulatedSurvey:
    """What simulated respondents have answered, which is what results have to find."""

    responses: int
    seed: int
    truth: Mapping[str, QuestionTruth]

    def as_json(self, name: str) -> dict[str, object]:
        planted = {one: {"answered": said.answered, "counts": dict(said.counts)} for one, said in self.truth.items()}
        kept = {"survey": name, "responses": self.responses, "seed": self.seed}
        return {**kept, "planted": planted, "synthetic": True}


def read_bundled_plan(study: str, name: str) -> SurveyPlan:
    """What a bundled study plants in its survey of a name, or in its only one."""
    described = template_folder(study) / "synthetic.toml"
    planted = tomllib.loads(described.read_text("utf-8")).get("surveys", {}) if described.exists() else {}
    if not planted:
        raise InputError(f"the bundled study {study!r} does not say what to plant in a survey: leave --like out")
    if name not in planted and len(planted) > 1:
        options = suggest(name, planted)
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
    tell: ReportProgress = lambda done, total: None,
) -> SimulatedSurvey:
    """Let simulated respondents answer an open survey; where people have answered, they stay away."""
    people = sum(1 for response in surveys.answers.responses(name) if not response.synthetic)
    if people:
        raise StateError(
            f"people have answered {name!r} already ({people}), and simulated answers would stand among theirs: "
            "simulate in a study of its own"
        )
    number = responses if responses is not None else plan.responses if plan else DEFAULT_RESPONSES
    asked = surveys.questionnaire(name, surveys.fielding(name).version)
    drawn = draw_respondents(asked, number, seed, plan)
    waiting, done = iter(drawn), 0
    while together := list(islice(waiting, _BATCH_SIZE)):
        _answer(surveys, name, together)
        done += len(together)
        tell(done, number)
    return SimulatedSurvey(number, seed, count_planted_answers(asked, drawn))


def _answer(surveys: Surveys, name: str, together: Sequence[Respondent]) -> None:
    """All of them, page by page, until nobody has anything left to answer."""
    going = {begin(surveys, name, synthetic=True)[0]: one for one in together}
    while going:
        sendings = [
            _sent(surveys, code, met, going[code])
            for code in going
            if isinstance(met := shown(surveys, code), SurveyPage)
        ]
        surveys.answers.submissions.record()
        for sending in sendings:
            sending.result()
        going = {sending.code: going[sending.code] for sending in sendings}


def _sent(surveys: Surveys, code: str, met: SurveyPage, respondent: Respondent) -> PageSubmission:
    # All of the page: where a condition looks at an answer of its own page, what it shows is sent as well.
    whole = next(page for page in met.questionnaire.pages if page.id == met.page.id)
    form = build_form(whole.questions, respondent.answers)
    made = sent(surveys, code, met.page.id, form, new_key(), respondent.seconds.get(met.page.id, 0.0))
    if isinstance(made, SurveyPage):
        question, words = next(iter(made.problems.items()))
        raise StateError(f"a simulated answer to {question!r} was not taken: {words}")
    return made


def build_form(questions: Sequence[Question], answers: Mapping[str, Answer]) -> FormFields:
    """The fields that a page would send with these answers."""
    form: FormFields = {}
    for question in questions:
        form.update(kind_of(question).write_form(question, answers.get(question.id, {})))
    return form


def _planted(said: Mapping[str, object]) -> PlantedAnswers:
    unknown = set(said) - set(PlantedAnswers.__dataclass_fields__)
    if unknown:
        raise InputError(f"synthetic.toml: {sorted(unknown)[0]} is not a known key: take it out")
    return PlantedAnswers(**said)  # type: ignore[arg-type]
