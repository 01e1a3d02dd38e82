"""Folds text for the search of names: without case, accents and invisible characters, with original positions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_OWN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i", "ħ": "h", "’": "'", "ʼ": "'"}
)
"""Letters and signs that Unicode does not decompose."""
_UNSEEN = ("Mn", "Mc", "Me", "Cf")
_BROKEN = re.compile(r"[-\u2010\u2011\u00ad][ \t]*(?:\r\n|\r|\n)[ \t]*(?=[^\W\d_])")
"""A word hyphenated at the end of a line."""


@dataclass(frozen=True)
class FoldedText:
    """A folded text, and the position in the original of each of its characters."""

    text: str
    positions: Sequence[int]
    raw: str

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Returns the range in the original text, including combining marks after the last character."""
        low, high = self.positions[start], self.positions[end - 1] + 1
        while high < len(self.raw) and unicodedata.category(self.raw[high]).startswith("M"):
            high += 1
        return low, high


@lru_cache(maxsize=8_192)
def fold_letter(letter: str) -> str:
    """Folds one character; an invisible one becomes empty, a ligature several characters."""
    if unicodedata.category(letter) in _UNSEEN:
        return ""
    apart = unicodedata.normalize("NFKD", letter).casefold().translate(_OWN)
    again = unicodedata.normalize("NFKD", apart)
    seen = "".join(letter for letter in again if unicodedata.category(letter) not in _UNSEEN)
    if not letter.isalnum() and any(map(str.isalnum, seen)):
        return letter  # a sign such as ™ does not belong to the word before it
    return seen


def fold(text: str) -> str:
    """Folds a text without positions."""
    return text.lower() if text.isascii() else "".join(map(fold_letter, text))


def fold_with_positions(text: str, unseen: str = "") -> FoldedText:
    """Folds a text with positions; `unseen` replaces each invisible character, such as a zero-width space."""
    if text.isascii():
        return FoldedText(text.lower(), range(len(text)), text)
    letters: list[str] = []
    places: list[int] = []
    for index, letter in enumerate(text):
        folded = fold_letter(letter) or (unseen if unicodedata.category(letter) == "Cf" else "")
        letters.append(folded)
        places += [index] * len(folded)
    return FoldedText("".join(letters), places, text)


def fold_rejoined(text: str) -> FoldedText | None:
    """Folds a text and rejoins words hyphenated at line ends; None if there are none."""
    if _BROKEN.search(text) is None:
        return None
    letters: list[str] = []
    places: list[int] = []
    last = 0
    for broken in [*_BROKEN.finditer(text), None]:
        stop = broken.start() if broken else len(text)
        for index in range(last, stop):
            folded = fold_letter(text[index])
            letters.append(folded)
            places += [index] * len(folded)
        last = broken.end() if broken else stop
    return FoldedText("".join(letters), places, text)
