"""Formats numbers, durations and lists for readers."""

from __future__ import annotations

import re

from markupsafe import Markup

_HOURS, _MINUTES, _YEAR = 24, 24 * 60, 365.25
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_PLAIN_WORD = re.compile(r"[a-z]+(-[a-z]+)*(\s|/|$)")


def count(number: float) -> str:
    """Formats `1,268` or, as a median can be, `1,268.5`."""
    return f"{number:,.1f}".removesuffix(".0")


def share(part: float) -> str:
    return f"{100 * part:.1f}%"


def duration(days: float) -> str:
    """Formats a duration: minutes below an hour, hours below two days, then days and years."""
    amount, unit = _amount(days)
    return f"{amount} {unit}"


def brief_duration(days: float) -> str:
    """Formats a duration for narrow spaces: `2.2 h`."""
    amount, unit = _amount(days)
    return amount if not unit else f"{amount} {'min' if unit.startswith('minute') else unit[0]}"


def duration_range(low: float, high: float) -> str:
    """Formats `1.6 to 3.1 hours`, with both units if they differ."""
    (least, unit), (most, other) = _amount(low), _amount(high)
    if unit.removesuffix("s") == other.removesuffix("s"):
        return f"{least} to {most} {other}" if least != most else f"{most} {other}"
    return f"{least} {unit} to {most} {other}"


def plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


def counted(number: int, word: str) -> str:
    """`1 issue`, `14 issues`."""
    return f"{count(number)} {word if number == 1 else plural(word)}"


def listed(names: list[str]) -> str:
    """`a, b and c`."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def headline(name: str) -> str:
    """Capitalises a name, unless its first word has its own capitals."""
    return name[:1].upper() + name[1:] if _PLAIN_WORD.match(name) else name


def breakable(text: str) -> Markup:
    """Escapes the text and allows a line break after each slash."""
    return Markup("/<wbr>").join(text.split("/"))


def plain(text: str) -> str:
    """Replaces characters that are not allowed on a page (control characters, lone surrogates) with a mark."""
    return _UNFIT.sub("\ufffd", text)


def _amount(days: float) -> tuple[str, str]:
    minutes, hours, years = days * _MINUTES, days * _HOURS, days / _YEAR
    if round(minutes) < 1:
        return "less than a", "minute"
    if round(minutes) < 60:
        return _with_unit(round(minutes), "minute")
    if round(hours) < 48:
        return _with_unit(_round_number(hours), "hour")
    return _with_unit(_round_number(days), "day") if years < 2 else _with_unit(_round_number(years), "year")


def _round_number(number: float) -> float:
    """Rounds to one decimal below ten, else to none."""
    return round(number, 1) if round(number, 1) < 10 else round(number)


def _with_unit(number: float, unit: str) -> tuple[str, str]:
    return count(number), unit if number == 1 else f"{unit}s"
