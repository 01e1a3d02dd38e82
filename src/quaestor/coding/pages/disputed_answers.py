"""The disputed answers of a case for its page: each with its raters, the meaning of its codes, and a key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from quaestor.base.errors import InputError
from quaestor.coding.model.answers import name_answer, write_cell
from quaestor.coding.model.conditions import describe_condition
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.base import AnswerChoice
from quaestor.coding.model.facet_kinds.passages import KIND, is_passages
from quaestor.coding.model.passage_choices import (
    AlignedPassages,
    PassageChoice,
    align_passages,
    build_chosen_answer,
)
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Facet, Passage, read_passages
from quaestor.study.contributions import NoNames, TextMask

BY_PASSAGE = "passages"
"""The answer of a form that decides each passage."""
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
class PassageOption:
    """A passage of a row that can be chosen, with its raters as the viewer may see them."""

    letter: str
    quote: Quote
    voices: tuple[AnswerSource, ...]


@dataclass(frozen=True)
class PassageRow:
    """Passages of several raters that belong together, and what can be decided about them."""

    number: int
    aligned: AlignedPassages
    options: tuple[PassageOption, ...]

    @property
    def default(self) -> str:
        """The choice before anybody makes one: what all raters agree on."""
        return self.options[0].letter if self.aligned.agreed else ""


@dataclass(frozen=True)
class SubmittedAnswer:
    """The choice in a form: a disputed answer, others instead, or a choice for each passage."""

    answer: str = ""
    others: tuple[str, ...] = ()
    instead: str = ""
    passages: Mapping[int, PassageChoice] = field(default_factory=dict)
    rows: str = ""
    """The digest of the answers whose passages the page showed."""


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
    rows: tuple[PassageRow, ...] = ()
    """The raters' passages next to each other, to be decided one by one."""
    rows_digest: str = ""
    codes: tuple[AnswerChoice, ...] = ()
    """The codes that a passage can get."""

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
    question = DisputeQuestion(
        facet.id, facet.kind, facet.question or facet.id, opinions, tuple(others), tuple(sorted(proposed.items())),
        describe_condition(facet.ask_if),
    )  # fmt: skip
    return (
        _add_rows(question, facet, book, list(answers.values()), list(voices.values()))
        if facet.kind == KIND
        else question
    )


def _add_rows(
    question: DisputeQuestion,
    facet: Facet,
    book: Codebook,
    answers: Sequence[Any],
    voices: Sequence[Sequence[AnswerSource]],
) -> DisputeQuestion:
    rows = tuple(
        PassageRow(
            number,
            aligned,
            tuple(
                PassageOption(
                    version.letter,
                    _build_quote(version.passage, book, f"characters {version.passage.start} to {version.passage.end}"),
                    tuple(voice for answer in version.answers for voice in voices[answer]),
                )
                for version in aligned.versions
            ),
        )
        for number, aligned in enumerate(align_passages(answers), start=1)
    )
    return replace(
        question,
        rows=rows,
        rows_digest=_digest_answers(facet, answers),
        codes=find_kind(facet).choices(facet, book),
    )


def _digest_answers(facet: Facet, answers: Iterable[Any]) -> str:
    return build_digest("\n".join(dict.fromkeys(write_cell(facet, answer) for answer in answers)))


def _build_quote(passage: Passage, book: Codebook, words: str) -> Quote:
    name = book.codes[passage.code].name if passage.code in book.codes else passage.code
    more = [f"{field}: {content}" for field, content in passage.fields.items()]
    return Quote(words, name or "in vivo", (*more, *([passage.memo] if passage.memo else [])))


def mask_question(question: DisputeQuestion, item: str, book: Codebook, mask: TextMask) -> DisputeQuestion:
    """Returns a question without known names, with the words of every coded passage that still exist.

    A form sends back a digest for an answer that contains words of raters, never the words themselves.
    """
    opinions = tuple(_mask_opinion(opinion, item, book, mask, question.kind) for opinion in question.opinions)
    proposed = tuple((part, mask.mask(words)) for part, words in question.proposed)
    rows = tuple(_mask_row(row, item, mask) for row in question.rows)
    return replace(question, opinions=opinions, proposed=proposed, rows=rows)


def _mask_row(row: PassageRow, item: str, mask: TextMask) -> PassageRow:
    spans = [(version.passage.start, version.passage.end) for version in row.aligned.versions]
    texts = mask.passages(item, spans) or [option.quote.words for option in row.options]
    options = tuple(
        replace(
            option,
            quote=_mask_quote(replace(option.quote, words=text), mask),
            voices=tuple(replace(voice, memo="") for voice in option.voices),
        )
        for option, text in zip(row.options, texts, strict=True)
    )
    return replace(row, options=options)


def _mask_quote(quote: Quote, mask: TextMask) -> Quote:
    return replace(quote, name=mask.mask(quote.name), more=tuple(map(mask.mask, quote.more)))


def _mask_opinion(opinion: DisputedAnswer, item: str, book: Codebook, mask: TextMask, kind: str) -> DisputedAnswer:
    has_passages = kind == KIND and opinion.value != CANNOT_JUDGE
    has_words = opinion.value.startswith("[{") or mask.mask(opinion.value) != opinion.value
    return replace(
        opinion,
        quotes=list_quotes(json.loads(opinion.value), item, book, mask) if has_passages else (),
        value=build_digest(opinion.value) if has_words else opinion.value,
        label=mask.mask(opinion.label),
        voices=tuple(replace(voice, memo=mask.mask(voice.memo)) for voice in opinion.voices),
    )


def list_quotes(answer: Any, item: str, book: Codebook, mask: TextMask) -> tuple[Quote, ...]:
    """Returns the coded passages of an answer with their words; none if it has none or the words were erased."""
    passages = read_passages(answer) if is_passages(answer) else ()
    words = mask.passages(item, [(passage.start, passage.end) for passage in passages]) if passages else None
    return tuple(
        _mask_quote(_build_quote(passage, book, text), mask)
        for passage, text in zip(passages, words or (), strict=False)
    )


def _is_by_passage(rows: Sequence[AlignedPassages], choices: Mapping[int, PassageChoice]) -> bool:
    """Returns whether anything was chosen for a passage other than what the page had chosen at first."""
    return any(
        choice.option and not (0 < number <= len(rows) and rows[number - 1].agreed and choice.option == "A")
        for number, choice in choices.items()
    )


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


def read_submitted_answer(
    facet: Facet, submitted: SubmittedAnswer, answers: Sequence[Any], item: str = "", mask: TextMask | None = None
) -> Any:
    """Returns the answer of a form, a disputed one exactly as recorded; raises unless exactly one is chosen."""
    others = [other.strip() for other in submitted.others if other.strip()]
    if facet.kind == KIND and (submitted.answer == BY_PASSAGE or submitted.passages):
        distinct = list({write_cell(facet, answer): answer for answer in answers}.values())
        rows = align_passages(distinct)
        if submitted.answer == BY_PASSAGE or _is_by_passage(rows, submitted.passages):
            if others or submitted.answer not in ("", BY_PASSAGE):
                raise InputError(
                    "You chose a whole answer and also single passages: choose “Decide passage by passage” to use the "
                    "passages, and clear the other answer."
                )
            if submitted.rows != _digest_answers(facet, distinct):
                raise InputError("The coded passages have changed since this page was opened: choose again.")
            locate = partial((mask or NoNames()).locate, item)
            return build_chosen_answer(rows, submitted.passages, locate)
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
