"""Suggestions for mistyped names, names that files and URLs can have, and typed numbers."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256


def sort_by_similarity(name: str, allowed: Iterable[str]) -> list[str]:
    """Returns the allowed names, those most similar to `name` first."""
    options = list(allowed)
    similar = difflib.get_close_matches(name, options, n=3, cutoff=0.5)
    return [*similar, *(option for option in options if option not in similar)]


def join_with_or(names: Iterable[str]) -> str:
    """Returns names as `a, b or c`."""
    parts = list(names)
    return f"{', '.join(parts[:-1])} or {parts[-1]}" if len(parts) > 1 else "".join(parts)


def join_with_and(words: Sequence[str]) -> str:
    """Returns words as `a, b and c`; `nothing` if there are none."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else "nothing"


def suggest(name: str, allowed: Iterable[str]) -> str:
    """Returns the allowed names as `a, b or c`, those most similar to `name` first."""
    return join_with_or(sort_by_similarity(name, allowed))


def count_of(number: int, noun: str) -> str:
    """Returns a number with its noun: `1 item`, `12,000 items`."""
    return f"{number:,} {noun if number == 1 else f'{noun}s'}"


_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether databases and files can store a text: it has neither a NUL nor an unpaired surrogate."""
    return not _UNSTORABLE.search(text)


NOT_IN_URL = "/\\?#%"
_RESERVED_IN_URL = ("new", ".", "..")
"""Names that mean something else in the URL of a page."""


def fits_url(name: str) -> bool:
    """Whether a name can be a part of a page's URL."""
    return name not in _RESERVED_IN_URL and not any(letter in name for letter in NOT_IN_URL)


_MAX_LENGTH = 80
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.ASCII)  # names that a file cannot have on Windows


def build_page_names(ids: Iterable[str]) -> dict[str, str]:
    """Returns a file name for each id, valid on every system and unique even where case is ignored.

    Ids that would share a name all get a part of their hash, so that a name does not depend on the order of the ids.
    """
    slugs = {id: _slugify(id) for id in ids}
    counts = Counter(slugs.values())
    used = {slug for slug, count in counts.items() if count == 1}
    names: dict[str, str] = {}
    for id, slug in sorted(slugs.items()):
        if counts[slug] == 1:
            names[id] = slug
            continue
        digest = sha256(id.encode("utf-8", "surrogatepass")).hexdigest()
        names[id] = next(free for length in (8, 16, 64) if (free := f"{slug}-{digest[:length]}") not in used)
        used.add(names[id])
    return names


_STRAND = re.compile(r"[a-z0-9][a-z0-9-]*:")


def strip_strand(item: str) -> str:
    """Returns an item's id within its source, without the name of its strand."""
    strand = _STRAND.match(item)
    return item[strand.end() :] if strand else item


def slugify(text: str) -> str:
    """Returns a text as lower-case words joined by hyphens; may be empty."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:_MAX_LENGTH].strip("-")


def _slugify(id: str) -> str:
    name = slugify(id) or "code"
    return f"code-{name}" if _RESERVED.fullmatch(name) else name


_MAX_DIGITS = 9


def parse_whole_number(text: str) -> int | None:
    """Returns the number that a text is, or None unless the text is one to nine ASCII digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS else None
