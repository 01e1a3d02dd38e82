"""Whether a question can still come: on some way that the answers so far leave open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quaestor.instruments.conditions import Condition, settled
from quaestor.instruments.example_answers import examples
from quaestor.instruments.records import Page, Question, Questionnaire, Response, Standing

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
        states = set(_answered(states, place, asked, conditions))
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


def _answered(states: set[_Open], page: Page, question: Question, conditions: Sequence[Condition]) -> Iterator[_Open]:
    """What is open after a question, for every answer that makes a difference; who ends with it is asked no more."""
    tests = [test for one in conditions for test in one.tests() if test.question == question.id]
    said = [one.answer for one in examples(question, list(dict.fromkeys(tests)))[0] if one.ends is None]
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
