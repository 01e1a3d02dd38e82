"""The printed figures of a study: what stands on the page, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from quaestor.base.errors import InputError, SettingsError
from quaestor.base.names import listed, nearest_first
from quaestor.base.toml import read_toml
from quaestor.publish.audit.records import Key
from quaestor.publish.audit.settings import PrintedNote, PrintedSettings, PrintedTable
from quaestor.study.folder import Study
from quaestor.study.settings import explain
from quaestor.study.tables import read_rows

PRINTED_FILE = "printed.toml"
FINDINGS, OTHER, FUNNEL = "findings", "other", "funnel"


@dataclass(frozen=True)
class PrintedRow:
    """One printed row: how it is cited, the group it stands in, whether it is a total."""

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
        return next(one for one in self.settings.tables if one.table == table)

    def cell(self, name: str) -> str:
        """What is printed at `TABLE:ROW:COLUMN`."""
        key = split_cell(name)
        if not self._cells:
            self._cells.update(self._all())
        if key not in self._cells:
            options = [":".join(one) for one in self._cells if one[0] == key[0]]
            near = listed(nearest_first(name, options)[:3]) or "no such table"
            raise SettingsError(f"{PRINTED_FILE}: nothing is printed at {name!r}, near it: {near}")
        return self._cells[key]

    def _all(self) -> Iterator[tuple[Key, str]]:
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

    def note_on(self, key: Key) -> str:
        """What is known about a cell."""
        return " ".join(dict.fromkeys(note.note for note in self.settings.notes if _concerns(note, key)))


def split_cell(name: str) -> Key:
    table, _, rest = name.partition(":")
    row, _, column = rest.rpartition(":")
    return table, row, column


def _concerns(note: PrintedNote, key: Key) -> bool:
    return any(all(map(_fits, split_cell(cell), key)) for cell in note.cells)


def _fits(asked: str, given: str) -> bool:
    """Whether a name is the one asked for; a `*` at the end stands for whatever follows."""
    return given.startswith(asked[:-1]) if asked.endswith("*") else asked == given


def printed_folder(study: Study) -> Path:
    return study.root / "printed"


def read_printed(study: Study) -> Printed | None:
    """The printed figures of a study; None where it has none."""
    folder = printed_folder(study)
    path = folder / PRINTED_FILE
    if not path.exists():
        return None
    try:
        settings = PrintedSettings.model_validate(read_toml(path, SettingsError))
    except ValidationError as error:
        raise SettingsError(f"{path}: {explain(error.errors()[0], PrintedSettings)}") from None
    tables = {one.table: tuple(_rows(folder, one)) for one in settings.tables}
    findings = tuple(
        (row["finding"], row["claim"], row["printed"])
        for row in _plain(folder, settings.findings, ("finding", "claim", "printed"))
    )
    quantities = tuple(
        (row["figure"], row["value"]) for row in _plain(folder, settings.quantities, ("figure", "value"))
    )
    funnel = tuple((row["step"], row["posts"]) for row in _plain(folder, settings.funnel, ("step", "posts")))
    return Printed(settings, tables, findings, quantities, funnel)


def _plain(folder: Path, file: str | None, columns: tuple[str, ...]) -> list[dict[str, str]]:
    if file is None:
        return []
    path = folder / Path(file).name
    rows = [row for _, row in read_rows(path)]
    _require(path, rows[0] if rows else {}, columns)
    return rows


def _require(path: Path, row: Mapping[str, str], columns: tuple[str, ...]) -> None:
    for name in columns:
        if row and name not in row:
            raise InputError(f"{path} has no column {name!r}, its columns: {listed(row)}")


def _rows(folder: Path, layout: PrintedTable) -> Iterator[PrintedRow]:
    path = folder / Path(layout.file).name
    wanted = (layout.row, *layout.columns, *(one for one in (layout.group, layout.titles, layout.total_in) if one))
    seen: set[str] = set()
    for number, row in read_rows(path):
        _require(path, row, wanted)
        total = row[layout.total_in or layout.row] == layout.total
        group = row[layout.group] if layout.group is not None else ""
        if total and layout.by == "title":
            name = row[layout.group_key or layout.group or layout.row] or layout.total
            group = "" if group == layout.total else group
        else:
            name = row[layout.row]
        if not name:
            raise InputError(f"{path}, row {number}: {layout.row} is empty, so nobody can cite the row")
        if name in seen:
            raise InputError(f"{path}, row {number}: {name!r} stands there twice")
        seen.add(name)
        columns = (*layout.columns, *([layout.titles] if layout.titles else []))
        legible = row.get(layout.legibility, "clear") not in ("garbled", "absent")
        yield PrintedRow(name, row[layout.row], group, total, {one: row[one] for one in columns}, legible)
