"""Facets that keep an item in the study or exclude it, with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import suggest
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
from quaestor.coding.model.records import EXCLUDE, KEEP, Codebook, Facet


class KeepKind(FacetKind):
    """`keep`, `exclude`, or `exclude: the reason`, stored as a mapping with both parts."""

    name = "keep"
    takes = frozenset({"reasons"})

    def list_condition_answers(self, settings: FacetKeys) -> Sequence[str] | None:
        return (KEEP, EXCLUDE)

    def read(self, facet: Facet, book: Codebook, answer: Any) -> dict[str, str]:
        word, reason = read_word_and_text(answer, "reason")
        if word not in (KEEP, EXCLUDE):
            raise InputError(f'{facet.id} is {answer!r}; write keep, or "exclude: " and the reason')
        if word == KEEP and reason:
            raise InputError(f"{facet.id} is keep with the reason {reason!r}: only exclude takes a reason")
        if word == EXCLUDE and facet.reasons and reason not in facet.reasons:
            excludes = f"for {reason!r}" if reason else "without a reason"
            raise InputError(f"{facet.id} excludes {excludes}; choose from: {suggest(reason, facet.reasons)}")
        return {"answer": word, "reason": reason} if reason else {"answer": word}

    def label(self, facet: Facet, answer: Any) -> Label | None:
        return str(answer["answer"])

    def combine(self, answers: Sequence[Any], words: Words) -> Any:
        return combine_word_and_text(answers, "reason")

    def choices(self, facet: Facet, book: Codebook) -> tuple[AnswerChoice, ...]:
        reasons = [AnswerChoice(f"{EXCLUDE}: {reason}", reason, group=EXCLUDE) for reason in facet.reasons]
        return (AnswerChoice(KEEP, KEEP), *(reasons or [AnswerChoice(EXCLUDE, EXCLUDE)]))

    def lists_every_answer(self, facet: Facet) -> bool:
        return bool(facet.reasons)

    def alternatives(self, facet: Facet, book: Codebook, answers: Sequence[Any]) -> tuple[AnswerChoice, ...]:
        return tuple(AnswerChoice(choice.value, choice.value) for choice in self.choices(facet, book))

    def hint(self, facet: Facet, book: Codebook) -> str:
        return "keep, or exclude: " + (" | ".join(facet.reasons) or "and the reason")

    def chosen_values(self, answer: Any) -> tuple[str, ...]:
        return (self.write(answer),) if isinstance(answer, Mapping) else super().chosen_values(answer)

    def replace_free_text(self, facet: Facet, answer: Any, replace: ReplaceText) -> Any:
        if facet.reasons or not isinstance(answer, Mapping) or not answer.get("reason"):
            return answer
        return {**answer, "reason": replace(answer["reason"], False)}
