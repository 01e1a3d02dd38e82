"""Checks a question by itself, independent of its position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from quaestor.base.errors import Problem
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import Option, Question


def question_problems(question: Question) -> Iterator[Problem]:
    where = f"question {question.id}"
    if not question.text.strip():
        yield Problem(where, "it has no text: write one")
    yield from kind_of(question).check_options(question)
    yield from kind_of(question).check_keys(question)
    yield from _options(question, where)
    yield from _rows(question, where)
    yield from _scale(question, where)
    if question.low is not None and question.high is not None and question.low > question.high:
        words = f"low is {question.low:g} and high is {question.high:g}, so no number is valid: swap them"
        yield Problem(where, words)
    yield from (Problem(where, words, grave=False) for words in _meaningless_keys(question))


def _options(question: Question, where: str) -> Iterator[Problem]:
    what = f"{kind_of(question).option_word}s"
    for code in find_repeated(option.code for option in question.options):
        yield Problem(where, f"two of its {what} have the code {code!r}, so only one can be chosen: change one")
    for label in find_repeated(option.label for option in question.options if option.label.strip()):
        yield Problem(where, f"two of its {what} read {label!r}: make them different", grave=False)
    for option in question.options:
        if not option.label.strip():
            yield Problem(where, f"the option {option.code!r} has no label: write one")
        yield from _option(question, option, where)


def _option(question: Question, option: Option, where: str) -> Iterator[Problem]:
    kind = kind_of(question)
    if option.alone and not kind.has_several_choices:
        words = f"the option {option.code!r} is `alone`, which has no effect in a single choice: remove `alone`"
        yield Problem(where, words, grave=False)
    for key in kind.meaningless_option_keys:
        if getattr(option, key):
            words = f"`{key}` of {option.code!r} has no effect in a {question.kind}: remove it"
            yield Problem(where, words, grave=False)


def _rows(question: Question, where: str) -> Iterator[Problem]:
    if "rows" not in kind_of(question).takes:
        return
    if not question.rows:
        yield Problem(where, "it has no rows: add some")
    for code in find_repeated(row.code for row in question.rows):
        yield Problem(where, f"two of its rows have the code {code!r}: give each its own code")
    for row in question.rows:
        if not row.label.strip():
            yield Problem(where, f"the row {row.code!r} has no label: write one")


def _scale(question: Question, where: str) -> Iterator[Problem]:
    for name, code in (("centre", question.centre), ("attention", question.attention)):
        if code and question.option(code) is None:
            codes = ", ".join(option.code for option in question.options) or "none"
            yield Problem(where, f"{name} is {code!r}, which is not one of its options: {codes}")


def _meaningless_keys(question: Question) -> Iterator[str]:
    takes = kind_of(question).takes
    bounds = [
        question.low is not None,
        question.high is not None,
        question.whole,
        bool(question.unit or question.convert),
    ]
    meaningless = {
        "options": bool(question.options) and "options" not in takes,
        "rows": bool(question.rows) and "rows" not in takes,
        "low, high, whole or unit": any(bounds) and "bounds" not in takes,
        "earliest or latest": bool(question.earliest or question.latest) and "days" not in takes,
        "step, low_label or high_label": (question.step != 1 or bool(question.low_label or question.high_label))
        and "slider" not in takes,
        "min_choices or max_choices": bool(question.min_choices or question.max_choices) and "several" not in takes,
        "pattern": bool(question.pattern) and "pattern" not in takes,
        "max_length": question.max_length != Question.max_length and "link" not in takes,
        "shuffle": question.shuffle and "options" not in takes,
    }
    for name, is_meaningless in meaningless.items():
        if is_meaningless:
            yield f"{name} has no effect in a question of kind {question.kind!r}: remove it"


def find_repeated(names: Iterable[str]) -> list[str]:
    """Returns the names that occur more than once."""
    return [name for name, times in Counter(names).items() if times > 1]
