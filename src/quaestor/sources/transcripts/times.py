"""Times as transcripts write them."""

from __future__ import annotations

import re

TIME = r"(?:\d{1,3}:)?\d{1,3}:\d{2}(?:[.,]\d{1,6})?"
"""`1:02`, `00:01:02`, `00:01:02.345`."""
STAMP = rf"(?:\[\s*+{TIME}(?:\s*+(?:-->|-|–)\s*+{TIME})?\s*+\]|\(\s*+{TIME}\s*+\)|{TIME})"
"""The same, in brackets or bare."""
_LOOSE = r"(?:\d{1,4}:)?\d{1,4}:\d{1,2}(?:[.,]\d{1,9})?"
_SETTING = r"(?:vertical|line|position|size|align|region|[XY][12]):\S+"
"""Where on a screen words are shown, as WebVTT and SubRip say it."""
_TIMING = re.compile(rf"\s*+({_LOOSE})\s*+-->\s*+({_LOOSE})(?:\s++{_SETTING})*\s*+")
_FIRST = re.compile(TIME)


def seconds(written: str) -> float:
    """A time in seconds."""
    total = 0.0
    for part in written.replace(",", ".").split(":"):
        total = total * 60 + float(part)
    return round(total, 3)


def stamp_seconds(stamp: str | None) -> float | None:
    """The first time in a stamp; none where there is no stamp."""
    found = _FIRST.search(stamp or "")
    return seconds(found[0]) if found else None


def timing(line: str) -> tuple[float, float] | None:
    """From when to when, where a line says that and nothing else but the settings of a cue."""
    found = _TIMING.fullmatch(line)
    return (seconds(found[1]), seconds(found[2])) if found else None
