"""Facets that confirm what an earlier round or a machine proposes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quaestor.base.errors import InputError
from quaestor.coding.model.facet_kinds.base import (
    AnswerChoice,
    FacetKeys,
    FacetKind,
    Label,
    ReplaceText,
    Words,
    combine_word_and_text,
    read_word_and_text,
)
from quaestor.coding.model.records import Codebook, Facet

YES, NO = "yes", "no"


class ConfirmKind(FacetKind):
    """`yes`, or `no` with a correction."""

    name = "confirm"
    confirms_proposal = True
    form_fields = ("instead",)

    def list_condition_answers(self, settings: FacetKeys) -> Sequence[str] | None:
        return (YES, NO)

    def read(self, facet: Facet, book: Codebook, answer: Any) -> dict[str, str]:
        word, instead = read_word_and_text(answer, "instead")
        if word not in (YES, NO):
            raise InputError(f'{facet.id} is {answer!r}; write yes, no, or "no: " and the right answer')
        return {"answer": word, "instead": instead} if instead else {"answer": word}

    def label(self, facet: Facet, answer: Any) -> Label | None:
        return str(answer["answer"])

    def combine(self, answers: Sequence[Any], words: Words) -> Any:
        return combine_word_and_text(answers, "instead")

    def choices(self, facet: Facet, book: Codebook) -> tuple[AnswerChoice, ...]:
        return (AnswerChoice(YES, YES, "y"), AnswerChoice(NO, NO, "n"))

    def build_decision(self, answers: Sequence[Any], others: Sequence[str], instead: str) -> Any:
        return f"{NO}: {instead}" if others[0] == NO and instead else others[0]

    def hint(self, facet: Facet, book: Codebook) -> str:
        return "yes, no, or no: what it should be"

    def read_form(self, answer: Any, fields: Mapping[str, str]) -> Any:
        instead = fields["instead"].strip()
        return f"{NO}: {instead}" if instead and answer == NO else answer

    def replace_free_text(self, facet: Facet, answer: Any, replace: ReplaceText) -> Any:
        if not isinstance(answer, Mapping) or not answer.get("instead"):
            return answer
        return {**answer, "instead": replace(answer["instead"], False)}
