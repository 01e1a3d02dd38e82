"""Reads an interview guide: Markdown with front matter in TOML.

+++
title = "…"
minutes = 30
agreement = "agreement.md"
[research]
practice = "What do developers do …?"
+++
# Practice {#practice minutes=6}
Said before the questions.
> For the interviewer.
## Which factors do you weigh? {#factors .reference .optional research=practice}
> For the interviewer.
- A probe.
- [ ] Size of the data {#data}
- [ ] other
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or, suggest
from quaestor.interviews.model.records import Asks, Guide, GuideQuestion, GuideSection, ReferenceItem

LONGEST_ID = 60
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s+(.*))?")
_BOX = re.compile(r"\[[ xX]?\](?:\s+(.*))?")
_ID = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{LONGEST_ID - 1}}}")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_OTHER = "other"


@dataclass(frozen=True)
class Attributes:
    """Attributes in braces after a heading: `#id`, `.word` and `key=value`."""

    id: str = ""
    words: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()

    def value(self, key: str) -> str:
        return dict(self.values).get(key, "")

    def only(self, words: Sequence[str], keys: Sequence[str], where: str) -> None:
        """Raises InputError for attributes that are not allowed here."""
        for names, allowed in ((self.words, words), (tuple(key for key, _ in self.values), keys)):
            for name in names:
                if name not in allowed:
                    options = suggest(name, allowed)
                    raise InputError(f"{where}: {name!r} is not allowed here; choose from: {options}")


@dataclass
class Block:
    """A heading and everything below it."""

    where: str
    depth: int
    words: list[str]
    """The heading and the lines that continue it."""
    marks: Attributes
    script: list[str] = field(default_factory=list)
    note: list[str] = field(default_factory=list)
    points: list[tuple[list[str], str]] = field(default_factory=list)
    """The list below it: the lines of each point, and its location."""

    @property
    def title(self) -> str:
        return " ".join(self.words)

    @property
    def id(self) -> str:
        if not self.marks.id:
            words = f"{self.title[:40]!r} has no id: put one in braces after it, as in {{#its-name}}"
            raise InputError(f"{self.where}: {words}")
        return self.marks.id

    def probes(self) -> tuple[str, ...]:
        points = (" ".join(words) for words, _ in self.points)
        return tuple(point for point in points if not _BOX.fullmatch(point))

    def items(self) -> tuple[tuple[ReferenceItem, ...], bool]:
        """Returns its reference items, and whether others may be added."""
        items, other = [], False
        for words, where in self.points:
            box = _BOX.fullmatch(" ".join(words))
            if not box:
                continue
            label, marks = split_attributes(box[1] or "", where)
            if not label:
                raise InputError(f"{where}: an item to tick has no text: write it after [ ], or delete the line")
            if label.rstrip(":_ …").casefold() == _OTHER and not marks.id:
                other = True
            else:
                marks.only((), (), where)
                items.append(ReferenceItem(marks.id or _slug(label), label))
        return tuple(items), other


def split_blocks(lines: Sequence[str], name: str, first: int) -> list[Block]:
    """Returns all headings of a guide in order; `first` is the number of the first line in its file."""
    blocks: list[Block] = []
    for number, line in enumerate(lines, start=first):
        where = f"{name}.md, line {number}"
        heading = _HEADING.fullmatch(line)
        if heading:
            title, marks = split_attributes(heading[2] or "", where)
            if len(heading[1]) > 2 or not title:
                raise InputError(f"{where}: write a section as # Title and a question as ## Question?")
            blocks.append(Block(where, len(heading[1]), [title], marks))
        elif blocks:
            _add_line(blocks[-1], line, where)
        elif line.strip():
            words = f"{line.strip()[:40]!r} is before the first section: move it below one, as in # Title {{#id}}"
            raise InputError(f"{where}: {words}")
    return blocks


def _add_line(block: Block, line: str, where: str) -> None:
    """Adds a line to its heading."""
    text = line.strip()
    if text.startswith(">"):
        block.note.append(text.removeprefix(">").strip())
    elif block.depth == 1:
        block.script.append(line.rstrip())
    elif bullet := _BULLET.fullmatch(text):
        if not bullet[1]:
            raise InputError(f"{where}: a probe has no text: write it after the bullet, or delete the line")
        block.points.append(([bullet[1]], where))
    elif text and block.points:
        if not line[:1].isspace():
            raise InputError(f"{where}: {text[:40]!r} is not a probe (- … or 1. …), item (- [ ] …) or note (> …)")
        block.points[-1][0].append(text)
    elif text:
        block.words.append(text)


def split_attributes(text: str, where: str) -> tuple[str, Attributes]:
    """Splits a text into its words and the attributes in braces after them."""
    text = text.strip()
    begin = text.rfind("{")
    if begin < 0 or not text.endswith("}") or "}" in text[begin:-1]:
        return text, Attributes()
    return text[:begin].rstrip(), _parse_attributes(text[begin + 1 : -1], where)


def _parse_attributes(text: str, where: str) -> Attributes:
    ids, words, values = [], [], {}
    for part in text.split():
        key, is_value, value = part.partition("=")
        if part.startswith("#"):
            ids.append(part[1:])
        elif part.startswith("."):
            words.append(part[1:])
        elif is_value and value:
            if key in values:
                raise InputError(f"{where}: {key}= is given twice: keep one")
            values[key] = value
        else:
            raise InputError(f"{where}: {part[:40]!r} in braces is not #id, .word or key=value")
    if len(ids) > 1:
        raise InputError(f"{where}: there are two ids in braces: keep {join_with_or(ids)}")
    if ids:
        require_id(ids[0], where)
    return Attributes("".join(ids), tuple(words), tuple(values.items()))


def require_id(id_text: str, where: str) -> str:
    """Returns a valid id; raises InputError for another one."""
    if not _ID.fullmatch(id_text):
        words = f"may only contain lowercase letters, digits, - and _, at most {LONGEST_ID} of them"
        raise InputError(f"{where}: the id {id_text[: LONGEST_ID + 1]!r} {words}")
    return id_text


def refuse_control_characters(text: str, where: str) -> None:
    """Raises InputError for control characters."""
    match = _UNSEEN.search(text)
    if match:
        raise InputError(f"{where}: there is an invisible character (U+{ord(match[0]):04X}): delete it")


def _slug(label: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", label[: 10 * LONGEST_ID].casefold()).strip("-")
    return slug[:LONGEST_ID].rstrip("-") or "item"


LONGEST = 1_000_000
"""Most characters of a guide."""
FENCE = "+++"
KEYS = ("title", "minutes", "agreement", "language", "research")
"""Keys of the front matter."""
PARTS = ("opening", "closing")
"""Attributes of the sections that are said first and last."""
OPTIONAL = "optional"
_A_DAY = 24 * 60


def read_guide_text(path: Path) -> str:
    """Reads the file of a guide, for `guide_from`."""
    try:
        with path.open("rb") as file:
            content = file.read(4 * LONGEST + 4)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a UTF-8 text: save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): name the file of a guide") from None


def parse_guide(text: str, name: str) -> Guide:
    """Parses a guide; raises InputError with the line that cannot be read."""
    if len(text) > LONGEST:
        raise InputError(f"{name}.md has more than {LONGEST:,} characters: shorten it")
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, start=1):
        refuse_control_characters(line, f"{name}.md, line {number}")
    close = _find_front_end(lines, name)
    front = _parse_front(lines[1:close], name)
    minutes = front.get("minutes")
    if not isinstance(minutes, int | float) or isinstance(minutes, bool) or not 0 < minutes < _A_DAY:
        mistake = "is missing" if minutes is None else f"is {str(minutes)[:40]}"
        raise InputError(f"{name}.md: minutes {mistake}: give the length of an interview, as in minutes = 30")
    return Guide(
        name,
        " ".join(_read_text(front, "title", name).split()) or name,
        float(minutes),
        _build_sections(split_blocks(lines[close + 1 :], name, close + 2), name),
        _read_text(front, "agreement", name),
        _parse_research(front.get("research", {}), name),
        _read_text(front, "language", name) or "en",
    )


def _find_front_end(lines: Sequence[str], name: str) -> int:
    if lines[0].strip() != FENCE:
        words = f"write title and minutes between two lines of {FENCE} at the top"
        raise InputError(f"{name}.md does not begin with {FENCE}: {words}")
    close = next((place for place, line in enumerate(lines[1:], start=1) if line.strip() == FENCE), None)
    if close is None:
        raise InputError(f"{name}.md: the {FENCE} of line 1 is never closed: add a second one below the front matter")
    return close


def _parse_front(lines: Sequence[str], name: str) -> dict[str, Any]:
    try:
        front = tomllib.loads("\n".join(["", *lines, ""]))  # the first empty line keeps line numbers as in the file
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{name}.md: the front matter is not valid TOML: {str(error)[:200]}") from None
    for key in front:
        if key not in KEYS:
            options = suggest(key, KEYS)
            raise InputError(f"{name}.md: {key[:40]!r} is not a key of the front matter; choose from: {options}")
    return front


def _read_text(front: dict[str, Any], key: str, name: str) -> str:
    value = front.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{name}.md: {key} is {str(value)[:40]}: write a text in quotes")
    refuse_control_characters(value, f"{name}.md, {key}")
    return value.strip()


def _parse_research(table: object, name: str) -> dict[str, str]:
    if not isinstance(table, dict) or not all(isinstance(text, str) and text.strip() for text in table.values()):
        raise InputError(f'{name}.md: [research] is not a table of texts: write each research question as id = "text"')
    for key, words in table.items():
        require_id(key, f"{name}.md, [research]")
        refuse_control_characters(words, f"{name}.md, research.{key}")
    return {key: words.strip() for key, words in table.items()}


def _build_sections(blocks: Sequence[Block], name: str) -> tuple[GuideSection, ...]:
    sections: list[tuple[Block, list[GuideQuestion]]] = []
    for block in blocks:
        if block.depth == 1:
            sections.append((block, []))
        elif sections:
            sections[-1][1].append(_build_question(block))
        else:
            raise InputError(f"{block.where}: a question is before the first section: put # Title {{#id}} above it")
    if not sections:
        raise InputError(f"{name}.md has no section: write one as # Title {{#id minutes=5}}")
    return tuple(_build_section(block, questions) for block, questions in sections)


def _build_section(block: Block, questions: Sequence[GuideQuestion]) -> GuideSection:
    block.marks.only(PARTS, ("minutes",), block.where)
    parts = [part for part in PARTS if part in block.marks.words]
    if len(parts) > 1:
        raise InputError(f"{block.where}: a section is said first or last, not both: keep .opening or .closing")
    try:
        minutes = float(block.marks.value("minutes") or 0)
    except ValueError:
        minutes = -1.0
    if not 0 <= minutes < _A_DAY:
        raise InputError(f"{block.where}: give the length of {block.title[:40]!r}, as in {{#id minutes=5}}")
    script, note = "\n".join(block.script).strip("\n"), "\n".join(block.note).strip()
    return GuideSection(block.id, block.title, minutes, tuple(questions), script, note, "".join(parts))


def _build_question(block: Block) -> GuideQuestion:
    block.marks.only((*Asks, OPTIONAL), ("research",), block.where)
    kinds = [Ask for Ask in Asks if Ask in block.marks.words]
    if len(kinds) > 1:
        raise InputError(f"{block.where}: a question can be asked in only one way: keep {join_with_or(kinds)}")
    items, other = block.items()
    asks = kinds[0] if kinds else Asks.REFERENCE if items or other else Asks.OPEN
    if asks is not Asks.REFERENCE and (items or other):
        raise InputError(f"{block.where}: items to tick (- [ ] …) need .reference instead of .{asks}: change one")
    research = dict.fromkeys(key for key in block.marks.value("research").split(",") if key)
    note = "\n".join(block.note).strip()
    optional = OPTIONAL in block.marks.words
    return GuideQuestion(block.id, block.title, asks, optional, block.probes(), note, items, other, tuple(research))
