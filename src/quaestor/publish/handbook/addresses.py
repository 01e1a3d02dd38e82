"""Where pages stand and where links may lead."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

_LONGEST = 80
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.ASCII)  # files that Windows cannot have

_WEB = re.compile(
    r"https?://[^\x00-\x20\x7f\\/?#@\[\]:]+(:\d{1,5})?([/?#][^\x00-\x20\x7f\\]*)?", re.ASCII | re.IGNORECASE
)


def page_names(ids: Iterable[str]) -> dict[str, str]:
    """A file name for each id, safe on every system and unlike all others even where case does not count.

    Ids that would share a name all get a piece of their hash, so that a name does not depend on the order of ids.
    """
    wanted = {id: _readable(id) for id in ids}
    shared = Counter(wanted.values())
    names: dict[str, str] = {}
    taken = {name for name, number in shared.items() if number == 1}
    for id, name in sorted(wanted.items()):
        names[id] = name if shared[name] == 1 else _free(name, id, taken)
    return names


def _free(name: str, id: str, taken: set[str]) -> str:
    digest = sha256(id.encode("utf-8", "surrogatepass")).hexdigest()
    free = next(one for length in (8, 16, 64) if (one := f"{name}-{digest[:length]}") not in taken)
    taken.add(free)
    return free


def _readable(id: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", id.lower())[:_LONGEST].strip("-") or "code"
    return f"code-{name}" if _RESERVED.fullmatch(name) else name


def web_link(link: str) -> str:
    """The link where it leads to a host on the web and can mean nothing else; otherwise nothing."""
    return link if _WEB.fullmatch(link) else ""
