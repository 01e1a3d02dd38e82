"""Settings of facets and rounds."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from importlib import import_module
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator
from pydantic_core import PydanticKnownError

from quaestor.base.names import NOT_IN_URL, fits_url, suggest
from quaestor.base.toml import Name, Seed, Settings
from quaestor.measures.agreement.statistics import list_reportable


def _facet_kinds() -> Mapping[str, Any]:
    """Returns the kinds of facets by name; loaded lazily, because `study` imports no feature."""
    kinds: Mapping[str, Any] = import_module("quaestor.coding.model.facet_kinds").FACET_KINDS
    return kinds


def _require_known(name: str, known: Collection[str]) -> str:
    """Rejects an unknown name like a literal type would, so that the message lists what is allowed."""
    if name not in known:
        raise PydanticKnownError("literal_error", {"expected": ", ".join(map(repr, known))})
    return name


def _as_list(answers: Any) -> Any:
    return [answers] if isinstance(answers, str) else answers


Answers = Annotated[tuple[Name, ...], BeforeValidator(_as_list), Field(min_length=1)]
"""One answer, or a list of answers."""


class FacetSettings(Settings):
    """A question about each item."""

    kind: str
    question: str = ""
    codes: Name | None = None
    level: Name | None = None
    options: tuple[Name, ...] = ()
    reasons: tuple[Name, ...] = ()
    scale: Literal["nominal", "ordinal", "interval"] = "nominal"
    required: bool = True
    fields: dict[Name, tuple[Name, ...]] = Field(default_factory=dict)
    ask_if: dict[Name, Answers] = Field(default_factory=dict)
    """By earlier facet of the round: the answers under which this question is asked; without it, it always is."""

    @field_validator("kind")
    @classmethod
    def _is_known(cls, kind: str) -> str:
        return _require_known(kind, _facet_kinds())

    @model_validator(mode="after")
    def _check_answers(self) -> Self:
        kind = _facet_kinds()[self.kind]
        kind.check_settings(self)
        if self.fields and "fields" not in kind.takes:
            raise ValueError(f"a {self.kind} facet takes no fields: they are for facets of kind stretches")
        if "codes" not in kind.takes and (self.codes or self.options or self.level):
            raise ValueError(f"a {self.kind} facet takes no codes, level or options: remove them")
        if self.level and not self.codes:
            raise ValueError("level needs codes: name the facet of the codebook")
        if self.scale != "nominal" and "scale" not in kind.takes:
            raise ValueError(f"a {self.kind} facet has no {self.scale} scale: remove scale")
        if self.scale == "interval" and not all(_is_number(option) for option in self.options or ("none",)):
            raise ValueError("an interval scale needs options that are numbers")
        if self.reasons and "reasons" not in kind.takes:
            raise ValueError(f"a {self.kind} facet takes no reasons: they are for facets of kind keep")
        return self


def check_conditions(facets: Mapping[str, FacetSettings]) -> None:
    """Raises ValueError if a condition names an unknown facet, or an answer that its facet cannot have."""
    for name, facet in facets.items():
        for other, answers in facet.ask_if.items():
            key = f"facets.{name}.ask_if"
            others = [known for known in facets if known != name]
            if other not in others:
                raise ValueError(f"{key} names {other!r}; choose from: {suggest(other, others) or 'none is defined'}")
            possible = _facet_kinds()[facets[other].kind].list_condition_answers(facets[other])
            if possible == ():
                raise ValueError(
                    f"{key} names {other!r}, a facet of kind {facets[other].kind}: "
                    "a condition needs one of kind single, multiple, keep or confirm"
                )
            for answer in answers:
                if possible is not None and answer not in possible:  # codes are checked when a round opens
                    raise ValueError(f"{key}.{other} is {answer!r}; choose from: {suggest(answer, possible)}")


def check_round_conditions(key: str, facets: Sequence[str], settings: Mapping[str, FacetSettings]) -> None:
    """Raises ValueError if a round asks a facet before one that its condition names, or without it."""
    for number, name in enumerate(facets):
        for other in settings[name].ask_if:
            if other not in facets[:number]:
                raise ValueError(
                    f"{key}.facets: {name!r} is asked only if {other!r} has a certain answer: "
                    f"list {other!r} before {name!r}"
                )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


class ItemConditions(Settings):
    """Conditions on the items of a round; an item must meet all of them."""

    code: Name | None = None
    """The decided answer: a code with all codes below it, as CODE or FACET:CODE, or the text of an answer."""
    disagreement: Literal["any", "open", "settled"] | None = None
    round: Name | None = None
    """The round, or the published decisions, that `code` and `disagreement` are about; default: all."""
    year: Annotated[int, Field(ge=1, le=9999)] | None = None
    tag: Name | None = None
    family: Name | None = None
    attributes: dict[Name, Name] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_conditions(self) -> Self:
        if not self.describe():
            raise ValueError("where needs a condition, for example code, disagreement, year or family")
        return self

    def describe(self) -> str:
        """Returns the conditions as text."""
        values = self.model_dump(exclude={"attributes"}, exclude_none=True) | self.attributes
        return ", ".join(f"{name} = {value}" for name, value in values.items())


class RoundItems(Settings):
    """The items of a round: those of one source that meet `where` and are in no round of `without`.

    `strand` means everything that the strand's funnel keeps; `size` draws some of the items.
    """

    strand: Name | None = None
    after: Name | None = None
    sample: Name | None = None
    kept_by: Name | None = None
    again: Name | None = None
    where: ItemConditions | None = None
    size: Annotated[int, Field(ge=1)] | None = None
    without: tuple[Name, ...] = ()
    set_size: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _check_origin(self) -> Self:
        if sum(bool(source) for source in (self.after, self.strand, self.sample, self.kept_by, self.again)) != 1:
            raise ValueError("items need exactly one of after, strand, sample, kept_by or again")
        if self.size is not None and self.sample is not None:
            raise ValueError("size does not go with sample: set the size of the sample, or draw from a step with after")
        return self


class PracticeSettings(Settings):
    """A practice item, rated before the round counts."""

    item: Name
    answers: dict[Name, Any]
    feedback: str = ""


class RoundSettings(Settings):
    """A round: items × raters × facets under one frozen version of the codebook."""

    round: Name
    kind: Literal["pilot", "main", "drift"] = "main"
    items: RoundItems
    facets: Annotated[tuple[Name, ...], Field(min_length=1)]
    raters: Annotated[tuple[Name, ...], Field(min_length=1)]
    overlap: Annotated[float, Field(ge=0, le=1)] = 1.0
    blind: bool = True
    seed: Seed | None = None
    statistic: str = "kappa"
    measured: Name | None = None
    threshold: Annotated[float, Field(ge=-1, le=1)] | None = None
    after: Name | None = None
    tie_breaker: Name | None = None
    settle: Literal["agreement", "discussion", "tie-breaker", "two-step"] = "discussion"
    instructions: str = ""
    practice: tuple[PracticeSettings, ...] = ()
    deadline: datetime | None = None
    confirms: tuple[Name, ...] = ()

    @field_validator("statistic")
    @classmethod
    def _can_be_reported(cls, statistic: str) -> str:
        return _require_known(statistic, list_reportable())

    @field_validator("round")
    @classmethod
    def _has_pages(cls, name: str) -> str:
        if not fits_url(name):
            unfit = " ".join(NOT_IN_URL)
            raise ValueError(
                f"{name!r} cannot be the name of a round, because it is part of web addresses: "
                f"avoid {unfit} and the names 'new', '.' and '..'"
            )
        return name

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if len(set(self.raters)) < len(self.raters):
            raise ValueError("a rater is listed twice: remove one")
        if self.tie_breaker in self.raters:
            raise ValueError(
                f"{self.tie_breaker!r} rates in this round and cannot be its tie-breaker: name somebody else"
            )
        if self.settle in ("tie-breaker", "two-step") and self.tie_breaker is None:
            raise ValueError(f"settle = {self.settle!r} needs a tie_breaker: name one")
        if self.measured is not None and self.measured not in self.facets:
            raise ValueError(f"measured is {self.measured!r}; choose from: {', '.join(self.facets)}")
        return self
