"""Settles a disagreement passage by passage: aligns the raters' passages and builds one answer from the choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from string import ascii_uppercase
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or
from quaestor.coding.model.facet_kinds.base import write_answer
from quaestor.coding.model.facet_kinds.passages import join_passages, merge_passages
from quaestor.coding.model.records import CANNOT_JUDGE, Passage, read_passages

ALL, NONE, OTHER = "all", "none", "other"
IN_VIVO = "[in vivo]"
"""Means an in vivo passage where a form or a command names a code."""
_SYNONYMS = {"both": ALL, "neither": NONE}
Span = tuple[int, int]
Locate = Callable[[str, Sequence[Span]], Span]
"""Gets words and the spans they were near to; returns their span in the recorded text."""


@dataclass(frozen=True)
class PassageVersion:
    """A passage as one or several raters coded it."""

    letter: str
    passage: Passage
    answers: tuple[int, ...]
    """The numbers of the answers that contain it."""


@dataclass(frozen=True)
class AlignedPassages:
    """The passages of several raters that belong together, at most one of each rater."""

    versions: tuple[PassageVersion, ...]
    agreed: bool
    """Whether every rater coded exactly this."""

    @property
    def options(self) -> tuple[str, ...]:
        """What can be chosen: a version, all of them, none, or other words and another code."""
        letters = tuple(version.letter for version in self.versions)
        return (*letters, *([ALL] if len(letters) > 1 else []), NONE, OTHER)

    @property
    def span(self) -> Span:
        passages = [version.passage for version in self.versions]
        return min(passage.start for passage in passages), max(passage.end for passage in passages)


@dataclass(frozen=True)
class PassageChoice:
    """What somebody decides about aligned passages; the code and the words count only for OTHER."""

    option: str
    code: str = ""
    words: str = ""


def align_passages(answers: Sequence[Any]) -> list[AlignedPassages]:
    """Returns the passages of several answers next to each other, in the order of the text.

    A passage is put next to the one of another rater with the same code and the largest overlap, else next to one with
    another code that it overlaps.
    """
    judged = [number for number, answer in enumerate(answers) if answer != CANNOT_JUDGE]
    members = [(number, passage) for number in judged for passage in read_passages(answers[number])]
    rows = [{number: passage} for number, passage in members]
    pairs = sorted(
        (mine.code != theirs.code, -shared, abs(mine.start - theirs.start) + abs(mine.end - theirs.end), first, second)
        for first, (number, mine) in enumerate(members)
        for second, (other, theirs) in enumerate(members[first + 1 :], first + 1)
        if number != other and (shared := min(mine.end, theirs.end) - max(mine.start, theirs.start)) > 0
    )
    for *_, first, second in pairs:
        if rows[first].keys().isdisjoint(rows[second]):
            joined = rows[first] | rows[second]
            rows = [joined if row is rows[first] or row is rows[second] else row for row in rows]
    distinct = {id(row): row for row in rows}.values()
    aligned = [_build_row(row, len(judged)) for row in distinct]
    return sorted(aligned, key=lambda row: (*row.span, row.versions[0].passage.code))


def _build_row(row: Mapping[int, Passage], raters: int) -> AlignedPassages:
    same: dict[str, list[tuple[int, Passage]]] = {}
    for number, passage in sorted(row.items()):
        same.setdefault(write_answer([replace(passage, link="").payload()]), []).append((number, passage))
    versions = tuple(
        PassageVersion(letter, join_passages([passage for _, passage in members]), tuple(n for n, _ in members))
        for letter, members in zip(chain(ascii_uppercase, map(str, count(27))), same.values(), strict=False)
    )
    return AlignedPassages(versions, len(versions) == 1 and len(versions[0].answers) == raters)


def read_choice(text: str) -> PassageChoice:
    """Reads a choice such as `A`, `both`, `none`, or a code and words as in `topic/data: the words of the turn`."""
    option, colon, words = text.strip().partition(":")
    if colon:
        return PassageChoice(OTHER, option.strip(), words.strip())
    return PassageChoice(_SYNONYMS.get(option.lower(), option.upper() if len(option) == 1 else option.lower()))


def build_chosen_answer(
    rows: Sequence[AlignedPassages], choices: Mapping[int, PassageChoice], locate: Locate
) -> list[dict[str, Any]]:
    """Returns the answer that the choices lead to, by number of the row from 1; agreed passages need no choice."""
    for number in choices:
        if not 1 <= number <= len(rows):
            raise InputError(f"there is no passage {number}: the raters coded {len(rows)}")
    passages = []
    for number, row in enumerate(rows, start=1):
        choice = choices.get(number) or (PassageChoice(row.versions[0].letter) if row.agreed else PassageChoice(""))
        if choice.option not in row.options:
            problem = f"cannot be settled with {choice.option!r}" if choice.option else "is not decided yet"
            raise InputError(f"passage {number} {problem}; choose from: {join_with_or(row.options)}")
        passages += _choose(row, choice, locate)
    return passages


def _choose(row: AlignedPassages, choice: PassageChoice, locate: Locate) -> list[dict[str, Any]]:
    if choice.option == NONE:
        return []
    if choice.option == ALL:
        return merge_passages([[version.passage.payload()] for version in row.versions])
    if choice.option != OTHER:
        return [version.passage.payload() for version in row.versions if version.letter == choice.option]
    if not choice.code:
        raise InputError(f"another code or other words need both: write {IN_VIVO!r} or a code, a colon, and the words")
    passages = [version.passage for version in row.versions]
    code = "" if choice.code == IN_VIVO else choice.code
    same = [passage for passage in passages if passage.code == code]
    spans = [(passage.start, passage.end) for passage in passages]
    start, end = locate(choice.words, spans) if choice.words.strip() else row.span
    joined = join_passages(same or passages)
    return [replace(joined, start=start, end=end, code=code, fields=joined.fields if same else {}).payload()]
