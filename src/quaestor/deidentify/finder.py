"""Where known names stand in a text, however they are written: cases, possessives, parts, initials, a letter wrong.

All names are looked for at once: a pattern finds where any of them may begin in the folded text, and only there it is
asked which it is. A place is sure, or a weaker proposal that only a person can judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from quaestor.deidentify.contact_patterns import SHOWN, Shaped, shapes_in
from quaestor.deidentify.folded_text import Folded, folded, rejoined
from quaestor.deidentify.joined_names import Joint
from quaestor.deidentify.match_confidence import AS_IT_IS, IN_PART, MISSPELT, SHORT, Found, judged
from quaestor.deidentify.name_forms import DOUBTFUL, INITIALS, Form, KnownName, forms_of, words_in
from quaestor.deidentify.ordinary_words import ORDINARY

__all__ = ["Finder", "Found", "either", "fitting", "resolved"]

_AT_A_WORD, _AT_A_SIGN, _IN_A_WORD = r"(?<![^\W\d_])", r"(?=[\W_])", r"(?<=[^\W\d_])"
_CAPITALS = re.compile(r"(?<!\w)[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω](?:\.? ?[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω]){1,4}\b")
_EDITED = 6
_LONG_WORDS = re.compile(rf"(?<![^\W_])[^\W_]{{{_EDITED - 1},60}}(?![^\W_])")


@dataclass
class _Node:
    """What a name may go on with: letter by letter, and by what is between two words."""

    after: dict[str, _Node] = field(default_factory=dict)
    joints: dict[Joint, _Node] = field(default_factory=dict)
    ends: list[tuple[int, int, KnownName, Form]] = field(default_factory=list)

    def pattern(self) -> str:
        ways = [re.escape(letter) + node.pattern() for letter, node in sorted(self.after.items())]
        ways += [joint.pattern + node.pattern() for joint, node in self.joints.items()]
        if self.ends or not ways:
            return ""  # that a name may end here is enough to look closer
        return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


class Finder:
    """A search for many names at once; safe for many threads."""

    def __init__(self, names: Iterable[KnownName]) -> None:
        self.names = tuple(names)
        self._root, self._inner = _Node(), _Node()
        self._acronyms: dict[str, list[KnownName]] = {}
        self._near: dict[str, list[tuple[str, KnownName]]] = {}
        self._keys: set[str] = set()
        self._judged: dict[str, tuple[KnownName, ...]] = {}
        for rank, name in enumerate(self.names):
            for given in name.forms:
                for form in forms_of(name.kind, given):
                    self._take(rank, name, form)
        begins = f"(?:{_AT_A_WORD}|{_AT_A_SIGN})" if self._root.joints else _AT_A_WORD
        self._searched = [
            (re.compile(f"{where}(?={root.pattern()})"), root)
            for where, root in ((begins, self._root), (_IN_A_WORD, self._inner))
            if root.after or root.joints
        ]

    def _take(self, rank: int, name: KnownName, form: Form) -> None:
        if form.how == DOUBTFUL and len(form.words) > 1:
            self._acronyms.setdefault(form.key, []).append(name)
            return
        _put(self._root, rank, name, form)
        if form.how >= INITIALS:
            return
        begins_with_sign = bool(form.joints) and form.joints[0] is not None
        if (len(form.key) > SHORT or not form.key.isascii()) and not begins_with_sign:
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
        named = self._named(text)
        return [one for one in resolved([*named, *_unions(named, text)]) if one.sure]

    def sure_in(self, text: str) -> list[Found]:
        """The same with what is surely an address by its shape."""
        return [one for one in self.find(text) if one.sure]

    def candidates(self, text: str) -> list[Found]:
        """The same with all that overlaps, for whoever knows that some of it is none."""
        named = self._named(text)
        found = list(named)
        for shape in shapes_in(text):
            found += [replace(known, start=shape.start, end=shape.end) for known in named if _fills(known, shape, text)]
            found.append(Found(shape.start, shape.end, shape.kind, SHOWN[shape.kind], shape.sure, "by its shape"))
        return [*found, *_unions(found, text)]

    def _named(self, text: str) -> list[Found]:
        if not self._searched:
            return []
        seen = folded(text)
        found = [*self._known(seen), *self._misspelt(seen), *self._initials(text)]
        if not text.isascii() and (apart := folded(text, unseen=" ")).text != seen.text:
            found += self._known(apart)
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
                    one = judged(seen, start, end, name, form)
                    if one is not None:
                        yield one

    def _initials(self, text: str) -> Iterator[Found]:
        for match in _CAPITALS.finditer(text) if self._acronyms else ():
            for name in _distinct(self._acronyms.get("".join(words_in(match[0])), ())):
                yield Found(*match.span(), name.id, name.shown, False, IN_PART)

    def _misspelt(self, seen: Folded) -> Iterator[Found]:
        if not self._near:
            return
        words = set(_LONG_WORDS.findall(seen.text))
        if not any(map(self._nearly, words)):
            return
        for word in _LONG_WORDS.finditer(seen.text):
            for name in self._nearly(word[0]):
                low, high = seen.span(*word.span())
                yield Found(low, high, name.id, name.shown, False, MISSPELT)

    def _nearly(self, word: str) -> tuple[KnownName, ...]:
        """The names that a word is but for one letter."""
        if word in self._judged:
            return self._judged[word]
        known_names: tuple[KnownName, ...] = ()
        if word not in self._keys and word not in ORDINARY:
            shorter = _without_one(word)
            near = [pair for one in shorter for pair in self._near.get(one, ())]
            ids = {name.id for key, name in near if _one_edit(key, word)}
            known_names = tuple(_distinct(name for name in self.names if name.id in ids))
        self._judged[word] = known_names
        return known_names


def resolved(candidates: Iterable[Found]) -> list[Found]:
    """Those that stay where several overlap, in their order; a name that several have is shown as either."""
    return [replace(one, shown=either(each.shown for each in (one, *more))) for one, *more in fitting(candidates)]


def fitting(candidates: Iterable[Found]) -> list[list[Found]]:
    """The same, each with all that fit its place as well; sure ones come first, then the longest, then known forms."""
    kept: dict[tuple[int, int], list[Found]] = {}
    taken: set[int] = set()
    for candidate in sorted(candidates, key=_standing):
        places = range(candidate.start, candidate.end)
        beside = kept.get((candidate.start, candidate.end), [])
        if beside and _standing(beside[0]) == _standing(candidate):
            beside += [candidate] if candidate.shown not in [each.shown for each in beside] else []
        elif not taken.intersection(places):
            kept[candidate.start, candidate.end] = [candidate]
            taken.update(places)
    return sorted(kept.values(), key=lambda each: each[0].start)


def _unions(founds: Sequence[Found], text: str) -> Iterator[Found]:
    """Where sure places overlap in part, so that the shorter one would leave letters of a name behind: both as one."""
    kept = {place: one for one, *_ in fitting(founds) if one.sure for place in range(one.start, one.end)}
    for one in founds:
        places = range(one.start, one.end)
        if one.sure and any(text[place].isalnum() and place not in kept for place in places):
            overlapping = [one, *(kept[place] for place in places if place in kept)]
            longest = max(overlapping, key=lambda each: each.end - each.start)
            first, last = min(each.start for each in overlapping), max(each.end for each in overlapping)
            yield replace(longest, start=first, end=last)


def either(shown: Iterable[str]) -> str:
    """What is shown for a name that several have, as long as nobody has said whose it is."""
    return " or ".join(dict.fromkeys(shown))


def _standing(one: Found) -> tuple[bool, int, int, bool]:
    return not one.sure, one.start - one.end, one.start, one.why != AS_IT_IS


def _fills(known: Found, shape: Shaped, text: str) -> bool:
    """Whether a known number or address is all that has a shape, but for signs around it such as a plus."""
    if not (known.sure and shape.start <= known.start and known.end <= shape.end):
        return False
    around = text[shape.start : known.start] + text[known.end : shape.end]
    return bool(around) and not any(sign.isalnum() for sign in around)


def _put(node: _Node, rank: int, name: KnownName, form: Form) -> None:
    for step in form.steps():
        if isinstance(step, Joint):
            node = node.joints.setdefault(step, _Node())
            continue
        for letter in step:
            node = node.after.setdefault(letter, _Node())
    node.ends.append((form.how, rank, name, form))
    node.ends.sort(key=lambda end: end[:2])


def _ends(node: _Node, text: str, place: int) -> Iterator[tuple[int, KnownName, Form]]:
    """Every name that begins at a place, with where it ends; all of those who share it."""
    waiting: list[tuple[_Node, int]] = [(node, place)]
    while waiting:
        here, at = waiting.pop()
        first: dict[tuple[str, frozenset[str]], tuple[KnownName, Form]] = {}
        for _, _, name, form in here.ends:
            first.setdefault((name.id, form.endings), (name, form))
        for name, form in first.values():
            yield at, name, form
        for joint, beyond in here.joints.items():
            waiting += [(beyond, end) for end in joint.ends_in(text, at)]
        if at < len(text) and (following := here.after.get(text[at])) is not None:
            waiting.append((following, at + 1))


def _distinct(names: Iterable[KnownName]) -> Iterable[KnownName]:
    """The first of each id."""
    found: dict[str, KnownName] = {}
    for name in names:
        found.setdefault(name.id, name)
    return found.values()


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
