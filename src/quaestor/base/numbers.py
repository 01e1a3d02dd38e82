"""Numbers that somebody typed, or wrote into an address."""

from __future__ import annotations

_MOST_DIGITS = 9


def whole_number(text: str) -> int | None:
    """The number that a text is; none where it is anything but a few plain digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None
