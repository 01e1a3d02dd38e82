"""Parses a name into its words and the joints between, before and after them.

Between two words any usual separator matches. A sign that is part of the name (`C#`, `A*B`) matches itself and its HTML
form. `&` also matches its other spellings: `+`, `and`, `und`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from quaestor.deidentify.folded_text import fold

WORDS = re.compile(r"[^\W_]+")
_AND_SIGNS = frozenset("&+")
_AND_WORDS = ("and", "und", "et", "och", "og", "y")
_APART = r"\s++|[,'`\-_/\\·@()‐-–]|&(?:#39|#x27|apos|nbsp);"
# Possessive quantifiers keep a failing search from trying every way to split a run of spaces.
_GAP = rf"(?:{_APART}|\.(?!\s)){{0,4}}+"
_AND_SIGN = r"\s*+(?:&(?:amp;)?+|\+)\s*+"
_AND_WORD = rf"[\s_\-]{{}}+(?:{'|'.join(_AND_WORDS)})[\s_\-]{{}}+"


@dataclass(frozen=True)
class Joint:
    """What may be written at one position between the words of a name: alternative regular expressions."""

    patterns: tuple[str, ...]

    @property
    def pattern(self) -> str:
        return f"(?:{'|'.join(self.patterns)})"

    def find_ends(self, text: str, start: int) -> Iterator[int]:
        """Yields the positions where it can end in a folded text if it starts at this one."""
        for pattern in self.patterns:
            match = _compile(pattern).match(text, start)
            if match is not None:
                yield match.end()


GAP = Joint((_GAP,))
"""Any usual separator; not a full stop before a space, which ends a sentence."""
AFTER_INITIAL = Joint((rf"(?:{_APART}|\.){{0,4}}+",))
"""After a single letter a full stop does not end a sentence."""
AND = Joint((_AND_SIGN, _AND_WORD.format("+", "+")))
AND_IN_LONG_NAME = Joint((_AND_SIGN, _AND_WORD.format("*", "*"), _GAP))
"""In a long name `and` may also be omitted or joined to the words: HollerithAndDaughters. In a short one that would
match ordinary words: `Hm` is not H&M, and `Randy` is not R&Y."""


@dataclass(frozen=True)
class WrittenName:
    """A parsed name: its folded words, and one more joint than words, of which the outer ones may be None."""

    words: tuple[str, ...]
    joints: tuple[Joint | None, ...]

    @property
    def key(self) -> str:
        return "".join(self.words)

    def without(self, removed: Collection[str]) -> WrittenName:
        """Returns the name without some words, such as titles; unchanged if nothing would be left."""
        kept = [index for index, word in enumerate(self.words) if word not in removed]
        if not kept:
            return self
        between = [self.joints[b] if b == a + 1 else GAP for a, b in pairwise(kept)]
        first = self.joints[0] if kept[0] == 0 else None
        last = self.joints[-1] if kept[-1] == len(self.words) - 1 else None
        return WrittenName(tuple(self.words[index] for index in kept), (first, *between, last))

    def without_signs(self) -> WrittenName:
        """Returns the name with its own signs replaced by gaps, except `&`."""
        inner = (joint if joint in (AND, AND_IN_LONG_NAME) else GAP for joint in self.joints[1:-1])
        return WrittenName(self.words, (None, *inner, None))


def fold_name(name: str) -> str:
    """Folds a name, which may be copied from HTML with `&amp;`."""
    return fold(name.replace("&amp;", "&"))


def parse_name(name: str, long_from: int) -> WrittenName | None:
    """Parses a name; None if it has no word. From `long_from` letters on it counts as long."""
    text = fold_name(name)
    matches = list(WORDS.finditer(text))
    if not matches:
        return None
    words = [matches[0][0]]
    signs = [text[: matches[0].start()]]
    for before, word in pairwise(matches):
        between = text[before.end() : word.start()]
        is_and = word[0] in _AND_WORDS and word is not matches[-1]
        if is_and and between.isspace() and text[word.end() : word.end() + 1].isspace():
            signs.append("&")
        elif len(signs) > len(words):
            words.append(word[0])  # the word after an `and`
        else:
            signs.append(between)
            words.append(word[0])
    signs.append(text[matches[-1].end() :])
    and_joint = AND_IN_LONG_NAME if len("".join(words)) >= long_from else AND
    inner = [_build_joint(sign, and_joint) for sign in signs[1:-1]]
    first = Joint((rf"{_build_literal(signs[0])}\s*+",)) if signs[0].strip() else None
    last = Joint((rf"\s*+{_build_literal(signs[-1])}",)) if signs[-1].strip() else None
    return WrittenName(tuple(words), (first, *inner, last))


def _build_joint(sign: str, meant_by_and: Joint) -> Joint:
    if sign.strip() in _AND_SIGNS:
        return meant_by_and
    return GAP if re.fullmatch(_GAP, sign) else Joint((rf"\s*+{_build_literal(sign)}\s*+",))


def _build_literal(sign: str) -> str:
    """Returns a regular expression for signs, also in HTML form and with spaces between them."""
    alternatives = (
        f"(?:{'|'.join(map(re.escape, dict.fromkeys((part, html.escape(part)))))})" for part in sign.split()
    )
    return r"\s*+".join(alternatives)


@lru_cache(maxsize=4_096)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
