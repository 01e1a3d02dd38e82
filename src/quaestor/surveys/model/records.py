"""What a questionnaire is, and what somebody answered."""

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
"""What was answered to one question, as JSON; `question_kinds.base` says which keys a kind of question uses."""
NOTHING: Mapping[str, str] = MappingProxyType({})
AGREE, DECLINE, YES, NO = "agree", "decline", "yes", "no"


class Missing(StrEnum):
    """Why there is no answer."""

    NOT_SHOWN = "not shown"
    SKIPPED = "skipped"
    NOT_REACHED = "not reached"
    WITHDRAWN = "withdrawn"


class ResponseStatus(StrEnum):
    """Whether a response is finished, and how it ended."""

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
    """Shown with the label, as what a step of expertise means."""
    text: bool = False
    """An "other" that asks for text of one's own."""
    alone: bool = False
    """Cannot be chosen with another option, as "none of these"."""
    ends: bool = False
    """Ends the survey for a respondent who chooses it."""


@dataclass(frozen=True)
class MatrixRow:
    """One line of a matrix."""

    code: str
    label: str
    text: bool = False
    """An "other, please specify": asks for text of one's own."""


@dataclass(frozen=True)
class Question:
    """One question; what does not belong to its kind is empty."""

    id: str
    kind: str
    """A name in `question_kinds.QUESTION_KINDS`."""
    text: str
    hint: str = ""
    required: bool = False
    options: tuple[Option, ...] = ()
    """What can be chosen or ranked; of a matrix, the steps of its scale."""
    rows: tuple[MatrixRow, ...] = ()
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
        return next((option for option in self.options if option.code == code), None)


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
    """The most finished responses that a condition holds for."""

    condition: Condition
    most: int


@dataclass(frozen=True)
class Pay:
    """What somebody who finishes gets."""

    amount: float
    currency: str
    words: str
    """Shown at the end, above the link to the payment part."""
    budget: float | None = None
    asks: str = ""
    """What is asked for so that it can be sent; an e-mail address where the study says nothing."""
    batch: int = 5
    """The fewest claims that are released to the payer together."""

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
    """Shown on the first page, before any question."""
    minutes: int | None = None
    research: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    """Research questions by their id."""
    thanks: str = ""
    screened: str = ""
    """Shown to respondents who are screened out."""
    closed: str = ""
    contact: str = ""
    """An address for questions of respondents."""
    pay: Pay | None = None
    strata: tuple[str, ...] = ()
    anonymous: bool = True
    """Nobody can tell from an invitation what was answered."""
    by_invitation: bool = False
    """Only people with an invitation can answer."""
    least_seconds: float = 0.0
    """Responses that took less are flagged."""
    most: int | None = None
    """Finished responses after which it closes by itself."""
    quotas: tuple[Quota, ...] = ()
    closes: str = ""
    """The last day on which it can be answered, as YYYY-MM-DD."""
    words: Wording = field(default_factory=wording)
    """The texts of its pages in its language."""
    own_words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Texts of pages that the study replaces, by language and key."""

    def questions(self) -> Iterator[Question]:
        for page in self.pages:
            yield from page.questions

    def question(self, name: str) -> Question | None:
        return next((question for question in self.questions() if question.id == name), None)

    def page_of(self, name: str) -> Page | None:
        return next((page for page in self.pages if any(question.id == name for question in page.questions)), None)


@dataclass(frozen=True)
class Response:
    """What one respondent has answered so far, without who it is."""

    id: str
    survey: str
    version: int
    standing: ResponseStatus
    answers: Mapping[str, Answer]
    """By question, the last one that was sent."""
    language: str = "en"
    seed: int = 0
    """Determines the order of shuffled options."""
    stratum: str = ""
    seconds: float = 0.0
    """Spent on all pages together."""
    sent: tuple[str, ...] = ()
    """Pages, each once."""
    day: str = ""
    """On which it was begun; the hour is not stored."""
    source: str = "web"
    """`web`, or the file it was imported from."""
    synthetic: bool = False


@dataclass(frozen=True)
class CellRemark:
    """What is wrong or odd about a cell of a file of answers."""

    row: int
    column: str
    question: str
    said: str
    why: str
