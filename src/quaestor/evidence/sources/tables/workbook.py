"""Reads the rows of one sheet of an XLSX workbook after a check of its contents.

A workbook is an untrusted zip of XML. The library that reads it allocates the whole rectangle of cells from the corner
of the sheet and copies a shared text into each cell that shows it; and it shows a failed formula as an empty cell.
Therefore the XML is read once before, to measure how far the cells reach and how much text they contain, and to find
failed formulas.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree
from xml.parsers import expat

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, PasswordError, SheetTypeEnum

from quaestor.base.errors import InputError
from quaestor.evidence.sources.protocol import REJECT_EXCERPT
from quaestor.evidence.sources.tables.cells import LONGEST_FIELD, Cell, ErrorCell, Record, as_text, shorten
from quaestor.evidence.sources.tables.settings import TableSettings

MOST_PARTS = 10_000
MOST_BYTES = 1024**3
MOST_RATIO = 200
MOST_CELLS = 32_000_000
"""The largest rectangle of cells that is opened: 1 GB at 32 bytes per cell."""
MOST_TEXT = 512 * 1024 * 1024
"""Bytes of shared texts, counted once per cell that shows one, since each is a copy in memory."""
UPLOAD_BYTES, UPLOAD_CELLS = 256 * 1024 * 1024, 4_000_000
"""The limits of a workbook that somebody uploads to the desk or imports as ratings."""
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384
"""The limits of a sheet; a spreadsheet program writes no cell beyond."""

_SMALL = 16 * 1024 * 1024
"""A workbook that unpacks to less than this may have any compression ratio."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1
_CHUNK = 1024 * 1024
_LONGEST_TAG = 4 * _CHUNK
"""Bytes of one tag, which the parser buffers until it is complete."""
_CELL_REFERENCE = re.compile(r"([A-Za-z]*)([0-9]*)")
_OVER_LONG = f"over {LONGEST_FIELD // 2**20} MB long"
_BOOK, _BOOK_LINKS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_SHARED_TEXTS = "xl/sharedstrings.xml"


class _TooLarge(Exception):
    """Content of a workbook that would exhaust memory; the message says what."""


@dataclass
class _PartScan:
    """What a scan of one XML part found: for a sheet, how far its cells reach and its failed formulas.

    `shared` has the bytes of each shared text; the part with the shared texts fills it and is read first.
    """

    shared: array[int]
    bottom: int = 0
    right: int = 0
    errors: dict[tuple[int, int], str] = field(default_factory=dict)
    _row: int = 0
    _column: int = 0
    _kind: str = ""
    _begin: int = 0
    _value: str = ""
    _text: int = 0

    def read(self, file: Iterator[bytes]) -> None:
        parser = expat.ParserCreate()
        parser.StartElementHandler = partial(self._open, parser)
        parser.EndElementHandler = partial(self._close, parser)
        parser.StartDoctypeDeclHandler = _refuse_doctype
        parsed_bytes = 0
        for chunk in file:
            parser.Parse(chunk, False)
            parsed_bytes += len(chunk)
            if parsed_bytes - parser.CurrentByteIndex > _LONGEST_TAG:
                raise ValueError(f"a tag is over {_LONGEST_TAG // 2**20} MB long")
        parser.Parse(b"", True)

    def is_larger_than(self, most_cells: int) -> bool:
        """Whether the rectangle from the corner of the sheet is too large; cells before the first one count too."""
        beyond = self.bottom > _MOST_ROWS or self.right > _MOST_COLUMNS
        return beyond or self.bottom * self.right > most_cells

    def _open(self, parser: expat.XMLParserType, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if name == "c":
            self._locate(attributes.get("r", ""))
            self._kind = attributes.get("t", "")
            self._begin = parser.CurrentByteIndex
        elif name in {"v", "is"}:
            self.bottom, self.right = max(self.bottom, self._row), max(self.right, self._column)
            if self._kind in {"e", "s"}:
                self._value = ""
                parser.CharacterDataHandler = self._add_text
        elif name == "si":
            self._begin = parser.CurrentByteIndex
        elif name == "row":
            number = attributes.get("r", "")
            self._row = int(number[:12]) if number.isdecimal() else self._row + 1
            self._column = 0
        elif "uniqueCount" in attributes or "count" in attributes:
            # The library allocates as many strings or styles as declared before it reads the first.
            text = attributes.get("uniqueCount") or attributes.get("count", "")
            if text.isdecimal() and int(text[:12]) > MOST_CELLS:
                raise ValueError(f"it declares {text[:12]} entries")

    def _close(self, parser: expat.XMLParserType, name: str) -> None:
        name = name.rpartition(":")[2]
        if name == "v" and self._kind in {"e", "s"}:
            parser.CharacterDataHandler = None
            if self._kind == "e":
                self.errors[self._row, self._column] = self._value
            elif self._value.isdecimal() and int(self._value) < len(self.shared):
                self._text += self.shared[int(self._value)]
                if self._text > MOST_TEXT:
                    raise _TooLarge(f"over {MOST_TEXT:,} characters of text in its cells")
        elif name == "c" and parser.CurrentByteIndex - self._begin > LONGEST_FIELD:
            raise _TooLarge(f"a cell in row {self._row}, column {self._column}, that is {_OVER_LONG}")
        elif name == "si":
            length = parser.CurrentByteIndex - self._begin
            if length > LONGEST_FIELD:
                raise _TooLarge(f"a shared text, number {len(self.shared) + 1}, that is {_OVER_LONG}")
            if len(self.shared) >= MOST_CELLS:
                raise _TooLarge(f"over {MOST_CELLS:,} shared texts")
            self.shared.append(length)

    def _locate(self, reference: str) -> None:
        match = _CELL_REFERENCE.fullmatch(reference)
        letters, digits = match.groups() if match else ("", "")
        if letters and digits:
            self._row = int(digits[:12])
            self._column = 0
            for letter in letters[:8].upper():
                self._column = self._column * 26 + ord(letter) - ord("A") + 1
        else:
            self._column += 1

    def _add_text(self, text: str) -> None:
        self._value = (self._value + text)[:20]


def _refuse_doctype(*_: object) -> None:
    raise ValueError("it declares a document type, which can make XML expand without limit")


def read_workbook(path: Path, settings: TableSettings) -> Iterator[Record]:
    """Yields every row of the sheet; raises InputError for a workbook that is damaged or too large."""
    with path.open("rb") as file:
        parts = _examine(path, file)
        with _open_book(path) as book:
            name = _choose_sheet(path, book, settings.sheet)
            errors = _find_failed_formulas(path, file, name, parts)
            sheet = _get_sheet(path, book, name)
    yield from _read_rows(sheet, errors, path.stat().st_size)


def read_sheets(path: Path, data: bytes, preferred: str, others: Sequence[str]) -> dict[str, list[Record]]:
    """Returns the rows of an uploaded workbook: first its sheet `preferred`, or else its first one, then some others.

    An upload may be much smaller than evidence, because it is read while other people use the desk.
    """
    file = io.BytesIO(data)
    parts = _examine(path, file, UPLOAD_BYTES, UPLOAD_CELLS)
    file.seek(0)
    with _open_book(path, file) as book:
        known = [sheet.name for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
        main = preferred if preferred in known else _choose_sheet(path, book, None)
        rows = {}
        for name in (main, *(name for name in others if name in known and name != main)):
            errors = _find_failed_formulas(path, file, name, parts)
            rows[name] = list(_read_rows(_get_sheet(path, book, name), errors, len(data)))
    return rows


def _open_book(path: Path, file: io.BytesIO | None = None) -> CalamineWorkbook:
    try:
        return CalamineWorkbook.from_filelike(file) if file else CalamineWorkbook.from_path(path)
    except PasswordError:
        raise InputError(f"{path} is protected by a password: save it without one") from None
    except CalamineError as error:
        raise _refuse_damaged(path, error) from None


def _get_sheet(path: Path, book: CalamineWorkbook, name: str) -> CalamineSheet:
    try:
        return book.get_sheet_by_name(name)
    except CalamineError as error:
        raise _refuse_damaged(path, error) from None


def _refuse_damaged(path: Path, error: CalamineError) -> InputError:
    return InputError(f"{path} cannot be read as a workbook ({error}): save it again, or as CSV")


def _read_rows(sheet: CalamineSheet, errors: dict[tuple[int, int], str], size: int) -> Iterator[Record]:
    if sheet.start is None:
        return
    padding = [""] * sheet.start[1]
    failed: dict[int, dict[int, str]] = {}
    for (row, column), text in errors.items():
        failed.setdefault(row, {})[column] = text
    for number, row_cells in enumerate(sheet.iter_rows(), 1):
        cells: list[Cell] = [*padding, *row_cells]
        for column, text in failed.get(number, {}).items():
            if column <= len(cells):
                cells[column - 1] = ErrorCell(text)
        fault = ""
        for column, cell in enumerate(cells, 1):
            if isinstance(cell, str) and ("\0" in cell or len(cell) > LONGEST_FIELD):
                fault = f"cell {column} has a NUL or is over {LONGEST_FIELD // 2**20} MB long"
        done = size * number // max(sheet.total_height, 1)
        yield Record(number, number, cells, partial(_excerpt, cells), fault, min(done, size))


def _excerpt(cells: list[Cell]) -> str:
    return "\t".join(as_text(cell)[:REJECT_EXCERPT] for cell in cells[:REJECT_EXCERPT])[:REJECT_EXCERPT]


def _choose_sheet(path: Path, book: CalamineWorkbook, setting: str | None) -> str:
    names = [sheet.name for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    if not names:
        raise InputError(f"{path} has no sheet with cells: give a workbook with a table")
    if setting is None:
        return names[0]
    if setting not in names:
        shown = ", ".join(shorten(name) for name in names[:30])
        raise InputError(f"{path} has no sheet {setting!r}, its sheets are {shown}: correct `sheet`")
    return setting


def _examine(
    path: Path, file: BinaryIO, most_bytes: int | None = None, most_cells: int | None = None
) -> dict[str, _PartScan]:
    """Unpacks the workbook once in small pieces, without storing it, and returns a scan of each part."""
    try:
        with zipfile.ZipFile(file) as archive:
            _check_sizes(path, archive.infolist(), file.seek(0, io.SEEK_END), most_bytes or MOST_BYTES)
            shared: array[int] = array("I")
            ordered = sorted(archive.infolist(), key=lambda info: info.filename.lower() != _SHARED_TEXTS)
            parts = {info.filename.lower(): _scan_part(path, archive, info, shared) for info in ordered}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError):
        raise InputError(
            f"{path} is not a valid XLSX workbook (old .xls, protected or damaged): save it as .xlsx or .csv"
        ) from None
    for name, scan in parts.items():
        if scan.is_larger_than(most_cells or MOST_CELLS):
            raise InputError(
                f"{path} spreads its cells over {scan.bottom:,} rows and {scan.right:,} columns"
                f" in {name}, more than can be opened:"
                f" delete stray cells far from the table, or save it as CSV"
            )
    return parts


def _check_sizes(path: Path, parts: list[zipfile.ZipInfo], size: int, most_bytes: int) -> None:
    unpacked = sum(part.file_size for part in parts)
    packed = max(size, 1)
    if len(parts) > MOST_PARTS:
        problem = f"{len(parts):,} parts, over {MOST_PARTS:,}"
    elif unpacked > most_bytes:
        problem = f"{unpacked:,} bytes when unpacked, over {most_bytes:,}"
    elif unpacked > _SMALL and unpacked > MOST_RATIO * packed:
        problem = f"{unpacked // packed} times its size when unpacked, over {MOST_RATIO}"
    elif any(part.filename.lower() in (_BOOK, _BOOK_LINKS) and part.file_size > _SMALL for part in parts):
        problem = f"a list of sheets of over {_SMALL:,} bytes"
    elif any(part.compress_type not in _METHODS or part.flag_bits & _ENCRYPTED for part in parts):
        raise zipfile.BadZipFile("a workbook is neither encrypted nor packed in unusual ways")
    else:
        return
    raise InputError(f"{path} has {problem}, like a file made to exhaust memory: save the table as CSV")


def _scan_part(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, shared: array[int]) -> _PartScan:
    scan = _PartScan(shared)
    with archive.open(info) as file:
        chunks = iter(partial(file.read, _CHUNK), b"")
        try:
            if info.filename.lower().endswith((".xml", ".rels")):
                scan.read(chunks)
        except _TooLarge as too_large:
            raise InputError(f"{path} has {too_large}: shorten it, or save the table as CSV") from None
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise InputError(
                f"{path} has a part {info.filename!r} that is not valid XML ({error}): save it again"
            ) from None
        for _ in chunks:  # to the end, where zipfile compares the checksum
            pass
    return scan


def _find_failed_formulas(
    path: Path, file: BinaryIO, sheet: str, parts: dict[str, _PartScan]
) -> dict[tuple[int, int], str]:
    """Returns the failed formulas of the sheet, whose part is found through the workbook's list of sheets."""
    with zipfile.ZipFile(file) as archive:
        try:
            book = ElementTree.fromstring(archive.read(_BOOK))
            links = ElementTree.fromstring(archive.read(_BOOK_LINKS))
        except (KeyError, ElementTree.ParseError):
            raise InputError(f"{path} has no valid list of its sheets: save it again") from None
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    for entry in book.iter():
        if entry.tag.rpartition("}")[2] == "sheet" and entry.get("name") == sheet:
            link = next((value for key, value in entry.attrib.items() if key.endswith("}id")), None)
            part = posixpath.normpath(posixpath.join("/xl", targets.get(link, ""))).lstrip("/").lower()
            if part in parts:
                return parts[part].errors
    raise InputError(f"{path} has no part for its sheet {sheet!r}: save it again")
