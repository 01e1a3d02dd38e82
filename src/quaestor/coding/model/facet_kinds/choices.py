"""Facets answered with one or several codes or options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quaestor.base.errors import InputError
from quaestor.coding.model.facet_kinds.base import (
    AnswerChoice,
    FacetKeys,
    FacetKind,
    Label,
    code_choices,
    read_choice,
)
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Facet


class SingleChoiceKind(FacetKind):
    """One code or option."""

    name = "single"
    takes = frozenset({"codes", "scale"})

    def check_settings(self, settings: FacetKeys) -> None:
        if bool(settings.codes) == bool(settings.options):
            raise ValueError(f"a {self.name} facet needs either codes or options: give one of the two")

    def list_condition_answers(self, settings: FacetKeys) -> Sequence[str] | None:
        return None if settings.codes else settings.options

    def read(self, facet: Facet, book: Codebook, answer: Any) -> Any:
        return read_choice(facet, book, answer)

    def choices(self, facet: Facet, book: Codebook) -> tuple[AnswerChoice, ...]:
        return code_choices(facet, book)

    def lists_every_answer(self, facet: Facet) -> bool:
        return not self.has_several_codes


class MultipleChoiceKind(SingleChoiceKind):
    """Several codes or options, in alphabetical order."""

    name = "multiple"
    takes = frozenset({"codes"})
    has_several_codes = True

    def read(self, facet: Facet, book: Codebook, answer: Any) -> Any:
        values = answer if isinstance(answer, list | tuple) else [part.strip() for part in str(answer).split(";")]
        chosen = sorted({read_choice(facet, book, value) for value in values if value})
        if not chosen:
            raise InputError(f"{facet.id} is empty: choose at least one code, or answer {CANNOT_JUDGE!r}")
        return chosen

    def label(self, facet: Facet, answer: Any) -> Label | None:
        return frozenset(answer)

    def codes(self, answer: Any) -> list[str]:
        return [str(code) for code in answer]

    def build_decision(self, answers: Sequence[Any], others: Sequence[str], instead: str) -> Any:
        return list(others)

    def hint(self, facet: Facet, book: Codebook) -> str:
        return f"{super().hint(facet, book)} (several, separated by ;)"
