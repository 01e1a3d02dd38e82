"""What a study file says about what is published: tables, findings, quantities."""

from __future__ import annotations

from string import Formatter
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from quaestor.base.toml import Name, Settings

TableKind = Literal[
    "counts", "codes", "medians", "summaries", "correlations", "measures", "comparison", "association", "trends",
    "filter",
]  # fmt: skip
Where = dict[Name, tuple[Name, ...]]


class PublishedTableSettings(Settings):
    """One table of the report."""

    table: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]{0,19}$")]
    kind: TableKind = "counts"
    title: str
    rows: Annotated[tuple[Name, ...], Field(max_length=2)] = ()
    """One attribute, or two: groups and the rows in them."""
    columns: Name | None = None
    where: Where = Field(default_factory=dict)
    measures: tuple[Name, ...] = ()
    against: tuple[tuple[Name, Name], ...] = ()
    """Of correlations: pairs of columns; `total` stands for all columns together."""
    over: Name | None = None
    """Of correlations: the level whose counts are correlated."""
    order: Literal["codebook", "count"] = "codebook"
    shares: bool = True
    total: bool = True
    stub: str = ""
    note: str = ""
    unplaced: bool = False
    """Whether a row tells how many items no row could take."""

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        needs: dict[str, tuple[str, ...]] = {
            "counts": ("rows",),
            "codes": ("rows",),
            "medians": ("rows", "measures"),
            "summaries": ("rows", "measures"),
            "correlations": ("rows", "columns", "over", "against"),
            "measures": ("measures",),
            "comparison": ("rows", "measures"),
            "association": ("rows", "columns"),
            "trends": ("rows",),
            "filter": ("measures",),
        }
        for key in needs[self.kind]:
            if not getattr(self, key):
                raise ValueError(f"a table of kind {self.kind!r} needs {key}: add it")
        return self


class ValueSettings(Settings):
    """One computed value, what it has to be for its sentence to hold, and what was printed."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")] = "value"
    claim: str = ""
    """As it stands in the printed figures, to be compared."""
    kind: Literal[
        "share", "count", "distinct", "rank", "median", "correlation",
        "agreement", "disagreements", "round_items", "sets", "set_size", "excluded", "kept", "step",
        "questions", "answers",
    ]  # fmt: skip
    where: Where = Field(default_factory=dict)
    among: Where = Field(default_factory=dict)
    of: Name | None = None
    """The attribute that is counted or ranked, or the measure."""
    measure: Name | None = None
    against: Name | None = None
    top: Annotated[int, Field(ge=1)] = 3
    lowest: bool = False
    round: Name | None = None
    facet: Name | None = None
    step: Name | None = None
    # What it has to be
    equals: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    more_than: float | None = None
    less_than: float | None = None
    are: tuple[Name, ...] = ()
    in_order: bool = False
    significant: bool = False

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        needs: dict[str, tuple[str, ...]] = {
            "distinct": ("of",),
            "rank": ("of",),
            "median": ("measure",),
            "correlation": ("measure", "against"),
            "share": ("where",),
            "step": ("step",),
        }
        rounds = ("agreement", "disagreements", "round_items", "sets", "set_size", "excluded", "kept")
        for key in ("round",) if self.kind in rounds else needs.get(self.kind, ()):
            if not getattr(self, key):
                raise ValueError(f"a value of kind {self.kind!r} needs {key}: add it")
        self._can_be_judged()
        return self

    def _can_be_judged(self) -> None:
        """What a value has to be must be something that such a value can be."""
        bounds = [key for key in ("equals", "at_least", "at_most", "more_than", "less_than")
                  if getattr(self, key) is not None]  # fmt: skip
        if self.kind == "rank" and bounds:
            raise ValueError(f"a rank is a list of names, so {bounds[0]} says nothing: use are")
        if self.kind != "rank" and (self.are or self.in_order):
            raise ValueError(
                f'are and in_order are for kind "rank", and this is {self.kind!r}: use at_least or another bound'
            )
        if self.significant and self.kind != "correlation":
            raise ValueError(f'significant is for kind "correlation", and this is {self.kind!r}: leave it out')


class FindingSettings(Settings):
    """A sentence with the values that have to support it; `{name}` in it stands for a value."""

    finding: Name
    sentence: str
    values: Annotated[tuple[ValueSettings, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        names = [value.name for value in self.values]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two values are called {name!r}: give each a name of its own")
        try:
            used = [field for _, field, _, _ in Formatter().parse(self.sentence) if field is not None]
        except ValueError as error:
            raise ValueError(f"the sentence has a brace too many or too few ({error})") from None
        specs = [spec or change for _, field, spec, change in Formatter().parse(self.sentence) if field is not None]
        if any(specs):
            raise ValueError(f"the sentence formats a value ({specs[0]!r}): write its name alone, as in {{{used[0]}}}")
        for field in used:
            if field not in names:
                raise ValueError(f"the sentence speaks of {{{field}}}, and no value has that name: {', '.join(names)}")
        return self


class ReportSettings(Settings):
    """The report as a whole."""

    address: str = ""
    """Where the report will stand on the web; LaTeX, Markdown and XLSX link there."""
    heat_map: tuple[Name, Name] | None = None
    """The attributes of the heat map: rows and columns."""
    by_year: Name | None = None
    """The attribute whose values are drawn by year."""
    threats: tuple[str, ...] = ()
    """Threats to validity that no number tells, in the lead's words."""


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
