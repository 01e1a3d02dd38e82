"""Answers that make a difference to the way through a questionnaire: one example of each kind of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, pairwise, product
from typing import Any

from quaestor.base.errors import InputError
from quaestor.instruments.answers import checked_answer, unanswered
from quaestor.instruments.conditions import Condition
from quaestor.instruments.records import CHOSEN, DECLINE, Answer, Kind, Option, Question, Standing

_MOST_TRIED = 4_096
"""Combinations of options or rows of one question; a questionnaire that tells more apart is walked in part."""


@dataclass(frozen=True)
class Example:
    """An answer that stands for all that lead on in the same way."""

    answer: Answer
    ends: Standing | None = None
    """What becomes of whoever gives it, where it ends the questionnaire."""


def examples(question: Question, tests: Sequence[Condition]) -> tuple[list[Example], bool]:
    """An example of every way in which conditions and ends tell answers to a question apart, and whether that is all.

    The first one goes on where any does; that nothing is answered comes last, where it is allowed.
    """
    found: dict[tuple[Any, ...], Example] = {}
    tried = list(islice(_said(question, tests), _MOST_TRIED))
    for said in tried:
        try:
            answer = checked_answer(question, said)
        except InputError:
            continue
        if unanswered(question, answer):
            continue
        ends = _ends(question, answer)
        outcome = (ends, *(test.holds({question.id: answer}) for test in tests))
        found.setdefault(outcome, Example(answer, ends))
    ordered = sorted(found.values(), key=lambda one: (one.ends is not None, not one.answer))
    return ordered, len(tried) < _MOST_TRIED


def _ends(question: Question, answer: Answer) -> Standing | None:
    chosen = answer.get("choices", ())
    if question.kind is Kind.CONSENT and DECLINE in chosen:
        return Standing.DECLINED
    ends = any(one.ends and one.code in chosen for one in question.options)
    return Standing.SCREENED_OUT if ends else None


def _said(question: Question, tests: Sequence[Condition]) -> Iterator[Mapping[str, Any]]:
    if question.kind in CHOSEN:
        yield from _choices(question, tests)
    elif question.kind is Kind.MATRIX:
        yield from _steps(question, tests)
    elif question.kind is Kind.NUMBER:
        yield from ({"number": one} for one in _numbers(question, tests))
    elif question.kind is Kind.RANKING:
        yield {"ranks": [one.code for one in question.options]}
    else:
        yield {"text": "…"}
    yield {}


def _choices(question: Question, tests: Sequence[Condition]) -> Iterator[Mapping[str, Any]]:
    if question.kind is not Kind.MULTIPLE:
        yield from ({"choices": [one.code]} for one in question.options)
        return
    telling = _telling(question.options, tests)
    for size in range(1, len(telling) + 1):
        yield from ({"choices": list(some)} for some in combinations(telling, size))


def _telling(options: Sequence[Option], tests: Sequence[Condition]) -> list[str]:
    """The options that a condition names, that end, or that go alone; and one of the others, which are all alike."""
    named = {test.value for test in tests}
    told = [one.code for one in options if one.code in named or one.ends or one.alone]
    alike = [one.code for one in options if one.code not in told][:1]
    return [*alike, *told]


def _steps(question: Question, tests: Sequence[Condition]) -> Iterator[Mapping[str, Any]]:
    steps = _telling(question.options, tests)
    named = {test.row for test in tests}
    looked_at = [row.code for row in question.rows if row.code in named]
    alike = [row for row in question.rows if row.code not in named]
    plain = [row.code for row in alike if not row.text] or [row.code for row in alike[:1]]
    rest = dict.fromkeys(plain, steps[0]) if steps else {}
    for chosen in product([*steps, ""], repeat=len(looked_at)):
        told = dict(zip(looked_at, chosen, strict=True))
        yield _in_rows(question, {**rest, **told})
        if any(chosen):
            yield _in_rows(question, told)


def _in_rows(question: Question, rows: Mapping[str, str]) -> Mapping[str, Any]:
    """Steps of rows, with words where a row asks for them."""
    return {"rows": rows, "texts": {row.code: "…" for row in question.rows if row.text and rows.get(row.code)}}


def _numbers(question: Question, tests: Sequence[Condition]) -> Iterator[str]:
    """Numbers below, at, between and above the bounds that conditions name."""
    bounds = {float(test.value) for test in tests if _is_finite(test.value)}
    ends = {one for one in (question.low, question.high) if one is not None}
    marks = sorted(bounds | ends) or [0.0]
    between = [(low + high) / 2 for low, high in pairwise(marks)]
    for value in _whole_too([*between, *marks, marks[0] - 1, marks[-1] + 1]):
        yield str(int(value)) if value == int(value) else repr(value)


def _whole_too(values: Iterable[float]) -> Iterator[float]:
    for value in values:
        yield value
        yield math.floor(value) if value != int(value) else value + 1
        yield math.ceil(value) if value != int(value) else value - 1


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
