"""Whether a question can still be shown, given the answers so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from quaestor.base.errors import InputError
from quaestor.surveys.model.conditions import Condition, simplify
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import Answer, Page, Question, Questionnaire, Response, ResponseStatus
from quaestor.surveys.model.wording.catalogue import load_wording

_MOST_TRIED = 4_096
"""Maximum answers tried per question; beyond that the search is incomplete."""


@dataclass(frozen=True)
class Example:
    """An answer that represents all answers with the same consequences."""

    answer: Answer
    ends: ResponseStatus | None = None
    """The status of the response, if the answer ends the questionnaire."""


def examples(question: Question, tests: Sequence[Condition]) -> tuple[list[Example], bool]:
    """Returns an example for every combination that tests and ends distinguish, and whether these are all.

    The first one continues if any does; the empty answer comes last, if allowed.
    """
    kind = kind_of(question)
    by_outcome: dict[tuple[Any, ...], Example] = {}
    tried = list(islice(chain(kind.examples(question, tests), [{}]), _MOST_TRIED))
    for typed in tried:
        try:
            answer = kind.check(question, typed)
        except InputError:
            continue
        if question.required and kind.lacking(question, answer, load_wording()):
            continue
        ends = kind.end(question, answer)
        outcome = (ends, *(test.holds({question.id: answer}) for test in tests))
        by_outcome.setdefault(outcome, Example(answer, ends))
    ordered = sorted(by_outcome.values(), key=lambda example: (example.ends is not None, not example.answer))
    return ordered, len(tried) < _MOST_TRIED


_MOST_STATES = 2_000
_Place = tuple[Page, Question]
_Open = tuple[bool | Condition, ...]
"""For every condition, whether it holds, or the part that later answers decide."""


def can_be_shown(questionnaire: Questionnaire, response: Response, question: Question) -> bool:
    """Tells whether a question is shown with these answers, or could be after further ones.

    Existing answers stay fixed; a question that was not reached can get every answer it allows.
    """
    page = questionnaire.page_of(question.id)
    own = [condition for condition in (page.show_if if page else None, question.show_if) if condition is not None]
    if all(test.question in response.answers for condition in own for test in condition.tests()):
        return all(condition.holds(response.answers) for condition in own)
    ahead = _ahead(questionnaire, response, own)
    conditions = list(dict.fromkeys([*own, *(condition for place in ahead for condition in _conditions(*place))]))
    states: set[_Open] = {tuple(_settled(condition, response) for condition in conditions)}
    for earlier_page, earlier in ahead:
        # An answer that ends the survey takes effect after its page: the rest of the page can still be answered.
        states = set(_answered(states, earlier_page, earlier, conditions, ends_too=earlier_page is page))
        if len(states) > _MOST_STATES:  # too many to follow, so it may be shown
            return True
    return any(all(_holds(condition, conditions, state) for condition in own) for state in states)


def find_dependencies(questionnaire: Questionnaire, question: Question) -> list[str]:
    """Returns all questions that a question's conditions depend on, directly or indirectly, in order."""
    names = _names(_conditions(questionnaire.page_of(question.id) or Page(""), question))
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        page, earlier = questionnaire.page_of(name), questionnaire.question(name)
        more = _names(_conditions(page, earlier)) - names if page and earlier else set()
        names |= more
        waiting += more
    return [earlier.id for earlier in questionnaire.questions() if earlier.id in names]


def _ahead(questionnaire: Questionnaire, response: Response, conditions: Sequence[Condition]) -> list[_Place]:
    """Returns the questions that conditions depend on, directly or indirectly, and that were not reached."""
    names = _names(conditions)
    ahead: list[_Place] = []
    for page in reversed(questionnaire.pages):
        ended = response.standing is not ResponseStatus.OPEN and page.id in response.sent
        for question in reversed(page.questions):
            if question.id in names and question.id not in response.answers and not ended:
                names |= _names(_conditions(page, question))
                ahead.append((page, question))
    return ahead[::-1]


def _answered(
    states: set[_Open], page: Page, question: Question, conditions: Sequence[Condition], *, ends_too: bool
) -> Iterator[_Open]:
    """Yields the open conditions after a question, for every answer that matters and, unless `ends_too`, continues."""
    tests = [test for condition in conditions for test in condition.tests() if test.question == question.id]
    different, _ = examples(question, list(dict.fromkeys(tests)))
    answers = [example.answer for example in different if ends_too or example.ends is None]
    for state in states:
        shown = all(_holds(condition, conditions, state) for condition in _conditions(page, question))
        for answer in answers if shown else [{}]:
            yield tuple(simplify(condition, question.id, answer) for condition in state)


def _settled(condition: Condition, response: Response) -> bool | Condition:
    known: bool | Condition = condition
    for name in dict.fromkeys(test.question for test in condition.tests()):
        if name in response.answers:
            known = simplify(known, name, response.answers[name])
    return known


def _holds(condition: Condition, conditions: Sequence[Condition], state: _Open) -> bool:
    known = state[conditions.index(condition)]
    return known if isinstance(known, bool) else known.holds({})


def _conditions(page: Page, question: Question) -> list[Condition]:
    return [condition for condition in (page.show_if, question.show_if) if condition is not None]


def _names(conditions: Sequence[Condition]) -> set[str]:
    return {test.question for condition in conditions for test in condition.tests()}
