"""The ways in which a known name may be written: whole, a part alone, with initials, turned round, joined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from quaestor.instruments.interviews.folding import fold
from quaestor.instruments.interviews.name_words import ORDINARY

PERSON, ORGANISATION, PRODUCT, PLACE, OTHER = "person", "organisation", "product", "place", "other"
KINDS = (PERSON, ORGANISATION, PRODUCT, PLACE, OTHER)
WHOLE, PART, INITIALS, STEM, DOUBTFUL = range(5)
"""How much of a name a form is; the smaller, the surer."""
ENDINGS = frozenset(
    fold(ending)
    for ending in re.findall(
        r"\w+",
        """s es e en n ns ens er ern sche schen scher sches a u i y o om em im ym ou ovi owi ove owie ow ov ami mi ach
    ech ie iem ego emu ej iej ova owa ovo ovy owy in ina ine iny
    а у ю я ом ем ой ей ы и е ов ев ам ами ах ым ого ому""",
    )
)
"""What a name may end in beside itself, folded: English, German, and the cases of Slavic languages."""
_ENDEARING = frozenset(("i", "ia", "ie", "io", "iu"))
_WEAKENED = frozenset(("n", "lla", "lle", "lta", "ssa", "sta", "ksi", "t"))
_OF_NEN = frozenset(("en", "ella", "elle", "elta", "essa", "esta", "eksi", "een", "ta", "et", "ille"))
_LEGAL = frozenset(
    re.findall(
        r"\w+",
        """gmbh mbh ag kg kgaa se ohg inc incorporated ltd limited llc llp plc corp corporation co company sa sas sarl
    srl spa bv nv oy ab as aps ug ev pty pte sp zoo""",
    )
)
_PARTICLES = frozenset(re.findall(r"\w+", "von van de der den del di da la le bin ibn al el und and y e of zu zum the"))
_TITLES = frozenset(re.findall(r"\w+", "dr prof professor mr mrs ms mx herr frau phd msc bsc jr sr dipl ing"))
_WORDS = re.compile(r"[^\W_]+")
_SPELT_OUT = (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("å", "aa"))
_TWICE = re.compile(r"[^\W\d_]{1,40}([^\W\d_aeiouy])\1[aeiouy]")
_HARDENED = ("kk", "pp", "tt")
_ALONE, _ACRONYM, _STEM, _DISTINCT = 2, 3, 4, 5


@dataclass(frozen=True)
class Form:
    """One way to write a name: folded words that may stand apart or joined."""

    words: tuple[str, ...]
    how: int = WHOLE
    endings: frozenset[str] = frozenset()
    """What follows it, where that is something other than the usual endings."""

    @property
    def key(self) -> str:
        return "".join(self.words)


def words_in(text: str) -> tuple[str, ...]:
    """The words of a name, folded."""
    return tuple(_WORDS.findall(fold(text)))


def forms_of(kind: str, given: str) -> Iterator[Form]:
    """All the ways in which a name may be written, the whole one first."""
    for text in dict.fromkeys((given, *_spellings(given))):
        words = words_in(text)
        if not words:
            continue
        yield Form(words)
        if kind == PERSON:
            yield from _of_person(words)
        elif kind == ORGANISATION:
            yield from _of_organisation(words)


def _spellings(text: str) -> Iterator[str]:
    """With German vowels written as two letters, and as one where they were two."""
    lower = text.lower()
    apart = together = lower
    for one, two in _SPELT_OUT:
        apart = apart.replace(one, two)
        together = together.replace(two, one) if one != "å" else together
    yield apart
    yield together


def _of_person(words: tuple[str, ...]) -> Iterator[Form]:
    named = tuple(word for word in words if word not in _TITLES) or words
    if named != words:
        yield Form(named)
    bearing = [word for word in named if word not in _PARTICLES and len(word) >= _ALONE]
    for word in bearing:
        yield Form((word,), PART)
        yield from _stems(word)
    if len(bearing) < _ALONE:
        return
    first, last = named[0], bearing[-1]
    yield Form((first, last), PART)
    yield Form((last, first), PART)
    yield Form((*named[1:], first), PART)
    yield Form((first[0], last), INITIALS)
    yield Form((last, first[0]), INITIALS)
    yield Form((first, last[0]), INITIALS)
    yield Form((first[0], *named[1:]), INITIALS)
    yield Form(tuple(word[0] for word in bearing), DOUBTFUL)


def _stems(word: str) -> Iterator[Form]:
    """What stays of a name before other endings than its own: Ann-y, An-iu, Peka-n, Virtas-elta."""
    if len(word) < _STEM:
        return
    if word[-1] in "aoeаея":
        yield Form((word[:-1],), STEM)
    if _TWICE.fullmatch(word) and word[-3:-1] in _HARDENED:
        yield Form((word[:-2] + word[-1],), STEM, _WEAKENED)
    elif _TWICE.fullmatch(word):
        yield Form((word[:-2],), STEM, _ENDEARING)
    if len(word) > _DISTINCT and word.endswith("nen"):
        yield Form((f"{word[:-3]}s",), STEM, _OF_NEN)


def _of_organisation(words: tuple[str, ...]) -> Iterator[Form]:
    bare = tuple(word for word in words if word not in _LEGAL)
    if bare and bare != words:
        yield Form(bare)
    if len(bare) >= _ALONE and len(bare[0]) >= _DISTINCT and bare[0] not in ORDINARY:
        yield Form((bare[0],), DOUBTFUL)
    if len(bare) >= _ACRONYM:
        yield Form(tuple(word[0] for word in bare), DOUBTFUL)
