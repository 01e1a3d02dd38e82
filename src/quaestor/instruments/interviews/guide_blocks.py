"""The lines of an interview guide, put together under their headings; what cannot be read is refused with its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from quaestor.base.errors import InputError
from quaestor.base.names import listed, nearest_first
from quaestor.instruments.interviews.records import ReferenceItem

LONGEST_ID = 60
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s+(.*))?")
_BOX = re.compile(r"\[[ xX]?\](?:\s+(.*))?")
_ID = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{LONGEST_ID - 1}}}")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_OTHER = "other"


@dataclass(frozen=True)
class Marks:
    """What stands in braces behind a heading: `#id`, `.word` and `key=value`."""

    id: str = ""
    words: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()

    def value(self, key: str) -> str:
        return dict(self.values).get(key, "")

    def only(self, words: Sequence[str], keys: Sequence[str], where: str) -> None:
        """Refuse what means nothing here."""
        for found, allowed in ((self.words, words), (tuple(key for key, _ in self.values), keys)):
            for one in found:
                if one not in allowed:
                    options = listed(nearest_first(one, allowed))
                    raise InputError(f"{where}: {one!r} means nothing here, allowed: {options}")


@dataclass
class Block:
    """A heading and what stands under it."""

    where: str
    depth: int
    words: list[str]
    """Its own, and those of lines that go on below it."""
    marks: Marks
    script: list[str] = field(default_factory=list)
    note: list[str] = field(default_factory=list)
    points: list[tuple[list[str], str]] = field(default_factory=list)
    """What is listed below it, each point line by line and with where it stands."""

    @property
    def title(self) -> str:
        return " ".join(self.words)

    @property
    def id(self) -> str:
        if not self.marks.id:
            words = f"{self.title[:40]!r} has no id: put one in braces behind it, as in {{#its-name}}"
            raise InputError(f"{self.where}: {words}")
        return self.marks.id

    def probes(self) -> tuple[str, ...]:
        points = (" ".join(words) for words, _ in self.points)
        return tuple(point for point in points if not _BOX.fullmatch(point))

    def items(self) -> tuple[tuple[ReferenceItem, ...], bool]:
        """Its reference items, and whether others may be added."""
        found, other = [], False
        for words, where in self.points:
            box = _BOX.fullmatch(" ".join(words))
            if not box:
                continue
            label, marks = marked(box[1] or "", where)
            if not label:
                raise InputError(f"{where}: an item to tick has no words: write them behind [ ], or delete the line")
            if label.rstrip(":_ …").casefold() == _OTHER and not marks.id:
                other = True
            else:
                marks.only((), (), where)
                found.append(ReferenceItem(marks.id or _slug(label), label))
        return tuple(found), other


def blocks_of(lines: Sequence[str], name: str, first: int) -> list[Block]:
    """All headings of a guide in their order; `first` is the number of the first line in its file."""
    blocks: list[Block] = []
    for number, line in enumerate(lines, start=first):
        where = f"{name}.md, line {number}"
        heading = _HEADING.fullmatch(line)
        if heading:
            title, marks = marked(heading[2] or "", where)
            if len(heading[1]) > 2 or not title:
                raise InputError(f"{where}: a section has one #, a question two, and both their words behind it")
            blocks.append(Block(where, len(heading[1]), [title], marks))
        elif blocks:
            _take(blocks[-1], line, where)
        elif line.strip():
            words = f"{line.strip()[:40]!r} stands before the first section: put it under one, as in # Title {{#id}}"
            raise InputError(f"{where}: {words}")
    return blocks


def _take(block: Block, line: str, where: str) -> None:
    """Put a line where it belongs under its heading."""
    text = line.strip()
    if text.startswith(">"):
        block.note.append(text.removeprefix(">").strip())
    elif block.depth == 1:
        block.script.append(line.rstrip())
    elif bullet := _BULLET.fullmatch(text):
        if not bullet[1]:
            raise InputError(f"{where}: a probe has no words: write them behind it, or delete the line")
        block.points.append(([bullet[1]], where))
    elif text and block.points:
        if not line[:1].isspace():
            raise InputError(f"{where}: {text[:40]!r} is no probe (- … or 1. …), item (- [ ] …) or note (> …)")
        block.points[-1][0].append(text)
    elif text:
        block.words.append(text)


def marked(text: str, where: str) -> tuple[str, Marks]:
    """Words and what stands in braces behind them."""
    text = text.strip()
    begin = text.rfind("{")
    if begin < 0 or not text.endswith("}") or "}" in text[begin:-1]:
        return text, Marks()
    return text[:begin].rstrip(), _marks(text[begin + 1 : -1], where)


def _marks(text: str, where: str) -> Marks:
    ids, words, values = [], [], {}
    for part in text.split():
        key, is_value, value = part.partition("=")
        if part.startswith("#"):
            ids.append(part[1:])
        elif part.startswith("."):
            words.append(part[1:])
        elif is_value and value:
            if key in values:
                raise InputError(f"{where}: {key}= stands there twice: say it once")
            values[key] = value
        else:
            raise InputError(f"{where}: {part[:40]!r} in braces is neither #id, .word nor key=value")
    if len(ids) > 1:
        raise InputError(f"{where}: there are two ids in braces: leave {listed(ids)}")
    if ids:
        known_id(ids[0], where)
    return Marks("".join(ids), tuple(words), tuple(values.items()))


def known_id(found: str, where: str) -> str:
    """An id that can be written down everywhere; another is refused."""
    if not _ID.fullmatch(found):
        words = f"may have small letters, digits, - and _ alone, at most {LONGEST_ID}"
        raise InputError(f"{where}: the id {found[: LONGEST_ID + 1]!r} {words}")
    return found


def refuse_unseen(text: str, where: str) -> None:
    """Refuse signs that steer a screen instead of standing on it."""
    found = _UNSEEN.search(text)
    if found:
        raise InputError(f"{where}: there is a sign that cannot be seen (U+{ord(found[0]):04X}): delete it")


def _slug(label: str) -> str:
    made = re.sub(r"[^a-z0-9]+", "-", label[: 10 * LONGEST_ID].casefold()).strip("-")
    return made[:LONGEST_ID].rstrip("-") or "item"
