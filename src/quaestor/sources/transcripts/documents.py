"""Word documents: their paragraphs and tables, read without obeying anything that stands in them."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from quaestor.base.errors import InputError
from quaestor.sources.transcripts.labels import SURE, Opening, is_plausible
from quaestor.sources.transcripts.spoken_lines import Line, lines_with_openings
from quaestor.sources.transcripts.symbols import symbol
from quaestor.sources.transcripts.texts import lines_of
from quaestor.sources.transcripts.times import STAMP, stamp_seconds

_PART = "word/document.xml"
_WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
MOST_BYTES = 200_000_000
"""Of the text of a document when it is unpacked."""
_MOST_PARTS = 5_000
_CHUNK = 1 << 16
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_STAMP = re.compile(rf"\s*{STAMP}\s*")
_HEADER = frozenset(re.findall(r"\S+", "time timestamp start end speaker name who text words content transcript nr #"))
_ABOUT = re.compile(r".{1,80} (?:started|stopped) transcription")
"""What Teams writes of itself."""


@dataclass
class _Reader:
    """Follows the elements of a document and keeps its lines; a table's rows as cells of lines."""

    blocks: list[str | list[str]] = field(default_factory=list)
    """A paragraph, or the cells of a row."""
    text: list[str] = field(default_factory=list)
    row: list[str] | None = None
    cell: list[str] = field(default_factory=list)
    tables: int = 0
    hidden: int = 0
    in_text: bool = False
    in_deleted: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        match _local(name):
            case "Fallback":
                self.hidden += 1
            case "del" | "moveFrom":
                self.in_deleted += 1
            case "t":
                self.in_text = not (self.hidden or self.in_deleted)
            case "tab":
                self.put("\t")
            case "br" | "cr":
                self.put("\n")
            case "sym":
                self.put(symbol(*(_attribute(attributes, one) for one in ("font", "char"))))
            case "noBreakHyphen":
                self.put("\N{NON-BREAKING HYPHEN}")
            case "tbl":
                self.tables += 1
            case "tr" if self.tables == 1:
                self.row = []

    def put(self, text: str) -> None:
        if not (self.hidden or self.in_deleted):
            self.text.append(text)

    def data(self, text: str) -> None:
        if self.in_text:
            self.text.append(text)

    def end(self, name: str) -> None:
        match _local(name):
            case "Fallback":
                self.hidden -= 1
            case "del" | "moveFrom":
                self.in_deleted -= 1
            case "t":
                self.in_text = False
            case "p":
                self.paragraph()
            case "tc" if self.tables == 1 and self.row is not None:
                self.row.append("\n".join(self.cell))
                self.cell = []
            case "tr" if self.tables == 1 and self.row is not None:
                self.blocks.append(self.row)
                self.row = None
            case "tbl":
                self.tables -= 1

    def paragraph(self) -> None:
        text, self.text = "".join(self.text), []
        if self.tables:
            self.cell.append(text)
        else:
            self.blocks.append(text)


def _local(name: str) -> str:
    """The name of an element of the document's own kind; of any other, nothing."""
    space, _, local = name.rpartition(" ")
    return local if space in (_WORDS, _STRICT) or local == "Fallback" else ""


def _attribute(attributes: dict[str, str], name: str) -> str:
    return next((value for key, value in attributes.items() if key.rpartition(" ")[2] == name), "")


def document_lines(data: bytes, where: str) -> tuple[list[Line], list[str]]:
    """The lines of a document and how each may begin, and the header of its table where it has one."""
    lines: list[Line] = []
    beside: list[str] = []
    waiting: list[str] = []
    in_table = False
    for block in _blocks(data, where):
        first, in_table = not in_table, not isinstance(block, str)
        if isinstance(block, str):
            written = lines_of(block)
            beside += [line for line in written if _ABOUT.fullmatch(line.strip())]
            waiting += [line for line in written if not _ABOUT.fullmatch(line.strip())]
            continue
        cells = [cell.strip() for cell in block]
        filled = [cell for cell in cells if cell]
        if first and len(filled) > 1 and all(cell.lower() in _HEADER for cell in filled):
            beside.append(" | ".join(cells))
        elif len(filled) < 2:
            waiting += [line for cell in filled for line in lines_of(cell)]
        else:
            lines += lines_with_openings(waiting)
            waiting = []
            lines.append(_row(filled))
    return [*lines, *lines_with_openings(waiting)], beside


def _row(cells: list[str]) -> Line:
    """A row with a speaker and words, with times before or between them or without."""
    times: list[str] = []
    while len(cells) > 1 and _STAMP.fullmatch(cells[0]):
        times.append(cells.pop(0))
    while len(cells) > 2 and _STAMP.fullmatch(cells[1]):
        times.append(cells.pop(1))
    text, start = "\n".join(cells), stamp_seconds(times[0]) if times else None
    label = cells[0].rstrip(":").rstrip()
    if len(cells) < 2 or not is_plausible(label):
        return Line(text, start=start)
    return Line(text, Opening(label, "\n".join(cells[1:]), start, SURE))


def _blocks(data: bytes, where: str) -> Iterator[str | list[str]]:
    """What the document holds, unpacked in small pieces and up to a bound; declarations are not obeyed."""
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    parser.StartDoctypeDeclHandler = _refuse
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.infolist()) > _MOST_PARTS:
                raise InputError(
                    f"{where} has {len(archive.infolist()):,} parts, as no transcript has: save it as text"
                )
            info = archive.getinfo(_PART)
            if info.compress_type not in _METHODS or info.flag_bits & _ENCRYPTED:
                raise zipfile.BadZipFile
            size = 0
            with archive.open(info) as file:
                while chunk := file.read(_CHUNK):
                    size += len(chunk)
                    if size > MOST_BYTES:
                        raise InputError(f"{where} has over {MOST_BYTES:,} bytes when unpacked: save it as text")
                    parser.Parse(chunk, False)
                parser.Parse(b"", True)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError, UnicodeError):
        raise InputError(
            f"{where} is not a sound Word document (old .doc, protected or damaged): save it as .docx or as text"
        ) from None
    except (expat.ExpatError, LookupError, ValueError):
        raise InputError(f"{where} has a text that is no sound XML: save it anew, or as text") from None
    yield from reader.blocks


def _refuse(*declaration: object) -> None:
    raise ValueError("a document declares nothing")
