"""A questionnaire as its author writes it; texts may be given once, or once for each language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from quaestor.base.settings import Settings

Words = str | dict[str, str]
Id = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=r"^[a-z0-9][a-z0-9_-]*$")]
Number = Annotated[float, Field(allow_inf_nan=False)]
Day = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]


def _labelled(given: Any) -> Any:
    """A plain text, or one in several languages, as what it is the label of; a table with a label is more than one."""
    several = isinstance(given, dict) and "label" not in given and "code" not in given
    return {"label": given} if several or isinstance(given, str) else given


class OptionSettings(Settings):
    """An option with more than a label; a plain text is a label whose code is made from it."""

    code: Id | None = None
    label: Words
    description: Words = ""
    text: bool = False
    alone: bool = False
    ends: bool = False


class RowSettings(Settings):
    """A line of a matrix with more than a label."""

    code: Id | None = None
    label: Words
    text: bool = False


class QuestionSettings(Settings):
    """One question."""

    id: Id
    kind: Literal["single", "multiple", "yes-no", "number", "matrix", "text", "long-text", "ranking", "consent"]
    text: Words
    hint: Words = ""
    required: bool = False
    options: tuple[Annotated[OptionSettings, BeforeValidator(_labelled)], ...] = ()
    rows: tuple[Annotated[RowSettings, BeforeValidator(_labelled)], ...] = ()
    centre: str = ""
    shuffle: bool = False
    show_if: str = ""
    answers: tuple[str, ...] = ()
    attention: str = ""
    low: Number | None = None
    high: Number | None = None
    whole: bool = False
    unit: Words = ""


class PageSettings(Settings):
    """A page of questions."""

    page: Id
    title: Words = ""
    text: Words = ""
    show_if: str = ""
    questions: tuple[QuestionSettings, ...] = ()


class QuotaSettings(Settings):
    """How many finished responses of a kind are wanted."""

    of: str
    most: Annotated[int, Field(ge=1)]


class PaySettings(Settings):
    """What somebody who finishes gets."""

    amount: Annotated[Number, Field(gt=0)]
    currency: str = "USD"
    words: Words = ""
    budget: Annotated[Number, Field(gt=0)] | None = None
    asks: Words = ""
    batch: Annotated[int, Field(ge=2)] = 5


class SurveySettings(Settings):
    """What holds for the whole questionnaire."""

    title: Words
    languages: Annotated[tuple[Id, ...], Field(min_length=1)] = ("en",)
    about: Words = ""
    minutes: Annotated[int, Field(ge=1)] | None = None
    thanks: Words = ""
    screened: Words = ""
    closed: Words = ""
    contact: str = ""
    strata: tuple[str, ...] = ()
    anonymous: bool = True
    by_invitation: bool = False
    least_seconds: Annotated[Number, Field(ge=0)] = 0.0
    most: Annotated[int, Field(ge=1)] | None = None
    closes: Day | Literal[""] = ""
    quotas: tuple[QuotaSettings, ...] = ()


class QuestionnaireSettings(Settings):
    """The file."""

    survey: SurveySettings
    research: Mapping[str, Words] = Field(default_factory=dict)
    words: Mapping[Id, Mapping[str, str]] = Field(default_factory=dict)
    pay: PaySettings | None = None
    pages: Annotated[tuple[PageSettings, ...], Field(min_length=1)]
