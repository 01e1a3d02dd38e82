"""Records of questionnaires and responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.wording.catalogue import Wording, load_wording

Answer = Mapping[str, Any]
"""The answer to one question as JSON; see `question_kinds.base` for the keys of each kind."""
NOTHING: Mapping[str, str] = MappingProxyType({})
AGREE, DECLINE, YES, NO = "agree", "decline", "yes", "no"
SHARED_BY = 5
"""Minimum size of a group by stratum or link value, and for showing a rate: smaller groups could identify people."""


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
    """One option of a question, or one step of a scale."""

    code: str
    label: str
    description: str = ""
    """Shown with the label, for example what a level of expertise means."""
    text: bool = False
    """An "other" option with a text field."""
    alone: bool = False
    """Cannot be combined with other options, as "none of these"."""
    ends: bool = False
    """Ends the survey for a respondent who chooses it."""


@dataclass(frozen=True)
class MatrixRow:
    """One row of a matrix."""

    code: str
    label: str
    text: bool = False
    """An "other, please specify" row with a text field."""


@dataclass(frozen=True)
class Question:
    """One question; fields that its kind does not use are empty."""

    id: str
    kind: str
    """A name in `question_kinds.QUESTION_KINDS`."""
    text: str
    hint: str = ""
    required: bool = False
    options: tuple[Option, ...] = ()
    """The options to choose or rank; for a matrix, the steps of its scale."""
    rows: tuple[MatrixRow, ...] = ()
    centre: str = ""
    """The middle step of a scale, if it has one."""
    shuffle: bool = False
    """Each respondent sees the options (of a matrix: the rows) in a random order; "other" stays last."""
    show_if: Condition | None = None
    answers: tuple[str, ...] = ()
    """The research questions that it addresses."""
    attention: str = ""
    """The correct option of an attention check."""
    low: float | None = None
    high: float | None = None
    whole: bool = False
    unit: str = ""
    convert: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """By an earlier unit: the factor that converts a number in it to `unit`."""

    min_choices: int = 0
    max_choices: int = 0
    """How many options of a multiple choice must and may be chosen; 0 for any number."""
    pattern: str = ""
    """A regular expression that the whole text must match."""
    pattern_message: str = ""
    pattern_example: str = ""
    """A text that matches; previews and simulated respondents answer with it."""
    max_length: int = 100
    """The maximum characters of a value in the link."""
    step: float = 1.0
    low_label: str = ""
    high_label: str = ""
    """What the ends of a slider mean."""
    earliest: str = ""
    latest: str = ""
    """The first and the last day that a date can be, as YYYY-MM-DD."""

    def option(self, code: str) -> Option | None:
        return next((option for option in self.options if option.code == code), None)


@dataclass(frozen=True)
class EarlierLabel:
    """How a question, an option or a row read in older versions."""

    label: str
    earlier: str
    versions: tuple[int, ...]
    part: str = ""
    """`option`, `row`, or empty for the text of the question."""
    code: str = ""


@dataclass(frozen=True)
class Page:
    """Questions that are submitted together."""

    id: str
    title: str = ""
    text: str = ""
    questions: tuple[Question, ...] = ()
    show_if: Condition | None = None
    shuffle: bool = False
    """Consecutive pages with this mark are shown to each respondent in a random order."""


@dataclass(frozen=True)
class Quota:
    """The maximum number of finished responses that meet a condition."""

    condition: Condition
    most: int


@dataclass(frozen=True)
class Pay:
    """The payment for a finished response."""

    amount: float
    currency: str
    words: str
    """Shown at the end, above the payment link."""
    budget: float | None = None
    asks: str = ""
    """The label of the address field; by default an e-mail address."""
    batch: int = 5
    """The minimum number of claims released to the payer together."""

    @property
    def affordable(self) -> int | None:
        """Returns how many can be paid in total; None without a budget."""
        return None if self.budget is None else int(round(self.budget / self.amount, 6))


@dataclass(frozen=True)
class Questionnaire:
    """A questionnaire in one language."""

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
    """Contact address for respondents."""
    pay: Pay | None = None
    strata: tuple[str, ...] = ()
    anonymous: bool = True
    """Whether invitations cannot be connected to answers."""
    by_invitation: bool = False
    """Whether only people with an invitation can answer."""
    least_seconds: float = 0.0
    """Faster responses are flagged."""
    most: int | None = None
    """Number of finished responses after which it closes automatically."""
    quotas: tuple[Quota, ...] = ()
    closes: str = ""
    """The last day for answers, as YYYY-MM-DD."""
    words: Wording = field(default_factory=load_wording)
    """The texts of the respondents' pages in its language."""
    own_words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Page texts that the study replaces, by language and key."""

    def questions(self) -> Iterator[Question]:
        for page in self.pages:
            yield from page.questions

    def question(self, name: str) -> Question | None:
        return next((question for question in self.questions() if question.id == name), None)

    def page_of(self, name: str) -> Page | None:
        return next((page for page in self.pages if any(question.id == name for question in page.questions)), None)


@dataclass(frozen=True)
class Response:
    """One response so far, without any identity."""

    id: str
    survey: str
    version: int
    standing: ResponseStatus
    answers: Mapping[str, Answer]
    """By question, the latest answer."""
    language: str = "en"
    seed: int = 0
    """Determines the order of shuffled options and pages."""
    stratum: str = ""
    seconds: float = 0.0
    """Time spent on all pages."""
    sent: tuple[str, ...] = ()
    """Submitted pages, each once."""
    day: str = ""
    """The day it was started; the hour is not stored."""
    source: str = "web"
    """`web`, or the file it was imported from."""
    synthetic: bool = False


@dataclass(frozen=True)
class CellRemark:
    """A problem or peculiarity of a cell in a file of answers."""

    row: int
    column: str
    question: str
    said: str
    why: str
