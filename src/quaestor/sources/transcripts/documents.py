"""Word documents: their paragraphs and tables, read without obeying anything that stands in them."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from xml.parsers import expat

from quaestor.base.errors import InputError
from quaestor.sources.transcripts.label_parts import is_name_like, is_plausible
from quaestor.sources.transcripts.labels import LONGEST, SURE, Opening, speakers_among
from quaestor.sources.transcripts.spoken_lines import Line, lines_with_openings
from quaestor.sources.transcripts.symbols import symbol
from quaestor.sources.transcripts.texts import lines_of
from quaestor.sources.transcripts.times import STAMP, stamp_seconds

_PART = "word/document.xml"
_WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_EQUATIONS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "http://purl.oclc.org/ooxml/officeDocument/math",
)
_BESIDE = {"word/footnotes.xml": "Footnote", "word/endnotes.xml": "Endnote", "word/comments.xml": "Comment"}
"""Parts in which nobody speaks."""
MOST_BYTES = 200_000_000
"""Of the text of a document when it is unpacked."""
_MOST_PARTS = 5_000
_CHUNK = 1 << 16
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_STAMP = re.compile(rf"\s*{STAMP}\s*")
_SPEAKER, _TIME, _COUNT = ("speaker", "name", "who"), ("time", "timestamp", "start", "end"), ("nr", "#")
_HEADER = frozenset((*_SPEAKER, *_TIME, *_COUNT, "text", "words", "content", "transcript"))
_ABOUT = re.compile(r"(?P<who>.{1,80}) (?:started|stopped) transcription")
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
    if space in _EQUATIONS:
        return local if local == "t" else ""
    return local if space in (_WORDS, _STRICT) or local == "Fallback" else ""


def _attribute(attributes: dict[str, str], name: str) -> str:
    return next((value for key, value in attributes.items() if key.rpartition(" ")[2] == name), "")


def document_lines(data: bytes, where: str, named: tuple[str, ...] = ()) -> tuple[list[Line], list[str]]:
    """The lines of a document and how each may begin, and what it says beside: the header of a table, notes."""
    lines: list[Line] = []
    beside: list[str] = []
    waiting: list[str] = []
    header: list[str] | None = None
    blocks, notes = _unpacked(data, where)
    for before, block in zip(["", *blocks], blocks, strict=False):
        if isinstance(block, str):
            waiting += lines_of(block)
            continue
        cells = [cell.strip() for cell in block]
        filled = [cell for cell in cells if cell]
        header = None if isinstance(before, str) else header
        if isinstance(before, str) and len(filled) > 1 and all(cell.lower() in _HEADER for cell in filled):
            header = [cell.lower() for cell in cells]
            beside.append(" | ".join(cells))
        elif len(filled) < 2 and not (filled and header and len(header) == len(cells)):
            waiting += [line for cell in filled for line in lines_of(cell)]
        else:
            lines += lines_with_openings(waiting, named)
            waiting = []
            lines.append(_row_under(header, cells) if header and len(header) == len(cells) else _row(filled))
    lines += lines_with_openings(waiting, named)
    about = _about(lines, named)
    beside += [line.text for place, line in enumerate(lines) if place in about]
    return [line for place, line in enumerate(lines) if place not in about], [*beside, *notes]


def _about(lines: list[Line], named: tuple[str, ...]) -> frozenset[int]:
    """Places of what Teams writes of itself, above the first who speaks and below the last; amid them it is said."""
    speakers = speakers_among([line.opening for line in lines], named)
    heads = [place for place, line in enumerate(lines) if speakers.open(line.opening)]
    if not heads:
        return frozenset()
    last = lines[heads[-1]].opening
    ended = heads[-1] if last and last.rest else heads[-1] + 1
    return frozenset(
        place
        for place, line in enumerate(lines)
        if (place < heads[0] or place > ended) and (found := _ABOUT.fullmatch(line.text)) and is_name_like(found["who"])
    )


def _row_under(header: list[str], cells: list[str]) -> Line:
    """A row of a table that says what its columns are: whatever stands in the column of speakers is one."""
    speaker = next((place for place, column in enumerate(header) if column in _SPEAKER), -1)
    label, start, said = "", None, list[str]()
    for place, (column, cell) in enumerate(zip(header, cells, strict=True)):
        if place == speaker:
            label = " ".join(cell.rstrip(":：").split())
        elif column in _TIME and _STAMP.fullmatch(cell):
            start = stamp_seconds(cell) if start is None else start
        elif cell and not (column in _COUNT and cell.isdecimal()):
            said.append(cell)
    words = "\n".join(said)
    return Line(words, Opening(label, words, start, SURE) if label else None, start)


def _row(cells: list[str]) -> Line:
    """A row with a speaker and words, with times before or between them or without."""
    times: list[str] = []
    while len(cells) > 1 and _STAMP.fullmatch(cells[0]):
        times.append(cells.pop(0))
    while len(cells) > 2 and _STAMP.fullmatch(cells[1]):
        times.append(cells.pop(1))
    text, start = "\n".join(cells), stamp_seconds(times[0]) if times else None
    label = " ".join(cells[0].rstrip(":：").split())
    called = is_plausible(label) or (times and len(label) <= LONGEST and "\n" not in cells[0])
    if len(cells) < 2 or not called:
        return Line(text, start=start)
    return Line(text, Opening(label, "\n".join(cells[1:]), start, SURE))


def _unpacked(data: bytes, where: str) -> tuple[list[str | list[str]], list[str]]:
    """What the document holds and its notes, unpacked in small pieces and up to a bound; nothing in it is obeyed."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.infolist()) > _MOST_PARTS:
                raise InputError(
                    f"{where} has {len(archive.infolist()):,} parts, as no transcript has: save it as text"
                )
            blocks, left = _read(archive, _PART, where, MOST_BYTES)
            notes: list[str] = []
            for part, kind in _BESIDE.items():
                if part in archive.namelist():
                    found, left = _read(archive, part, where, left)
                    texts = (" ".join(one.split()) for one in found if isinstance(one, str))
                    notes += [f"{kind}: {text}" for text in texts if text]
            return blocks, notes
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError, UnicodeError):
        raise InputError(
            f"{where} is not a sound Word document (old .doc, protected or damaged): save it as .docx or as text"
        ) from None
    except (expat.ExpatError, LookupError, ValueError):
        raise InputError(f"{where} has a text that is no sound XML: save it anew, or as text") from None


def _read(archive: zipfile.ZipFile, part: str, where: str, most: int) -> tuple[list[str | list[str]], int]:
    """The paragraphs and rows of a part, and how many bytes the others may have."""
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    parser.StartDoctypeDeclHandler = _refuse
    info = archive.getinfo(part)
    if info.compress_type not in _METHODS or info.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile
    with archive.open(info) as file:
        while chunk := file.read(_CHUNK):
            most -= len(chunk)
            if most < 0:
                raise InputError(f"{where} has over {MOST_BYTES:,} bytes when unpacked: save it as text")
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    return reader.blocks, most


def _refuse(*declaration: object) -> None:
    raise ValueError("a document declares nothing")
