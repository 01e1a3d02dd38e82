"""Settings of tables, findings and quantities."""

from __future__ import annotations

from string import Formatter
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from quaestor.base.toml import Name, Settings

TableKind = Literal[
    "counts", "codes", "medians", "summaries", "correlations", "measures", "comparison", "association", "trends",
    "filter",
]  # fmt: skip
Conditions = dict[Name, tuple[Name, ...]]


class PublishedTableSettings(Settings):
    """One table of the report."""

    table: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]{0,19}$")]
    kind: TableKind = "counts"
    title: str
    rows: Annotated[tuple[Name, ...], Field(max_length=2)] = ()
    """One attribute, or two: groups and the rows in them."""
    columns: Name | None = None
    where: Conditions = Field(default_factory=dict)
    measures: tuple[Name, ...] = ()
    against: tuple[tuple[Name, Name], ...] = ()
    """For correlations: pairs of columns; `total` means all columns together."""
    over: Name | None = None
    """For correlations: the level whose counts are correlated."""
    order: Literal["codebook", "count"] = "codebook"
    shares: bool | Literal["row", "column"] = True
    """Whether counts have shares: of the table's base, or of their row or column."""
    total: bool = True
    stub: str = ""
    note: str = ""
    unplaced: bool = False
    """Whether a row counts the items that fit no row."""
    excluded: bool = False
    """Whether items that raters decided to exclude are counted too."""

    @model_validator(mode="after")
    def _check_required_keys(self) -> Self:
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
        if isinstance(self.shares, str) and not (self.kind == "counts" and self.columns):
            raise ValueError(f"shares = {self.shares!r} needs a table of counts with columns: add columns")
        return self


class ValueSettings(Settings):
    """One computed value, the condition for its sentence to hold, and the printed figure."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")] = "value"
    claim: str = ""
    """Its key in the printed figures, for comparison."""
    kind: Literal[
        "share", "count", "distinct", "rank", "median", "correlation",
        "agreement", "disagreements", "round_items", "sets", "set_size", "excluded", "kept", "step",
        "questions", "answers",
    ]  # fmt: skip
    where: Conditions = Field(default_factory=dict)
    among: Conditions = Field(default_factory=dict)
    of: Name | None = None
    """The attribute that is counted or ranked, or the measure."""
    measure: Name | None = None
    against: Name | None = None
    top: Annotated[int, Field(ge=1)] = 3
    lowest: bool = False
    round: Name | None = None
    facet: Name | None = None
    step: Name | None = None
    # The condition
    equals: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    more_than: float | None = None
    less_than: float | None = None
    are: tuple[Name, ...] = ()
    in_order: bool = False
    significant: bool = False

    @model_validator(mode="after")
    def _check_required_keys(self) -> Self:
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
        self._check_condition()
        return self

    def _check_condition(self) -> None:
        """Raises ValueError if the condition cannot apply to this kind of value."""
        bounds = [key for key in ("equals", "at_least", "at_most", "more_than", "less_than")
                  if getattr(self, key) is not None]  # fmt: skip
        if self.kind == "rank" and bounds:
            raise ValueError(f"a rank is a list of names, so {bounds[0]} does not apply: use are")
        if self.kind != "rank" and (self.are or self.in_order):
            raise ValueError(f'are and in_order need kind "rank", not {self.kind!r}: use at_least or another bound')
        if self.significant and self.kind != "correlation":
            raise ValueError(f'significant needs kind "correlation", not {self.kind!r}: remove it')


class FindingSettings(Settings):
    """A sentence and the values that must support it; `{name}` is replaced by a value."""

    finding: Name
    sentence: str
    values: Annotated[tuple[ValueSettings, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        names = [value.name for value in self.values]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two values are called {name!r}: give each a different name")
        try:
            used = [field for _, field, _, _ in Formatter().parse(self.sentence) if field is not None]
        except ValueError as error:
            raise ValueError(f"the sentence has unbalanced braces ({error})") from None
        specs = [spec or change for _, field, spec, change in Formatter().parse(self.sentence) if field is not None]
        if any(specs):
            raise ValueError(f"the sentence formats a value ({specs[0]!r}): write only its name, as in {{{used[0]}}}")
        for field in used:
            if field not in names:
                raise ValueError(f"the sentence contains {{{field}}}, not a value; choose from: {', '.join(names)}")
        return self


class ReportSettings(Settings):
    """The report as a whole."""

    address: str = ""
    """The public address of the report, for links from LaTeX, Markdown and XLSX."""
    heat_map: tuple[Name, Name] | None = None
    """The attributes of the heat map: rows and columns."""
    by_year: Name | None = None
    """The attribute whose values are drawn by year."""
    threats: tuple[str, ...] = ()
    """Additional threats to validity, written by the lead."""
    themes_by: tuple[Name, ...] = ()
    """The questions of surveys by whose answers the themes of open answers are crossed."""
    memos: bool | tuple[Name, ...] = False
    """Whether an appendix has the memos of raters: of all closed rounds, or of some."""


PARTICIPANT_ATTRIBUTES = ("role", "years", "field")
"""What every participant of interviews can have; study.toml declares further attributes."""


class InterviewSettings(Settings):
    """Attributes of interview participants, and the comparisons that are published."""

    attributes: dict[Name, tuple[Name, ...]] = Field(default_factory=dict)
    """By attribute the values that it can have, in their order; none means any text."""
    themes_by: tuple[Name, ...] = ()
    """The attributes by which the report compares themes."""
    smallest_group: Annotated[int, Field(ge=2)] = 5
    """Groups with fewer participants are published as one."""

    @model_validator(mode="after")
    def _check_attributes(self) -> Self:
        for name, values in self.attributes.items():
            if name in PARTICIPANT_ATTRIBUTES:
                raise ValueError(f"attributes.{name} is known for every participant: remove it, or rename it")
            if len({value.casefold() for value in values}) < len(values):
                raise ValueError(f"attributes.{name} names a value twice: name each once")
        known = (*PARTICIPANT_ATTRIBUTES, *self.attributes)
        for name in self.themes_by:
            if name not in known:
                raise ValueError(f"themes_by names {name!r}; choose from: {', '.join(known)}")
        return self


class AttributeSettings(Settings):
    """One attribute of items: the first matching tag family, or a column of a table source."""

    first_of: tuple[Name, ...] = ()
    column: Name | None = None

    @model_validator(mode="after")
    def _check_origin(self) -> Self:
        if bool(self.first_of) == (self.column is not None):
            raise ValueError("an attribute needs either first_of or column, not both")
        return self


class MeasureSettings(Settings):
    """Settings of measures."""

    days_decimals: Annotated[int, Field(ge=0, le=9)] | None = None
    """Days are rounded to this many decimals before computing."""
    correlation: Literal["pearson", "spearman"] = "pearson"
    """Which coefficient is printed; both are always computed."""


class JointStrandSettings(Settings):
    """One strand of the joint display."""

    code: Name
    """`round.facet` with the codes of its items."""
    title: str = ""
    """Default: the title of the strand."""
    quote: bool = False
    """Whether an answer or a quotation is printed as an example; posts are linked in any case."""

    @field_validator("code")
    @classmethod
    def _names_a_facet(cls, code: str) -> str:
        if code.count(".") != 1:
            raise ValueError(f"{code!r} names no facet: write round.facet, for example main.topic")
        return code


class JointDisplaySettings(Settings):
    """A table and a figure that compare strands under one codebook."""

    codes: Name | None = None
    """The facet of the codebook; default: the one that the first strand was coded with."""
    level: Name | None = None
    """The level whose codes are the rows; default: the first."""
    title: str = "Joint display"
    strands: tuple[JointStrandSettings, ...] = ()

    @model_validator(mode="after")
    def _compares_something(self) -> Self:
        if len(self.strands) == 1:
            raise ValueError("a joint display compares at least two strands: add another one")
        return self


class ResultSettings(Settings):
    """The origin of final codes: `round.facet`, or the name of published decisions and a facet."""

    tree: Name = "issue"
    """The codebook facet whose levels are counted."""
    code: Annotated[tuple[Name, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)] = ()
    """One round or several; where several decided an item, the later one in the list counts."""
    phrase: Name | None = None
    confirm: Name | None = None
    source: Name | None = None
    """The source of the items; default: the funnel's."""
    taxonomy: Name | None = None
    """A codebook file to which decided codes are mapped by name."""
    labels: dict[Name, Name] = Field(default_factory=dict)
    """By printed label of a row, such as D1: the id of its code."""
    codebook: Annotated[int, Field(ge=1)] | None = None
    """The version of the codebook for which the citations in this file were checked; default: the first."""

    @model_validator(mode="after")
    def _check_facets(self) -> Self:
        named = [("code", value) for value in self.code]
        named += [(key, value) for key in ("phrase", "confirm") if (value := getattr(self, key)) is not None]
        for key, value in named:
            if value.count(".") != 1:
                raise ValueError(f"{key} is {value!r}: write round.facet, for example phases.phase")
            if named.count((key, value)) > 1:
                raise ValueError(f"{key} names {value!r} twice: name each round once, the one that counts most last")
        return self

    @property
    def references(self) -> tuple[str, ...]:
        """Every `round.facet` that results need."""
        return (*self.code, *filter(None, (self.phrase, self.confirm)))
