"""What is wrong with a condition: what it looks at is not there, comes too late, or cannot be compared so."""

from __future__ import annotations

from collections.abc import Iterator

from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.records import CHOSEN, Kind, Question, Questionnaire

_ORDER = (">", ">=", "<", "<=")
_MOST_NAMED = 6


def faults(condition: Condition, questionnaire: Questionnaire) -> Iterator[str]:
    """A sentence for every test that can never be as it is meant, wherever the condition stands."""
    for test in dict.fromkeys(condition.tests()):
        asked = questionnaire.question(test.question)
        words = _unknown(test, questionnaire) if asked is None else _misfit(test, asked)
        if words:
            yield f"its condition `{condition.words}` {words}"


def too_late(condition: Condition, before: set[str], questionnaire: Questionnaire) -> Iterator[str]:
    """A sentence for every question that a condition looks at and that is not among those asked before."""
    for name in dict.fromkeys(test.question for test in condition.tests()):
        if name not in before and questionnaire.question(name) is not None:
            yield (
                f"its condition `{condition.words}` looks at {name!r}, which has not been answered by then: "
                "move that question to the front, or look at an earlier one"
            )


def _unknown(test: Condition, questionnaire: Questionnaire) -> str:
    names = sort_by_similarity(test.question, (one.id for one in questionnaire.questions()))[:_MOST_NAMED]
    return f"looks at {test.question!r}, which is no question: write one that is, such as {join_with_or(names)}"


def _misfit(test: Condition, asked: Question) -> str:
    if asked.kind is Kind.MATRIX:
        return _matrix_misfit(test, asked)
    if test.row:
        return f"looks at the row {test.row!r} of {asked.id!r}, which has no rows: write `{asked.id}` alone"
    if test.compare == "answered":
        return ""
    if asked.kind in CHOSEN:
        return _choice_misfit(test, asked, "option")
    if asked.kind is Kind.NUMBER:
        return _number_misfit(test, asked)
    return (
        f"compares {asked.id!r}, where words are written or options ranked, with {test.value!r}: "
        f"all that can be tested is `{asked.id} answered`"
    )


def _matrix_misfit(test: Condition, asked: Question) -> str:
    rows = [row.code for row in asked.rows]
    if not test.row:
        if test.compare == "answered":
            return ""
        example = rows[0] if rows else "ROW"
        return f"looks at {asked.id!r} without a row: write which, as in `{asked.id}.{example} {test.compare} …`"
    if test.row not in rows:
        names = join_with_or(sort_by_similarity(test.row, rows)[:_MOST_NAMED]) or "none"
        return f"looks at the row {test.row!r}, which {asked.id!r} has not: there are {names}"
    return "" if test.compare == "answered" else _choice_misfit(test, asked, "step")


def _choice_misfit(test: Condition, asked: Question, what: str) -> str:
    if test.compare in _ORDER:
        return f"compares {asked.id!r} with the number {test.value}, but it has {what}s: test it with = or !="
    codes = [one.code for one in asked.options]
    if test.value in codes:
        return ""
    names = join_with_or(sort_by_similarity(test.value, codes)[:_MOST_NAMED]) or "none"
    return f"looks for {test.value!r}, which is no {what} of {asked.id!r}: there are {names}"


def _number_misfit(test: Condition, asked: Question) -> str:
    if test.compare == "includes":
        return f"asks what the number {asked.id!r} includes: compare it with =, !=, <, <=, > or >="
    try:
        float(test.value)
    except ValueError:
        return f"compares the number {asked.id!r} with {test.value!r}: write a number"
    return ""
