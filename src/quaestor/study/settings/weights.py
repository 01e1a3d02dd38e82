"""Settings of survey weights: the shares of groups in the population."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from quaestor.base.toml import Name, Settings

_MAX_QUESTIONS = 4
_ROUNDING = 0.005
"""Published shares are rounded, so their sum may differ by this share of what it should be."""


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class MarginSettings(Settings):
    """The shares of the answers to one question, or of the combined answers to several, in the population."""

    by: Annotated[tuple[Name, ...], BeforeValidator(_as_list), Field(min_length=1, max_length=_MAX_QUESTIONS)]
    targets: dict[Name, Any]
    """By option: its share or number; with several questions, a table for the options of the next one."""
    unknown: tuple[Name, ...] = ()
    """Options without a share in the population; they count as no answer."""
    source: str = ""
    """Where the shares come from."""

    @model_validator(mode="after")
    def _check_targets(self) -> Self:
        cells = self.cells()
        total = math.fsum(cells.values())
        are_counts = all(float(target).is_integer() for target in cells.values())
        if not are_counts and not any(math.isclose(total, whole, rel_tol=_ROUNDING) for whole in (1, 100)):
            raise ValueError(
                f"the targets of {' and '.join(self.by)} sum to {total:.6g}: write shares that sum to 1, "
                "percentages that sum to 100, or whole numbers of people"
            )
        return self

    def cells(self) -> dict[tuple[str, ...], float]:
        """Returns the target of each combination of options."""
        cells = dict(_list_cells(self.targets, (), len(self.by)))
        if len(cells) < 2:
            raise ValueError(f"the targets of {' and '.join(self.by)} need at least two options")
        return cells


class WeightSettings(Settings):
    """How the responses to a survey are weighted."""

    method: Literal["post-stratification", "raking"]
    margins: Annotated[tuple[MarginSettings, ...], Field(min_length=1)]
    min_weight: Annotated[float, Field(gt=0, le=1)] | None = None
    max_weight: Annotated[float, Field(ge=1, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _check_margins(self) -> Self:
        if self.method == "post-stratification" and len(self.margins) > 1:
            raise ValueError(
                "post-stratification takes one entry in margins: combine the questions in one, with the share of each "
                'combination of answers, or set method = "raking"'
            )
        names = [margin.by for margin in self.margins]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two margins are by {' and '.join(name)}: remove one")
        return self


def _list_cells(
    targets: Mapping[str, Any], before: tuple[str, ...], depth: int
) -> Iterator[tuple[tuple[str, ...], float]]:
    for option, target in targets.items():
        cell = (*before, option)
        where = f"targets.{'.'.join(cell)}"
        if depth > 1:
            if not isinstance(target, dict):
                raise ValueError(f"{where} is {target!r}: write a table with the options of the next question")
            yield from _list_cells(target, cell, depth - 1)
        elif isinstance(target, dict):
            raise ValueError(f"{where} is a table, but by names {len(cell)} question(s): write a number")
        elif isinstance(target, bool) or not isinstance(target, int | float) or not 0 < target < math.inf:
            raise ValueError(f"{where} is {target!r}: write a number above 0, or leave out an option that nobody has")
        else:
            yield cell, float(target)
