"""Checks a questionnaire before it is opened.

Every problem is one sentence that says what is wrong and how to fix it. A questionnaire with a grave problem cannot be
opened: a question would be asked by mistake, or an answer would be lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from quaestor.base.errors import Problem
from quaestor.base.names import join_with_or, sort_by_similarity, suggest
from quaestor.surveys.model.column_mapping import OWN_COLUMNS
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.flow import find_placeholders, group_shuffled_pages
from quaestor.surveys.model.paths import Reach, find_reach
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import AGREE, DECLINE, Option, Page, Question, Questionnaire
from quaestor.surveys.model.wording.catalogue import word_problems


def question_problems(question: Question) -> Iterator[Problem]:
    where = f"question {question.id}"
    if not question.text.strip():
        yield Problem(where, "it has no text: write one")
    if question.id in OWN_COLUMNS:
        words = f"exports have a column {question.id!r} of their own, so a wide one cannot be imported again"
        yield Problem(where, f"{words}: give the question another id", grave=False)
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


_MOST_NAMED = 6
WHOLE = "survey"
"""Where a problem is that concerns no single page or question."""


def find_problems(survey: Questionnaire) -> list[Problem]:
    """Returns every problem, in the order of the questionnaire."""
    problems = [*_whole(survey), *_consent(survey)]
    reached = find_reach(survey)
    for run in group_shuffled_pages(survey):
        problems += _random_order(run)
    asked_before: set[str] = set()
    for page in survey.pages:
        problems += _page(survey, page, asked_before, reached)
        on_page: set[str] = set()
        for question in page.questions:
            problems += question_problems(question)
            problems += _in_place(survey, question, asked_before, on_page, reached)
            on_page.add(question.id)
        asked_before |= on_page
    return list(dict.fromkeys(problems))


def name_part(part: Page | Question) -> str:
    """Formats the page or question that a problem concerns."""
    return f"{'page' if isinstance(part, Page) else 'question'} {part.id}"


def _whole(survey: Questionnaire) -> Iterator[Problem]:
    if not survey.title.strip():
        yield Problem(WHOLE, "it has no title: write one as survey.title")
    for what, ids in (
        ("page", [page.id for page in survey.pages]),
        ("question", [question.id for question in survey.questions()]),
    ):
        for name in find_repeated(ids):
            yield Problem(f"{what} {name}", f"there are two {what}s with this id: give each its own")
    for name in find_repeated(survey.languages):
        yield Problem(WHOLE, f"the language {name!r} is listed twice in survey.languages: remove one")
    for name in find_repeated(survey.strata):
        yield Problem(WHOLE, f"the stratum {name!r} is listed twice in survey.strata: remove one")
    if survey.closes and not _is_day(survey.closes):
        yield Problem(WHOLE, f"survey.closes is {survey.closes!r}, which is not a date: write it like 2027-03-31")
    if survey.minutes and survey.least_seconds > survey.minutes * 60:
        words = (
            f"survey.least_seconds is {survey.least_seconds:g}, more than the {survey.minutes} minutes it should take"
        )
        yield Problem(WHOLE, f"{words}: lower it, or nearly everybody is flagged", grave=False)
    yield from _budget(survey)
    if survey.pay is not None and not survey.anonymous:
        words = "it pays and survey.anonymous is false: the invitation links connect payment addresses to answers"
        yield Problem(WHOLE, f"{words}, and respondents are informed; set it to true to prevent this", grave=False)
    for quota in survey.quotas:
        yield from (Problem(f"quota {quota.condition.words}", words) for words in find_faults(quota.condition, survey))
    yield from (Problem(WHOLE, words, grave) for words, grave in word_problems(survey.own_words, survey.languages))
    yield from _research(survey)


def _budget(survey: Questionnaire) -> Iterator[Problem]:
    pay = survey.pay
    if pay is None or pay.affordable is None:
        return
    if not pay.affordable:
        yield Problem(WHOLE, "pay.budget is less than pay.amount, so nobody can be paid: raise it", grave=False)
    elif survey.most is not None and survey.most > pay.affordable:
        words = f"pay.budget pays for {pay.affordable:,} responses, but survey.most is {survey.most:,}"
        yield Problem(WHOLE, f"{words}: raise the budget, or lower survey.most", grave=False)


def _research(survey: Questionnaire) -> Iterator[Problem]:
    touched = {name for question in survey.questions() for name in question.answers}
    for name, words in survey.research.items():
        if name not in touched:
            remedy = f'add answers = ["{name}"] to a question that addresses it'
            yield Problem(f"research {name}", f"no question addresses this research question: {remedy}", grave=False)
        if not words.strip():
            yield Problem(f"research {name}", "this research question has no text: write it", grave=False)


def _consent(survey: Questionnaire) -> Iterator[Problem]:
    order = list(survey.questions())
    first = next((place for place, question in enumerate(order) if kind_of(question).asks_consent), None)
    if first is None:
        yield Problem(WHOLE, 'there is no consent question: add one of kind "consent" to the first page')
        return
    consent = order[first]
    page = survey.page_of(consent.id)
    for question in (question for question in order[:first] if not kind_of(question).is_hidden):
        yield Problem(name_part(question), f"this is asked before consent: move it after {consent.id!r}")
    if consent.show_if is not None or (page is not None and page.show_if is not None):
        yield Problem(name_part(consent), "not everybody is asked for consent: remove the condition")
    for question in () if page is None else page.questions:
        kind = kind_of(question)
        if not (kind.asks_consent or kind.is_hidden) and question not in order[:first]:
            words = f"this is on the same page as {consent.id!r}, so respondents who decline see it too"
            yield Problem(name_part(question), f"{words}: move it to the next page", grave=False)
    for code, what in ((AGREE, "agree"), (DECLINE, "decline")):
        if consent.option(code) is None:
            yield Problem(name_part(consent), f"nobody can {what}: add an option with code {code!r}")


def _random_order(run: Sequence[Page]) -> Iterator[Problem]:
    """Yields the problems of pages that are shown in a random order: any of them can come first."""
    earlier: set[str] = set()
    for page in run if run[0].shuffle else ():
        if any(kind_of(question).asks_consent for question in page.questions):
            yield Problem(name_part(page), "consent must come first: remove `shuffle` from this page")
        elif len(run) == 1:
            words = "`shuffle` has no effect, because neither the page before nor the page after it has it"
            yield Problem(name_part(page), f"{words}: add it there, or remove it here", grave=False)
        parts: tuple[Page | Question, ...] = (page, *page.questions)
        for part in parts:
            tests = part.show_if.tests() if part.show_if is not None else ()
            texts = (part.title, part.text) if isinstance(part, Page) else (part.text, part.hint)
            uses = [f"its condition depends on {test.question!r}" for test in tests if test.question in earlier]
            names = (name for text in texts for name in find_placeholders(text))
            uses += [f"its text contains {{{name}}}" for name in names if name in earlier]
            for use in dict.fromkeys(uses):
                words = f"{use}, which may be asked later, because both pages have a random place"
                yield Problem(name_part(part), f"{words}: remove `shuffle` from one of them")
        earlier |= {question.id for question in page.questions if not kind_of(question).is_hidden}


def _page(survey: Questionnaire, page: Page, before: set[str], reached: Reach) -> Iterator[Problem]:
    where = name_part(page)
    wrong = (
        []
        if page.show_if is None
        else [*find_faults(page.show_if, survey), *find_late_questions(page.show_if, before, survey)]
    )
    yield from (Problem(where, words) for words in wrong)
    if not page.questions and not page.text.strip():
        yield Problem(where, "this page is empty: add a text or a question, or remove the page", grave=False)
    for name in dict.fromkeys([*find_placeholders(page.title), *find_placeholders(page.text)]):
        yield from _pipe(survey, where, name, before)
    if not reached.whole or page.id in reached.pages:
        return
    if page.id not in reached.arrived:
        if page.id == next(other.id for other in survey.pages if other.id not in reached.arrived):
            words = "nobody reaches this page or any later one, because every path ends before it"
            yield Problem(where, f"{words}: remove `ends` from an option")
    elif not wrong:
        yield Problem(where, f"nobody reaches this page, {_why(survey, page.show_if, reached)}")


def _in_place(
    survey: Questionnaire, question: Question, before: set[str], on_page: set[str], reached: Reach
) -> Iterator[Problem]:
    """Yields the problems of a question at its position."""
    where = name_part(question)
    condition = question.show_if
    wrong = (
        []
        if condition is None
        else [*find_faults(condition, survey), *find_late_questions(condition, before | on_page, survey)]
    )
    yield from (Problem(where, words) for words in wrong)
    for name in dict.fromkeys([*find_placeholders(question.text), *find_placeholders(question.hint)]):
        yield from _pipe(survey, where, name, before)
    for name in question.answers:
        if name not in survey.research:
            names = suggest(name, survey.research) or "none: add it under [research]"
            yield Problem(where, f"it answers {name!r}, which is not a research question, available: {names}")
    page = survey.page_of(question.id)
    if kind_of(question).is_hidden and (condition is not None or (page is not None and page.show_if is not None)):
        words = "its answer is set when a response begins, so neither it nor its page can depend on answers"
        yield Problem(where, f"{words}: remove the condition")
    seen = page is None or page.id in reached.pages
    if not wrong and seen and reached.whole and question.id not in reached.questions:
        options = ", and none of its options can be chosen" if question.options else ""
        yield Problem(where, f"nobody is shown this question{options}, {_why(survey, question.show_if, reached)}")


def _why(survey: Questionnaire, condition: Condition | None, reached: Reach) -> str:
    """Returns why a condition never holds."""
    if condition is None:
        return "because every path ends before it: remove `ends` from an option"
    looked_at = dict.fromkeys(test.question for test in condition.tests())
    hidden = [name for name in looked_at if name not in reached.questions and survey.question(name) is not None]
    because = f"because its condition `{condition.words}`"
    if hidden:
        return f"{because} depends on {hidden[0]!r}, which is never shown: fix that question first"
    return f"{because} can never hold: change it"


def _pipe(survey: Questionnaire, where: str, name: str, before: set[str]) -> Iterator[Problem]:
    if survey.question(name) is None:
        names = join_with_or(sort_by_similarity(name, (question.id for question in survey.questions()))[:_MOST_NAMED])
        yield Problem(where, f"its text contains {{{name}}}, which is not a question, nearest: {names}")
    elif name not in before:
        words = f"its text contains {{{name}}}, which is not answered on an earlier page"
        yield Problem(where, f"{words}: move that question to an earlier page, or change the text")


def find_faults(condition: Condition, survey: Questionnaire) -> Iterator[str]:
    """Yields a sentence for every test that can never hold, wherever the condition is used."""
    for test in dict.fromkeys(condition.tests()):
        question = survey.question(test.question)
        words = _unknown(test, survey) if question is None else kind_of(question).check_test(question, test)
        if words:
            yield f"its condition `{condition.words}` {words}"


def find_late_questions(condition: Condition, before: set[str], survey: Questionnaire) -> Iterator[str]:
    """Yields a sentence for every question that a condition depends on but that is asked later."""
    for name in dict.fromkeys(test.question for test in condition.tests()):
        if name not in before and survey.question(name) is not None:
            yield (
                f"its condition `{condition.words}` depends on {name!r}, which is asked later: "
                "move that question before this one, or use an earlier one"
            )


def _unknown(test: Condition, survey: Questionnaire) -> str:
    names = sort_by_similarity(test.question, (question.id for question in survey.questions()))[:_MOST_NAMED]
    return f"depends on {test.question!r}, which is not a question, nearest: {join_with_or(names)}"


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
