"""Names a person may have meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


def nearest_first(name: str, allowed: Iterable[str]) -> list[str]:
    """The allowed names, those most like the given one first."""
    options = list(allowed)
    alike = difflib.get_close_matches(name, options, n=3, cutoff=0.5)
    return [*alike, *(option for option in options if option not in alike)]


def listed(names: Iterable[str]) -> str:
    """`a, b or c`."""
    parts = list(names)
    return f"{', '.join(parts[:-1])} or {parts[-1]}" if len(parts) > 1 else "".join(parts)


_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether databases and files can hold a text: it has neither a NUL nor half a character."""
    return not _UNSTORABLE.search(text)


NOT_IN_AN_ADDRESS = "/\\?#%"
_TAKEN = ("new", ".", "..")
"""Names that mean something else in the address of a page."""


def fits_an_address(name: str) -> bool:
    """Whether pages can be addressed by a name."""
    return name not in _TAKEN and not any(letter in name for letter in NOT_IN_AN_ADDRESS)
