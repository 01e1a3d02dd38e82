"""The interface of facet kinds with its defaults; a kind overrides what differs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.coding.model.records import Code, Codebook, Facet

KEYS = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Keys for choices, in the order in which they are assigned."""
Label = str | frozenset[str]
Words = Mapping[str, Mapping[str, str]]
"""By part of a phrase, which word replaces which."""
ReplaceText = Callable[[str, bool], str]
"""Gets a free text and whether it is a label; returns the replacement."""


NOTHING_CODED = "nothing coded"
"""The answer of a rater who found no code that applies."""


class FacetKeys(Protocol):
    """The keys of a facet in study.toml that a kind checks."""

    @property
    def codes(self) -> str | None: ...
    @property
    def options(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class AnswerChoice:
    """An answer that a rater can choose, and its keyboard key."""

    value: str
    label: str
    key: str = ""
    definition: str = ""
    group: str = ""


class FacetKind:
    """Reads, compares, shows, exports and imports the answers to facets of one kind.

    Callers handle the answer "cannot judge" themselves; only `chosen_values` receives it.
    """

    name: ClassVar[str]
    """The name in study.toml, in the journal and of the templates."""
    takes: ClassVar[frozenset[str]] = frozenset()
    """Keys of study.toml that not every kind takes: codes, fields, scale, reasons."""
    is_compared: ClassVar[bool] = True
    """Whether raters can agree on an answer, so that agreement is computed and disagreements are decided."""
    has_several_codes: ClassVar[bool] = False
    """Whether a label is a set of codes."""
    confirms_proposal: ClassVar[bool] = False
    """Whether raters are shown what an earlier round proposes."""
    unifies_words: ClassVar[bool] = False
    """Whether words of answers are unified after each set of items."""
    is_free_text: ClassVar[bool] = False
    """Whether every character of an imported cell counts, spaces included."""
    has_fields: ClassVar[bool] = False
    """Whether codes have fields, which can differ even if the codes agree."""
    desk_keys: ClassVar[str] = "umsbz0/"
    """Keys that have another function on the page where these facets are rated, so that no code can have them."""
    form_fields: ClassVar[tuple[str, ...]] = ()
    """Fields of the rating form next to `answer`, each called `field.facet`."""

    def check_settings(self, settings: FacetKeys) -> None:
        """Raises ValueError where a study file describes a facet of this kind that cannot be answered."""

    def list_condition_answers(self, settings: FacetKeys) -> Sequence[str] | None:
        """Returns the answers that `ask_if` of another facet can name; None if the codebook lists them."""
        return ()

    def read(self, facet: Facet, book: Codebook, answer: Any) -> Any:
        """Returns an answer in the form in which it is stored; raises InputError with what is allowed."""
        raise NotImplementedError

    def label(self, facet: Facet, answer: Any) -> Label | None:
        """Returns what agreement compares: the answer without its explanation."""
        return str(answer)

    def comparison_key(self, facet: Facet, answer: Any, words: Words) -> object:
        """Returns what must be equal for raters to agree, once their words are unified."""
        return self.label(facet, answer)

    def unify(self, answer: Any, words: Words) -> Any:
        """Returns an answer with unified words."""
        return answer

    def combine(self, answers: Sequence[Any], words: Words) -> Any:
        """Returns the answer to record if all answers agree."""
        return self.unify(answers[0], words)

    def list_differing_fields(self, answers: Sequence[Any]) -> Sequence[str]:
        """Returns the names of the fields that differ between answers with equal codes."""
        return ()

    def codes(self, answer: Any) -> list[str]:
        """Returns the codes that an answer names, each once."""
        return [str(answer)]

    def write(self, answer: Any) -> str:
        """Returns an answer as one cell of a table, which `read` reads back."""
        return write_answer(answer)

    def summarise(self, answer: Any) -> str:
        """Returns an answer as one line of text."""
        return self.write(answer)

    def name_codes(self, facet: Facet, book: Codebook, answer: Any) -> str:
        """Returns an answer with the names of its codes."""
        if not facet.codes:
            return self.write(answer)
        names = [book.codes[code].name if code in book.codes else code for code in self.codes(answer)]
        return "; ".join(names) or NOTHING_CODED

    def choices(self, facet: Facet, book: Codebook) -> tuple[AnswerChoice, ...]:
        """Returns what a rater can choose from; nothing for free text."""
        return ()

    def lists_every_answer(self, facet: Facet) -> bool:
        """Returns whether each answer is one of the choices, so that a rater need not type anything."""
        return False

    def alternatives(self, facet: Facet, book: Codebook, answers: Sequence[Any]) -> tuple[AnswerChoice, ...]:
        """Returns what can be decided in place of the answers in dispute."""
        return self.choices(facet, book)

    def build_decision(self, answers: Sequence[Any], others: Sequence[str], instead: str) -> Any:
        """Returns the answer of a decision form in which alternatives were chosen or typed."""
        return others[0]

    def hint(self, facet: Facet, book: Codebook) -> str:
        """Returns the allowed answers for a rater in the terminal."""
        return " | ".join(allowed_choices(facet, book))

    def chosen_values(self, answer: Any) -> tuple[str, ...]:
        """Returns the choices to tick in the rating form; the answer may be one that `read` refused."""
        if isinstance(answer, Mapping):
            return (str(answer.get("answer", "")),)
        return tuple(map(str, answer)) if isinstance(answer, list | tuple) else (str(answer),)

    def read_form(self, answer: Any, fields: Mapping[str, str]) -> Any:
        """Returns the answer of a rating form from the choice (None if nothing was chosen) and its other fields."""
        return answer

    def replace_free_text(self, facet: Facet, answer: Any, replace: ReplaceText) -> Any:
        """Returns an answer with each text that a rater wrote freely replaced, always in the same order."""
        return answer


def allowed_choices(facet: Facet, book: Codebook) -> dict[str, str]:
    """Returns the codes or options that a rater may choose, with their names."""
    if facet.codes:
        return {code.id: code.name for code in book.active(facet.codes, facet.level or None)}
    return {option: option for option in facet.options}


def read_choice(facet: Facet, book: Codebook, answer: Any) -> str:
    """Returns the code with an id or a name in any case; raises InputError with the nearest ones."""
    allowed = allowed_choices(facet, book)
    if isinstance(answer, str) and answer in allowed:
        return answer
    typed = str(answer).casefold()
    matches = [code for code, name in allowed.items() if typed in (code.casefold(), name.casefold())]
    if len(matches) == 1:
        return matches[0]
    code = book.codes.get(str(answer))
    if code is not None and not code.active:
        became = f" into {code.into!r}" if code.into else ""
        raise InputError(f"{facet.id} is {answer!r}, a code that was {code.status}{became}: choose another one")
    options = sort_by_similarity(str(answer), allowed)
    raise InputError(
        f"{facet.id} is {answer!r}; choose from: {join_with_or(options[:5])}{' …' if len(options) > 5 else ''}"
    )


def code_choices(facet: Facet, book: Codebook) -> tuple[AnswerChoice, ...]:
    """Returns the codes or options of a facet with their definitions."""
    return tuple(
        code_choice(book, book.codes[value]) if value in book.codes else AnswerChoice(value, label)
        for value, label in allowed_choices(facet, book).items()
    )


def code_choice(book: Codebook, code: Code) -> AnswerChoice:
    group = book.codes[code.parent].name if code.parent else ""
    return AnswerChoice(code.id, code.name, code.key, code.definition, group)


def read_word_and_text(answer: Any, name: str) -> tuple[str, str]:
    """Reads `word: text`, or a mapping with both parts."""
    if isinstance(answer, Mapping):
        word, more = str(answer.get("answer", "")), str(answer.get(name, ""))
    else:
        word, _, more = str(answer).partition(":")
    return word.strip().lower(), more.strip()


def combine_word_and_text(answers: Sequence[Mapping[str, str]], name: str) -> dict[str, str]:
    """Returns the common word with all explanations joined."""
    explanations = dict.fromkeys(answer[name] for answer in answers if answer.get(name))
    return {"answer": answers[0]["answer"]} | ({name: "; ".join(explanations)} if explanations else {})


def write_answer(answer: Any) -> str:
    """Returns an answer of any kind as one cell of a table, without knowing its facet."""
    if isinstance(answer, Mapping):
        if "verb" in answer:
            return f"{answer['verb']}, {answer['object']}"
        if "answer" not in answer:
            return ": ".join(str(part) for part in answer.values())
        more = answer.get("reason") or answer.get("instead")
        return f"{answer['answer']}: {more}" if more else str(answer["answer"])
    if isinstance(answer, list | tuple) and all(isinstance(part, Mapping) for part in answer):
        return json.dumps(list(answer), ensure_ascii=False, sort_keys=True)  # a list of passages, possibly empty
    if isinstance(answer, list | tuple | frozenset):
        return "; ".join(sorted(answer))
    return "" if answer is None else str(answer)
