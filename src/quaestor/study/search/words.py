"""What a person types into a search box, as the full-text index understands it: words, never its syntax."""

from __future__ import annotations

import re
from dataclasses import dataclass

from quaestor.base.errors import InputError

LONGEST = 500
"""Characters of a search."""
_MOST = 30
_SHORTEST = 2
"""Letters before a star: a single one begins half of all words."""
_TERM = re.compile(r'(-?)(?:"([^"]*)(?:"|$)(\*?)|(\S+))')


@dataclass(frozen=True)
class Terms:
    """What texts must have, and what they must not have: words and phrases, each quoted for the index."""

    having: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def matching(self) -> str:
        """What finds the texts, where there is something they must have."""
        found = " AND ".join(self.having)
        return f"({found}) NOT ({' OR '.join(self.without)})" if self.without else found


def terms_of(words: str) -> Terms:
    """Words that must all occur, "phrases in quotes", beginnings with a star, and -words that must not occur."""
    if len(words) > LONGEST:
        raise InputError(f"the search has {len(words):,} characters: shorten it to {LONGEST}")
    having: list[str] = []
    without: list[str] = []
    for minus, phrase, star, word in _TERM.findall(_plain(words)):
        text = phrase or word.rstrip("*")
        if not any(character.isalnum() for character in text):
            continue
        begins = star or word.endswith("*")
        if begins and len(text) < _SHORTEST:
            raise InputError(f"{text}* fits too many words: write at least {_SHORTEST} letters before the star")
        (without if minus else having).append(f'"{text.replace(chr(34), chr(34) * 2)}"{"*" if begins else ""}')
    if words.strip() and not (having or without):
        raise InputError(f"{words.strip()[:60]!r} has no word to search for: type letters or digits")
    if len(having) + len(without) > _MOST:
        raise InputError(f"the search has {len(having) + len(without)} words: take at most {_MOST}")
    return Terms(tuple(having), tuple(without))


def _plain(words: str) -> str:
    """Without half characters and control characters, which the index cannot take."""
    whole = words.encode("utf-8", "replace").decode("utf-8")
    return "".join(character if character.isprintable() else " " for character in whole)
