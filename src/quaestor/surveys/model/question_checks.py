"""What is wrong with a question by itself, wherever it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from quaestor.base.errors import Problem
from quaestor.surveys.model.records import CHOSEN, Kind, Option, Question

_WITH_OPTIONS = (*CHOSEN, Kind.MATRIX, Kind.RANKING)


def question_problems(question: Question) -> Iterator[Problem]:
    """Every problem of a question."""
    where = f"question {question.id}"
    if not question.text.strip():
        yield Problem(where, "it asks nothing: write its text")
    yield from _options(question, where)
    yield from _rows(question, where)
    yield from _scale(question, where)
    yield from _numbers(question, where)
    yield from (Problem(where, words, grave=False) for words in _idle(question))


def _options(question: Question, where: str) -> Iterator[Problem]:
    codes = [one.code for one in question.options]
    what = "steps" if question.kind is Kind.MATRIX else "options"
    if question.kind in _WITH_OPTIONS and not codes:
        yield Problem(where, f"it has no {what}: give it some")
    elif question.kind in (Kind.RANKING, Kind.MATRIX) and len(codes) < 2:
        yield Problem(where, f"it has one of its {what} only: give it at least two")
    elif question.kind is Kind.SINGLE and len(codes) < 2:
        yield Problem(where, "there is one option only, so there is nothing to choose: add another", grave=False)
    elif question.kind is Kind.YES_NO and len(codes) != 2:
        yield Problem(where, f'it has {len(codes)} options: give it two, or make it a question of kind "single"')
    for code in _doubled(codes):
        yield Problem(where, f"two of its {what} have the code {code!r}, and only one can be chosen: give each its own")
    for label in _doubled(one.label for one in question.options if one.label.strip()):
        yield Problem(where, f"two of its {what} read {label!r}: tell them apart", grave=False)
    for one in question.options:
        if not one.label.strip():
            yield Problem(where, f"the option {one.code!r} has no label: write one")
        yield from _option(question, one, where)


def _option(question: Question, option: Option, where: str) -> Iterator[Problem]:
    if option.alone and question.kind is not Kind.MULTIPLE:
        words = f"the option {option.code!r} is `alone`, which means nothing where one is chosen: take `alone` away"
        yield Problem(where, words, grave=False)
    if question.kind in (Kind.MATRIX, Kind.RANKING):
        for name, given in (("text", option.text), ("ends", option.ends)):
            if given:
                words = f"`{name}` of {option.code!r} means nothing in a {question.kind.value}: take it away"
                yield Problem(where, words, grave=False)


def _rows(question: Question, where: str) -> Iterator[Problem]:
    if question.kind is not Kind.MATRIX:
        return
    if not question.rows:
        yield Problem(where, "it has no rows: give it some")
    for code in _doubled(row.code for row in question.rows):
        yield Problem(where, f"two of its rows have the code {code!r}: give each its own")
    for row in question.rows:
        if not row.label.strip():
            yield Problem(where, f"the row {row.code!r} has no label: write one")


def _scale(question: Question, where: str) -> Iterator[Problem]:
    for name, code in (("centre", question.centre), ("attention", question.attention)):
        if code and question.option(code) is None:
            codes = ", ".join(one.code for one in question.options) or "none"
            yield Problem(where, f"{name} is {code!r}, which is none of its options: there are {codes}")


def _numbers(question: Question, where: str) -> Iterator[Problem]:
    if question.low is not None and question.high is not None and question.low > question.high:
        words = f"low is {question.low:g} and high is {question.high:g}, so no number will do: exchange them"
        yield Problem(where, words)


def _idle(question: Question) -> Iterator[str]:
    """What was given and means nothing for this kind of question."""
    numbers = [question.low is not None, question.high is not None, question.whole, bool(question.unit)]
    given = {
        "options": bool(question.options) and question.kind not in _WITH_OPTIONS,
        "rows": bool(question.rows) and question.kind is not Kind.MATRIX,
        "low, high, whole or unit": any(numbers) and question.kind is not Kind.NUMBER,
        "shuffle": question.shuffle and question.kind not in _WITH_OPTIONS,
    }
    for name, idle in given.items():
        if idle:
            yield f"{name} means nothing for a question of kind {question.kind.value!r}: take it away"


def _doubled(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]
