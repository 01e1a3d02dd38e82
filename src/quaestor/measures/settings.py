"""What a study file says about how decided items are told apart and measured."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from quaestor.base.settings import Name, Settings


class AttributeSettings(Settings):
    """One attribute of items: the first tag family a post carries, or a column of a table source."""

    first_of: tuple[Name, ...] = ()
    column: Name | None = None

    @model_validator(mode="after")
    def _says_where_from(self) -> Self:
        if bool(self.first_of) == (self.column is not None):
            raise ValueError("an attribute is either first_of tag families or a column: give one of the two")
        return self


class MeasureSettings(Settings):
    """How measures are taken."""

    days_decimals: Annotated[int, Field(ge=0, le=9)] | None = None
    """Days are rounded to so many decimals before anything is computed from them."""
    correlation: Literal["pearson", "spearman"] = "pearson"
    """Which of the two is printed; both are always computed."""


class ResultSettings(Settings):
    """Where the final codes of items come from: `round.facet`, or the name of published decisions with a facet."""

    tree: Name = "issue"
    """The codebook's facet whose levels are counted."""
    code: Name | None = None
    phrase: Name | None = None
    confirm: Name | None = None
    source: Name | None = None
    """The source that knows the items; default: the funnel's."""
    taxonomy: Name | None = None
    """A codebook file to whose codes the decided ones are carried over by name."""

    @model_validator(mode="after")
    def _name_facets(self) -> Self:
        for key in ("code", "phrase", "confirm"):
            value = getattr(self, key)
            if value is not None and value.count(".") != 1:
                raise ValueError(f"{key} is {value!r}: write round.facet, for example phases.phase")
        return self
