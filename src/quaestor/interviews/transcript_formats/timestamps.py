"""Parses times as transcripts write them."""

from __future__ import annotations

import re
from dataclasses import dataclass

TIME = r"(?:\d{1,3}:)?\d{1,3}:\d{2}(?:[.,]\d{1,6})?"
"""`1:02`, `00:01:02`, `00:01:02.345`."""
STAMP = rf"(?:\[\s*+{TIME}(?:\s*+(?:-->|-|–)\s*+{TIME})?\s*+\]|\(\s*+{TIME}\s*+\)|{TIME})"
"""A time in brackets or bare."""
_LOOSE = r"(?:\d{1,4}:)?\d{1,4}:\d{1,2}(?:[.,]\d{1,9})?"
_SETTING = r"(?:vertical|line|position|size|align|region|[XY][12]):\S+"
"""Screen positions in WebVTT and SubRip."""
_TIMING = re.compile(rf"\s*+({_LOOSE})\s*+-->\s*+({_LOOSE})(?:\s++{_SETTING})*\s*+")
_FIRST = re.compile(TIME)
_MARK = re.compile(r"#(\d{1,2}:\d{2}:\d{2})(?:-(\d{1,3}))?#")
"""`#00:01:02-3#`, a time among words in f4 and MAXQDA; the dash precedes fractions of a second."""
_CLOSING = tuple(".,;:!?)]…”")


def parse_seconds(written: str) -> float:
    """Converts a time to seconds."""
    total = 0.0
    for part in written.replace(",", ".").split(":"):
        total = total * 60 + float(part)
    return round(total, 3)


def parse_stamp_end(stamp: str) -> float | None:
    """Returns the second time of a stamp that has two."""
    parts = _FIRST.findall(stamp)
    return parse_seconds(parts[1]) if len(parts) > 1 else None


def parse_stamp(stamp: str | None) -> float | None:
    """Returns the first time of a stamp; None without a stamp."""
    match = _FIRST.search(stamp or "")
    return parse_seconds(match[0]) if match else None


@dataclass(frozen=True)
class TimedLine:
    """A line without f4 time marks, with the start times of its words and of the next line."""

    text: str
    start: float | None = None
    after: float | None = None


def strip_time_marks(line: str) -> TimedLine:
    """Removes f4 marks: one before the first word is the line's time, one after the last that of the next line."""
    text, *parts = _MARK.split(line)
    if not parts:
        return TimedLine(line)
    words, behind = [text.strip()], parts[2::3]
    for rest in behind:
        words.append(rest if rest.startswith(_CLOSING) or not words[-1] or not rest.strip() else f" {rest.strip()}")
    times = [parse_seconds(f"{time}.{tenths or 0}") for time, tenths in zip(parts[::3], parts[1::3], strict=True)]
    first = times[0] if not text.strip() or text.rstrip().rstrip("*_ ").endswith((":", "：")) else None
    return TimedLine("".join(words).strip(), first, None if behind[-1].strip() else times[-1])


def parse_timing(line: str) -> tuple[float, float] | None:
    """Returns start and end, if a line has only these and cue settings."""
    match = _TIMING.fullmatch(line)
    return (parse_seconds(match[1]), parse_seconds(match[2])) if match else None
