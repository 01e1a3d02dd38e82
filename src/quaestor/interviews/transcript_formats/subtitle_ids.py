"""Which lines of a WebVTT file number or name its cues; every other line is a note or somebody's words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quaestor.interviews.transcript_formats.timestamps import timing

_NUMBER = re.compile(r"\d{1,9}")
_NOTE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
_MADE = re.compile(r"[0-9a-f]+", re.IGNORECASE)


def cue_names(lines: Sequence[str]) -> dict[int, str]:
    """By place the lines that number or name cues, where the file does so from its first cue on.

    Before the first cue nobody has said anything: a file that does not name it names none, and what stands above a
    later one is the end of what was said before.
    """
    timed = [place for place, line in enumerate(lines) if timing(line) is not None]
    above = [place - 1 if _is_words(lines, place - 1) else None for place in timed]
    first = above[0] if above else None
    if first is None:
        return {}
    if _NUMBER.fullmatch(lines[first].strip()):
        return _numbers(lines, above)
    if all(line.strip() for line in lines[:first]):  # it belongs to the header
        return {}
    throughout = all(place is not None and not _is_words(lines, place - 1) for place in above)
    shape = _shape(lines[first])
    return {
        place: lines[place].strip()
        for place in above
        if place is not None and (throughout or (shape and _shape(lines[place]) == shape))
    }


def _numbers(lines: Sequence[str], above: Sequence[int | None]) -> dict[int, str]:
    """Numbers above all cues; where some have none, those that are awaited, and any other is said by somebody."""
    written = [0 if place is None else _number(lines[place]) for place in above]
    found: dict[int, str] = {}
    awaited = written[0]
    for count, (place, number) in enumerate(zip(above, written, strict=True)):
        apart = place is not None and not _is_words(lines, place - 1)
        if place is not None and number and (number in (awaited, written[0] + count) or (apart and all(written))):
            found[place] = lines[place].strip()
            awaited = number
        awaited += 1
    return found


def _number(line: str) -> int:
    """The number that a line is, counted from 1; 0 where it is none."""
    found = _NUMBER.fullmatch(line.strip())
    return int(found[0]) + 1 if found else 0


def _is_words(lines: Sequence[str], place: int) -> bool:
    """Whether a line is neither empty nor times nor a note."""
    return place >= 0 and bool(lines[place].strip()) and timing(lines[place]) is None and not _NOTE.match(lines[place])


def _shape(line: str) -> str:
    """How a program makes names of cues: one word with digits in it, which alone differ."""
    word = line.strip()
    made = any(letter.isdecimal() for letter in word) and not _NUMBER.fullmatch(word) and len(word.split()) == 1
    return _MADE.sub("0", word) if made else ""
