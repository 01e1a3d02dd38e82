"""Settings in printed.toml: layout of printed figures, checks among them, and notes on known errors."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from quaestor.base.toml import Name, Settings


def _names_a_cell(name: str) -> str:
    table, _, rest = name.partition(":")
    row, _, column = rest.rpartition(":")
    if not (table and row and column):
        raise ValueError(f"{name!r} is not a cell: write TABLE:ROW:COLUMN, for example 3:D1:total")
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
    """The text in the row's column that identifies a total."""
    total_in: Name | None = None
    """The column that contains that text; default: `row`."""
    titles: Name | None = None
    """A column that must be the row's title."""
    rows: dict[Name, Name] = Field(default_factory=dict)
    """Rows that have another name in the study: printed name → name in the study."""
    legibility: Name = "legibility"
    sum_of: tuple[Name, ...] = ()
    """Columns that must add up to `sum_to`."""
    sum_to: Name | None = None

    @model_validator(mode="after")
    def _check_sums(self) -> Self:
        if bool(self.sum_of) != (self.sum_to is not None):
            raise ValueError("sum_of and sum_to must be given together")
        for name in (*self.sum_of, *([self.sum_to] if self.sum_to else [])):
            if name not in self.columns:
                raise ValueError(f"the sum names {name!r}, which is not among columns: {', '.join(self.columns)}")
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
    """Where the number is printed, if not in a file."""
    table: Name | None = None
    counts: Name | None = None
    """For correlations: the table with the printed counts."""
    items: CellOrNumber | None = None
    disagreements: CellName | None = None
    kept: CellName | None = None
    kappa: CellName | None = None
    note: str = ""

    @model_validator(mode="after")
    def _check_required_keys(self) -> Self:
        needs: dict[str, tuple[str, ...]] = {
            "sum": ("of", "equals"),
            "share": ("of", "among", "equals"),
            "kappa": ("kappa", "items", "disagreements"),
            "p": ("table", "counts"),
            "correlation": ("table", "counts"),
        }
        for key in needs[self.kind]:
            if getattr(self, key) in (None, ()):
                raise ValueError(f"a check of kind {self.kind!r} has no {key}: add it")
        return self


class PrintedNote(Settings):
    """A note on printed cells; `*` matches any row or column."""

    cells: Annotated[tuple[CellName, ...], Field(min_length=1)]
    note: Annotated[str, Field(min_length=1)]
    computed: Annotated[float, Field(allow_inf_nan=False)] | None = None
    """The value the note explains; without it the note explains every value."""


class SurveyFigures(Settings):
    """Printed figures that are counts of responses, or shares of them."""

    table: Name
    title: str = ""
    """Heading above these rows in the recomputed table; row names then omit everything up to the colon."""
    column: Name = "n"
    among: str = ""
    """The base of the figures as a condition on answers; default: all responses."""
    rows: Annotated[dict[Name, str], Field(min_length=1)]
    """By printed row: a condition on answers; an empty one matches everyone in `among`."""
    percent: bool = False
    per_printed: tuple[CellName, ...] = ()
    """Printed cells whose sum is the base of the shares, if answers cannot tell it (such as the number invited)."""
    base: tuple[CellName, ...] = ()
    """Printed cells whose sum is the base that the publication used."""
    otherwise: dict[Name, dict[Name, str]] = Field(default_factory=dict)
    """Alternative counts: by description, the condition for each printed row."""

    @model_validator(mode="after")
    def _check_otherwise(self) -> Self:
        for how, rows in self.otherwise.items():
            for row in rows:
                if row not in self.rows:
                    raise ValueError(f"otherwise ({how}) names the row {row!r}, which is not among rows: add it")
        return self


class PrintedSurvey(Settings):
    """The survey whose answers printed figures come from."""

    survey: Name
    titles: dict[Name, str] = Field(default_factory=dict)
    """By printed table: its title when recomputed."""
    figures: Annotated[tuple[SurveyFigures, ...], Field(min_length=1)]


class UnavailableTables(Settings):
    """Printed tables that this study has no data for; the audit lists them nevertheless."""

    tables: Annotated[tuple[Name, ...], Field(min_length=1)]
    why: Annotated[str, Field(min_length=1)]


class PrintedSettings(Settings):
    """The whole of printed/printed.toml."""

    tables: tuple[PrintedTable, ...] = ()
    cells: Name | None = None
    """A file of single cells of any table: table, row, column, printed."""
    answers: PrintedSurvey | None = None
    elsewhere: tuple[UnavailableTables, ...] = ()
    checks: tuple[PrintedCheck, ...] = ()
    notes: tuple[PrintedNote, ...] = ()
    findings: Name | None = None
    """The file of printed findings: finding, claim, printed."""
    quantities: Name | None = None
    """The file of other printed figures: figure, value."""
    funnel: Name | None = None
    """The file of the printed funnel: step, posts; in the order of the study's steps."""

    @model_validator(mode="after")
    def _check_tables(self) -> Self:
        names = [table.table for table in self.tables]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise ValueError(f"tables[{number}]: two tables are called {name!r}, give each a different name")
        return self
