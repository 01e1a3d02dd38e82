"""Answers that code stretches of an item: what one may be, which codes it names, and what two of them make together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import listed, nearest_first
from quaestor.coding.records import Codebook, Facet, Stretch, stretches_in

KIND = "stretches"
MOST = 400
"""Stretches of one item; a page could not show more."""
LONGEST_MEMO, LONGEST_FIELD, LONGEST_ITEM = 4_000, 1_000, 10_000_000
_SIGN = "‖"
BETWEEN_RATERS = f" {_SIGN} "
"""Stands between the words for a field where raters gave one code and say different things of it."""
_LONGEST_LINK = 64
_LONGEST_LINKS = (_LONGEST_LINK + 1) * MOST
_PARTS = ("start", "end", "code", "memo", "fields", "link")


def checked_stretches(facet: Facet, book: Codebook, given: Any) -> list[dict[str, Any]]:
    """Stretches in their order, each once; an empty list says that there is nothing to code."""
    values = _read(facet, given)
    if len(values) > MOST:
        raise InputError(f"{facet.id} codes {len(values)} stretches of one item: at most {MOST} can be kept")
    found: dict[tuple[int, int, str], Stretch] = {}
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


def _checked(facet: Facet, book: Codebook, given: Any) -> Stretch:
    if not isinstance(given, Mapping):
        raise InputError(f"{facet.id} holds {given!r}: a stretch says start, end and code")
    for part in given:
        if part not in _PARTS:
            raise InputError(f"a stretch of {facet.id} says {part!r}, allowed: {listed(nearest_first(part, _PARTS))}")
    start, end = (given.get(name) for name in ("start", "end"))
    if not isinstance(start, int) or not isinstance(end, int) or not _is_place(start, end):
        raise InputError(f"a stretch of {facet.id} goes from {start!r} to {end!r}: give places, the first one smaller")
    code = _text(facet, given, "code", LONGEST_FIELD)
    if code:
        code = _code(facet, book, code)
    memo, links = _text(facet, given, "memo", LONGEST_MEMO), links_in(_text(facet, given, "link", _LONGEST_LINKS))
    if longer := next((one for one in links if len(one) > _LONGEST_LINK), ""):
        raise InputError(f"a link of a stretch of {facet.id} has {len(longer):,} characters, at most {_LONGEST_LINK}")
    return Stretch(start, end, code, memo.strip(), _fields(facet, code, given.get("fields") or {}), " ".join(links))


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
        options = nearest_first(code, allowed)
        more = " …" if len(options) > 5 else ""
        raise InputError(f"{facet.id} codes with {code!r}, allowed: {listed(options[:5])}{more}")
    return code


def _fields(facet: Facet, code: str, given: Any) -> dict[str, str]:
    allowed = facet.asks(code)
    if not isinstance(given, Mapping):
        raise InputError(f"the fields of a stretch of {facet.id} are {given!r}: name each with its words")
    for name in given:
        if name not in allowed:
            what = listed(nearest_first(str(name), allowed)) or "none"
            raise InputError(f"{code or 'a stretch without a code'} has no field {name!r}, allowed: {what}")
    words = {name: _text(facet, given, name, LONGEST_FIELD).strip() for name in allowed if name in given}
    return {name: text for name, text in words.items() if text}


def _place(one: Stretch) -> tuple[int, int, str]:
    """Two stretches with the same code at the same place are one; words in vivo likewise."""
    return one.start, one.end, one.code


def links_in(link: str) -> tuple[str, ...]:
    """The links that a stretch has: one for each passage over several turns that it is part of."""
    return tuple(dict.fromkeys(link.split()))


def _linked(*several: Stretch) -> str:
    """All links of stretches that became one, so that each passage still holds together."""
    return " ".join(dict.fromkeys(link for one in several for link in links_in(one.link)))


def is_stretches(answer: Any) -> bool:
    """Whether an answer holds stretches; only such an answer can be an empty list."""
    return isinstance(answer, list | tuple) and all(isinstance(one, Mapping) for one in answer)


def written_stretches(answer: Any) -> str:
    """Stretches as one cell of a table, which `checked_stretches` reads back."""
    return json.dumps(list(answer), ensure_ascii=False, sort_keys=True)


def codes_in(answer: Any) -> list[str]:
    """The codes that an answer names, each once; stretches whose words are their own name have none."""
    if is_stretches(answer):
        return sorted({one.code for one in stretches_in(answer) if one.code})
    return [str(one) for one in answer] if isinstance(answer, list | tuple) else [str(answer)]


def in_vivo_in(answer: Any) -> list[Stretch]:
    """The stretches of an answer whose words are their own name."""
    return [one for one in stretches_in(answer) if one.in_vivo] if is_stretches(answer) else []


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

    said: tuple[tuple[int, Stretch], ...]

    @cached_property
    def whole(self) -> Stretch:
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
        _Joined(((number, one),))
        for number, answer in enumerate(answers)
        for one in stretches_in(answer)
        if not one.code or wanted is None or one.code in wanted
    ]
    while met := _met(found):
        found = _joined(found, met)
    at_place: dict[tuple[int, int, str], _Joined] = {}
    for one in found:
        before = at_place.get(_place(one.whole))
        at_place[_place(one.whole)] = _Joined(before.said + one.said) if before else one
    return [at_place[place].whole.payload() for place in sorted(at_place)]


def _met(found: list[_Joined]) -> list[tuple[int, int]]:
    """Pairs that can be one, by their places in a list that is put in order; those that share most words come first."""
    found.sort(key=lambda one: (one.whole.code, *_place(one.whole)))
    pairs = []
    for first, one in enumerate(found):
        for second in range(first + 1, len(found)):
            other = found[second]
            if other.whole.code != one.whole.code or other.whole.start >= one.whole.end:
                break
            if one.answers.isdisjoint(other.answers) and _are_one(one.whole, other.whole):
                shared = min(one.whole.end, other.whole.end) - other.whole.start
                beside = other.whole.start - one.whole.start + abs(other.whole.end - one.whole.end)
                pairs.append((-shared, beside, first, second))
    return [(first, second) for _, _, first, second in sorted(pairs)]


def _joined(found: list[_Joined], met: Iterable[tuple[int, int]]) -> list[_Joined]:
    """Each with the first that it meets."""
    joined: list[_Joined] = []
    taken: set[int] = set()
    for first, second in met:
        if taken.isdisjoint((first, second)):
            taken |= {first, second}
            joined.append(_Joined(found[first].said + found[second].said))
    return joined + [one for place, one in enumerate(found) if place not in taken]


def _are_one(one: Stretch, other: Stretch) -> bool:
    """Whether stretches of one code that overlap are one; words in vivo only at the same place."""
    return bool(one.code) or (one.start, one.end) == (other.start, other.end)


def _together(several: Sequence[Stretch]) -> Stretch:
    memo = "; ".join(dict.fromkeys(one.memo for one in several if one.memo))
    names = dict.fromkeys(name for one in several for name in one.fields)
    fields = {name: _said_by_all(one.fields.get(name, "") for one in several) for name in names}
    start, end = min(one.start for one in several), max(one.end for one in several)
    return Stretch(start, end, several[0].code, memo, fields, _linked(*several))


def _said_by_all(several: Iterable[str]) -> str:
    """Words for a field, each once; those that differ in case and spaces alone are as the first rater spells them."""
    spelled: dict[str, str] = {}
    for words in (words for text in several for words in text.split(BETWEEN_RATERS) if words):
        spelled.setdefault(" ".join(words.split()).casefold(), words)
    return BETWEEN_RATERS.join(spelled.values())


def differing_fields(answer: Any) -> list[str]:
    """The fields for which an answer still holds what each of several raters said."""
    said = [one.fields for one in stretches_in(answer)]
    return list(dict.fromkeys(name for fields in said for name, words in fields.items() if BETWEEN_RATERS in words))
