"""What a questionnaire is, and what somebody answered: the door of this room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.wording.catalogue import wording
from quaestor.surveys.model.wording.records import Wording

Answer = Mapping[str, Any]
"""What was said to one question, as JSON: `choices` and `texts` by option, `rows` and `texts` by row, `number`, `text`,
`ranks`. Which of them a kind of question uses, `answers.py` says."""
NOTHING: Mapping[str, str] = MappingProxyType({})
AGREE, DECLINE, YES, NO = "agree", "decline", "yes", "no"


class Kind(StrEnum):
    """The kinds of question there are."""

    SINGLE = "single"
    MULTIPLE = "multiple"
    YES_NO = "yes-no"
    NUMBER = "number"
    MATRIX = "matrix"
    TEXT = "text"
    LONG_TEXT = "long-text"
    RANKING = "ranking"
    CONSENT = "consent"


CHOSEN = (Kind.SINGLE, Kind.MULTIPLE, Kind.YES_NO, Kind.CONSENT)
"""Kinds whose answer is one or several of the options."""


class Missing(StrEnum):
    """Why there is no answer."""

    NOT_SHOWN = "not shown"
    SKIPPED = "skipped"
    NOT_REACHED = "not reached"
    WITHDRAWN = "withdrawn"


class Standing(StrEnum):
    """How far a response has come."""

    OPEN = "open"
    FINISHED = "finished"
    SCREENED_OUT = "screened out"
    DECLINED = "declined"


@dataclass(frozen=True)
class Option:
    """One answer that can be chosen: of a question, or one step of a scale."""

    code: str
    label: str
    description: str = ""
    """Stands with the label, as what a step of expertise means."""
    text: bool = False
    """An "other" that asks for words of one's own."""
    alone: bool = False
    """Goes with no other option, as "none of these"."""
    ends: bool = False
    """Who chooses it is thanked and asked no more."""


@dataclass(frozen=True)
class Row:
    """One line of a matrix."""

    code: str
    label: str
    text: bool = False
    """An "other, please specify": asks for words of one's own."""


@dataclass(frozen=True)
class Question:
    """One question; what does not belong to its kind is empty."""

    id: str
    kind: Kind
    text: str
    hint: str = ""
    required: bool = False
    options: tuple[Option, ...] = ()
    """What can be chosen or ranked; of a matrix, the steps of its scale."""
    rows: tuple[Row, ...] = ()
    centre: str = ""
    """The step in the middle of a scale, where it has one."""
    shuffle: bool = False
    """Each respondent meets the options (of a matrix: the rows) in an order of their own; "other" stays last."""
    show_if: Condition | None = None
    answers: tuple[str, ...] = ()
    """The research questions that this one helps to answer."""
    attention: str = ""
    """The option that somebody who reads would choose."""
    low: float | None = None
    high: float | None = None
    whole: bool = False
    unit: str = ""

    def option(self, code: str) -> Option | None:
        return next((one for one in self.options if one.code == code), None)


@dataclass(frozen=True)
class Page:
    """Questions that are sent together."""

    id: str
    title: str = ""
    text: str = ""
    questions: tuple[Question, ...] = ()
    show_if: Condition | None = None


@dataclass(frozen=True)
class Quota:
    """How many finished responses with an answer are wanted."""

    condition: Condition
    most: int


@dataclass(frozen=True)
class Pay:
    """What somebody who finishes gets."""

    amount: float
    currency: str
    words: str
    """Said at the end, above the link to the payment part."""
    budget: float | None = None
    asks: str = ""
    """What is asked for so that it can be sent; an e-mail address where the study says nothing."""
    batch: int = 5
    """So many claims at least are handed to the payer together."""

    @property
    def affordable(self) -> int | None:
        """How many can be paid in all; None where there is no budget."""
        return None if self.budget is None else int(round(self.budget / self.amount, 6))


@dataclass(frozen=True)
class Questionnaire:
    """An instrument in one language."""

    id: str
    title: str
    pages: tuple[Page, ...]
    language: str = "en"
    languages: tuple[str, ...] = ("en",)
    about: str = ""
    """Stands on the first page, before anything is asked."""
    minutes: int | None = None
    research: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    """Research questions by their id."""
    thanks: str = ""
    screened: str = ""
    """Said to whoever is not asked on, kindly."""
    closed: str = ""
    contact: str = ""
    """Whom a respondent can ask, as the study says."""
    pay: Pay | None = None
    strata: tuple[str, ...] = ()
    anonymous: bool = True
    """Nobody can tell from an invitation what was answered."""
    by_invitation: bool = False
    """Only who holds an invitation can answer."""
    least_seconds: float = 0.0
    """Who is faster than this is shown to the lead."""
    most: int | None = None
    """Finished responses after which it closes by itself."""
    quotas: tuple[Quota, ...] = ()
    closes: str = ""
    """The last day on which it can be answered, as YYYY-MM-DD."""
    words: Wording = field(default_factory=wording)
    """What its pages say by themselves, in its language."""
    own_words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What of it the study words itself, by language and key, as it was written."""

    def questions(self) -> Iterator[Question]:
        for page in self.pages:
            yield from page.questions

    def question(self, name: str) -> Question | None:
        return next((one for one in self.questions() if one.id == name), None)

    def page_of(self, name: str) -> Page | None:
        return next((page for page in self.pages if any(one.id == name for one in page.questions)), None)


@dataclass(frozen=True)
class Response:
    """What one respondent has answered so far; who it was, it does not say."""

    id: str
    survey: str
    version: int
    standing: Standing
    answers: Mapping[str, Answer]
    """By question; the last one counts."""
    language: str = "en"
    seed: int = 0
    """What the orders of shuffled options follow from."""
    stratum: str = ""
    seconds: float = 0.0
    """Spent on all pages together."""
    sent: tuple[str, ...] = ()
    """The pages that were sent, each once."""
    day: str = ""
    """On which it was begun; the hour is not kept."""
    source: str = "web"
    """`web`, or the file it was imported from."""
    synthetic: bool = False


@dataclass(frozen=True)
class Place:
    """A cell of a file of answers, and what is to be said about it."""

    row: int
    column: str
    question: str
    said: str
    why: str
