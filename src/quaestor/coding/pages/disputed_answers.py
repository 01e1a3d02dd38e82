"""The disputed answers of a case for its page: each with its raters, the meaning of its codes, and a key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from quaestor.base.errors import InputError
from quaestor.coding.model.answers import name_answer, write_cell
from quaestor.coding.model.conditions import describe_condition
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.base import AnswerChoice
from quaestor.coding.model.facet_kinds.passages import KIND
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Facet, read_passages
from quaestor.study.contributions import TextMask

_KEYS = "123456789"
_DIGEST_PREFIX = "said-"


@dataclass(frozen=True)
class AnswerSource:
    """A rater of an answer, named as the viewer may see them."""

    name: str
    unsure: bool = False
    memo: str = ""
    simulated: bool = False


@dataclass(frozen=True)
class CodeMeaning:
    """The entry of a code in the codebook."""

    name: str
    group: str
    definition: str
    use: str
    not_: str
    examples: tuple[str, ...]

    @property
    def has_text(self) -> bool:
        return bool(self.definition or self.use or self.not_ or self.examples)


@dataclass(frozen=True)
class Quote:
    """A coded passage of a transcript with its code, fields and memo."""

    words: str
    name: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class DisputedAnswer:
    """A disputed answer, its raters, and the key that chooses it; no key if it cannot be decided."""

    value: str
    label: str
    key: str = ""
    voices: tuple[AnswerSource, ...] = ()
    meanings: tuple[CodeMeaning, ...] = ()
    quotes: tuple[Quote, ...] = ()
    """The coded passages of the answer."""


@dataclass(frozen=True)
class SubmittedAnswer:
    """The choice in a form: a disputed answer, or others instead."""

    answer: str = ""
    others: tuple[str, ...] = ()
    instead: str = ""


@dataclass(frozen=True)
class DisputeQuestion:
    """The question of a case, the disputed answers and the alternatives."""

    facet: str
    kind: str
    question: str
    opinions: tuple[DisputedAnswer, ...]
    others: tuple[AnswerChoice, ...]
    proposed: tuple[tuple[str, str], ...] = ()
    """The proposal to confirm."""
    condition: str = ""
    """The condition under which the question is asked."""

    @property
    def distinguishes(self) -> bool:
        """Whether the codebook describes any of the disputed answers."""
        return any(meaning.has_text for opinion in self.opinions for meaning in opinion.meanings)


def build_question(
    facet: Facet,
    book: Codebook,
    answered: Iterable[tuple[Any, AnswerSource | None]],
    proposed: Mapping[str, str],
    *,
    judging: bool = False,
) -> DisputeQuestion:
    """Builds the question of a case; equal answers are listed once, in their order.

    With `judging`, "cannot judge" can be chosen too: a comment may give that answer, a decision may not.
    """
    answers: dict[str, Any] = {}
    voices: dict[str, list[AnswerSource]] = {}
    for answer, voice in answered:
        value = write_cell(facet, answer)
        answers.setdefault(value, answer)
        voices.setdefault(value, []).extend([voice] if voice else [])
    keys = iter(_KEYS)
    opinions = tuple(
        DisputedAnswer(
            value,
            name_answer(facet, book, answer),
            "" if answer == CANNOT_JUDGE else next(keys, ""),
            tuple(voices[value]),
            list_meanings(facet, book, answer),
        )
        for value, answer in answers.items()
    )
    alternatives = find_kind(facet).alternatives(facet, book, list(answers.values()))
    others = [choice for choice in alternatives if choice.value not in answers]
    if judging:
        others.append(AnswerChoice(CANNOT_JUDGE, CANNOT_JUDGE))
    return DisputeQuestion(
        facet.id, facet.kind, facet.question or facet.id, opinions, tuple(others), tuple(sorted(proposed.items())),
        describe_condition(facet.ask_if),
    )  # fmt: skip


def mask_question(question: DisputeQuestion, item: str, book: Codebook, mask: TextMask) -> DisputeQuestion:
    """Returns a question without known names, with the words of every coded passage that still exist.

    A form sends back a digest for an answer that contains words of raters, never the words themselves.
    """
    opinions = tuple(_mask_opinion(opinion, item, book, mask, question.kind) for opinion in question.opinions)
    proposed = tuple((part, mask.mask(words)) for part, words in question.proposed)
    return replace(question, opinions=opinions, proposed=proposed)


def _mask_opinion(opinion: DisputedAnswer, item: str, book: Codebook, mask: TextMask, kind: str) -> DisputedAnswer:
    has_words = opinion.value.startswith("[{") or mask.mask(opinion.value) != opinion.value
    return replace(
        opinion,
        quotes=_list_quotes(opinion, item, book, mask) if kind == KIND else (),
        value=build_digest(opinion.value) if has_words else opinion.value,
        label=mask.mask(opinion.label),
        voices=tuple(replace(voice, memo=mask.mask(voice.memo)) for voice in opinion.voices),
    )


def _list_quotes(opinion: DisputedAnswer, item: str, book: Codebook, mask: TextMask) -> tuple[Quote, ...]:
    passages = () if opinion.value == CANNOT_JUDGE else read_passages(json.loads(opinion.value))
    words = mask.passages(item, [(passage.start, passage.end) for passage in passages])
    if words is None:
        return ()
    quotes = []
    for passage, text in zip(passages, words, strict=True):
        name = book.codes[passage.code].name if passage.code in book.codes else passage.code
        more = [f"{field}: {content}" for field, content in passage.fields.items()]
        more += [passage.memo] if passage.memo else []
        quotes.append(Quote(text, mask.mask(name or "in vivo"), tuple(map(mask.mask, more))))
    return tuple(quotes)


def list_meanings(facet: Facet, book: Codebook, answer: Any) -> tuple[CodeMeaning, ...]:
    """Returns the meaning of each code of an answer."""
    if not facet.codes or answer == CANNOT_JUDGE:
        return ()
    meanings = []
    for code_id in find_kind(facet).codes(answer):
        code = book.codes.get(code_id)
        if code is not None:
            group = book.path_name(code.parent) if code.parent else ""
            meanings.append(CodeMeaning(code.name, group, code.definition, code.use, code.not_, code.examples))
    return tuple(meanings)


def build_digest(value: str) -> str:
    """Returns the digest that a form sends in place of an answer whose words the page does not contain."""
    return _DIGEST_PREFIX + hashlib.sha256(value.encode()).hexdigest()[:32]


def read_submitted_answer(facet: Facet, submitted: SubmittedAnswer, answers: Iterable[Any]) -> Any:
    """Returns the answer of a form, a disputed one exactly as recorded; raises unless exactly one is chosen."""
    others = [other.strip() for other in submitted.others if other.strip()]
    if submitted.answer and others:
        first = "one in dispute" if submitted.answer.startswith(_DIGEST_PREFIX) else repr(submitted.answer)
        raise InputError(
            f"Two answers were chosen, {first} and {'; '.join(others)!r}: clear one of them and save again."
        )
    if submitted.answer:
        cells = ((answer, write_cell(facet, answer)) for answer in answers)
        meant = next(
            (answer for answer, cell in cells if submitted.answer in (cell, build_digest(cell))), submitted.answer
        )
        if meant == submitted.answer and submitted.answer.startswith(_DIGEST_PREFIX):
            raise InputError("The answer that was chosen has changed since this page was opened: choose again.")
        return meant
    if not others:
        raise InputError("No answer was chosen: choose a disputed answer or another one.")
    if others == [CANNOT_JUDGE]:
        return CANNOT_JUDGE
    return find_kind(facet).build_decision(list(answers), others, submitted.instead.strip())
