"""Simulated respondents that answer a survey page by page with the functions that people use."""

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
from quaestor.surveys.respond import SurveyPage, begin_response, show_page, submit_page
from quaestor.surveys.store.page_submission import PageSubmission
from quaestor.synth.phrases import apportion
from quaestor.synth.survey_plan import PlantedAnswers, SurveyPlan, fit_plan

_ANSWER_SHARE, _OPEN_ANSWER_SHARE = 0.93, 0.4
"""The shares of respondents who answer optional questions: with options, and open ones."""
_PAGE_SECONDS = 3.0
"""The median time to read a page."""
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
    """The answers of a respondent; shown questions without an answer are skipped."""

    answers: Mapping[str, Answer]
    seconds: Mapping[str, float]
    """The time spent on each page."""


@dataclass(frozen=True)
class QuestionTruth:
    """The true counts of a question, which the results must match."""

    answered: int
    counts: Mapping[str, int]
    """By option; in a matrix by `row/step`."""


def draw_respondents(
    questionnaire: Questionnaire, responses: int, seed: int, plan: SurveyPlan | None = None
) -> list[Respondent]:
    """Draws respondents with the planned answers; the same seed gives the same respondents."""
    if responses < 1:
        raise InputError(f"cannot simulate {responses} responses: use at least 1")
    planned = fit_plan(plan, questionnaire, responses).questions if plan else {}
    answers: list[dict[str, Answer]] = [{} for _ in range(responses)]
    seconds: list[dict[str, float]] = [{} for _ in range(responses)]
    active = list(range(responses))
    for page in questionnaire.pages:
        on_page = [
            respondent for respondent in active if page.show_if is None or page.show_if.holds(answers[respondent])
        ]
        dice = random.Random(f"{seed}/{page.id}")
        for respondent in on_page:
            seconds[respondent][page.id] = round(_PAGE_SECONDS * dice.lognormvariate(0, 0.4), 1)
        for question in page.questions:
            respondents = [
                respondent
                for respondent in on_page
                if question.show_if is None or question.show_if.holds(answers[respondent])
            ]
            sampler = _AnswerSampler(
                question, planned.get(question.id, _NO_PLAN), random.Random(f"{seed}/{question.id}")
            )
            for respondent, answer in sampler.draw_answers(respondents, answers).items():
                answers[respondent][question.id] = answer
                spent = kind_of(question).simulated_seconds * dice.lognormvariate(0, 0.4)
                seconds[respondent][page.id] = round(seconds[respondent][page.id] + spent, 1)
        active = [respondent for respondent in active if not _is_ended(page.questions, answers[respondent])]
    return [Respondent(*both) for both in zip(answers, seconds, strict=True)]


def count_planted_answers(questionnaire: Questionnaire, respondents: Iterable[Respondent]) -> dict[str, QuestionTruth]:
    """Counts the answers of respondents by question."""
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
    """Draws the answers of all respondents to a question."""

    def __init__(self, question: Question, planted: PlantedAnswers, dice: random.Random) -> None:
        self._question = question
        self._kind = kind_of(question)
        self._planted = planted
        self._dice = dice

    def draw_answers(self, eligible: Sequence[int], answers: Sequence[Mapping[str, Answer]]) -> dict[int, Answer]:
        """Returns the answers by respondent; respondents who skip the question are missing."""
        if "rows" in self._kind.takes:
            return self._draw_matrix(eligible, answers)
        chosen = self._choose_respondents(eligible, answers, self._count_answers(len(eligible)))
        if self._kind.is_choice:
            choices = self._assign_options(chosen)
            fitted = choices if self._planted.counts else {who: self._fit(codes) for who, codes in choices.items()}
            return self._add_texts(fitted)
        return {
            respondent: self._kind.draw_answer(self._question, self._dice, self._draw_sentence) for respondent in chosen
        }

    def _count_answers(self, eligible: int) -> int:
        planted, question = self._planted, self._question
        if planted.answered is not None:
            return planted.answered
        if planted.counts and not self._kind.has_several_choices:
            return sum(planted.counts.values())
        if question.required or question.attention:
            return eligible
        return round(eligible * (_OPEN_ANSWER_SHARE if self._kind.is_free_text else _ANSWER_SHARE))

    def _choose_respondents(
        self, eligible: Sequence[int], answers: Sequence[Mapping[str, Answer]], count: int
    ) -> list[int]:
        """Chooses respondents at random, those that the plan names first."""
        if count > len(eligible):
            raise InputError(
                f"{count} answer {self._question.id!r} in the plan, but only {len(eligible)} are asked: plan fewer"
            )
        mixed = self._dice.sample(list(eligible), len(eligible))
        first = self._planted.first.items()

        def count_named(respondent: int) -> int:
            return sum(bool(_list_choices(answers[respondent], name) & set(codes)) for name, codes in first)

        mixed.sort(key=lambda respondent: -count_named(respondent))
        return self._dice.sample(mixed[:count], count)

    def _assign_options(self, who: list[int]) -> dict[int, list[str]]:
        counts = self._planted.counts or self._draw_counts(len(who))
        if not self._kind.has_several_choices:
            codes = [code for code, count in counts.items() for _ in range(count)]
            return {respondent: [code] for respondent, code in zip(who, codes, strict=True)}
        exclusive = {*self._planted.alone, *(option.code for option in self._question.options if option.alone)}
        single = [code for code, count in counts.items() if code in exclusive for _ in range(count)]
        choices: dict[int, list[str]] = {respondent: [code] for respondent, code in zip(who, single, strict=False)}
        rest = who[len(single) :]
        combined = {code: count for code, count in counts.items() if code not in exclusive and count}
        self._check_cover(len(who), len(single), rest, combined)
        start = 0
        for code, count in combined.items():
            # Each option continues where the previous one ended, in a circle: everybody gets one, and none twice.
            for step in range(count):
                choices.setdefault(rest[(start + step) % len(rest)], []).append(code)
            start += count
        return choices

    def _fit(self, codes: list[str]) -> list[str]:
        """Returns as many choices as the question asks for."""
        question = self._question
        free = [option.code for option in question.options if not (option.alone or option.ends)]
        if not {*codes} <= {*free}:
            return codes
        more = [code for code in free if code not in codes]
        lacking = min(max(question.min_choices - len(codes), 0), len(more))
        return [*codes, *self._dice.sample(more, lacking)][: question.max_choices or None]

    def _check_cover(self, total: int, single: int, rest: list[int], combined: Mapping[str, int]) -> None:
        most = max(combined.values(), default=0)
        if single > total or most > len(rest) or sum(combined.values()) < len(rest):
            raise InputError(
                f"{total} answer {self._question.id!r} in the plan, which its options do not allow ({single} choose an "
                f"exclusive option, the others sum to {sum(combined.values())}): correct the counts"
            )

    def _draw_counts(self, answered: int) -> dict[str, int]:
        question = self._question
        if question.attention:
            return {question.attention: answered}
        free = [option for option in question.options if not option.ends] or [question.options[0]]
        if self._kind.asks_consent:
            return {free[0].code: answered}
        weights = {option.code: self._weight(option) for option in free}
        if not self._kind.has_several_choices:
            return self._shares(weights, answered)
        alone = {option.code: weights.pop(option.code) for option in free if option.alone}
        if not weights:
            return self._shares(alone, answered)
        apart = self._shares({**alone, "": 4 * _MOST_WEIGHT}, answered)
        rest = apart.pop("")
        counts = {code: round(rest * weight / (_MOST_WEIGHT + 2)) for code, weight in weights.items()}
        # Every respondent chooses at least one option: what is missing goes to the most frequent one.
        counts[max(counts, key=lambda code: counts[code])] += max(0, rest - sum(counts.values()))
        return apart | counts

    def _weight(self, option: Option) -> int:
        """Draws the relative frequency of an option; "other" and exclusive options are rare, variants alike."""
        if self._kind.is_hidden:
            return 1
        return self._dice.randint(1, 2) if option.text or option.alone else self._dice.randint(3, _MOST_WEIGHT)

    def _shares(self, weights: Mapping[str, int], total: int) -> dict[str, int]:
        """Divides a total in proportion to the weights."""
        if not total:
            return dict.fromkeys(weights, 0)
        parts = apportion(list(weights.values()), total)
        return {code: int(part) for code, part in zip(weights, parts, strict=True)}

    def _add_texts(self, choices: Mapping[int, list[str]]) -> dict[int, Answer]:
        with_text = {option.code for option in self._question.options if option.text}
        order = {option.code: index for index, option in enumerate(self._question.options)}
        answers: dict[int, Answer] = {}
        for respondent, codes in choices.items():
            answer: dict[str, Any] = {"choices": sorted(codes, key=order.__getitem__)}
            texts = {code: self._draw_text(_THINGS) for code in answer["choices"] if code in with_text}
            answers[respondent] = answer | ({"texts": texts} if texts else {})
        return answers

    def _draw_matrix(self, eligible: Sequence[int], answers: Sequence[Mapping[str, Answer]]) -> dict[int, Answer]:
        drawn_answers: dict[int, dict[str, Any]] = {}
        for row in self._question.rows:
            steps = {option.code: self._weight(option) for option in self._question.options}
            share = 0.1 if row.text else _ANSWER_SHARE
            drawn = round(len(eligible) * (1 if self._question.required and not row.text else share))
            counts = self._planted.rows.get(row.code) or self._shares(steps, drawn)
            codes = [code for code, count in counts.items() for _ in range(count)]
            for respondent, code in zip(self._choose_respondents(eligible, answers, len(codes)), codes, strict=True):
                answer = drawn_answers.setdefault(respondent, {"rows": {}})
                answer["rows"][row.code] = code
                if row.text:
                    answer.setdefault("texts", {})[row.code] = self._draw_text(_THINGS)
        return dict(drawn_answers)

    def _draw_sentence(self) -> str:
        return self._draw_text((f"{self._dice.choice(_OPENINGS)} {self._dice.choice(_REASONS)}.",))

    def _draw_text(self, otherwise: Sequence[str]) -> str:
        return self._dice.choice(self._planted.texts or otherwise)


def _list_choices(answers: Mapping[str, Answer], question: str) -> set[str]:
    return set(answers.get(question, {}).get("choices", ()))


DEFAULT_RESPONSES = 100
_BATCH_SIZE = 500
"""Respondents whose pages are saved together, so that they share one write to disk."""
FormFields = dict[str, list[str]]
ReportProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class SimulatedSurvey:
    """The true counts of a simulated survey, which its results must match."""

    responses: int
    seed: int
    truth: Mapping[str, QuestionTruth]

    def as_json(self, name: str) -> dict[str, object]:
        planted = {
            question: {"answered": truth.answered, "counts": dict(truth.counts)}
            for question, truth in self.truth.items()
        }
        return {
            "survey": name, "responses": self.responses, "seed": self.seed, "planted": planted, "synthetic": True,
        }  # fmt: skip


def read_bundled_plan(study: str, name: str) -> SurveyPlan:
    """Reads a bundled study's plan for a survey, by name or the only one."""
    described = template_folder(study) / "synthetic.toml"
    planted = tomllib.loads(described.read_text("utf-8")).get("surveys", {}) if described.exists() else {}
    if not planted:
        raise InputError(f"the bundled study {study!r} has no plan for a synthetic survey: leave --like out")
    if name not in planted and len(planted) > 1:
        options = suggest(name, planted)
        raise InputError(f"the bundled study {study!r} has no plan for a survey {name!r}, only for: {options}")
    table = planted[name] if name in planted else next(iter(planted.values()))
    questions = {question: _parse_answers(counts) for question, counts in table["questions"].items()}
    return SurveyPlan(table["responses"], questions)


def simulate_responses(
    surveys: Surveys,
    name: str,
    *,
    seed: int,
    responses: int | None = None,
    plan: SurveyPlan | None = None,
    report: ReportProgress = lambda done, total: None,
) -> SimulatedSurvey:
    """Answers an open survey with simulated respondents; raises StateError if people have answered it."""
    people = sum(1 for response in surveys.answers.responses(name) if not response.synthetic)
    if people:
        raise StateError(
            f"people have already answered {name!r} ({people}), and simulated responses must not be mixed with theirs: "
            "simulate in a separate study"
        )
    number = responses if responses is not None else plan.responses if plan else DEFAULT_RESPONSES
    questionnaire = surveys.questionnaire(name, surveys.fielding(name).version)
    drawn = draw_respondents(questionnaire, number, seed, plan)
    remaining, done = iter(drawn), 0
    while batch := list(islice(remaining, _BATCH_SIZE)):
        _answer(surveys, name, batch)
        done += len(batch)
        report(done, number)
    return SimulatedSurvey(number, seed, count_planted_answers(questionnaire, drawn))


def _answer(surveys: Surveys, name: str, respondents: Sequence[Respondent]) -> None:
    """Sends the pages of all respondents, page by page, until all have finished."""
    questions = surveys.questionnaire(name, surveys.fielding(name).version).questions()
    hidden = [question.id for question in questions if kind_of(question).is_hidden]
    active = {}
    for respondent in respondents:
        hidden_answers = {name: respondent.answers[name] for name in hidden if name in respondent.answers}
        active[begin_response(surveys, name, synthetic=True, hidden_answers=hidden_answers)[0]] = respondent
    while active:
        submissions = [
            _send_page(surveys, code, page, active[code])
            for code in active
            if isinstance(page := show_page(surveys, code), SurveyPage)
        ]
        surveys.answers.submissions.record()
        for submission in submissions:
            submission.result()
        active = {submission.code: active[submission.code] for submission in submissions}


def _send_page(surveys: Surveys, code: str, shown_page: SurveyPage, respondent: Respondent) -> PageSubmission:
    # The whole page, because a condition may depend on an answer of the same page and show further questions.
    whole = next(page for page in shown_page.questionnaire.pages if page.id == shown_page.page.id)
    form = build_form(whole.questions, respondent.answers)
    submission = submit_page(
        surveys, code, shown_page.page.id, form, new_key(), respondent.seconds.get(shown_page.page.id, 0.0)
    )
    if isinstance(submission, SurveyPage):
        question, problem = next(iter(submission.problems.items()))
        raise StateError(f"a simulated answer to {question!r} was not accepted: {problem}")
    return submission


def build_form(questions: Sequence[Question], answers: Mapping[str, Answer]) -> FormFields:
    """Builds the form fields that a page sends with these answers."""
    form: FormFields = {}
    for question in questions:
        form.update(kind_of(question).write_form(question, answers.get(question.id, {})))
    return form


def _parse_answers(table: Mapping[str, object]) -> PlantedAnswers:
    unknown = set(table) - set(PlantedAnswers.__dataclass_fields__)
    if unknown:
        raise InputError(f"synthetic.toml: {sorted(unknown)[0]} is not a known key: remove it")
    return PlantedAnswers(**table)  # type: ignore[arg-type]
