"""Where known names stand in a text, however they are written: cases, possessives, parts, initials, a letter wrong.

All names are looked for at once: a pattern finds where any of them may begin in the folded text, and only there it is
asked which it is. A place is sure, or a weaker proposal that only a person can judge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from quaestor.instruments.interviews.folding import Folded, folded, rejoined
from quaestor.instruments.interviews.name_forms import (
    DOUBTFUL,
    ENDINGS,
    INITIALS,
    ORDINARY,
    STEM,
    Form,
    forms_of,
    words_in,
)
from quaestor.instruments.interviews.name_patterns import SHOWN, shapes_in
from quaestor.instruments.interviews.records import KnownName

AS_IT_IS, WITH_AN_ENDING, WITHIN, MISSPELT, AS_A_WORD, IN_PART = (
    "as it is known",
    "with an ending",
    "within another word",
    "one letter differs",
    "may be an ordinary word",
    "may be a part of it",
)
_GAP = r"(?:[\s,'\-_/\\·@()‐-–]|\.(?!\s)){0,4}"
_AFTER_INITIAL = r"[\s.,'\-_/\\·@()‐-–]{0,4}"
"""What may stand between two words of a name; a full stop before a space ends a sentence, save after initials."""
_GAPS, _AFTER_INITIALS = re.compile(_GAP), re.compile(_AFTER_INITIAL)
_AT_A_WORD, _IN_A_WORD = r"(?<![^\W\d_])", r"(?<=[^\W\d_])"
_CAPITALS = re.compile(r"(?<!\w)[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω](?:\.? ?[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω]){1,4}\b")
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")
_PREFIXED = frozenset("בהוכלמשوبلفك")
"""Hebrew and Arabic letters that stand before a name as part of the same word."""
_TINY, _SHORT, _LONG, _EDITED = 2, 3, 6, 6
_LONG_WORDS = re.compile(rf"(?<![^\W_])[^\W_]{{{_EDITED - 1},60}}(?![^\W_])")


@dataclass(frozen=True)
class Found:
    """A stretch of a text that is a name, or may be one."""

    start: int
    end: int
    name: str
    shown: str
    sure: bool
    why: str

    def overlaps(self, start: int, end: int) -> bool:
        return self.start < end and start < self.end


@dataclass
class _Node:
    """What a name may go on with, letter by letter; a gap stands for whatever is between two words."""

    after: dict[str, _Node] = field(default_factory=dict)
    gap: _Node | None = None
    initial: bool = False
    """Whether the word before the gap is a single letter."""
    ends: list[tuple[int, int, KnownName, Form]] = field(default_factory=list)

    def pattern(self) -> str:
        ways = [re.escape(letter) + node.pattern() for letter, node in sorted(self.after.items())]
        ways += [(_AFTER_INITIAL if self.initial else _GAP) + self.gap.pattern()] if self.gap else []
        if self.ends or not ways:
            return ""  # that a name may end here is enough to look closer
        return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


class Finder:
    """A search for many names at once; safe for many threads."""

    def __init__(self, names: Iterable[KnownName]) -> None:
        self.names = tuple(names)
        self._root, self._inner = _Node(), _Node()
        self._acronyms: dict[str, KnownName] = {}
        self._near: dict[str, list[tuple[str, KnownName]]] = {}
        self._keys: set[str] = set()
        self._judged: dict[str, KnownName | None] = {}
        for rank, name in enumerate(self.names):
            for given in name.forms:
                for form in forms_of(name.kind, given):
                    self._take(rank, name, form)
        self._searched = [
            (re.compile(f"{where}(?={root.pattern()})"), root)
            for where, root in ((_AT_A_WORD, self._root), (_IN_A_WORD, self._inner))
            if root.after
        ]

    def _take(self, rank: int, name: KnownName, form: Form) -> None:
        if form.how == DOUBTFUL and len(form.words) > 1:
            self._acronyms.setdefault(form.key, name)
            return
        _put(self._root, rank, name, form)
        if form.how >= INITIALS:
            return
        if len(form.key) > _SHORT or not form.key.isascii():
            _put(self._inner, rank, name, form)
        self._keys.add(form.key)
        if len(form.key) >= _EDITED:
            for shortened in _without_one(form.key):
                self._near.setdefault(shortened, []).append((form.key, name))

    def find(self, text: str) -> list[Found]:
        """Names and what is shaped like an address in a text, in their order; no two overlap."""
        return resolved(self.candidates(text))

    def names_in(self, text: str) -> list[Found]:
        """Names alone that are surely there."""
        return [one for one in resolved(self._named(text)) if one.sure]

    def sure_in(self, text: str) -> list[Found]:
        """The same with what is surely an address by its shape."""
        return [one for one in self.find(text) if one.sure]

    def candidates(self, text: str) -> list[Found]:
        """The same with all that overlaps, for whoever knows that some of it is none."""
        found = self._named(text)
        for one in shapes_in(text):
            found.append(Found(one.start, one.end, one.kind, SHOWN[one.kind], one.sure, "by its shape"))
        return found

    def _named(self, text: str) -> list[Found]:
        if not self._searched:
            return []
        seen = folded(text)
        found = [*self._known(seen), *self._misspelt(seen), *self._initials(text)]
        whole = rejoined(text)
        if whole is not None:
            found += [one for one in self._known(whole) if "\n" in text[one.start : one.end] or "\r" in text]
        return found

    def _known(self, seen: Folded) -> Iterator[Found]:
        for begins, root in self._searched:
            for begin in begins.finditer(seen.text):
                start = begin.start()
                if start and seen.places[start] == seen.places[start - 1]:
                    continue  # in the middle of a letter that stands for several
                for end, name, form in _ends(root, seen.text, start):
                    judged = _judged(seen, start, end, name, form)
                    if judged is not None:
                        yield judged

    def _initials(self, text: str) -> Iterator[Found]:
        for one in _CAPITALS.finditer(text) if self._acronyms else ():
            name = self._acronyms.get("".join(words_in(one[0])))
            if name is not None:
                yield Found(*one.span(), name.id, name.shown, False, IN_PART)

    def _misspelt(self, seen: Folded) -> Iterator[Found]:
        if not self._near:
            return
        words = set(_LONG_WORDS.findall(seen.text))
        if all(self._nearly(word) is None for word in words):
            return
        for word in _LONG_WORDS.finditer(seen.text):
            name = self._nearly(word[0])
            if name is not None:
                low, high = seen.span(*word.span())
                yield Found(low, high, name.id, name.shown, False, MISSPELT)

    def _nearly(self, word: str) -> KnownName | None:
        """The name that a word is but for one letter."""
        if word in self._judged:
            return self._judged[word]
        found: KnownName | None = None
        if word not in self._keys and word not in ORDINARY:
            shorter = _without_one(word)
            near = [pair for one in shorter for pair in self._near.get(one, ())]
            found = next((name for key, name in near if _one_edit(key, word)), None)
        self._judged[word] = found
        return found


def resolved(candidates: Iterable[Found]) -> list[Found]:
    """Those that stay where several overlap: the sure ones first, then the longest; in the order of their places."""
    kept: list[Found] = []
    taken: set[int] = set()
    for one in sorted(candidates, key=_standing):
        places = range(one.start, one.end)
        if not taken.intersection(places):
            kept.append(one)
            taken.update(places)
    return sorted(kept, key=lambda each: each.start)


def _standing(one: Found) -> tuple[bool, int, int, bool]:
    return not one.sure, one.start - one.end, one.start, one.why != AS_IT_IS


def _put(node: _Node, rank: int, name: KnownName, form: Form) -> None:
    for place, word in enumerate(form.words):
        if place:
            node.gap = node.gap or _Node()
            node.initial = len(form.words[place - 1]) == 1
            node = node.gap
        for letter in word:
            node = node.after.setdefault(letter, _Node())
    node.ends.append((form.how, rank, name, form))
    node.ends.sort(key=lambda one: one[:2])


def _ends(node: _Node, text: str, place: int) -> Iterator[tuple[int, KnownName, Form]]:
    """Every name that begins at a place, with where it ends."""
    waiting: list[tuple[_Node, int]] = [(node, place)]
    while waiting:
        here, at = waiting.pop()
        for _, _, name, form in here.ends[:1]:
            yield at, name, form
        if here.gap is not None:
            gap = (_AFTER_INITIALS if here.initial else _GAPS).match(text, at)
            waiting.append((here.gap, gap.end() if gap else at))
        if at < len(text) and (following := here.after.get(text[at])) is not None:
            waiting.append((following, at + 1))


def _judged(seen: Folded, start: int, end: int, name: KnownName, form: Form) -> Found | None:
    """Whether what stands at a place is the name: surely, perhaps, or not at all."""
    text, raw = seen.text, seen.raw
    rest = _rest(text, end)
    low, high = seen.span(start, end)
    capital = _is_capital(raw[low])
    joined = not _begins_word(seen, start)
    unspaced = _is_unspaced(raw[low]) or _is_unspaced(raw[high - 1])
    size = len(form.key)
    if joined and not unspaced and _is_prefixed(seen, start):
        joined = False
    if rest and _camel(seen, end):
        rest = ""
    if form.how == INITIALS and not _initials_fit(seen, start, end, form):
        return None

    def made(upto: int, sure: bool, why: str) -> Found:
        first, last = seen.span(start, upto)
        return Found(first, last, name.id, name.shown, sure, why)

    if unspaced and len(raw[low:high]) >= _TINY:
        return made(end, True, AS_IT_IS)
    if joined or (rest and not _is_ending(rest, name, size)):
        long = size >= _LONG and form.how <= STEM - 1
        begins = not joined and capital and size > _SHORT and form.how != STEM
        return made(end + len(rest), False, WITHIN) if long or begins else None
    ordinary = form.key in ORDINARY or size <= _SHORT
    if form.how == STEM:
        return made(end + len(rest), capital, WITH_AN_ENDING) if rest and rest != "s" and capital else None
    if form.how == DOUBTFUL:
        return made(end + len(rest), False, IN_PART)
    why = WITH_AN_ENDING if rest else AS_IT_IS
    if ordinary and not capital:
        return made(end + len(rest), False, AS_A_WORD)
    return made(end + len(rest), True, why)


def _rest(text: str, end: int) -> str:
    """The letters of the same word after a place."""
    if end >= len(text) or not text[end].isalpha():
        return ""
    stop = end
    same = text[end - 1].isascii()
    while stop < len(text) and text[stop].isalpha() and text[stop].isascii() == same:
        stop += 1  # letters of another script are another word
    return text[end:stop]


def _begins_word(seen: Folded, start: int) -> bool:
    """Whether a word begins here: after what is no letter, or with a capital after a small letter."""
    if start == 0 or not seen.text[start - 1].isalpha():
        return True
    return _camel(seen, start) or seen.text[start - 1].isascii() != seen.text[start].isascii()


def _camel(seen: Folded, end: int) -> bool:
    """Whether another word begins here with a capital, without a space."""
    before, here = seen.raw[seen.places[end - 1]], seen.raw[seen.places[end]]
    return before.islower() and here.isupper()


def _is_prefixed(seen: Folded, start: int) -> bool:
    """Whether all that stands before it in the word are letters that Hebrew and Arabic put there."""
    first = start
    while first and seen.text[first - 1] in _PREFIXED and start - first < _TINY:
        first -= 1
    return first < start and (first == 0 or not seen.text[first - 1].isalpha())


def _is_capital(letter: str) -> bool:
    """Whether a letter is a capital; those of scripts without capitals count as such."""
    return not letter.islower()


def _is_unspaced(letter: str) -> bool:
    """Whether a letter is of a script that puts no space between words."""
    return not letter.isascii() and unicodedata.name(letter, "").startswith(_UNSPACED)


def _is_ending(rest: str, name: KnownName, size: int) -> bool:
    if size <= _SHORT:
        return rest == "s" or rest in name.endings
    return rest in ENDINGS or rest in name.endings


def _initials_fit(seen: Folded, start: int, end: int, form: Form) -> bool:
    """Whether initials are written as such: in capitals where they stand apart, or joined to the name."""
    if end - start == len(form.key):
        return len(form.key) > _SHORT and not _rest(seen.text, end)
    place = start
    for word in form.words:
        place = seen.text.index(word, place)
        if len(word) == 1 and not _is_capital(seen.raw[seen.places[place]]):
            return False
        place += len(word)
    last = form.words[-1]
    return len(last) > 1 or not _rest(seen.text, end)


def _without_one(word: str) -> set[str]:
    """A word, and all that it is without one letter."""
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}


def _one_edit(one: str, other: str) -> bool:
    """Whether one letter is wrong, missing, too many, or two are in each other's place."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    begin = 0
    while begin < min(len(one), len(other)) and one[begin] == other[begin]:
        begin += 1
    left, right = one[begin:], other[begin:]
    if len(one) == len(other):
        return left[1:] == right[1:] or (left[:2] == right[:2][::-1] and left[2:] == right[2:])
    return left[1:] == right or left == right[1:]
