"""How printed figures are laid out, which must agree with each other, and what is known to be wrong."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from quaestor.base.toml import Name, Settings


def _names_a_cell(name: str) -> str:
    table, _, rest = name.partition(":")
    row, _, column = rest.rpartition(":")
    if not (table and row and column):
        raise ValueError(f"{name!r} names no cell: write TABLE:ROW:COLUMN, for example 3:D1:total")
    return name


def _is_cell_or_number(value: object) -> object:
    if isinstance(value, str):
        return _names_a_cell(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is neither a cell nor a number: write TABLE:ROW:COLUMN or a number")
    return float(value)


CellName = Annotated[str, AfterValidator(_names_a_cell)]
"""`TABLE:ROW:COLUMN`, named as printed."""
CellOrNumber = Annotated[str | float, BeforeValidator(_is_cell_or_number)]


class PrintedTable(Settings):
    """One file of printed figures."""

    table: Name
    file: Name
    row: Name
    """The column that names a row."""
    columns: tuple[Name, ...] = ()
    by: Literal["key", "title"] = "key"
    """Whether rows are named by the computed table's keys or by its titles."""
    group: Name | None = None
    """The column that names a row's group."""
    group_key: Name | None = None
    """The column by which a group's total is cited; default: `group`."""
    total: Name = "(total)"
    """What stands in the row's column where the row is a total."""
    total_in: Name | None = None
    """The column in which that word stands; default: `row`."""
    titles: Name | None = None
    """A column that must be the row's title."""
    rows: dict[Name, Name] = Field(default_factory=dict)
    """Rows that the study calls otherwise: printed name → name in the study."""
    legibility: Name = "legibility"
    sum_of: tuple[Name, ...] = ()
    """Columns that must add up to …"""
    sum_to: Name | None = None

    @model_validator(mode="after")
    def _sums_are_of_columns(self) -> Self:
        if bool(self.sum_of) != (self.sum_to is not None):
            raise ValueError("sum_of and sum_to go together: give both or none")
        for name in (*self.sum_of, *([self.sum_to] if self.sum_to else [])):
            if name not in self.columns:
                raise ValueError(f"the sum speaks of {name!r}, which is not among columns: {', '.join(self.columns)}")
        return self


class PrintedCheck(Settings):
    """Printed figures that must agree with each other."""

    check: Name
    kind: Literal["sum", "share", "kappa", "p", "correlation"]
    of: tuple[CellName, ...] = ()
    less: tuple[CellName, ...] = ()
    among: CellName | None = None
    equals: CellOrNumber | None = None
    where: str = ""
    """Where the number stands, if not in a file."""
    table: Name | None = None
    counts: Name | None = None
    """Of correlations: the table whose printed counts they come from."""
    items: CellOrNumber | None = None
    disagreements: CellName | None = None
    kept: CellName | None = None
    kappa: CellName | None = None
    note: str = ""

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        needs: dict[str, tuple[str, ...]] = {
            "sum": ("of", "equals"),
            "share": ("of", "among", "equals"),
            "kappa": ("kappa", "items", "disagreements"),
            "p": ("table", "counts"),
            "correlation": ("table", "counts"),
        }
        for key in needs[self.kind]:
            if getattr(self, key) in (None, ()):
                raise ValueError(f"a check of kind {self.kind!r} needs {key}: add it")
        return self


class PrintedNote(Settings):
    """What is known about printed cells; `*` stands for any row or column."""

    cells: Annotated[tuple[CellName, ...], Field(min_length=1)]
    note: Annotated[str, Field(min_length=1)]
    computed: Annotated[float, Field(allow_inf_nan=False)] | None = None
    """The value that it explains, where it explains one alone: another one still has to be looked at."""


class SurveyFigures(Settings):
    """Printed figures that are counts of responses, or shares of them."""

    table: Name
    title: str = ""
    """Stands above these rows where the table is computed anew; a row is then called by what follows its colon."""
    column: Name = "n"
    among: str = ""
    """Whom the figures are counted among, as a condition on answers; default: all responses."""
    rows: Annotated[dict[Name, str], Field(min_length=1)]
    """By printed row: a condition on answers; an empty one holds for all of `among`."""
    percent: bool = False
    per_printed: tuple[CellName, ...] = ()
    """Printed cells whose sum the figures are a share of, where no answer can tell it: how many were invited."""
    base: tuple[CellName, ...] = ()
    """Printed cells whose sum is what the page counted among."""
    otherwise: dict[Name, dict[Name, str]] = Field(default_factory=dict)
    """By another way of counting, in words: by printed row the condition it would be."""

    @model_validator(mode="after")
    def _otherwise_is_of_rows(self) -> Self:
        for how, rows in self.otherwise.items():
            for row in rows:
                if row not in self.rows:
                    raise ValueError(f"otherwise ({how}) speaks of the row {row!r}, which is not among rows: name it")
        return self


class PrintedSurvey(Settings):
    """The survey whose answers printed figures come from."""

    survey: Name
    titles: dict[Name, str] = Field(default_factory=dict)
    """By printed table: what it is called where it is computed anew."""
    figures: Annotated[tuple[SurveyFigures, ...], Field(min_length=1)]


class Elsewhere(Settings):
    """Printed tables that are computed from nothing this study has yet; they are listed all the same."""

    tables: Annotated[tuple[Name, ...], Field(min_length=1)]
    why: Annotated[str, Field(min_length=1)]


class PrintedSettings(Settings):
    """printed/printed.toml as a whole."""

    tables: tuple[PrintedTable, ...] = ()
    cells: Name | None = None
    """A file of single cells of any table: table, row, column, printed."""
    answers: PrintedSurvey | None = None
    elsewhere: tuple[Elsewhere, ...] = ()
    checks: tuple[PrintedCheck, ...] = ()
    notes: tuple[PrintedNote, ...] = ()
    findings: Name | None = None
    """The file of printed findings: finding, claim, printed."""
    quantities: Name | None = None
    """The file of other printed figures: figure, value."""
    funnel: Name | None = None
    """The file of the printed funnel: step, posts; steps stand in the study's order."""

    @model_validator(mode="after")
    def _tables_are_named_once(self) -> Self:
        names = [table.table for table in self.tables]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise ValueError(f"tables[{number}]: two tables are called {name!r}, give each a name of its own")
        return self
