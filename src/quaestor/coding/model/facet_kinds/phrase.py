"""Facets that name what an item asks for as a verb and an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quaestor.base.errors import InputError
from quaestor.coding.model.facet_kinds.base import FacetKind, Label, ReplaceText, Words
from quaestor.coding.model.records import Codebook, Facet

PARTS = ("verb", "object")


class PhraseKind(FacetKind):
    """`rotate, image`, stored as a mapping with verb and object."""

    name = "phrase"
    unifies_words = True
    form_fields = PARTS

    def read(self, facet: Facet, book: Codebook, answer: Any) -> dict[str, str]:
        if isinstance(answer, Mapping):
            verb, object_ = str(answer.get("verb", "")), str(answer.get("object", ""))
        else:
            verb, _, object_ = str(answer).partition(",")
        verb, object_ = " ".join(verb.lower().split()), " ".join(object_.lower().split())
        if not verb or not object_:
            raise InputError(f"{facet.id} is {answer!r}: a phrase is a verb and an object, as in: rotate, image")
        return {"verb": verb, "object": object_}

    def label(self, facet: Facet, answer: Any) -> Label | None:
        return f"{answer['verb']} {answer['object']}"

    def comparison_key(self, facet: Facet, answer: Any, words: Words) -> object:
        return unify_words(answer, words)

    def unify(self, answer: Any, words: Words) -> Any:
        return dict(zip(PARTS, unify_words(answer, words), strict=True))

    def hint(self, facet: Facet, book: Codebook) -> str:
        return "verb, object   as in: rotate, image"

    def read_form(self, answer: Any, fields: Mapping[str, str]) -> Any:
        return dict(fields) if answer is None and any(fields.values()) else answer

    def replace_free_text(self, facet: Facet, answer: Any, replace: ReplaceText) -> Any:
        if not isinstance(answer, Mapping):
            return answer
        return {**answer, **{part: replace(answer[part], True) for part in PARTS if answer.get(part)}}


def unify_words(phrase: Mapping[str, str], words: Words) -> tuple[str, str]:
    """Returns verb and object after unification."""
    return (
        words["verb"].get(phrase["verb"], phrase["verb"]),
        words["object"].get(phrase["object"], phrase["object"]),
    )
