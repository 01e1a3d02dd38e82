"""Reads the rows of a CSV or TSV file with their byte offsets, and recovers after broken rows."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from quaestor.base.errors import InputError
from quaestor.evidence.sources.protocol import REJECT_EXCERPT
from quaestor.evidence.sources.tables.cells import LONGEST_FIELD, Record
from quaestor.evidence.sources.tables.settings import TableSettings

LONGEST_ROW = 4 * LONGEST_FIELD
"""Characters of a row; a longer one has an unclosed quote."""

MOST_SEPARATORS = 250_000
"""Separators of a row, including those in quoted cells; more are an attack on memory."""

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}

_OTHER_ENCODING = "cp1252"
"""The encoding of a text that is not UTF-8: that of spreadsheets on Windows."""

_CHUNK = 1024 * 1024
_HEAD = 64 * 1024
_BYTE_ORDER_MARKS = (  # the longer ones first: that of UTF-16 is a prefix of that of UTF-32
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WITHOUT_MARK = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_BINARY_FORMATS = (
    (b"PK\x03\x04", "a zip archive or a workbook"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file"),
    (b"\x1f\x8b", "gzip-compressed"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"%PDF-", "a PDF"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
)
_CONTROLS = bytes({*range(32)} - set(b"\t\n\r\f\x1b"))


class _Line(NamedTuple):
    """A line of the file; a row has several if a quoted field contains a line break."""

    offset: int
    text: str
    end: int
    fault: str = ""
    too_long: bool = False


class _Row:
    """The state of the current row: enough for its faults and its excerpt, without keeping all its lines."""

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self.size = self._separators = 0
        self.first: _Line | None = None
        self.end = self.lines = self.quotes = 0
        self.fault = self.nul = self.excerpt = ""

    def add(self, line: _Line, encoding: str) -> None:
        """Adds a line; raises csv.Error if the row becomes too large."""
        self.first = self.first or line
        self.end = line.end
        self.lines += 1
        if len(self.excerpt) < REJECT_EXCERPT:
            self.excerpt = (self.excerpt + line.text[:REJECT_EXCERPT])[:REJECT_EXCERPT]
        line_start = line.offset - self.first.offset
        if line.fault and not self.fault:
            self.fault = f"{line.fault} (in the line that begins {line_start} bytes into the row)"
        if "\0" in line.text and not self.nul:
            at = line_start + len(line.text[: line.text.index("\0")].encode(encoding))
            self.nul = f"has a NUL at byte {at} of the row"
        self.quotes += line.text.count('"')
        if line.too_long:
            return
        self.size += len(line.text)
        self._separators += line.text.count(self._separator)
        if self.size > LONGEST_ROW:
            raise csv.Error("field larger than field limit")
        if self._separators > MOST_SEPARATORS:
            raise csv.Error("too many cells")


class _Feed:
    """Feeds the lines of a file to the csv reader, and can return to the second line of a broken row.

    Lines are read from the file again: keeping those of a long row would need many times the memory of its text.
    """

    def __init__(self, file: BinaryIO, start: int, encoding: str, newline: bytes, separator: str) -> None:
        self._file, self._encoding, self._newline, self._separator = file, encoding, newline, separator
        self.begin_row()
        self._go_to(start)

    def _go_to(self, offset: int) -> None:
        self._file.seek(offset)
        self._lines = _read_lines(self._file, offset, self._encoding, self._newline)

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.row.add(line, self._encoding)
        return "" if line.too_long else line.text

    def begin_row(self) -> None:
        self.row = _Row(self._separator)

    def rewind_to_second_line(self) -> int:
        """Reads the lines after the row's first one again as rows; returns how many bytes are read twice."""
        first, end = self.row.first, self.row.end
        if first is None or end == first.end:
            return 0
        self._go_to(first.end)
        self.begin_row()
        with contextlib.suppress(csv.Error):
            self.row.add(first, self._encoding)
        return end - first.end


def read_delimited(path: Path, settings: TableSettings) -> Iterator[Record]:
    """Yields every row, valid or not; raises InputError if the file is not text.

    An unclosed quote would turn the rest of the file into one field. In that case only the first line of the row is
    rejected, and reading continues with the next line.
    """
    with path.open("rb") as file:
        yield from _read_file(file, path, settings, path.stat().st_size)


def read_delimited_bytes(path: Path, data: bytes, settings: TableSettings) -> Iterator[Record]:
    """Yields every row of an uploaded file; its path is only its name."""
    yield from _read_file(io.BytesIO(data), path, settings, len(data))


def _read_file(file: BinaryIO, path: Path, settings: TableSettings, size: int) -> Iterator[Record]:
    encoding, start, newline = _examine(file, path, settings.encoding)
    delimiter = settings.delimiter or DELIMITERS.get(path.suffix.lower(), ",")
    yield from _assemble(_Feed(file, start, encoding, newline, delimiter), delimiter, size)


def detect_encoding(data: bytes) -> str:
    """Returns the encoding of a whole text: by its byte order mark, by its NULs, else UTF-8 or Windows-1252."""
    marked = next((name for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), "")
    if marked:
        return "utf-8" if marked == "utf-8" else marked[:6]
    head = data[:_HEAD]
    if head and max(head[::2].count(0), head[1::2].count(0)) > len(head) // 5:
        return "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"
    try:
        data.decode()
    except UnicodeDecodeError:
        return _OTHER_ENCODING
    return "utf-8"


def detect_delimiter(head: bytes, encoding: str, suffix: str) -> str:
    """Returns the separator that is most frequent in the first line; by the extension of the file if none is."""
    first = head[:_HEAD].decode(encoding, "replace").partition("\n")[0]
    return max((DELIMITERS.get(suffix.lower(), ","), ",", "\t", ";"), key=first.count)


def _assemble(feed: _Feed, delimiter: str, size: int) -> Iterator[Record]:
    reader = csv.reader(feed, delimiter=delimiter, strict=True)
    rewind_budget = 8 * size  # without it, a malicious file would be read again from each of its lines
    broken = 0
    number = 0
    while True:
        feed.begin_row()
        number += 1
        cells: list[str] = []
        fault = ""
        try:
            cells = next(reader)
            if feed.row.size > LONGEST_FIELD and any(len(cell) > LONGEST_FIELD for cell in cells):
                raise csv.Error("field larger than field limit")
        except StopIteration:
            return
        except csv.Error as error:
            cells = []
            fault = _explain(error, feed.row.lines)
            if rewind_budget > 0:
                rewind_budget -= feed.rewind_to_second_line()
            broken = number
        else:
            if broken and feed.row.quotes % 2:
                fault = f"may be the rest of row {broken}, whose quotes are broken"
            if feed.row.quotes:
                broken = 0
        row = feed.row
        offset = row.first.offset if row.first else 0
        yield Record(number, offset, cells, partial(str, row.excerpt), row.fault or fault or row.nul, row.end)


def _explain(error: csv.Error, lines: int) -> str:
    """Translates a message of the csv module, which is about its own state, into what is wrong with the row."""
    message = str(error)
    if "unexpected end" in message:
        return "a quote is opened and never closed before the file ends"
    if "field limit" in message and lines > 1:
        return f"a quoted field is over {LONGEST_FIELD // 2**20} MB long: is its closing quote missing?"
    if "field limit" in message:
        return f"a field is over {LONGEST_FIELD // 2**20} MB long"
    if "too many cells" in message:
        return f"the row has over {MOST_SEPARATORS:,} separators: is the delimiter right?"
    if "new-line character" in message:
        return "a field without quotes contains a carriage return"
    if lines > 1:
        return f"a quote opened here ends {lines - 1} lines later in the middle of a field"
    return "a quote ends in the middle of a field: quotes inside a quoted field must be doubled"


def _read_lines(file: BinaryIO, offset: int, encoding: str, newline: bytes) -> Iterator[_Line]:
    """Yields lines with their offsets; of a line longer than any valid row it keeps only the beginning."""
    rest, searched = b"", 0
    while True:
        begin = 0
        while (at := _find(rest, newline, max(begin, searched))) >= 0:
            end = at + len(newline)
            yield _decode(rest[begin:end], offset + begin, encoding)
            begin = end
        rest = rest[begin:]
        offset += begin
        if len(rest) > LONGEST_ROW:
            line, rest = _skip_line(file, rest, offset, encoding, newline)
            yield line
            offset, searched = line.end, 0
            continue
        searched = max(0, len(rest) - len(newline))
        chunk = file.read(_CHUNK)
        if not chunk:
            break
        rest += chunk
    if rest:
        yield _decode(rest, offset, encoding)


def _find(data: bytes, newline: bytes, start: int) -> int:
    """Finds the end of a line; in UTF-16 the two bytes of a line feed can also span two characters."""
    width = len(newline)
    start -= start % width
    at = data.find(newline, start)
    while at >= 0 and at % width:
        at = data.find(newline, at + 1)
    return at


def _skip_line(file: BinaryIO, rest: bytes, offset: int, encoding: str, newline: bytes) -> tuple[_Line, bytes]:
    head = rest[: 4 * REJECT_EXCERPT].decode(encoding, "replace")
    passed = 0
    while (at := _find(rest, newline, 0)) < 0:
        passed += len(rest)
        rest = file.read(_CHUNK)
        if not rest:
            break
    keep = at + len(newline) if at >= 0 else 0
    fault = f"a line is over {LONGEST_ROW // 2**20} MB long"
    return _Line(offset, head, offset + passed + keep, fault, too_long=True), rest[keep:]


def _decode(raw: bytes, offset: int, encoding: str) -> _Line:
    try:
        return _Line(offset, raw.decode(encoding), offset + len(raw))
    except UnicodeDecodeError as error:
        bad_bytes = raw[error.start : error.start + 4].hex(" ")
        fault = f"not {encoding}: found bytes {bad_bytes} at byte {offset + error.start} of the file"
        return _Line(offset, raw.decode(encoding, "replace"), offset + len(raw), fault)


def _examine(file: BinaryIO, path: Path, setting: str) -> tuple[str, int, bytes]:
    """Returns the encoding, the offset of the text, and the bytes that end a line."""
    head = file.read(_HEAD)
    name = codecs.lookup(setting).name
    mark, marked = next(((mark, name) for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), (b"", ""))
    binary_format = next((description for magic, description in _BINARY_FORMATS if head.startswith(magic)), "")
    encoding = _WITHOUT_MARK.get(name, name)
    if marked and marked[:6] != encoding[:6]:
        family = marked if marked == "utf-8" else marked[:6]
        raise InputError(
            f'{path} begins with the byte order mark of {family}, not {setting}: set encoding = "{family}"'
        )
    wide = encoding.startswith(("utf-16", "utf-32"))
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if not binary_format and not wide and controls > max(16, len(head) // 20):
        binary_format = "binary, or text in another encoding such as utf-16"
    if binary_format:
        raise InputError(f"{path} is {binary_format}, not a table in {setting}: give a CSV file, or set its encoding")
    encoding = marked or encoding
    text = head[len(mark) :].decode(encoding, "replace")
    if not text.strip("\0\r\n\t ,;"):
        raise InputError(f"{path} is empty: give a table with a header row")
    ending = "\r" if "\r" in text and "\n" not in text else "\n"
    return encoding, len(mark), ending.encode(encoding)
