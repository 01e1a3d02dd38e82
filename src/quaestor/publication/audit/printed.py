"""Reads the printed figures of a study, cell by cell."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from quaestor.base.errors import InputError, SettingsError
from quaestor.base.names import join_with_or, sort_by_similarity, suggest
from quaestor.base.toml import read_toml
from quaestor.evidence.table_rows import read_header, read_rows
from quaestor.publication.audit.compare import judge
from quaestor.publication.audit.printed_settings import PrintedCheck, PrintedNote, PrintedSettings, PrintedTable
from quaestor.publication.audit.records import MATCH, ROUNDING, Key
from quaestor.study.folder import Study
from quaestor.study.settings.schema import explain

PRINTED_FILE = "printed.toml"
FINDINGS, OTHER, FUNNEL = "findings", "other", "funnel"


@dataclass(frozen=True)
class PrintedRow:
    """One printed row: its key, its group and whether it is a total."""

    name: str
    title: str
    group: str
    total: bool
    cells: Mapping[str, str]
    legible: bool = True


@dataclass(frozen=True)
class Printed:
    """All printed figures of a study."""

    settings: PrintedSettings
    tables: Mapping[str, tuple[PrintedRow, ...]]
    findings: tuple[tuple[str, str, str], ...] = ()
    """(finding, claim, printed)"""
    quantities: tuple[tuple[str, str], ...] = ()
    funnel: tuple[tuple[str, str], ...] = ()
    _cells: dict[Key, str] = field(default_factory=dict, compare=False, repr=False)

    def layout(self, table: str) -> PrintedTable:
        return next(printed_table for printed_table in self.settings.tables if printed_table.table == table)

    def cell(self, name: str) -> str:
        """Returns the text printed at `TABLE:ROW:COLUMN`."""
        key = split_cell(name)
        if key not in self.every_cell():
            raise SettingsError(f"{PRINTED_FILE}: nothing is printed at {name!r}, {self._list_similar(name)}")
        return self._cells[key]

    def _list_similar(self, name: str) -> str:
        table = split_cell(name)[0]
        options = [":".join(key) for key in self.every_cell() if key[0] == table]
        if not options:
            return f"its tables: {join_with_or(dict.fromkeys(key[0] for key in self.every_cell()))}"
        return f"near it: {join_with_or(sort_by_similarity(name, options)[:3])}"

    def every_cell(self) -> Collection[Key]:
        """Returns the key of each printed cell."""
        if not self._cells:
            self._cells.update(self._iterate_cells())
        return self._cells

    def require_known(self) -> None:
        """Raises SettingsError if a check or note names a cell that is not printed, since it would never apply."""
        for check in self.settings.checks:
            for name in _cells_of(check):
                self.cell(name)
            for table in filter(None, (check.table, check.counts)):
                if table not in self.tables:
                    known = suggest(table, self.tables) or "none"
                    raise SettingsError(f"{PRINTED_FILE}: {check.check!r} needs table {table!r}, printed: {known}")
        for name in (cell for note in self.settings.notes for cell in note.cells):
            if not any(all(map(_fits, split_cell(name), key)) for key in self.every_cell()):
                raise SettingsError(
                    f"{PRINTED_FILE}: a note names {name!r}, but nothing is printed there, {self._list_similar(name)}"
                )

    def _iterate_cells(self) -> Iterator[tuple[Key, str]]:
        for table, rows in self.tables.items():
            for row in rows:
                for column, text in row.cells.items():
                    yield (table, row.name, column), text
        for finding, claim, text in self.findings:
            yield (FINDINGS, claim, finding), text
        for figure, text in self.quantities:
            yield (OTHER, figure, "value"), text
        for step, text in self.funnel:
            yield (FUNNEL, step, "posts"), text

    def note_on(self, key: Key, computed: float | str | None = None) -> str:
        """Returns the notes on a cell; a note that explains a value applies only if that value was computed."""
        notes = (note for note in self.settings.notes if _is_about(note, key) and _explains(note, computed))
        return " ".join(dict.fromkeys(note.note for note in notes))


def split_cell(name: str) -> Key:
    table, _, rest = name.partition(":")
    row, _, column = rest.rpartition(":")
    return table, row, column


def _cells_of(check: PrintedCheck) -> Iterator[str]:
    """Yields the cells that a check names."""
    yield from (*check.of, *check.less)
    for reference in (check.among, check.equals, check.items, check.disagreements, check.kept, check.kappa):
        if isinstance(reference, str):
            yield reference


def _is_about(note: PrintedNote, key: Key) -> bool:
    return any(all(map(_fits, split_cell(cell), key)) for cell in note.cells)


def _explains(note: PrintedNote, computed: float | str | None) -> bool:
    if note.computed is None or computed is None:
        return True
    return judge(f"{note.computed:.15g}", computed) in (MATCH, ROUNDING)


def _fits(pattern: str, cell: str) -> bool:
    """Tells whether a cell matches a pattern; a `*` at the end matches any ending."""
    return cell.startswith(pattern[:-1]) if pattern.endswith("*") else pattern == cell


def printed_folder(study: Study) -> Path:
    return study.root / "printed"


def read_printed(study: Study) -> Printed | None:
    """Reads the printed figures of a study; returns None if it has none."""
    folder = printed_folder(study)
    path = folder / PRINTED_FILE
    if not path.exists():
        return None
    try:
        settings = PrintedSettings.model_validate(read_toml(path, SettingsError))
    except ValidationError as error:
        raise SettingsError(f"{path}: {explain(error.errors()[0], PrintedSettings)}") from None
    tables = {table.table: tuple(_rows(folder, table)) for table in settings.tables}
    tables |= _cells(folder, settings, tables)
    findings = tuple(
        (row["finding"], row["claim"], row["printed"])
        for row in _read_figures(folder, settings.findings, ("finding", "claim", "printed"))
    )
    quantities = tuple(
        (row["figure"], row["value"]) for row in _read_figures(folder, settings.quantities, ("figure", "value"))
    )
    funnel = tuple((row["step"], row["posts"]) for row in _read_figures(folder, settings.funnel, ("step", "posts")))
    printed = Printed(settings, tables, findings, quantities, funnel)
    printed.require_known()
    return printed


def _read_figures(folder: Path, file: str | None, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """Reads a file of single figures; all columns but the last name the figure."""
    if file is None:
        return []
    path = folder / Path(file).name
    _require(path, columns)
    rows = []
    seen: set[tuple[str, ...]] = set()
    for number, row in read_rows(path):
        name = tuple(row[column] for column in columns[:-1])
        _require_new(path, number, columns[-2], name[-1], name in seen)
        seen.add(name)
        rows.append(row)
    return rows


def _cells(folder: Path, settings: PrintedSettings, known: Collection[str]) -> dict[str, tuple[PrintedRow, ...]]:
    """Reads tables whose printed cells are in one file, one line each."""
    if settings.cells is None:
        return {}
    path = folder / Path(settings.cells).name
    _require(path, ("table", "row", "column", "printed"))
    tables: dict[str, dict[str, dict[str, str]]] = {}
    for number, row in read_rows(path):
        if row["table"] in known:
            raise InputError(
                f"{path}, row {number}: table {row['table']!r} also has its own file: remove one of the two"
            )
        cells = tables.setdefault(row["table"], {}).setdefault(row["row"], {})
        _require_new(path, number, "column", row["column"], row["column"] in cells)
        cells[row["column"]] = row["printed"]
    return {
        table: tuple(PrintedRow(name, name, "", False, cells) for name, cells in rows.items())
        for table, rows in tables.items()
    }


def _require(path: Path, columns: tuple[str, ...]) -> None:
    there = read_header(path)
    for name in columns:
        if name not in there:
            raise InputError(f"{path} has no column {name!r}, its columns: {suggest(name, there)}")


def _require_new(path: Path, number: int, column: str, name: str, seen: bool) -> None:
    if not name:
        raise InputError(f"{path}, row {number}: {column} is empty: enter a name for the row")
    if seen:
        raise InputError(f"{path}, row {number}: {name!r} appears twice: remove one of the two")


def _rows(folder: Path, layout: PrintedTable) -> Iterator[PrintedRow]:
    path = folder / Path(layout.file).name
    others = (layout.group, layout.group_key, layout.titles, layout.total_in)
    _require(path, (layout.row, *layout.columns, *(other for other in others if other)))
    seen: set[str] = set()
    for number, row in read_rows(path):
        total = row[layout.total_in or layout.row] == layout.total
        group = row[layout.group] if layout.group is not None else ""
        if total and layout.by == "title":
            name = row[layout.group_key or layout.group or layout.row] or layout.total
            group = "" if group == layout.total else group
        else:
            name = row[layout.row]
        _require_new(path, number, layout.row, name, name in seen)
        seen.add(name)
        columns = (*layout.columns, *([layout.titles] if layout.titles else []))
        legible = row.get(layout.legibility, "clear") not in ("garbled", "absent")
        yield PrintedRow(name, row[layout.row], group, total, {column: row[column] for column in columns}, legible)
    for name in layout.rows:
        if name not in seen:
            near = join_with_or(sort_by_similarity(name, seen)[:3])
            where = f"{PRINTED_FILE}: rows of table {layout.table}"
            raise SettingsError(f"{where} names {name!r}, which is not printed, nearest: {near}")
