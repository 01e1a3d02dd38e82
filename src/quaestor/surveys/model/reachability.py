"""Whether a question can still come: on some way that the answers so far leave open."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, pairwise, product
from typing import Any

from quaestor.base.errors import InputError
from quaestor.surveys.model.answer_forms import checked_answer, unanswered
from quaestor.surveys.model.conditions import Condition, settled
from quaestor.surveys.model.records import (
    CHOSEN,
    DECLINE,
    Answer,
    Kind,
    Option,
    Page,
    Question,
    Questionnaire,
    Response,
    Standing,
)

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


_MOST_STATES = 2_000
_Place = tuple[Page, Question]
_Open = tuple[bool | Condition, ...]
"""Of every condition, whether it holds, or what of it later answers decide."""


def can_be_shown(questionnaire: Questionnaire, response: Response, question: Question) -> bool:
    """Whether a question is shown with what was answered, or would be with something that can still be answered.

    What was answered stays; what was not reached can get every answer that its question takes.
    """
    page = questionnaire.page_of(question.id)
    wanted = [one for one in (page.show_if if page else None, question.show_if) if one is not None]
    if all(test.question in response.answers for one in wanted for test in one.tests()):
        return all(one.holds(response.answers) for one in wanted)
    ahead = _ahead(questionnaire, response, wanted)
    conditions = list(dict.fromkeys([*wanted, *(one for place in ahead for one in _conditions(*place))]))
    states: set[_Open] = {tuple(_settled(one, response) for one in conditions)}
    for place, asked in ahead:
        # An answer that ends the survey ends it with its page: what stands on the same page can still be answered.
        states = set(_answered(states, place, asked, conditions, ends_too=place is page))
        if len(states) > _MOST_STATES:  # more than can be told apart: nobody can say that it is not shown
            return True
    return any(all(_holds(one, conditions, state) for one in wanted) for state in states)


def looked_at(questionnaire: Questionnaire, question: Question) -> list[str]:
    """All questions on which it depends whether one is shown, be it through others, in their order."""
    page = questionnaire.page_of(question.id)
    found = _names(_conditions(page, question) if page else _conditions(Page(""), question))
    waiting = list(found)
    while waiting:
        name = waiting.pop()
        there, asked = questionnaire.page_of(name), questionnaire.question(name)
        more = _names(_conditions(there, asked)) - found if there and asked else set()
        found |= more
        waiting += more
    return [one.id for one in questionnaire.questions() if one.id in found]


def _ahead(questionnaire: Questionnaire, response: Response, wanted: Sequence[Condition]) -> list[_Place]:
    """The questions that decide about conditions, be it through others, and were not reached; in their order."""
    names = _names(wanted)
    found: list[_Place] = []
    for page in reversed(questionnaire.pages):
        ended = response.standing is not Standing.OPEN and page.id in response.sent
        for question in reversed(page.questions):
            if question.id in names and question.id not in response.answers and not ended:
                names |= _names(_conditions(page, question))
                found.append((page, question))
    return found[::-1]


def _answered(
    states: set[_Open], page: Page, question: Question, conditions: Sequence[Condition], *, ends_too: bool
) -> Iterator[_Open]:
    """What is open after a question, for every answer that makes a difference and, unless `ends_too`, goes on."""
    tests = [test for one in conditions for test in one.tests() if test.question == question.id]
    said = [one.answer for one in examples(question, list(dict.fromkeys(tests)))[0] if ends_too or one.ends is None]
    for state in states:
        shown = all(_holds(one, conditions, state) for one in _conditions(page, question))
        for answer in said if shown else [{}]:
            yield tuple(settled(one, question.id, answer) for one in state)


def _settled(condition: Condition, response: Response) -> bool | Condition:
    known: bool | Condition = condition
    for name in dict.fromkeys(test.question for test in condition.tests()):
        if name in response.answers:
            known = settled(known, name, response.answers[name])
    return known


def _holds(condition: Condition, conditions: Sequence[Condition], state: _Open) -> bool:
    known = state[conditions.index(condition)]
    return known if isinstance(known, bool) else known.holds({})


def _conditions(page: Page, question: Question) -> list[Condition]:
    return [one for one in (page.show_if, question.show_if) if one is not None]


def _names(conditions: Sequence[Condition]) -> set[str]:
    return {test.question for one in conditions for test in one.tests()}
