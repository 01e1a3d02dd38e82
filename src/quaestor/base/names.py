"""Names and numbers that a person typed, and names that files and addresses can have."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256


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


_LONGEST = 80
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.ASCII)  # files that Windows cannot have


def page_names(ids: Iterable[str]) -> dict[str, str]:
    """A file name for each id, safe on every system and unlike all others even where case does not count.

    Ids that would share a name all get a piece of their hash, so that a name does not depend on the order of ids.
    """
    readable = {id: _readable(id) for id in ids}
    shared = Counter(readable.values())
    taken = {name for name, count in shared.items() if count == 1}
    names: dict[str, str] = {}
    for id, name in sorted(readable.items()):
        if shared[name] == 1:
            names[id] = name
            continue
        digest = sha256(id.encode("utf-8", "surrogatepass")).hexdigest()
        names[id] = next(free for length in (8, 16, 64) if (free := f"{name}-{digest[:length]}") not in taken)
        taken.add(names[id])
    return names


def _readable(id: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", id.lower())[:_LONGEST].strip("-") or "code"
    return f"code-{name}" if _RESERVED.fullmatch(name) else name


_MOST_DIGITS = 9


def whole_number(text: str) -> int | None:
    """The number that a text is; none where it is anything but a few plain digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None
