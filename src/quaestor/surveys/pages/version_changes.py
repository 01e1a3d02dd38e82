"""Describes the differences between two versions of a questionnaire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.in_words import condition_in_words, quoted
from quaestor.surveys.model.records import MatrixRow, Option, Page, Question, Questionnaire

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
_PLAIN = {
    "title": "the title", "about": "the description", "minutes": "the duration",
    "thanks": "the closing text", "screened": "the text after screening out",
    "closed": "the text when closed", "contact": "the contact", "pay": "the pay", "strata": "the strata",
    "anonymous": "whether it is anonymous", "by_invitation": "whether an invitation is needed",
    "least_seconds": "the minimum seconds", "most": "the maximum responses", "quotas": "the quotas",
    "closes": "the last day", "research": "the research questions", "languages": "the languages",
}  # fmt: skip
_TEXTS = {"text": "text", "hint": "hint", "unit": "unit"}
_FLAGS = {"required": ("now required", "no longer required"), "shuffle": ("now shuffled", "no longer shuffled")}


@dataclass(frozen=True)
class Change:
    """One difference."""

    kind: str
    """`added`, `removed` or `changed`."""
    what: str
    details: tuple[str, ...] = ()


def changes_between(before: Questionnaire, after: Questionnaire) -> list[Change]:
    """Returns differences of questions, then of pages and settings; both versions in one language."""
    return [*_questions(before, after), *_pages(before, after), *_whole(before, after)]


def _questions(before: Questionnaire, after: Questionnaire) -> Iterator[Change]:
    old = {question.id: question for question in before.questions()}
    new = {question.id: question for question in after.questions()}
    yield from (Change(ADDED, _named(question), (question.kind,)) for name, question in new.items() if name not in old)
    yield from (Change(REMOVED, _named(question)) for name, question in old.items() if name not in new)
    moved = _moved([name for name in old if name in new], [name for name in new if name in old])
    for name, question in new.items():
        if name in old:
            details = [*_question(old[name], question, before, after), *_place(name, before, after, moved)]
            if details:
                yield Change(CHANGED, _named(question), tuple(details))


def _named(question: Question) -> str:
    return f"{question.id}: {quoted(question.text)}"


def _question(old: Question, new: Question, before: Questionnaire, after: Questionnaire) -> Iterator[str]:
    if old.kind != new.kind:
        yield f"was {old.kind}, is {new.kind}"
    for name, word in _TEXTS.items():
        if getattr(old, name) != getattr(new, name):
            yield f"{word} was {quoted(getattr(old, name))}, is {quoted(getattr(new, name))}"
    for name, (now, no_longer) in _FLAGS.items():
        if getattr(old, name) != getattr(new, name):
            yield now if getattr(new, name) else no_longer
    yield from _parts("step" if new.rows else "option", old.options, new.options)
    yield from _parts("row", old.rows, new.rows)
    yield from _condition(old.show_if, new.show_if, before, after)
    rest = ("centre", "attention", "low", "high", "whole", "answers")
    yield from (f"{name} differs" for name in rest if getattr(old, name) != getattr(new, name))


def _parts(word: str, old: Sequence[Option | MatrixRow], new: Sequence[Option | MatrixRow]) -> Iterator[str]:
    was, now = {option.code: option for option in old}, {option.code: option for option in new}
    yield from (f"{word} {quoted(option.label)} added" for code, option in now.items() if code not in was)
    yield from (f"{word} {quoted(option.label)} removed" for code, option in was.items() if code not in now)
    for code, option in now.items():
        if code in was and option != was[code]:
            same = option.label == was[code].label
            yield f"{word} {quoted(option.label)} {'changed' if same else f'was {quoted(was[code].label)}'}"
    if [code for code in was if code in now] != [code for code in now if code in was]:
        yield f"{word}s in another order"


def _condition(
    old: Condition | None, new: Condition | None, before: Questionnaire, after: Questionnaire
) -> Iterator[str]:
    if old == new:
        return
    if new is None:
        yield f"always shown, was shown if {condition_in_words(old, before)}" if old else ""
    else:
        yield f"shown if {condition_in_words(new, after)}"


def _place(name: str, before: Questionnaire, after: Questionnaire, moved: set[str]) -> Iterator[str]:
    old, new = before.page_of(name), after.page_of(name)
    if old is not None and new is not None and old.id != new.id:
        yield f"moved from the page {old.id} to {new.id}"
    elif name in moved:
        yield "moved"


def _moved(old: Sequence[str], new: Sequence[str]) -> set[str]:
    """Returns the smallest set of moved ids: all but the longest run that kept its order."""
    place = {name: number for number, name in enumerate(old)}
    runs: list[list[str]] = []
    for name in new:
        longest = max((run for run in runs if place[run[-1]] < place[name]), key=len, default=[])
        runs.append([*longest, name])
    kept = max(runs, key=len, default=[])
    return set(new) - set(kept)


def _pages(before: Questionnaire, after: Questionnaire) -> Iterator[Change]:
    old: Mapping[str, Page] = {page.id: page for page in before.pages}
    new: Mapping[str, Page] = {page.id: page for page in after.pages}
    yield from (Change(ADDED, f"page {name}") for name in new if name not in old)
    yield from (Change(REMOVED, f"page {name}") for name in old if name not in new)
    moved = _moved([name for name in old if name in new], [name for name in new if name in old])
    for name, page in new.items():
        if name not in old:
            continue
        details = [f"{word} differs" for word in ("title", "text") if getattr(page, word) != getattr(old[name], word)]
        details += _condition(old[name].show_if, page.show_if, before, after)
        details += [_FLAGS["shuffle"][not page.shuffle]] if page.shuffle != old[name].shuffle else []
        details += ["moved"] if name in moved else []
        if details:
            yield Change(CHANGED, f"page {name}", tuple(details))


def _whole(before: Questionnaire, after: Questionnaire) -> Iterator[Change]:
    for field in fields(Questionnaire):
        if field.name in _PLAIN and getattr(before, field.name) != getattr(after, field.name):
            was, now = getattr(before, field.name), getattr(after, field.name)
            short = isinstance(now, str | int | float) and not isinstance(now, bool)
            details = (f"was {_value(was)}, is {_value(now)}",) if short or now is None else ()
            yield Change(CHANGED, _PLAIN[field.name], details)


def _value(value: object) -> str:
    return quoted(value) if isinstance(value, str) and value else str(value or "empty")
