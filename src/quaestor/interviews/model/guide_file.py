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

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import listed, nearest_first
from quaestor.instruments.interviews.guide_blocks import Block, blocks_of, known_id, refuse_unseen
from quaestor.instruments.interviews.records import Asks, Guide, GuideQuestion, Section

LONGEST = 1_000_000
"""Characters of a guide; nobody speaks for that long."""
FENCE = "+++"
KEYS = ("title", "minutes", "agreement", "language", "research")
"""What the front matter may say."""
PARTS = ("opening", "closing")
"""What a section can be marked as: the one that is said first, and the one that is said last."""
OPTIONAL = "optional"
_A_DAY = 24 * 60


def guide_text_in(path: Path) -> str:
    """What the file of a guide says, to be read by `guide_from`."""
    try:
        with path.open("rb") as file:
            found = file.read(4 * LONGEST + 4)
        return found.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is no text in UTF-8: save it as such") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): name the file of a guide") from None


def guide_from(text: str, name: str) -> Guide:
    """The guide that a text says; raises InputError with the line of what cannot be read."""
    if len(text) > LONGEST:
        raise InputError(f"{name}.md has more than {LONGEST:,} characters: a guide has at most that many")
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, start=1):
        refuse_unseen(line, f"{name}.md, line {number}")
    close = _end_of_front(lines, name)
    front = _front(lines[1:close], name)
    minutes = front.get("minutes")
    if not isinstance(minutes, int | float) or isinstance(minutes, bool) or not 0 < minutes < _A_DAY:
        found = "is missing" if minutes is None else f"is {str(minutes)[:40]}"
        raise InputError(f"{name}.md: minutes {found}: say how long an interview takes, as in minutes = 30")
    return Guide(
        name,
        " ".join(_text_of(front, "title", name).split()) or name,
        float(minutes),
        _sections(blocks_of(lines[close + 1 :], name, close + 2), name),
        _text_of(front, "agreement", name),
        _research(front.get("research", {}), name),
        _text_of(front, "language", name) or "en",
    )


def _end_of_front(lines: Sequence[str], name: str) -> int:
    if lines[0].strip() != FENCE:
        words = f"a guide begins with title and minutes between two lines of {FENCE}"
        raise InputError(f"{name}.md does not begin with {FENCE}: {words}")
    close = next((place for place, line in enumerate(lines[1:], start=1) if line.strip() == FENCE), None)
    if close is None:
        raise InputError(f"{name}.md: the {FENCE} of line 1 is never closed: put a second one under the front matter")
    return close


def _front(lines: Sequence[str], name: str) -> dict[str, Any]:
    try:
        front = tomllib.loads("\n".join(["", *lines, ""]))  # so that its lines are counted as in the file
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{name}.md: the front matter is no TOML: {str(error)[:200]}") from None
    for key in front:
        if key not in KEYS:
            options = listed(nearest_first(key, KEYS))
            raise InputError(f"{name}.md: {key[:40]!r} is no key of the front matter, allowed: {options}")
    return front


def _text_of(front: dict[str, Any], key: str, name: str) -> str:
    value = front.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{name}.md: {key} is {str(value)[:40]}: a text in quotes is needed")
    refuse_unseen(value, f"{name}.md, {key}")
    return value.strip()


def _research(found: object, name: str) -> dict[str, str]:
    if not isinstance(found, dict) or not all(isinstance(one, str) and one.strip() for one in found.values()):
        raise InputError(f'{name}.md: [research] holds the research questions, each as id = "its text"')
    for key, words in found.items():
        known_id(key, f"{name}.md, [research]")
        refuse_unseen(words, f"{name}.md, research.{key}")
    return {key: words.strip() for key, words in found.items()}


def _sections(blocks: Sequence[Block], name: str) -> tuple[Section, ...]:
    sections: list[tuple[Block, list[GuideQuestion]]] = []
    for block in blocks:
        if block.depth == 1:
            sections.append((block, []))
        elif sections:
            sections[-1][1].append(_question(block))
        else:
            raise InputError(f"{block.where}: a question stands before the first section: put # Title {{#id}} above it")
    if not sections:
        raise InputError(f"{name}.md has no section: write one as # Title {{#id minutes=5}}")
    return tuple(_section(block, questions) for block, questions in sections)


def _section(block: Block, questions: Sequence[GuideQuestion]) -> Section:
    block.marks.only(PARTS, ("minutes",), block.where)
    parts = [one for one in PARTS if one in block.marks.words]
    if len(parts) > 1:
        raise InputError(f"{block.where}: a section is said first or last, not both: leave .opening or .closing")
    try:
        minutes = float(block.marks.value("minutes") or 0)
    except ValueError:
        minutes = -1.0
    if not 0 <= minutes < _A_DAY:
        raise InputError(f"{block.where}: say how long {block.title[:40]!r} takes, as in {{#id minutes=5}}")
    script, note = "\n".join(block.script).strip("\n"), "\n".join(block.note).strip()
    return Section(block.id, block.title, minutes, tuple(questions), script, note, "".join(parts))


def _question(block: Block) -> GuideQuestion:
    block.marks.only((*Asks, OPTIONAL), ("research",), block.where)
    kinds = [one for one in Asks if one in block.marks.words]
    if len(kinds) > 1:
        raise InputError(f"{block.where}: a question is asked in one way: leave {listed(kinds)}")
    items, other = block.items()
    asks = kinds[0] if kinds else Asks.REFERENCE if items or other else Asks.OPEN
    if asks is not Asks.REFERENCE and (items or other):
        raise InputError(f"{block.where}: items to tick (- [ ] …) go with .reference, not with .{asks}: change one")
    research = dict.fromkeys(one for one in block.marks.value("research").split(",") if one)
    note = "\n".join(block.note).strip()
    optional = OPTIONAL in block.marks.words
    return GuideQuestion(block.id, block.title, asks, optional, block.probes(), note, items, other, tuple(research))
