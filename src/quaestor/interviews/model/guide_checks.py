"""Checks an interview guide before it is used.

Every problem is one sentence that says what is wrong and how to fix it. A guide with a grave problem cannot be used.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import InputError, Problem
from quaestor.base.names import suggest
from quaestor.interviews.model.guide_file import parse_guide, read_guide_text
from quaestor.interviews.model.records import Asks, Guide, GuideQuestion, GuideSection

WHOLE = "guide"
"""The location of a problem that concerns no section or question."""
WORDS_A_MINUTE = 130
"""The speed at which a script is read aloud."""
_NEARLY = 0.01
_SPOKEN = "#%&@*/"
_PLACES = {"opening": 0, "closing": -1}


def find_problems(guide: Guide, files: Collection[str] = ()) -> list[Problem]:
    """Returns every problem in the order of the guide; `files` are those in its folder."""
    problems = [*_check_whole(guide, files), *_ids(guide), *_research(guide), *_find_repeated_questions(guide)]
    for section in guide.sections:
        problems += _section(section)
        for question in section.questions:
            problems += _question(guide, question)
    return list(dict.fromkeys(problems))


def _check_whole(guide: Guide, files: Collection[str]) -> Iterator[Problem]:
    budgets = sum(section.minutes for section in guide.sections)
    if abs(budgets - guide.minutes) > _NEARLY:
        words = f"the sections take {budgets:g} minutes in total, but the guide says {guide.minutes:g}"
        yield Problem(WHOLE, f"{words}: change one of them")
    for part in _PLACES:
        with_it = [section for section in guide.sections if section.part == part]
        if len(with_it) > 1:
            yield Problem(f"section {with_it[1].id}", f"two sections are marked .{part}: mark only one")
        elif with_it and with_it[0] is not guide.sections[_PLACES[part]]:
            words = f"it is marked .{part} but is not the {'first' if part == 'opening' else 'last'} section: move it"
            yield Problem(f"section {with_it[0].id}", words, grave=False)
        elif not any(section.script for section in with_it):
            words = f"no section marked .{part} has a script: write what the interviewer says"
            yield Problem(WHOLE, words, grave=False)
    if not any(True for _ in guide.questions()):
        yield Problem(WHOLE, "it has no questions: write them as ## Question? {#id}")
    if not guide.agreement:
        yield Problem(WHOLE, "it names no consent form: write one in its folder, and add agreement = FILE", grave=False)
    elif guide.agreement not in files:
        yield Problem(WHOLE, f"the consent form {guide.agreement} is not in its folder: write it, or name another")


def _ids(guide: Guide) -> Iterator[Problem]:
    sections = [section.id for section in guide.sections]
    questions = [question.id for question in guide.questions()]
    for what, ids in (("section", sections), ("question", questions)):
        for name in _find_duplicates(ids):
            yield Problem(f"{what} {name}", f"two {what}s have this id: give each its own")


def _research(guide: Guide) -> Iterator[Problem]:
    if not guide.research:
        words = "it names no research questions, so their coverage cannot be checked"
        yield Problem(WHOLE, f"{words}: write them under [research]", grave=False)
    touched = {name for question in guide.questions() for name in question.research}
    for name in guide.research:
        if name not in touched:
            yield Problem(f"research question {name}", f"no question covers it: add research={name} to one that does")


def _find_repeated_questions(guide: Guide) -> Iterator[Problem]:
    where: dict[str, tuple[GuideSection, GuideQuestion]] = {}
    for section in guide.sections:
        for question in section.questions:
            spoken_words = _spoken(question.text)
            if spoken_words in where:
                first, same = where[spoken_words]
                words = f"it is also in the section {first.id}, as {same.id}: remove one, or keep both on purpose"
                yield Problem(f"question {question.id}", words, grave=False)
            else:
                where[spoken_words] = (section, question)


def _spoken(text: str) -> str:
    """Returns the spoken form of a question: its words without case, punctuation and quotes."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    silent = (unicodedata.category(letter).startswith("P") and letter not in _SPOKEN for letter in folded)
    words = "".join(" " if mark else letter for letter, mark in zip(folded, silent, strict=True))
    return " ".join(words.split()) or text


def _section(section: GuideSection) -> Iterator[Problem]:
    where = f"section {section.id}"
    if not section.minutes:
        yield Problem(where, "it has no time: add minutes=5, or what it takes", grave=False)
    reading = len(section.script.split()) / WORDS_A_MINUTE
    if section.minutes and reading > section.minutes:
        words = f"reading its script aloud takes about {reading:.1f} of its {section.minutes:g} minutes"
        yield Problem(where, f"{words}: shorten it, or give it more time", grave=False)
    if not section.questions and not section.script:
        yield Problem(where, "it is empty: write questions (## …) or a script", grave=False)


def _question(guide: Guide, question: GuideQuestion) -> Iterator[Problem]:
    where = f"question {question.id}"
    for name in question.research:
        if name not in guide.research:
            options = suggest(name, guide.research) or "none: write them under [research]"
            yield Problem(where, f"the research question {name!r} is not in the front matter; there are: {options}")
    if question.asks is Asks.REFERENCE and not question.items:
        yield Problem(where, "it is a reference question without items: write them as - [ ] item")
    for code in _find_duplicates(item.code for item in question.items):
        yield Problem(where, f"two of its items have the code {code!r}: give each its own in braces, as in {{#code}}")


def _find_duplicates(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


@dataclass(frozen=True)
class CheckedGuide:
    """A guide as in its file, and its problems."""

    file: Path
    text: str
    guide: Guide
    problems: tuple[Problem, ...]

    @property
    def grave(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.grave)


def check_guide(path: Path) -> CheckedGuide:
    """Checks the guide in a file; raises InputError if it cannot be read at all."""
    text = read_guide_text(path)
    guide = parse_guide(text, path.stem)
    return CheckedGuide(path, text, guide, tuple(find_problems(guide, list_files(path))))


def require_usable_guide(path: Path) -> CheckedGuide:
    """Returns a guide by which an interview can be held; raises InputError if it has a grave problem."""
    checked_guide = check_guide(path)
    if checked_guide.grave:
        first, more = checked_guide.grave[0], len(checked_guide.grave) - 1
        also = f" (and {more} more)" if more else ""
        raise InputError(
            f"{path.name} cannot be used: {first.where}: {first.words}{also}; see `quaestor interview check`"
        )
    return checked_guide


def list_files(path: Path) -> frozenset[str]:
    return frozenset(file.name for file in path.parent.iterdir() if file.is_file())
