"""Answers that code stretches of an item: what one may be, which codes it names, and what two of them make together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import listed, nearest_first
from quaestor.coding.records import Codebook, Facet, Stretch, stretches_in

KIND = "stretches"
MOST = 400
"""Stretches of one item; a page could not show more."""
LONGEST_MEMO, LONGEST_FIELD, LONGEST_ITEM = 4_000, 1_000, 10_000_000
BETWEEN_RATERS = " ‖ "
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


def union(answers: Iterable[Any], codes: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """What several raters coded, together: stretches of one code that overlap are one. Of some codes only, if named."""
    wanted = None if codes is None else set(codes)
    found: list[Stretch] = []
    for one in sorted(_spelled_alike(answers), key=_place):
        if one.code and wanted is not None and one.code not in wanted:
            continue
        meets = next((place for place, other in enumerate(found) if _are_one(other, one)), None)
        if meets is None:
            found.append(one)
        else:
            found[meets] = _together(found[meets], one)
    return [one.payload() for one in sorted(found, key=_place)]


def _spelled_alike(answers: Iterable[Any]) -> list[Stretch]:
    """All stretches; words for a field that differ in case and spaces alone are as the first rater spells them."""
    spelled: dict[tuple[str, str, str], str] = {}
    found = []
    for one in (one for answer in answers for one in stretches_in(answer)):
        fields = {
            name: spelled.setdefault((one.code, name, " ".join(words.split()).casefold()), words)
            for name, words in one.fields.items()
        }
        found.append(replace(one, fields=fields))
    return found


def _are_one(before: Stretch, after: Stretch) -> bool:
    if before.code != after.code:
        return False
    if not after.code:
        return (before.start, before.end) == (after.start, after.end)
    return after.start < before.end


def _together(one: Stretch, other: Stretch) -> Stretch:
    memo = "; ".join(dict.fromkeys(text for text in (one.memo, other.memo) if text))
    names = dict.fromkeys([*one.fields, *other.fields])
    fields = {name: _said_by_all(one.fields.get(name, ""), other.fields.get(name, "")) for name in names}
    return replace(one, end=max(one.end, other.end), memo=memo, fields=fields, link=_linked(one, other))


def _said_by_all(*several: str) -> str:
    """Words for a field, each once."""
    said = (words for text in several for words in text.split(BETWEEN_RATERS))
    return BETWEEN_RATERS.join(dict.fromkeys(words for words in said if words))


def differing_fields(answer: Any) -> list[str]:
    """The fields for which an answer still holds what each of several raters said."""
    said = [one.fields for one in stretches_in(answer)]
    return list(dict.fromkeys(name for fields in said for name, words in fields.items() if BETWEEN_RATERS in words))
