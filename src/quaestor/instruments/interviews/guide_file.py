"""An interview guide as a file: Markdown with a little front matter in TOML.

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
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import listed, nearest_first
from quaestor.instruments.interviews.records import Asks, Guide, GuideQuestion, ReferenceItem, Section

LONGEST = 1_000_000
"""Characters of a guide; nobody speaks for that long."""
_FENCE = "+++"
_KEYS = ("title", "minutes", "agreement", "language", "research")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*(?:\{([^{}]*)\})?\s*#*\s*$")
_ITEM = re.compile(r"[-*+]\s+\[[ xX]?\]\s+(.*?)\s*(?:\{([^{}]*)\})?\s*$")
_PROBE = re.compile(r"[-*+]\s+(.+?)\s*$")
_ID = re.compile(r"[a-z0-9][a-z0-9_-]*")
_PARTS = ("opening", "closing")
_OTHER = "other"


@dataclass(frozen=True)
class _Line:
    """A line of the file and its number there."""

    number: int
    text: str


@dataclass
class _Block:
    """What stands under one heading."""

    line: _Line
    depth: int
    title: str
    marks: Marks
    script: list[str] = field(default_factory=list)
    note: list[str] = field(default_factory=list)
    probes: list[str] = field(default_factory=list)
    items: list[ReferenceItem] = field(default_factory=list)
    other: bool = False


@dataclass(frozen=True)
class Marks:
    """What stands in braces behind a heading: `#id`, `.word` and `key=value`."""

    id: str = ""
    words: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()

    def value(self, key: str) -> str:
        return dict(self.values).get(key, "")


def guide_from(text: str, name: str) -> Guide:
    """The guide that a text says; raises InputError with the line of what cannot be read."""
    if len(text) > LONGEST:
        raise InputError(f"{name}.md has {len(text):,} characters: a guide has at most {LONGEST:,}")
    front, body = _parted(text, name)
    minutes = front.get("minutes")
    if not isinstance(minutes, int | float) or isinstance(minutes, bool) or not 0 < minutes < 24 * 60:
        raise InputError(f"{name}.md: minutes is {minutes!r}: say how long an interview takes, as in minutes = 30")
    research = front.get("research", {})
    if not isinstance(research, dict) or not all(isinstance(one, str) for one in research.values()):
        raise InputError(f'{name}.md: [research] holds the research questions, each as id = "its text"')
    return Guide(
        name,
        _text_of(front, "title", name) or name,
        float(minutes),
        _sections(_blocks(body, name), name),
        _text_of(front, "agreement", name),
        research,
        _text_of(front, "language", name) or "en",
    )


def _parted(text: str, name: str) -> tuple[dict[str, Any], list[_Line]]:
    lines = [_Line(number, line) for number, line in enumerate(text.splitlines(), start=1)]
    if not lines or lines[0].text.strip() != _FENCE:
        raise InputError(
            f"{name}.md does not begin with {_FENCE}: a guide begins with title and minutes between two of them"
        )
    close = next((place for place, line in enumerate(lines[1:], start=1) if line.text.strip() == _FENCE), None)
    if close is None:
        raise InputError(f"{name}.md: the {_FENCE} of line 1 is never closed: put a second one under the front matter")
    try:
        front = tomllib.loads("\n".join(line.text for line in lines[1:close]))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}.md: the front matter is no TOML: {error} (counted from line 2)") from None
    for key in front:
        if key not in _KEYS:
            raise InputError(
                f"{name}.md: {key!r} is no key of the front matter, allowed: {listed(nearest_first(key, _KEYS))}"
            )
    return front, lines[close + 1 :]


def _text_of(front: dict[str, Any], key: str, name: str) -> str:
    value = front.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{name}.md: {key} is {value!r}: a text is needed")
    return value.strip()


def _blocks(lines: Sequence[_Line], name: str) -> list[_Block]:
    blocks: list[_Block] = []
    for line in lines:
        heading = _HEADING.match(line.text)
        if heading:
            depth = len(heading[1])
            if depth > 2 or not heading[2]:
                raise InputError(
                    f"{name}.md, line {line.number}: a section has one #, a question two, and both their words"
                )
            blocks.append(_Block(line, depth, heading[2], _marks(heading[3] or "", line, name)))
        elif blocks:
            _take(blocks[-1], line, name)
        elif line.text.strip():
            raise InputError(
                f"{name}.md, line {line.number}: {line.text.strip()[:40]!r} stands before the first section"
            )
    return blocks


def _take(block: _Block, line: _Line, name: str) -> None:
    """Put a line where it belongs under its heading."""
    text = line.text.strip()
    item, probe = _ITEM.match(text), _PROBE.match(text)
    if text.startswith(">"):
        block.note.append(text.removeprefix(">").strip())
    elif block.depth == 2 and item:
        if item[1].rstrip(":_ …").casefold() == _OTHER and not item[2]:
            block.other = True
            return
        marks = _marks(item[2] or "", line, name)
        block.items.append(ReferenceItem(marks.id or _slug(item[1]), item[1]))
    elif block.depth == 2 and probe:
        block.probes.append(probe[1])
    elif block.depth == 2 and text:
        if block.items or block.probes:
            raise InputError(
                f"{name}.md, line {line.number}: {text[:40]!r} is no probe (- …), item (- [ ] …) or note (> …)"
            )
        block.title = f"{block.title} {text}"
    elif block.depth == 1:
        block.script.append(line.text.rstrip())


def _marks(text: str, line: _Line, name: str) -> Marks:
    found, words, values = "", [], []
    for part in text.split():
        key, is_value, value = part.partition("=")
        if part.startswith("#"):
            found = part[1:]
        elif part.startswith("."):
            words.append(part[1:])
        elif is_value and value:
            values.append((key, value))
        else:
            raise InputError(f"{name}.md, line {line.number}: {part!r} in braces is neither #id, .word nor key=value")
    if found and not _ID.fullmatch(found):
        raise InputError(
            f"{name}.md, line {line.number}: the id {found!r} may have small letters, digits, - and _ alone"
        )
    return Marks(found, tuple(words), tuple(values))


def _sections(blocks: Sequence[_Block], name: str) -> tuple[Section, ...]:
    sections: list[Section] = []
    questions: list[GuideQuestion] = []
    above: _Block | None = None
    for block in blocks:
        if block.depth == 2:
            if above is None:
                raise InputError(f"{name}.md, line {block.line.number}: a question stands before the first section")
            questions.append(_question(block, name))
            continue
        if above is not None:
            sections.append(_section(above, questions, name))
        above, questions = block, []
    if above is None:
        raise InputError(f"{name}.md has no section: write one as # Title {{#id minutes=5}}")
    return (*sections, _section(above, questions, name))


def _section(block: _Block, questions: Sequence[GuideQuestion], name: str) -> Section:
    where = f"{name}.md, line {block.line.number}"
    _known(block, _PARTS, ("minutes",), where)
    try:
        minutes = float(block.marks.value("minutes"))
    except ValueError:
        minutes = -1.0
    if not 0 <= minutes < 24 * 60:
        raise InputError(f"{where}: say how long the section {block.title!r} takes, as in {{#id minutes=5}}")
    part = next((one for one in _PARTS if one in block.marks.words), "")
    script, note = "\n".join(block.script).strip(), "\n".join(block.note).strip()
    return Section(_id(block, where), block.title, minutes, tuple(questions), script, note, part)


def _question(block: _Block, name: str) -> GuideQuestion:
    where = f"{name}.md, line {block.line.number}"
    _known(block, (*Asks, "optional"), ("research",), where)
    kinds = [one for one in Asks if one in block.marks.words]
    if len(kinds) > 1:
        raise InputError(f"{where}: a question is asked in one way, not as {listed(kinds)}")
    asks = kinds[0] if kinds else Asks.REFERENCE if block.items else Asks.OPEN
    if (asks is Asks.REFERENCE) != bool(block.items or block.other):
        raise InputError(f"{where}: reference items (- [ ] …) go with .reference, and it with them")
    research = tuple(one for one in block.marks.value("research").split(",") if one)
    return GuideQuestion(
        _id(block, where),
        block.title,
        asks,
        "optional" in block.marks.words,
        tuple(block.probes),
        "\n".join(block.note).strip(),
        tuple(block.items),
        block.other,
        research,
    )


def _known(block: _Block, words: Sequence[str], keys: Sequence[str], where: str) -> None:
    for found, allowed in ((block.marks.words, words), (tuple(key for key, _ in block.marks.values), keys)):
        for one in found:
            if one not in allowed:
                raise InputError(f"{where}: {one!r} means nothing here, allowed: {listed(nearest_first(one, allowed))}")


def _id(block: _Block, where: str) -> str:
    if not block.marks.id:
        raise InputError(f"{where}: {block.title[:40]!r} has no id: put one in braces behind it, as in {{#its-name}}")
    return block.marks.id


def _slug(label: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", label.casefold()).strip("-") or "item"
