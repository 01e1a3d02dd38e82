"""Reads the parts of a Word document in small pieces, without executing anything in them."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from functools import lru_cache
from posixpath import normpath
from xml.parsers import expat

from quaestor.base.errors import InputError
from quaestor.interviews.transcript_formats.text_decoding import MOST_LINES, build_too_long_error

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_GREEK = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SIGNS = {0xA3: "≤", 0xB3: "≥", 0xB1: "±", 0xB4: "×", 0xB9: "≠", 0xBB: "≈", 0xA5: "∞", 0xAC: "←", 0xAE: "→", 0xD7: "⋅"}
_DRAWN = {0x4A: "☺", 0x4B: "😐", 0x4C: "☹", 0xDF: "←", 0xE0: "→", 0xFB: "✗", 0xFC: "✓"}
_SHOWN = {
    "symbol": {**{ord(letter): greek for letter, greek in zip(_LETTERS, _GREEK, strict=True)}, **_SIGNS},
    "wingdings": _DRAWN,
}
_PLACES = range(0xF000, 0xF100)
"""The range to which Word maps the characters of symbol fonts."""


def decode_symbol(font: str, char: str) -> str:
    """Returns the character of a symbol; for an unknown font the character as written, empty if there is none."""
    try:
        code = int(char, 16)
        character = chr(code)
    except (ValueError, OverflowError):
        return ""
    place = code - _PLACES.start if code in _PLACES else code
    known = _SHOWN.get(font.strip().lower(), {}).get(place, character)
    return known if known.isprintable() or code in _PLACES else ""


_WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_EQUATIONS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "http://purl.oclc.org/ooxml/officeDocument/math",
)
MOST_ELEMENTS, MOST_LETTERS, DEEPEST = 1_000_000, 20_000_000, 100


@dataclass
class Allowance:
    """The remaining limits for a document: a few compressed bytes can expand to hours of parsing."""

    where: str = ""
    bytes: int = 0
    elements: int = MOST_ELEMENTS
    letters: int = MOST_LETTERS
    lines: int = MOST_LINES

    def take_element(self, depth: int) -> None:
        self.elements -= 1
        if self.elements < 0:
            raise InputError(f"{self.where} has over {MOST_ELEMENTS:,} elements, too many to read: save it as text")
        if depth > DEEPEST:
            raise InputError(f"{self.where} has over {DEEPEST} nested elements: save it as text")

    def take_text(self, text: str) -> None:
        self.letters -= len(text)
        self.lines -= text.count("\n")
        if self.letters < 0:
            raise InputError(f"{self.where} has over {MOST_LETTERS:,} letters: check that it is a transcript")
        if self.lines < 0:
            raise build_too_long_error(self.where)


@dataclass
class DocumentReader:
    """Collects the lines of a document, and the rows of tables as lists of cells."""

    blocks: list[str | list[str]] = field(default_factory=list)
    """A paragraph, or the cells of a row."""
    text: list[str] = field(default_factory=list)
    row: list[str] | None = None
    cell: list[str] = field(default_factory=list)
    tables: int = 0
    hidden: int = 0
    in_text: bool = False
    in_deleted: int = 0
    allowed: Allowance = field(default_factory=Allowance)
    depth: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        self.allowed.take_element(self.depth)
        match _local(name):
            case "Fallback":
                self.hidden += 1
            case "del" | "moveFrom":
                self.in_deleted += 1
            case "t":
                self.in_text = not (self.hidden or self.in_deleted)
            case "tab" | "ptab":
                self.put("\t")
            case "br" | "cr":
                self.put("\n")
            case "sym":
                self.put(decode_symbol(*(_attribute(attributes, attribute) for attribute in ("font", "char"))))
            case "noBreakHyphen":
                self.put("\N{NON-BREAKING HYPHEN}")
            case "p":
                self.part()
            case "tbl":
                self.part()
                self.tables += 1
            case "tr" if self.tables == 1:
                self.row = []

    def put(self, text: str) -> None:
        if not (self.hidden or self.in_deleted):
            self.allowed.take_text(text)
            self.text.append(text)

    def data(self, text: str) -> None:
        if self.in_text:
            self.allowed.take_text(text)
            self.text.append(text)

    def end(self, name: str) -> None:
        self.depth -= 1
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

    def part(self) -> None:
        """Ends the current paragraph before a text box or table within it."""
        if self.text:
            self.paragraph()

    def paragraph(self) -> None:
        text, self.text = "".join(self.text), []
        self.allowed.take_text("\n")
        if self.tables:
            self.cell.append(text)
        else:
            self.blocks.append(text)


@lru_cache(maxsize=256)
def _local(name: str) -> str:
    """Returns the local name of an element of the document's namespaces; empty for any other."""
    space, _, local = name.rpartition(" ")
    if space in _EQUATIONS:
        return local if local == "t" else ""
    return local if space in (_WORDS, _STRICT) or local == "Fallback" else ""


def _attribute(attributes: dict[str, str], name: str) -> str:
    return next((value for key, value in attributes.items() if key.rpartition(" ")[2] == name), "")


_PART, _RELATIONS = "word/document.xml", "_rels/.rels"
_MAIN = "/officeDocument"
"""The end of the relation type that leads to the main part."""
_BESIDE = {
    "footnotes": "Footnote",
    "endnotes": "Endnote",
    "comments": "Comment",
    "header": "Header",
    "footer": "Footer",
}
"""Parts that are not speech."""
_PART_NAME = re.compile(r"(?P<kind>[a-z]+)\d*\.xml")
MOST_BYTES = 200_000_000
"""Most bytes of a document's unpacked text."""
_MOST_PARTS = 5_000
_CHUNK = 1 << 16
_LONGEST_TAG = 16 * _CHUNK
"""Most bytes of a tag: the parser rescans an incomplete tag with each piece."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1


def unpack_document(data: bytes, where: str) -> tuple[list[str | list[str]], list[str]]:
    """Returns the blocks and notes of a document, unpacked in small pieces up to a limit."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.infolist()) > _MOST_PARTS:
                raise InputError(
                    f"{where} has {len(archive.infolist()):,} parts, too many for a transcript: save it as text"
                )
            allowed = Allowance(where, bytes=MOST_BYTES)
            main = _find_main_part(archive, allowed)
            blocks = _read_blocks(archive, main, allowed)
            return blocks, _read_notes(archive, main.rpartition("/")[0], allowed)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError, UnicodeError):
        raise InputError(
            f"{where} is not a valid Word document (old .doc, protected or damaged): save it as .docx or as text"
        ) from None
    except (expat.ExpatError, LookupError, ValueError):
        raise InputError(f"{where} contains invalid XML: save it again, or as text") from None


def _find_main_part(archive: zipfile.ZipFile, allowed: Allowance) -> str:
    """Returns the main part to which the package's relations lead, usually `word/document.xml`."""
    parts = [_PART]

    def start(name: str, attributes: dict[str, str]) -> None:
        allowed.take_element(1)
        if name.endswith(" Relationship") and attributes.get("Type", "").endswith(_MAIN):
            parts.append(normpath(attributes.get("Target", "")).lstrip("/"))

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    if _RELATIONS in archive.namelist():
        _parse(archive, _RELATIONS, parser, allowed)
    return next(part for part in (*reversed(parts), _PART) if part == _PART or part in archive.namelist())


def _read_notes(archive: zipfile.ZipFile, folder: str, allowed: Allowance) -> list[str]:
    """Returns the notes of a document, each once: headers are repeated for every kind of page."""
    notes: dict[str, list[str]] = {kind: [] for kind in _BESIDE}
    for part in sorted(archive.namelist()):
        place, _, name = part.rpartition("/")
        named = _PART_NAME.fullmatch(name)
        if place != folder or named is None or named["kind"] not in _BESIDE:
            continue
        for block in _read_blocks(archive, part, allowed):
            words = " | ".join(" ".join(cell.split()) for cell in ([block] if isinstance(block, str) else block))
            notes[named["kind"]] += [f"{_BESIDE[named['kind']]}: {words}"] if words.strip(" |") else []
    left_out = [note for kind in ("footnotes", "endnotes", "comments") for note in notes[kind]]
    return [*left_out, *dict.fromkeys([*notes["header"], *notes["footer"]])]


def _read_blocks(archive: zipfile.ZipFile, part: str, allowed: Allowance) -> list[str | list[str]]:
    """Returns the paragraphs and rows of a part."""
    reader = DocumentReader(allowed=allowed)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    _parse(archive, part, parser, allowed)
    return reader.blocks


def _parse(archive: zipfile.ZipFile, part: str, parser: expat.XMLParserType, allowed: Allowance) -> None:
    parser.StartDoctypeDeclHandler = _refuse
    info = archive.getinfo(part)
    if info.compress_type not in _METHODS or info.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile
    size = 0
    with archive.open(info) as file:
        while chunk := file.read(_CHUNK):
            size += len(chunk)
            allowed.bytes -= len(chunk)
            if allowed.bytes < 0:
                raise InputError(f"{allowed.where} has over {MOST_BYTES:,} bytes when unpacked: save it as text")
            parser.Parse(chunk, False)
            if size - parser.CurrentByteIndex > _LONGEST_TAG:
                raise ValueError("a tag without an end")
        parser.Parse(b"", True)


def _refuse(*declaration: object) -> None:
    raise ValueError("a document declares nothing")
