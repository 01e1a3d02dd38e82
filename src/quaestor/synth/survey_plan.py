"""The plan of simulated survey responses: how many answer each question and choose each option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from quaestor.base.errors import InputError
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import Question, Questionnaire
from quaestor.synth.phrases import apportion

Counts = Mapping[str, int]


@dataclass(frozen=True)
class PlantedAnswers:
    """The planned answers to a question; anything not planned is drawn at random."""

    answered: int | None = None
    """How many answer it; for a single choice with counted options, their sum."""
    counts: Counts = field(default_factory=dict)
    """How many choose each option, by code."""
    rows: Mapping[str, Counts] = field(default_factory=dict)
    """How many choose each step of a matrix, by row."""
    alone: tuple[str, ...] = ()
    """Options that are never combined with others, although the questionnaire allows it."""
    texts: tuple[str, ...] = ()
    """The texts of an open question or of "other"."""
    first: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Respondents who chose one of these options of an earlier question answer first."""


@dataclass(frozen=True)
class SurveyPlan:
    """The planned answers of a number of respondents."""

    responses: int
    questions: Mapping[str, PlantedAnswers]


def fit_plan(plan: SurveyPlan, questionnaire: Questionnaire, responses: int) -> SurveyPlan:
    """Scales the plan to a number of responses, keeping its shares; raises InputError if it does not fit."""
    known = {question.id: question for question in questionnaire.questions()}
    for name, planted in plan.questions.items():
        if name not in known:
            raise InputError(f"the plan has answers to {name!r}, which {questionnaire.id!r} does not ask: leave it out")
        _check(known[name], planted)
    if responses == plan.responses:
        return plan
    scaled = {
        name: _scale(known[name], question, responses / plan.responses) for name, question in plan.questions.items()
    }
    return SurveyPlan(responses, scaled)


def _check(question: Question, planted: PlantedAnswers) -> None:
    options = {option.code for option in question.options}
    counted = [*planted.counts, *(step for steps in planted.rows.values() for step in steps), *planted.alone]
    unknown = [code for code in counted if code not in options]
    unknown += [row for row in planted.rows if row not in {row.code for row in question.rows}]
    if unknown:
        raise InputError(
            f"the plan counts {unknown[0]!r} of {question.id!r}, which does not offer it: correct the plan"
        )
    if planted.counts and not kind_of(question).is_choice:
        raise InputError(f"the plan counts options of {question.id!r}, which is of kind {question.kind}: leave it out")
    total = sum(planted.counts.values())
    if total and not kind_of(question).has_several_choices and planted.answered not in (None, total):
        raise InputError(
            f"{planted.answered} answer {question.id!r} in the plan, but its options sum to {total}: make them equal"
        )


def _scale(question: Question, planted: PlantedAnswers, factor: float) -> PlantedAnswers:
    answered = None if planted.answered is None else round(planted.answered * factor)
    rows = {row: _divide(steps, round(sum(steps.values()) * factor)) for row, steps in planted.rows.items()}
    if not kind_of(question).has_several_choices:
        total = round(sum(planted.counts.values()) * factor)
        whole = None if planted.answered is None or not planted.counts else total
        return replace(planted, answered=whole or answered, counts=_divide(planted.counts, total), rows=rows)
    counts = {code: round(count * factor) for code, count in planted.counts.items()}
    return replace(planted, answered=None if answered is None else min(answered, sum(counts.values())), counts=counts)


def _divide(counts: Counts, total: int) -> Counts:
    """Divides another total in the same proportions."""
    chosen = {code: count for code, count in counts.items() if count}
    if not chosen or not total:
        return dict.fromkeys(counts, 0)
    parts = apportion(list(chosen.values()), total)
    return {**dict.fromkeys(counts, 0), **{code: int(part) for code, part in zip(chosen, parts, strict=True)}}
