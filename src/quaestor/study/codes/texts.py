"""Texts in pieces: what was searched for, and what differs word by word."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

Pieces = tuple[tuple[str, bool], ...]
"""A text cut up; True where a piece is to be marked."""
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


def plain(text: str) -> Pieces:
    return ((text, False),) if text else ()


def marked(text: str, words: Iterable[str]) -> Pieces:
    """A text with the words that were searched for."""
    wanted = [re.escape(word) for word in sorted(words, key=len, reverse=True) if word]
    if not wanted:
        return plain(text)
    parts = re.split(f"({'|'.join(wanted)})", text, flags=re.IGNORECASE)
    return tuple((part, place % 2 == 1) for place, part in enumerate(parts) if part)


def told_apart(before: str, after: str) -> tuple[Pieces, Pieces]:
    """Two texts, each with the words that the other does not have in that place."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    left: list[tuple[str, bool]] = []
    right: list[tuple[str, bool]] = []
    for what, start, end, other, until in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        changed = what != "equal"
        left.append(("".join(old[start:end]), changed))
        right.append(("".join(new[other:until]), changed))
    return tuple(piece for piece in left if piece[0]), tuple(piece for piece in right if piece[0])
