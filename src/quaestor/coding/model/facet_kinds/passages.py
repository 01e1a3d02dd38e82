"""Facets answered by coding passages of an item; the passages of several raters can be combined."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or, sort_by_similarity, suggest
from quaestor.coding.model.facet_kinds.base import (
    Choice,
    FacetKind,
    FacetSettings,
    Label,
    ReplaceText,
    Words,
    code_choice,
    code_choices,
)
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Facet, RoundPlan, Passage, read_passages

KIND = "stretches"
MOST = 400
"""Stretches of one item; a page could not show more."""
LONGEST_MEMO, LONGEST_FIELD, LONGEST_ITEM = 4_000, 1_000, 10_000_000
_SIGN = "‖"
BETWEEN_RATERS = f" {_SIGN} "
"""Stands between the words for a field where raters gave one code and say different things of it."""
_LONGEST_LINK = 64
_LONGEST_LINKS = (_LONGEST_LINK + 1) * MOST
NOTHING = "[]"
"""The answer that there is nothing to code, as a cell of a table has it."""
_PARTS = ("start", "end", "code", "memo", "fields", "link")


def passage_facet(plan: RoundPlan) -> Facet | None:
    """Returns the facet of a round that codes passages; None where the round rates items as a whole."""
    return next((facet for facet in plan.facets if facet.kind == KIND), None)


def require_passage_facet(plan: RoundPlan) -> Facet:
    """Returns the facet of a round that codes passages; raises StateError where there is none."""
    facet = passage_facet(plan)
    if facet is None:
        raise StateError(f"the round {plan.round!r} codes no passages of transcripts: rate its items")
    return facet


def checked_stretches(facet: Facet, book: Codebook, given: Any) -> list[dict[str, Any]]:
    """Stretches in their order, each once; an empty list says that there is nothing to code."""
    values = _read(facet, given)
    if len(values) > MOST:
        raise InputError(f"{facet.id} codes {len(values)} stretches of one item: at most {MOST} can be kept")
    found: dict[tuple[int, int, str], Passage] = {}
    for one in (_checked(facet, book, value) for value in values):
        before = found.get(_place(one))
        found[_place(one)] = replace(one, link=_linked(before, one)) if before else one
    return [found[place].payload() for place in sorted(found)]


def _read(facet: Facet, given: Any) -> Sequence[Any]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = None
    if not isinstance(given, list | tuple):
        example = '[{"start": 0, "end": 12, "code": "…"}]'
        raise InputError(f"{facet.id} is no list of stretches: give one as in {example}, or [] for nothing to code")
    return given


def _checked(facet: Facet, book: Codebook, given: Any) -> Passage:
    if not isinstance(given, Mapping):
        raise InputError(f"{facet.id} holds {given!r}: a stretch says start, end and code")
    for part in given:
        if part not in _PARTS:
            raise InputError(f"a stretch of {facet.id} says {part!r}, allowed: {suggest(part, _PARTS)}")
    start, end = (given.get(name) for name in ("start", "end"))
    if not isinstance(start, int) or not isinstance(end, int) or not _is_place(start, end):
        raise InputError(f"a stretch of {facet.id} goes from {start!r} to {end!r}: give places, the first one smaller")
    code = _text(facet, given, "code", LONGEST_FIELD)
    if code:
        code = _code(facet, book, code)
    memo, links = _text(facet, given, "memo", LONGEST_MEMO), links_in(_text(facet, given, "link", _LONGEST_LINKS))
    if longer := next((link for link in links if len(link) > _LONGEST_LINK), ""):
        raise InputError(f"a link of a stretch of {facet.id} has {len(longer):,} characters, at most {_LONGEST_LINK}")
    return Passage(start, end, code, memo.strip(), _fields(facet, code, given.get("fields") or {}), " ".join(links))


def _is_place(start: int, end: int) -> bool:
    return not isinstance(start, bool) and not isinstance(end, bool) and 0 <= start < end <= LONGEST_ITEM


def _text(facet: Facet, given: Mapping[str, Any], name: str, longest: int) -> str:
    text = given.get(name) or ""
    if not isinstance(text, str) or text.encode("utf-8", "replace").decode() != text:
        raise InputError(f"the {name} of a stretch of {facet.id} is no text that can be kept: write it again")
    if len(text) > longest:
        raise InputError(f"the {name} of a stretch of {facet.id} has {len(text):,} characters, at most {longest:,}")
    return text


def _code(facet: Facet, book: Codebook, code: str) -> str:
    allowed = {one.id: one.name for one in book.active(facet.codes, facet.level or None)}
    if code not in allowed:
        options = sort_by_similarity(code, allowed)
        more = " …" if len(options) > 5 else ""
        raise InputError(f"{facet.id} codes with {code!r}, allowed: {join_with_or(options[:5])}{more}")
    return code


def _fields(facet: Facet, code: str, given: Any) -> dict[str, str]:
    allowed = facet.asks(code)
    if not isinstance(given, Mapping):
        raise InputError(f"the fields of a stretch of {facet.id} are {given!r}: name each with its words")
    for name in given:
        if name not in allowed:
            what = suggest(str(name), allowed) or "none"
            raise InputError(f"{code or 'a stretch without a code'} has no field {name!r}, allowed: {what}")
    words = {name: _text(facet, given, name, LONGEST_FIELD).strip() for name in allowed if name in given}
    return {name: text for name, text in words.items() if text}


def _place(stretch: Passage) -> tuple[int, int, str]:
    """Two stretches with the same code at the same place are one; words in vivo likewise."""
    return stretch.start, stretch.end, stretch.code


def links_in(link: str) -> tuple[str, ...]:
    """The links that a stretch has: one for each passage over several turns that it is part of."""
    return tuple(dict.fromkeys(link.split()))


def _linked(*several: Passage) -> str:
    """All links of stretches that became one, so that each passage still holds together."""
    return " ".join(dict.fromkeys(link for one in several for link in links_in(one.link)))


def is_stretches(answer: Any) -> bool:
    """Whether an answer holds stretches; only such an answer can be an empty list."""
    return isinstance(answer, list | tuple) and all(isinstance(one, Mapping) for one in answer)


def codes_in(answer: Any) -> list[str]:
    """The codes that an answer names, each once; stretches whose words are their own name have none."""
    if is_stretches(answer):
        return sorted({passage.code for passage in read_passages(answer) if passage.code})
    return [str(one) for one in answer] if isinstance(answer, list | tuple) else [str(answer)]


def in_vivo_in(answer: Any) -> list[Passage]:
    """The stretches of an answer whose words are their own name."""
    return [passage for passage in read_passages(answer) if passage.in_vivo] if is_stretches(answer) else []


def own_words(answer: Any) -> Any:
    """What one rater said: in their words the sign that stands between those of several is a plain bar."""
    if not is_stretches(answer) or not any(_SIGN in words for one in answer for words in _fields_of(one)):
        return answer
    return [
        {**one, "fields": {name: words.replace(_SIGN, "|") for name, words in one.get("fields", {}).items()}}
        for one in answer
    ]


def _fields_of(one: Mapping[str, Any]) -> Iterable[str]:
    fields: Mapping[str, str] = one.get("fields", {})
    return fields.values()


@dataclass(frozen=True)
class _Joined:
    """Stretches of one code that are one, each with the number of the answer that it is from."""

    said: tuple[tuple[int, Passage], ...]

    @cached_property
    def whole(self) -> Passage:
        several = [one for _, one in sorted(self.said, key=lambda one: (one[0], _place(one[1])))]
        return _together(several) if len(several) > 1 else several[0]

    @cached_property
    def answers(self) -> frozenset[int]:
        return frozenset(number for number, _ in self.said)


def union(answers: Iterable[Any], codes: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """What several raters coded, together; of some codes only, if named.

    A stretch is one with that of another rater which has the same code and overlaps it most; two of one rater stay two.
    """
    wanted = None if codes is None else set(codes)
    found = [
        _Joined(((number, passage),))
        for number, answer in enumerate(answers)
        for passage in read_passages(answer)
        if not passage.code or wanted is None or passage.code in wanted
    ]
    while met := _met(found):
        found = _joined(found, met)
    at_place: dict[tuple[int, int, str], _Joined] = {}
    for one in found:
        before = at_place.get(_place(one.whole))
        at_place[_place(one.whole)] = _Joined(before.said + one.said) if before else one
    return [at_place[place].whole.payload() for place in sorted(at_place)]


def _met(joineds: list[_Joined]) -> list[tuple[int, int]]:
    """Pairs that can be one, by their places in a list that is put in order; those that share most words come first."""
    joineds.sort(key=lambda one: (one.whole.code, *_place(one.whole)))
    pairs = []
    for first, one in enumerate(joineds):
        for second in range(first + 1, len(joineds)):
            other = joineds[second]
            if other.whole.code != one.whole.code or other.whole.start >= one.whole.end:
                break
            if one.answers.isdisjoint(other.answers) and _are_one(one.whole, other.whole):
                shared = min(one.whole.end, other.whole.end) - other.whole.start
                beside = other.whole.start - one.whole.start + abs(other.whole.end - one.whole.end)
                pairs.append((-shared, beside, first, second))
    return [(first, second) for _, _, first, second in sorted(pairs)]


def _joined(joineds: list[_Joined], met: Iterable[tuple[int, int]]) -> list[_Joined]:
    """Each with the first that it meets."""
    joined: list[_Joined] = []
    taken: set[int] = set()
    for first, second in met:
        if taken.isdisjoint((first, second)):
            taken |= {first, second}
            joined.append(_Joined(joineds[first].said + joineds[second].said))
    return joined + [one for place, one in enumerate(joineds) if place not in taken]


def _are_one(stretch: Passage, other: Passage) -> bool:
    """Whether stretches of one code that overlap are one; words in vivo only at the same place."""
    return bool(stretch.code) or (stretch.start, stretch.end) == (other.start, other.end)


def _together(several: Sequence[Passage]) -> Passage:
    memo = "; ".join(dict.fromkeys(one.memo for one in several if one.memo))
    names = dict.fromkeys(name for one in several for name in one.fields)
    fields = {name: _said_by_all(one.fields.get(name, "") for one in several) for name in names}
    start, end = min(one.start for one in several), max(one.end for one in several)
    return Passage(start, end, several[0].code, memo, fields, _linked(*several))


def _said_by_all(several: Iterable[str]) -> str:
    """Words for a field, each once; those that differ in case and spaces alone are as the first rater spells them."""
    spelled: dict[str, str] = {}
    for words in (words for text in several for words in text.split(BETWEEN_RATERS) if words):
        spelled.setdefault(" ".join(words.split()).casefold(), words)
    return BETWEEN_RATERS.join(spelled.values())


def differing_fields(answer: Any) -> list[str]:
    """The fields for which an answer still holds what each of several raters said."""
    said = [passage.fields for passage in read_passages(answer)]
    return list(dict.fromkeys(name for fields in said for name, words in fields.items() if BETWEEN_RATERS in words))


class Passages(FacetKind):
    """A list of coded passages, each with its place, its code, a memo and the fields that the code asks for."""

    name = KIND
    takes = frozenset({"codes", "fields"})
    has_several_codes = True
    has_words = True

    def check_settings(self, settings: FacetSettings) -> None:
        if not settings.codes or settings.options:
            raise ValueError("a stretches facet takes its choices from codes: name the facet of the codebook")

    def read(self, facet: Facet, book: Codebook, given: Any) -> list[dict[str, Any]]:
        return checked_stretches(facet, book, given)

    def label(self, facet: Facet, answer: Any) -> Label | None:
        return frozenset(codes_in(answer))

    def combine(self, answers: Sequence[Any], words: Words) -> Any:
        return union(answers)

    def differing_words(self, answers: Sequence[Any]) -> Sequence[str]:
        return differing_fields(union(answers))

    def codes(self, answer: Any) -> list[str]:
        return codes_in(answer)

    def summarise(self, answer: Any) -> str:
        return "; ".join(codes_in(answer))

    def in_words(self, facet: Facet, book: Codebook, answer: Any) -> str:
        own = len(in_vivo_in(answer))
        if not own:
            return super().in_words(facet, book, answer)
        names = [super().in_words(facet, book, answer)] if codes_in(answer) else []
        return "; ".join([*names, f"{own} in vivo"])

    def choices(self, facet: Facet, book: Codebook) -> tuple[Choice, ...]:
        return code_choices(facet, book)

    def alternatives(self, facet: Facet, book: Codebook, answers: Sequence[Any]) -> tuple[Choice, ...]:
        """The codes that somebody gave, since only these have a place."""
        used = sorted({code for answer in answers for code in codes_in(answer) if answer != CANNOT_JUDGE})
        codes = [code_choice(book, book.codes[code]) for code in used if code in book.codes]
        return (*codes, Choice(NOTHING, "nothing is coded here"))

    def decide(self, answers: Sequence[Any], others: Sequence[str], instead: str) -> Any:
        if NOTHING in others and len(others) > 1:
            raise InputError("Codes were chosen, and that nothing is coded: clear one of them and send again.")
        if list(others) == [NOTHING]:
            return []
        return union([answer for answer in answers if answer != CANNOT_JUDGE], others)

    def replace_free_text(self, facet: Facet, answer: Any, replace: ReplaceText) -> Any:
        return replace_passage_texts(answer, replace) if is_stretches(answer) else replace(answer, False)


def replace_passage_texts(answer: Any, replace: ReplaceText) -> list[dict[str, Any]]:
    """Returns passages with each memo and each field replaced."""
    passages = []
    for passage in answer:
        changed = dict(passage)
        if passage.get("memo"):
            changed["memo"] = replace(passage["memo"], False)
        if passage.get("fields"):
            fields = passage["fields"].items()
            changed["fields"] = {name: replace(words, False) if words else words for name, words in fields}
        passages.append(changed)
    return passages
