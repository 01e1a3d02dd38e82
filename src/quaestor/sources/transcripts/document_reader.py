"""What stands in a part of a Word document: its paragraphs and the rows of its tables, up to a bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from quaestor.base.errors import InputError
from quaestor.sources.transcripts.symbols import symbol
from quaestor.sources.transcripts.texts import MOST_LINES, too_many_lines

_WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_EQUATIONS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "http://purl.oclc.org/ooxml/officeDocument/math",
)
MOST_ELEMENTS, MOST_LETTERS, DEEPEST = 1_000_000, 20_000_000, 100


@dataclass
class Allowance:
    """What a document may hold yet: a few bytes, packed, can be elements and lines for hours."""

    where: str = ""
    bytes: int = 0
    elements: int = MOST_ELEMENTS
    letters: int = MOST_LETTERS
    lines: int = MOST_LINES

    def take_element(self, depth: int) -> None:
        self.elements -= 1
        if self.elements < 0:
            raise InputError(f"{self.where} has over {MOST_ELEMENTS:,} elements, as no transcript has: save it as text")
        if depth > DEEPEST:
            raise InputError(f"{self.where} has over {DEEPEST} elements within each other: save it as text")

    def take_text(self, text: str) -> None:
        self.letters -= len(text)
        self.lines -= text.count("\n")
        if self.letters < 0:
            raise InputError(f"{self.where} has over {MOST_LETTERS:,} letters, as no transcript has")
        if self.lines < 0:
            raise too_many_lines(self.where)


@dataclass
class DocumentReader:
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
                self.put(symbol(*(_attribute(attributes, one) for one in ("font", "char"))))
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
        """A text box or a table within a paragraph parts the words before it from its own."""
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
    """The name of an element of the document's own kind; of any other, nothing."""
    space, _, local = name.rpartition(" ")
    if space in _EQUATIONS:
        return local if local == "t" else ""
    return local if space in (_WORDS, _STRICT) or local == "Fallback" else ""


def _attribute(attributes: dict[str, str], name: str) -> str:
    return next((value for key, value in attributes.items() if key.rpartition(" ")[2] == name), "")
