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
    AnswerChoice,
    FacetKeys,
    FacetKind,
    Label,
    ReplaceText,
    Words,
    code_choice,
    code_choices,
)
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Facet, Passage, RoundPlan, read_passages

KIND = "stretches"
MOST = 400
"""Passages of one item; a page could not show more."""
LONGEST_MEMO, LONGEST_FIELD, LONGEST_ITEM = 4_000, 1_000, 10_000_000
_SEPARATOR = "‖"
SEPARATOR = f" {_SEPARATOR} "
"""Separates the texts of several raters in one field of a merged passage."""
_LONGEST_LINK = 64
_LONGEST_LINKS = (_LONGEST_LINK + 1) * MOST
NOTHING = "[]"
"""The cell of a table for the answer that there is nothing to code."""
_PARTS = ("start", "end", "code", "memo", "fields", "link")


def find_passage_facet(plan: RoundPlan) -> Facet | None:
    """Returns the facet of a round that codes passages; None if the round rates whole items."""
    return next((facet for facet in plan.facets if facet.kind == KIND), None)


def require_passage_facet(plan: RoundPlan) -> Facet:
    """Returns the facet of a round that codes passages; raises StateError if there is none."""
    facet = find_passage_facet(plan)
    if facet is None:
        raise StateError(f"the round {plan.round!r} does not code passages of transcripts: rate its items instead")
    return facet


def check_passages(facet: Facet, book: Codebook, answer: Any) -> list[dict[str, Any]]:
    """Returns the passages in order, without duplicates; an empty list means that there is nothing to code."""
    values = _parse_list(facet, answer)
    if len(values) > MOST:
        raise InputError(f"{facet.id} has {len(values)} passages in one item: at most {MOST} are allowed")
    by_place: dict[tuple[int, int, str], Passage] = {}
    for passage in (_check_passage(facet, book, value) for value in values):
        before = by_place.get(_sort_key(passage))
        by_place[_sort_key(passage)] = replace(passage, link=_merge_links(before, passage)) if before else passage
    return [by_place[place].payload() for place in sorted(by_place)]


def _parse_list(facet: Facet, answer: Any) -> Sequence[Any]:
    if isinstance(answer, str):
        try:
            answer = json.loads(answer)
        except (ValueError, RecursionError):
            answer = None
    if not isinstance(answer, list | tuple):
        example = '[{"start": 0, "end": 12, "code": "…"}]'
        raise InputError(f"{facet.id} is not a list of passages: give one like {example}, or [] for nothing to code")
    return answer


def _check_passage(facet: Facet, book: Codebook, value: Any) -> Passage:
    if not isinstance(value, Mapping):
        raise InputError(f"{facet.id} contains {value!r}: a passage needs start, end and code")
    for part in value:
        if part not in _PARTS:
            raise InputError(f"a passage of {facet.id} has the key {part!r}; choose from: {suggest(part, _PARTS)}")
    start, end = (value.get(name) for name in ("start", "end"))
    if not isinstance(start, int) or not isinstance(end, int) or not _is_valid_span(start, end):
        raise InputError(
            f"a passage of {facet.id} goes from {start!r} to {end!r}: give two offsets, the smaller one first"
        )
    code = _check_text(facet, value, "code", LONGEST_FIELD)
    if code:
        code = _check_code(facet, book, code)
    memo, links = (
        _check_text(facet, value, "memo", LONGEST_MEMO),
        split_links(_check_text(facet, value, "link", _LONGEST_LINKS)),
    )
    if longer := next((link for link in links if len(link) > _LONGEST_LINK), ""):
        raise InputError(f"a link of a passage of {facet.id} has {len(longer):,} characters, at most {_LONGEST_LINK}")
    return Passage(
        start, end, code, memo.strip(), _check_fields(facet, code, value.get("fields") or {}), " ".join(links)
    )


def _is_valid_span(start: int, end: int) -> bool:
    return not isinstance(start, bool) and not isinstance(end, bool) and 0 <= start < end <= LONGEST_ITEM


def _check_text(facet: Facet, values: Mapping[str, Any], name: str, longest: int) -> str:
    text = values.get(name) or ""
    if not isinstance(text, str) or text.encode("utf-8", "replace").decode() != text:
        raise InputError(f"the {name} of a passage of {facet.id} is not valid text: type it again")
    if len(text) > longest:
        raise InputError(f"the {name} of a passage of {facet.id} has {len(text):,} characters, at most {longest:,}")
    return text


def _check_code(facet: Facet, book: Codebook, code: str) -> str:
    allowed = {entry.id: entry.name for entry in book.active(facet.codes, facet.level or None)}
    if code not in allowed:
        options = sort_by_similarity(code, allowed)
        more = " …" if len(options) > 5 else ""
        raise InputError(f"{facet.id} uses the code {code!r}; choose from: {join_with_or(options[:5])}{more}")
    return code


def _check_fields(facet: Facet, code: str, values: Any) -> dict[str, str]:
    allowed = facet.list_fields(code)
    if not isinstance(values, Mapping):
        raise InputError(f"the fields of a passage of {facet.id} are {values!r}: give a name and a text for each")
    for name in values:
        if name not in allowed:
            options = suggest(str(name), allowed) or "none"
            raise InputError(f"{code or 'a passage without a code'} has no field {name!r}; choose from: {options}")
    words = {name: _check_text(facet, values, name, LONGEST_FIELD).strip() for name in allowed if name in values}
    return {name: text for name, text in words.items() if text}


def _sort_key(passage: Passage) -> tuple[int, int, str]:
    """Returns what identifies a passage: two passages with equal offsets and code are the same."""
    return passage.start, passage.end, passage.code


def split_links(link: str) -> tuple[str, ...]:
    """Returns the links of a passage, one for each coding over several turns that it is part of."""
    return tuple(dict.fromkeys(link.split()))


def _merge_links(*passages: Passage) -> str:
    """Returns all links of merged passages, so that codings over several turns stay connected."""
    return " ".join(dict.fromkeys(link for passage in passages for link in split_links(passage.link)))


def is_passages(answer: Any) -> bool:
    """Returns whether an answer is a list of passages; only such an answer can be an empty list."""
    return isinstance(answer, list | tuple) and all(isinstance(part, Mapping) for part in answer)


def list_codes(answer: Any) -> list[str]:
    """Returns the codes of an answer, each once; in-vivo passages have none."""
    if is_passages(answer):
        return sorted({passage.code for passage in read_passages(answer) if passage.code})
    return [str(code) for code in answer] if isinstance(answer, list | tuple) else [str(answer)]


def list_in_vivo(answer: Any) -> list[Passage]:
    """Returns the in-vivo passages of an answer: their own words are the code."""
    return [passage for passage in read_passages(answer) if passage.in_vivo] if is_passages(answer) else []


def replace_separator(answer: Any) -> Any:
    """Returns one rater's answer with the separator in its fields replaced, since it marks texts of several raters."""
    if not is_passages(answer) or not any(_SEPARATOR in words for passage in answer for words in _fields_of(passage)):
        return answer
    return [
        {
            **passage,
            "fields": {name: words.replace(_SEPARATOR, "|") for name, words in passage.get("fields", {}).items()},
        }
        for passage in answer
    ]


def _fields_of(passage: Mapping[str, Any]) -> Iterable[str]:
    fields: Mapping[str, str] = passage.get("fields", {})
    return fields.values()


@dataclass(frozen=True)
class _PassageGroup:
    """Passages with one code that belong together, each with the number of its answer."""

    members: tuple[tuple[int, Passage], ...]

    @cached_property
    def whole(self) -> Passage:
        passages = [
            passage for _, passage in sorted(self.members, key=lambda passage: (passage[0], _sort_key(passage[1])))
        ]
        return join_passages(passages)

    @cached_property
    def answers(self) -> frozenset[int]:
        return frozenset(number for number, _ in self.members)


def merge_passages(answers: Iterable[Any], codes: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Returns the passages of several raters merged; only those with the given codes, if any are given.

    A passage is merged with the one of another rater that has the same code and the largest overlap. Two passages of
    the same rater are never merged.
    """
    allowed = None if codes is None else set(codes)
    groups = [
        _PassageGroup(((number, passage),))
        for number, answer in enumerate(answers)
        for passage in read_passages(answer)
        if not passage.code or allowed is None or passage.code in allowed
    ]
    while pairs := _find_pairs(groups):
        groups = _merge_pairs(groups, pairs)
    at_place: dict[tuple[int, int, str], _PassageGroup] = {}
    for group in groups:
        before = at_place.get(_sort_key(group.whole))
        at_place[_sort_key(group.whole)] = _PassageGroup(before.members + group.members) if before else group
    return [at_place[place].whole.payload() for place in sorted(at_place)]


def _find_pairs(groups: list[_PassageGroup]) -> list[tuple[int, int]]:
    """Sorts the groups and returns the index pairs that can be merged, the largest overlap first."""
    groups.sort(key=lambda group: (group.whole.code, *_sort_key(group.whole)))
    pairs = []
    for first, group in enumerate(groups):
        for second in range(first + 1, len(groups)):
            other = groups[second]
            if other.whole.code != group.whole.code or other.whole.start >= group.whole.end:
                break
            if group.answers.isdisjoint(other.answers) and _can_merge(group.whole, other.whole):
                shared = min(group.whole.end, other.whole.end) - other.whole.start
                outside = other.whole.start - group.whole.start + abs(other.whole.end - group.whole.end)
                pairs.append((-shared, outside, first, second))
    return [(first, second) for _, _, first, second in sorted(pairs)]


def _merge_pairs(groups: list[_PassageGroup], pairs: Iterable[tuple[int, int]]) -> list[_PassageGroup]:
    """Merges each group with its first partner."""
    joined: list[_PassageGroup] = []
    merged: set[int] = set()
    for first, second in pairs:
        if merged.isdisjoint((first, second)):
            merged |= {first, second}
            joined.append(_PassageGroup(groups[first].members + groups[second].members))
    return joined + [group for number, group in enumerate(groups) if number not in merged]


def _can_merge(passage: Passage, other: Passage) -> bool:
    """Returns whether overlapping passages can be merged; in-vivo passages only if their offsets are equal."""
    return bool(passage.code) or (passage.start, passage.end) == (other.start, other.end)


def join_passages(passages: Sequence[Passage]) -> Passage:
    """Returns one passage from the first start to the last end, with the first code and all memos, fields and links."""
    if len(passages) == 1:
        return passages[0]
    memo = "; ".join(dict.fromkeys(passage.memo for passage in passages if passage.memo))
    names = dict.fromkeys(name for passage in passages for name in passage.fields)
    fields = {name: _merge_texts(passage.fields.get(name, "") for passage in passages) for name in names}
    start, end = min(passage.start for passage in passages), max(passage.end for passage in passages)
    return Passage(start, end, passages[0].code, memo, fields, _merge_links(*passages))


def _merge_texts(texts: Iterable[str]) -> str:
    """Joins the texts of a field without duplicates; case and spaces are ignored and the first spelling stays."""
    spelled: dict[str, str] = {}
    for words in (words for text in texts for words in text.split(SEPARATOR) if words):
        spelled.setdefault(" ".join(words.split()).casefold(), words)
    return SEPARATOR.join(spelled.values())


def differing_fields(answer: Any) -> list[str]:
    """Returns the fields that still contain the texts of several raters."""
    all_fields = [passage.fields for passage in read_passages(answer)]
    return list(dict.fromkeys(name for fields in all_fields for name, words in fields.items() if SEPARATOR in words))


class PassagesKind(FacetKind):
    """A list of coded passages, each with its offsets, its code, a memo and the fields of the code."""

    name = KIND
    takes = frozenset({"codes", "fields"})
    has_several_codes = True
    has_fields = True
    desk_keys = "vmzxwn/?"

    def check_settings(self, settings: FacetKeys) -> None:
        if not settings.codes or settings.options:
            raise ValueError(
                "a stretches facet takes its codes from the codebook: name the facet with codes and leave out options"
            )

    def read(self, facet: Facet, book: Codebook, answer: Any) -> list[dict[str, Any]]:
        return check_passages(facet, book, answer)

    def label(self, facet: Facet, answer: Any) -> Label | None:
        return frozenset(list_codes(answer))

    def combine(self, answers: Sequence[Any], words: Words) -> Any:
        return merge_passages(answers)

    def list_differing_fields(self, answers: Sequence[Any]) -> Sequence[str]:
        return differing_fields(merge_passages(answers))

    def codes(self, answer: Any) -> list[str]:
        return list_codes(answer)

    def summarise(self, answer: Any) -> str:
        return "; ".join(list_codes(answer))

    def name_codes(self, facet: Facet, book: Codebook, answer: Any) -> str:
        own = len(list_in_vivo(answer))
        if not own:
            return super().name_codes(facet, book, answer)
        names = [super().name_codes(facet, book, answer)] if list_codes(answer) else []
        return "; ".join([*names, f"{own} in vivo"])

    def choices(self, facet: Facet, book: Codebook) -> tuple[AnswerChoice, ...]:
        return code_choices(facet, book)

    def alternatives(self, facet: Facet, book: Codebook, answers: Sequence[Any]) -> tuple[AnswerChoice, ...]:
        """Returns the codes that raters gave, since only these have passages."""
        used = sorted({code for answer in answers for code in list_codes(answer) if answer != CANNOT_JUDGE})
        codes = [code_choice(book, book.codes[code]) for code in used if code in book.codes]
        return (*codes, AnswerChoice(NOTHING, "nothing is coded here"))

    def build_decision(self, answers: Sequence[Any], others: Sequence[str], instead: str) -> Any:
        if NOTHING in others and len(others) > 1:
            raise InputError("You chose codes and also “nothing is coded here”: clear one of them and save again.")
        if list(others) == [NOTHING]:
            return []
        return merge_passages([answer for answer in answers if answer != CANNOT_JUDGE], others)

    def replace_free_text(self, facet: Facet, answer: Any, replace: ReplaceText) -> Any:
        return replace_passage_texts(answer, replace) if is_passages(answer) else replace(answer, False)


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
