"""The common style of all figures: colours that also differ in grey, one bundled font, number formats, text widths."""

from __future__ import annotations

import math

WIDTH = 760
"""The width of every figure in pixels."""
NARROW = 300
"""The width of a figure for a phone."""
TINY, SMALL, NORMAL = 10, 11, 12
"""Text sizes; nothing is smaller."""

# The first family is bundled with the converter, so that text has the same layout on every machine; the others are as
# wide, and nearly every machine with a browser has one of them.
FONT = "Liberation Sans, Arial, Helvetica, Arimo, Nimbus Sans, DejaVu Sans Condensed, sans-serif"

INK, MUTED, LINE, GRID, PAPER = "#1d1c1a", "#5f5b53", "#a8a297", "#e6e2d9", "#ffffff"
ACCENT, WASH = "#7a1f2b", "#f3ede4"

SERIES = ("#7a1f2b", "#b37d25", "#221e55", "#59a5b5", "#884aad", "#bf5658", "#255b72")
"""Colours of series: all differ in lightness, and are distinct for every kind of colour blindness."""
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (4, 4), (12, 4), (6, 2, 2, 2, 2, 2))
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "M-1,-.5L-.5,-1L0,-.5L.5,-1L1,-.5L.5,0L1,.5L.5,1L0,.5L-.5,1L-1,.5L-.5,0Z",
    "triangle-right",
    "M-1,-.4L1,-.4L1,.4L-1,.4Z",
    "triangle-left",
    "M-.4,-1L.4,-1L.4,1L-.4,1Z",
)

_SHADES = ("#fbf6ee", "#ecc9b0", "#d18d78", "#a84a4b", "#7a1f2b", "#430d17")
_THIN, _NARROW, _WIDE = "ijl'|", ' !,./:;I[]ft()-r"`', "mMW%@—…"


def shade(part: float) -> str:
    """Returns a colour from light to dark as `part` goes from 0 to 1."""
    position = min(max(part, 0.0), 1.0) * (len(_SHADES) - 1)
    lower = min(int(position), len(_SHADES) - 2)
    pairs = zip(_channels(_SHADES[lower]), _channels(_SHADES[lower + 1]), strict=True)
    return "#" + "".join(f"{round(low + (high - low) * (position - lower)):02x}" for low, high in pairs)


def luminance(color: str) -> float:
    """Returns the relative luminance of a colour from 0 to 1, as defined by WCAG."""
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in _channels(color))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def choose_ink(color: str) -> str:
    """Returns black or white, whichever is more legible on a colour; the better one always has a contrast of 4.5."""
    return max(("#000000", PAPER), key=lambda ink: contrast(ink, color))


def count(number: int) -> str:
    return f"{number:,}"


def percent(share: float) -> str:
    """Formats a share with one decimal; `0%` is exactly zero."""
    return f"{share:.1%}" if share else "0%"


def quantity(value: float) -> str:
    """Formats a measured value with as many decimals as its size needs."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) < 0.01:
        return f"{value:.2g}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def text_width(text: str, size: float = NORMAL, *, bold: bool = False) -> float:
    """Estimates the width of a text, rather too wide than too narrow."""
    return sum(map(_advance, text)) * size * (1.07 if bold else 1.0)


def shorten(text: str, width: float, size: float = NORMAL, *, bold: bool = False) -> str:
    """Returns the text, shortened with an ellipsis if it is too wide."""
    if text_width(text, size, bold=bold) <= width:
        return text
    while text and text_width(text + "…", size, bold=bold) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def wrap_text(text: str, width: float, lines: int, size: float = NORMAL, *, bold: bool = False) -> tuple[str, ...]:
    """Breaks the text into at most this many lines between words, and shortens lines that are too wide."""
    rows: list[str] = []
    for word in text.split():
        if rows and text_width(f"{rows[-1]} {word}", size, bold=bold) <= width:
            rows[-1] += " " + word
        else:
            rows.append(word)
    if len(rows) > lines:
        rows = [*rows[: lines - 1], " ".join(rows[lines - 1 :])]
    return tuple(shorten(row, width, size, bold=bold) for row in rows)


def _advance(letter: str) -> float:
    if letter in _THIN:
        return 0.24
    if letter in _NARROW:
        return 0.34
    if letter in _WIDE:
        return 0.94
    if letter == "w":
        return 0.74
    if not letter.isascii():
        return 0.6 if ord(letter) < 0x2000 else 1.0
    if letter in "cksvxyzJ":
        return 0.51
    return 0.74 if letter.isupper() else 0.565


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def round_steps(most: float, count: int = 5, *, whole: bool = False) -> list[float]:
    """Returns about `count` round numbers from 0 to at least `most`; integers if `whole`."""
    if most <= 0:
        return [0.0, 1.0]
    raw = max(most / count, 1.0) if whole else most / count
    power = 10.0 ** math.floor(math.log10(raw))
    factors = (1, 2, 5, 10) if whole else (1, 2, 2.5, 5, 10)
    step = next(power * factor for factor in factors if power * factor >= raw * 0.999)
    return [round(step * at, 10) for at in range(math.ceil(most / step - 1e-9) + 1)]
