"""What is wrong with a questionnaire, before anybody answers it.

Every problem is one sentence that says what is wrong and how it is mended. A grave one keeps the questionnaire from
being opened: somebody would be asked what nobody meant to ask, or an answer would be lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date

from quaestor.base.errors import Problem
from quaestor.base.names import join_with_or, sort_by_similarity, suggest
from quaestor.surveys.model.condition_checks import faults, too_late
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.flow import pipes
from quaestor.surveys.model.paths import Reach, reach
from quaestor.surveys.model.question_checks import question_problems
from quaestor.surveys.model.records import AGREE, DECLINE, Kind, Page, Question, Questionnaire
from quaestor.surveys.model.wording.catalogue import word_problems

WHOLE = "survey"
"""Where a problem is that concerns no page and no question."""


def problems_of(questionnaire: Questionnaire) -> list[Problem]:
    """Every problem, in the order of the questionnaire."""
    found = [*_whole(questionnaire), *_consent(questionnaire)]
    reached = reach(questionnaire)
    asked_before: set[str] = set()
    for page in questionnaire.pages:
        found += _page(questionnaire, page, asked_before, reached)
        on_page: set[str] = set()
        for question in page.questions:
            found += question_problems(question)
            found += _in_place(questionnaire, question, asked_before, on_page, reached)
            on_page.add(question.id)
        asked_before |= on_page
    return list(dict.fromkeys(found))


def place_of(part: Page | Question) -> str:
    """How a page or question is named in a problem."""
    return f"{'page' if isinstance(part, Page) else 'question'} {part.id}"


def _whole(asked: Questionnaire) -> Iterator[Problem]:
    if not asked.title.strip():
        yield Problem(WHOLE, "it has no title: write one as survey.title")
    for what, ids in (("page", [one.id for one in asked.pages]), ("question", [one.id for one in asked.questions()])):
        for name in _doubled(ids):
            yield Problem(f"{what} {name}", f"there are two {what}s with this id: give each its own")
    for name in _doubled(asked.languages):
        yield Problem(WHOLE, f"the language {name!r} is named twice in survey.languages: name it once")
    for name in _doubled(asked.strata):
        yield Problem(WHOLE, f"the stratum {name!r} is named twice in survey.strata: name it once")
    if asked.closes and not _is_day(asked.closes):
        yield Problem(WHOLE, f"survey.closes is {asked.closes!r}, which is no day: write it as 2027-03-31")
    if asked.minutes and asked.least_seconds > asked.minutes * 60:
        words = f"survey.least_seconds is {asked.least_seconds:g}, more than the {asked.minutes} minutes it should take"
        yield Problem(WHOLE, f"{words}: make it less, or nearly everybody is flagged", grave=False)
    yield from _budget(asked)
    if asked.pay is not None and not asked.anonymous:
        words = (
            "it pays and survey.anonymous is false: whoever keeps the links can tell whose answers an address goes with"
        )
        yield Problem(WHOLE, f"{words}, and respondents are told so; make it true if that must not be", grave=False)
    for quota in asked.quotas:
        yield from (Problem(f"quota {quota.condition.words}", words) for words in faults(quota.condition, asked))
    yield from (Problem(WHOLE, words, grave) for words, grave in word_problems(asked.own_words, asked.languages))
    yield from _research(asked)


def _budget(asked: Questionnaire) -> Iterator[Problem]:
    pay = asked.pay
    if pay is None or pay.affordable is None:
        return
    if not pay.affordable:
        yield Problem(WHOLE, "pay.budget is less than pay.amount, so nobody can be paid: raise it", grave=False)
    elif asked.most is not None and asked.most > pay.affordable:
        words = f"pay.budget pays for {pay.affordable:,} and survey.most takes {asked.most:,} finished responses"
        yield Problem(WHOLE, f"{words}: raise the budget, or take fewer", grave=False)


def _research(asked: Questionnaire) -> Iterator[Problem]:
    touched = {name for question in asked.questions() for name in question.answers}
    for name, words in asked.research.items():
        if name not in touched:
            remedy = f'add answers = ["{name}"] to a question that helps to answer it'
            yield Problem(f"research {name}", f"no question touches this research question: {remedy}", grave=False)
        if not words.strip():
            yield Problem(f"research {name}", "this research question has no words: write them", grave=False)


def _consent(asked: Questionnaire) -> Iterator[Problem]:
    order = list(asked.questions())
    first = next((place for place, one in enumerate(order) if one.kind is Kind.CONSENT), None)
    if first is None:
        yield Problem(WHOLE, 'nobody is asked for consent: put a question of kind "consent" on the first page')
        return
    consent = order[first]
    page = asked.page_of(consent.id)
    for one in order[:first]:
        yield Problem(place_of(one), f"this is asked before consent is given: move it after {consent.id!r}")
    if consent.show_if is not None or (page is not None and page.show_if is not None):
        yield Problem(place_of(consent), "not everybody is asked for consent: take the condition away")
    for one in () if page is None else page.questions:
        if one.kind is not Kind.CONSENT and one not in order[:first]:
            words = f"this stands on the page of {consent.id!r}, so those who decline see it too"
            yield Problem(place_of(one), f"{words}: move it to the next page", grave=False)
    for code, what in ((AGREE, "agree"), (DECLINE, "decline")):
        if consent.option(code) is None:
            yield Problem(place_of(consent), f"nobody can {what}: give it an option with code {code!r}")


def _page(asked: Questionnaire, page: Page, before: set[str], reached: Reach) -> Iterator[Problem]:
    where = place_of(page)
    wrong = [] if page.show_if is None else [*faults(page.show_if, asked), *too_late(page.show_if, before, asked)]
    yield from (Problem(where, words) for words in wrong)
    if not page.questions and not page.text.strip():
        yield Problem(where, "there is nothing on this page: give it a text or a question, or take it out", grave=False)
    for name in dict.fromkeys([*pipes(page.title), *pipes(page.text)]):
        yield from _pipe(asked, where, name, before)
    if not reached.whole or page.id in reached.pages:
        return
    if page.id not in reached.arrived:
        if page.id == next(one.id for one in asked.pages if one.id not in reached.arrived):
            words = "nobody gets to this page or any after it, because every way ends before it"
            yield Problem(where, f"{words}: take `ends` away from an option")
    elif not wrong:
        yield Problem(where, f"nobody gets to this page, {_why(asked, page.show_if, reached)}")


def _in_place(
    asked: Questionnaire, question: Question, before: set[str], on_page: set[str], reached: Reach
) -> Iterator[Problem]:
    """What is wrong with a question where it stands."""
    where = place_of(question)
    condition = question.show_if
    wrong = [] if condition is None else [*faults(condition, asked), *too_late(condition, before | on_page, asked)]
    yield from (Problem(where, words) for words in wrong)
    for name in dict.fromkeys([*pipes(question.text), *pipes(question.hint)]):
        yield from _pipe(asked, where, name, before)
    for name in question.answers:
        if name not in asked.research:
            names = suggest(name, asked.research) or "none: add it under [research]"
            yield Problem(where, f"it answers {name!r}, which is no research question: there are {names}")
    page = asked.page_of(question.id)
    seen = page is None or page.id in reached.pages
    if not wrong and seen and reached.whole and question.id not in reached.questions:
        options = ", and none of its options can be chosen" if question.options else ""
        yield Problem(where, f"nobody is shown this question{options}, {_why(asked, question.show_if, reached)}")


def _why(asked: Questionnaire, condition: Condition | None, reached: Reach) -> str:
    """Why somebody is never shown what stands under a condition."""
    if condition is None:
        return "because every way ends before it: take `ends` away from an option"
    looked_at = dict.fromkeys(test.question for test in condition.tests())
    hidden = [name for name in looked_at if name not in reached.questions and asked.question(name) is not None]
    because = f"because its condition `{condition.words}`"
    if hidden:
        return f"{because} looks at {hidden[0]!r}, which nobody is shown: mend that one"
    return f"{because} can never hold: change it"


def _pipe(asked: Questionnaire, where: str, name: str, before: set[str]) -> Iterator[Problem]:
    if asked.question(name) is None:
        names = join_with_or(sort_by_similarity(name, (one.id for one in asked.questions()))[:6])
        yield Problem(where, f"its text asks for {{{name}}}, which is no question: write one that is, such as {names}")
    elif name not in before:
        words = f"its text asks for {{{name}}}, which is not answered on an earlier page"
        yield Problem(where, f"{words}: move that question to a page before, or reword the text")


def _doubled(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
