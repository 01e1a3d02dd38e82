"""Judges whether a match in a text is a name: surely, possibly, or not."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from quaestor.deidentify.folded_text import FoldedText
from quaestor.deidentify.joined_names import GAP
from quaestor.deidentify.name_forms import (
    DOUBTFUL,
    ENDINGS,
    INITIALS,
    ORDINARY,
    ORDINARY_WITH_ENDING,
    PERSON,
    STEM,
    KnownName,
    NameForm,
)

AS_IT_IS, WITH_AN_ENDING, WITHIN, MISSPELT, AS_A_WORD, IN_PART = (
    "as it is known",
    "with an ending",
    "within another word",
    "one letter differs",
    "may be an ordinary word",
    "may be a part of it",
)
TINY, SHORT = 2, 3
_DISTINCT, _LONG = 4, 6
_PLURAL = "s"
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")
_BEFORE_ACCOUNT, _AFTER_ACCOUNT = re.compile(r"(?:^|[^\w@])@$"), re.compile(r"@[^\W\d_][\w-]*[^\W_]")
_PREFIXED = frozenset("בהוכלמשوبلفك")
"""Hebrew and Arabic letters that are prefixed to a name in the same word."""


@dataclass(frozen=True)
class NameMatch:
    """A range of a text that is a name, or may be one."""

    start: int
    end: int
    name: str
    shown: str
    sure: bool
    why: str

    def overlaps(self, start: int, end: int) -> bool:
        return self.start < end and start < self.end


def judge_match(seen: FoldedText, start: int, end: int, name: KnownName, form: NameForm) -> NameMatch | None:
    """Judges a match of a name form in a folded text; None if it is not a name."""
    text, raw = seen.text, seen.raw
    rest = _read_rest(text, end)
    low, high = seen.span(start, end)
    capital = _is_capital(raw[low])
    joined = not _begins_word(seen, start)
    unspaced = _is_unspaced(raw[low]) or _is_unspaced(raw[high - 1])
    size = len(form.key)
    if joined and not unspaced and _is_prefixed(seen, start):
        joined = False
    if rest and _begins_camel_word(seen, end):
        rest = ""
    if form.extent == INITIALS and not _are_initials(seen, start, end, form):
        return None

    def build_match(match_end: int, sure: bool, why: str) -> NameMatch:
        first, last = seen.span(start, match_end)
        return NameMatch(first, last, name.id, name.shown, sure, why)

    if unspaced and len(raw[low:high]) >= TINY:
        return build_match(end, True, AS_IT_IS)
    if joined or (rest and not _is_ending(rest, name, form)):
        long = size >= _LONG and form.extent <= STEM - 1
        begins = not joined and capital and size > SHORT and form.extent != STEM
        return build_match(end + len(rest), False, WITHIN) if long or begins else None
    doubted = size <= SHORT and rest not in ("", _PLURAL, *name.endings)
    if form.extent == STEM or doubted:
        fits = rest and rest != _PLURAL and capital
        return build_match(end + len(rest), form.sure and not doubted, WITH_AN_ENDING) if fits else None
    if form.extent == DOUBTFUL and size <= _DISTINCT and not capital:
        return None
    if form.extent == DOUBTFUL:
        return build_match(end + len(rest), False, IN_PART)
    if form.extent == INITIALS and end - start == size and not _is_account(seen, start, end, form):
        return build_match(end, False, AS_A_WORD)
    why = WITH_AN_ENDING if rest else AS_IT_IS
    ordinary = (form.key in ORDINARY or size <= SHORT) and not capital
    if ordinary and not _has_own_sign(text[start:end], form) and not _is_original(raw[low:high], name, form):
        return build_match(end + len(rest), False, AS_A_WORD)
    return build_match(end + len(rest), form.sure, why if form.sure else AS_A_WORD)


def _has_own_sign(words: str, form: NameForm) -> bool:
    """Returns whether a name with a sign, such as at&t, is written with it, unlike any ordinary word."""
    own = any(joint not in (None, GAP) for joint in form.joints)
    return own and not all(letter.isalnum() or letter.isspace() for letter in words)


def _is_original(words: str, name: KnownName, form: NameForm) -> bool:
    """Returns whether the text has exactly the letters of a name as entered; not for a name derived from an address."""
    if not form.original or name.derived:
        return False
    written, original = (
        [letter for letter in unicodedata.normalize("NFKD", text) if letter.isalnum()]
        for text in (words, form.original)
    )
    return written == original


def _is_ending(rest: str, name: KnownName, form: NameForm) -> bool:
    """Returns whether the rest of a word is an ending of the name, and does not make a short name an ordinary word."""
    if rest in name.endings:
        return True
    size = len(form.key)
    if size <= SHORT and form.key + rest in ORDINARY_WITH_ENDING:
        return False
    if form.endings:
        return rest in form.endings
    if size <= TINY or (size <= SHORT and name.kind != PERSON):
        return rest == _PLURAL
    return rest in ENDINGS


def _read_rest(text: str, end: int) -> str:
    """Returns the letters of the same word after a position."""
    if end >= len(text) or not text[end].isalpha() or not text[end - 1].isalnum():
        return ""
    stop = end
    same = text[end - 1].isascii()
    while stop < len(text) and text[stop].isalpha() and text[stop].isascii() == same:
        stop += 1  # letters of another script are another word
    return text[end:stop]


def _begins_word(seen: FoldedText, start: int) -> bool:
    """Returns whether a word begins here: after a non-letter, or with a capital after a lower-case letter."""
    if start == 0 or not seen.text[start - 1].isalpha() or not seen.text[start].isalnum():
        return True
    return _begins_camel_word(seen, start) or seen.text[start - 1].isascii() != seen.text[start].isascii()


def _begins_camel_word(seen: FoldedText, end: int) -> bool:
    """Returns whether another word begins here with a capital and without a space."""
    before, here = seen.raw[seen.positions[end - 1]], seen.raw[seen.positions[end]]
    return before.islower() and here.isupper()


def _is_prefixed(seen: FoldedText, start: int) -> bool:
    """Returns whether only Hebrew or Arabic prefixes precede the match in its word."""
    first = start
    while first and seen.text[first - 1] in _PREFIXED and start - first < TINY:
        first -= 1
    return first < start and (first == 0 or not seen.text[first - 1].isalpha())


def _is_capital(letter: str) -> bool:
    """Returns whether a letter is not lower-case; letters of scripts without case count as capitals."""
    return not letter.islower()


def _is_unspaced(letter: str) -> bool:
    """Returns whether a letter belongs to a script without spaces between words."""
    return not letter.isascii() and unicodedata.name(letter, "").startswith(_UNSPACED)


def _are_initials(seen: FoldedText, start: int, end: int, form: NameForm) -> bool:
    """Returns whether initials are written as such: as separate capitals, or joined to the name."""
    if end - start == len(form.key):
        return len(form.key) > SHORT and not _read_rest(seen.text, end)
    place = start
    for word in form.words:
        place = seen.text.index(word, place)
        if len(word) == 1 and not _is_capital(seen.raw[seen.positions[place]]):
            return False
        place += len(word)
    last = form.words[-1]
    return len(last) > 1 or not _read_rest(seen.text, end)


def _is_account(seen: FoldedText, start: int, end: int, form: NameForm) -> bool:
    """Returns whether initials joined to a name are written unlike any word: SPark, @spark, spark@example."""
    low, high = seen.span(start, end)
    if _BEFORE_ACCOUNT.search(seen.raw[max(low - 2, 0) : low]) or _AFTER_ACCOUNT.match(seen.raw, high):
        return True
    begins = [start + sum(map(len, form.words[:place])) for place in range(len(form.words))]
    capitals = all(_is_capital(seen.raw[seen.positions[begin]]) for begin in begins)
    return capitals and not seen.raw[low:high].isupper()
