"""What stays of a name before endings that are not simply put behind it: Ann-y, Pavl-em, Kowalsk-ich, Virtas-elta."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quaestor.deidentify.folded_text import fold

_CASES = frozenset(fold("y e ou u i o ami ach am ы е у ой ю ах ам").split())
_OF_MEN = frozenset(fold("a u em ovi owi om i ami а у ом ем е ы").split())
_OF_ADJECTIVES = frozenset(("i", "iego", "iemu", "im", "ich", "imi", "ie"))
_ENDEARING = frozenset(("i", "ia", "ie", "io", "iu"))
_WEAKENED = frozenset(("n", "lla", "lle", "lta", "ssa", "sta", "ksi", "t"))
_OF_NEN = frozenset(("en", "ella", "elle", "elta", "essa", "esta", "eksi", "een", "ta", "et", "ille", "ten", "ia"))
_TWICE = re.compile(r"[^\W\d_]{1,40}([^\W\d_aeiouy])\1[aeiouy]")
_FLEETING = re.compile(r"[^\W\d_]{2,40}(?:e[klc]|е[клц])")
_ADJECTIVE = re.compile(r"[^\W\d_]{2,40}[sc]k[aiy]")
_HARDENED = ("kk", "pp", "tt")
_GRADED = (("hti", "hde"), ("nki", "nge"), ("ki", "e"), ("ti", "de"), ("i", "e"))
"""How Finnish names in -i go on before an ending."""
_TINY, _STEM, _DISTINCT = 3, 4, 5
Stem = tuple[str, frozenset[str], bool]
"""What stays, the endings that follow it (none for the usual ones), and whether it is a name for sure."""


def stems_of_person(word: str) -> Iterator[Stem]:
    """Those of a first name or a surname; what may well be another word is not sure."""
    if len(word) == _TINY and word[-1] in "aа":
        yield word[:-1], _CASES | {"ie"}, False
    if len(word) < _STEM:
        return
    if word[-1] in "aoeаея":
        yield word[:-1], frozenset(), True
    if _TWICE.fullmatch(word) and word[-3:-1] in _HARDENED:
        yield word[:-2] + word[-1], _WEAKENED, True
    elif _TWICE.fullmatch(word):
        yield word[:-2], _ENDEARING, True
    if len(word) > _DISTINCT and word.endswith("nen"):
        yield f"{word[:-3]}s", _OF_NEN, True
    if _FLEETING.fullmatch(word):
        yield word[:-2] + word[-1], _OF_MEN, False
    if _ADJECTIVE.fullmatch(word):
        yield word[:-1], _OF_ADJECTIVES, False
    if word.isascii() and word.endswith("i"):
        ends, becomes = next(one for one in _GRADED if word.endswith(one[0]))
        yield word.removesuffix(ends) + becomes, _WEAKENED, False


def stems_of_thing(word: str) -> Iterator[Stem]:
    """Those of an organisation, a product or a place: in Slavic languages they have cases too."""
    if len(word) >= _STEM and word[-1] in "aа":
        yield word[:-1], _CASES, False
