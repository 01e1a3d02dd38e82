"""Settings of tag families, question kinds, the funnel and samples."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from quaestor.base.toml import Name, Seed, Settings

Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Tag = Annotated[str, StringConstraints(pattern=r"^[^\s<>|]+$")]
StrandName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=40)]
"""A strand's name is the beginning of its item ids and the name of a folder."""


_NOT_RE2 = re.compile(r"\(\?(?:[=!]|<[=!])|\\[1-9]|\(\?P=|\(\?>|[*+?}]\+")


class KindSettings(Settings):
    """A question kind: it matches if any of its patterns is found and none of `unless_title`."""

    description: str = ""
    title: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    unless_title: tuple[str, ...] = ()

    @field_validator("title", "body", "unless_title")
    @classmethod
    def _are_patterns(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression ({error})") from None
            if _NOT_RE2.search(pattern):
                raise ValueError(f"{pattern!r} uses lookaround or backreferences, which RE2 lacks: rewrite it")
        return patterns

    @model_validator(mode="after")
    def _check_patterns(self) -> Self:
        if not (self.title or self.body):
            raise ValueError("a kind needs at least one pattern in title or body")
        return self


@cache
def bundled_kinds() -> MappingProxyType[str, KindSettings]:
    """Returns the ten kinds of Treude, Barzilay and Storey, as patterns."""
    text = resources.files("quaestor.study.settings").joinpath("kinds.toml").read_text("utf-8")
    return MappingProxyType({name: KindSettings(**kind) for name, kind in tomllib.loads(text).items()})


class StepSettings(Settings):
    """One step of the funnel; an item passes if every condition of the step holds."""

    step: Name
    tags: tuple[Tag, ...] = ()
    without_tags: tuple[Tag, ...] = ()
    kind: Name | None = None
    not_kind: Name | None = None
    accepted_answer: bool | None = None
    accepted_answer_with_code: bool | None = None
    closed: bool | None = None
    created_from: date | None = None
    created_before: date | None = None
    score_at_least: Whole | None = None
    score_at_most: Whole | None = None
    views_at_least: Whole | None = None
    views_at_most: Whole | None = None
    title_at_least: Annotated[int, Field(ge=1)] | None = None
    body_at_least: Annotated[int, Field(ge=1)] | None = None
    where: str | None = None
    round: Name | None = None

    @model_validator(mode="after")
    def _check_condition(self) -> Self:
        if not self.model_fields_set - {"step"}:
            raise ValueError(f"the step {self.step!r} has no condition: add one, for example closed = false")
        if self.round and self.model_fields_set - {"step", "round"}:
            raise ValueError(f"the step {self.step!r} is decided by a round, so it takes no other condition")
        return self


class FunnelSettings(Settings):
    """The ordered steps from all items to the candidates; `title` names the strand on pages and tables."""

    title: str = ""
    source: str | tuple[str, ...] | None = None
    """A source or several of one kind; a list of one is stored as its name."""
    examples: Annotated[int, Field(ge=0, le=100)] = 5
    steps: tuple[StepSettings, ...] = ()

    @field_validator("source", mode="before")
    @classmethod
    def _check_source(cls, value: object) -> object:
        if value is None or isinstance(value, str):
            return value
        names = value if isinstance(value, list | tuple) else ()
        if not names or not all(isinstance(name, str) for name in names):
            raise ValueError('write the name of a source in quotes, or several as a list: ["a", "b"]')
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{name!r} is listed twice: list each source once")
        return names if len(names) > 1 else names[0]

    @property
    def sources(self) -> tuple[str, ...]:
        """The names in `source`; none if it is missing."""
        return (self.source,) if isinstance(self.source, str) else self.source or ()

    @field_validator("steps")
    @classmethod
    def _have_names_of_their_own(cls, steps: tuple[StepSettings, ...]) -> tuple[StepSettings, ...]:
        names = [step.step for step in steps]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two steps are called {name!r}: give each a different name")
        return steps


class SampleSettings(Settings):
    """A seeded sample of the items that a step of a funnel kept and that no round in `without` has."""

    strand: Name | None = None
    after: Name | None = None
    size: Annotated[int, Field(ge=1)] | None = None
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    margin: Annotated[float, Field(gt=0, lt=1)] = 0.05
    by: Literal["year", "family"] | None = None
    without: tuple[Name, ...] = ()
    seed: Seed | None = None
