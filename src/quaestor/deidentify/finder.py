"""Where known names stand in a text, however they are written: cases, possessives, parts, initials, a letter wrong.

All names are looked for at once: a pattern finds where any of them may begin in the folded text, and only there it is
asked which it is. A place is sure, or a weaker proposal that only a person can judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from quaestor.deidentify.contact_patterns import REPLACEMENTS, PatternMatch, find_patterns
from quaestor.deidentify.folded_text import FoldedText, fold_rejoined, fold_with_positions
from quaestor.deidentify.joined_names import Joint
from quaestor.deidentify.match_confidence import AS_IT_IS, IN_PART, MISSPELT, SHORT, NameMatch, judge_match
from quaestor.deidentify.name_forms import DOUBTFUL, INITIALS, KnownName, NameForm, build_forms, split_words
from quaestor.deidentify.ordinary_words import ORDINARY

__all__ = ["Finder", "NameMatch", "join_alternatives", "group_overlapping", "resolve_overlaps"]

_AT_A_WORD, _AT_A_SIGN, _IN_A_WORD = r"(?<![^\W\d_])", r"(?=[\W_])", r"(?<=[^\W\d_])"
_CAPITALS = re.compile(r"(?<!\w)[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω](?:\.? ?[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω]){1,4}\b")
_EDITED = 6
_LONG_WORDS = re.compile(rf"(?<![^\W_])[^\W_]{{{_EDITED - 1},60}}(?![^\W_])")


@dataclass
class _Node:
    """What a name may go on with: letter by letter, and by what is between two words."""

    after: dict[str, _Node] = field(default_factory=dict)
    joints: dict[Joint, _Node] = field(default_factory=dict)
    ends: list[tuple[int, int, KnownName, NameForm]] = field(default_factory=list)

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
            for form_text in name.forms:
                for form in build_forms(name.kind, form_text):
                    self._take(rank, name, form)
        begins = f"(?:{_AT_A_WORD}|{_AT_A_SIGN})" if self._root.joints else _AT_A_WORD
        self._searched = [
            (re.compile(f"{where}(?={root.pattern()})"), root)
            for where, root in ((begins, self._root), (_IN_A_WORD, self._inner))
            if root.after or root.joints
        ]

    def _take(self, rank: int, name: KnownName, form: NameForm) -> None:
        if form.extent == DOUBTFUL and len(form.words) > 1:
            self._acronyms.setdefault(form.key, []).append(name)
            return
        _put(self._root, rank, name, form)
        if form.extent >= INITIALS:
            return
        begins_with_sign = bool(form.joints) and form.joints[0] is not None
        if (len(form.key) > SHORT or not form.key.isascii()) and not begins_with_sign:
            _put(self._inner, rank, name, form)
        self._keys.add(form.key)
        if len(form.key) >= _EDITED:
            for shortened in _without_one(form.key):
                self._near.setdefault(shortened, []).append((form.key, name))

    def find(self, text: str) -> list[NameMatch]:
        """Names and what is shaped like an address in a text, in their order; no two overlap."""
        return resolve_overlaps(self.find_candidates(text))

    def find_sure_names(self, text: str) -> list[NameMatch]:
        """Names alone that are surely there."""
        named = self._named(text)
        return [match for match in resolve_overlaps([*named, *_unions(named, text)]) if match.sure]

    def find_sure(self, text: str) -> list[NameMatch]:
        """The same with what is surely an address by its shape."""
        return [match for match in self.find(text) if match.sure]

    def find_candidates(self, text: str) -> list[NameMatch]:
        """The same with all that overlaps, for whoever knows that some of it is none."""
        named = self._named(text)
        matches = list(named)
        for shape in find_patterns(text):
            matches += [
                replace(known, start=shape.start, end=shape.end) for known in named if _fills(known, shape, text)
            ]
            matches.append(
                NameMatch(shape.start, shape.end, shape.kind, REPLACEMENTS[shape.kind], shape.sure, "by its shape")
            )
        return [*matches, *_unions(matches, text)]

    def _named(self, text: str) -> list[NameMatch]:
        if not self._searched:
            return []
        seen = fold_with_positions(text)
        matches = [*self._known(seen), *self._misspelt(seen), *self._initials(text)]
        if not text.isascii() and (apart := fold_with_positions(text, unseen=" ")).text != seen.text:
            matches += self._known(apart)
        whole = fold_rejoined(text)
        if whole is not None:
            matches += [match for match in self._known(whole) if "\n" in text[match.start : match.end] or "\r" in text]
        return matches

    def _known(self, seen: FoldedText) -> Iterator[NameMatch]:
        for begins, root in self._searched:
            for begin in begins.finditer(seen.text):
                start = begin.start()
                if start and seen.positions[start] == seen.positions[start - 1]:
                    continue  # in the middle of a letter that stands for several
                for end, name, form in _ends(root, seen.text, start):
                    match = judge_match(seen, start, end, name, form)
                    if match is not None:
                        yield match

    def _initials(self, text: str) -> Iterator[NameMatch]:
        for match in _CAPITALS.finditer(text) if self._acronyms else ():
            for name in _distinct(self._acronyms.get("".join(split_words(match[0])), ())):
                yield NameMatch(*match.span(), name.id, name.shown, False, IN_PART)

    def _misspelt(self, seen: FoldedText) -> Iterator[NameMatch]:
        if not self._near:
            return
        words = set(_LONG_WORDS.findall(seen.text))
        if not any(map(self._nearly, words)):
            return
        for word in _LONG_WORDS.finditer(seen.text):
            for name in self._nearly(word[0]):
                low, high = seen.span(*word.span())
                yield NameMatch(low, high, name.id, name.shown, False, MISSPELT)

    def _nearly(self, word: str) -> tuple[KnownName, ...]:
        """The names that a word is but for one letter."""
        if word in self._judged:
            return self._judged[word]
        known_names: tuple[KnownName, ...] = ()
        if word not in self._keys and word not in ORDINARY:
            shorter = _without_one(word)
            near = [pair for word in shorter for pair in self._near.get(word, ())]
            ids = {name.id for key, name in near if _one_edit(key, word)}
            known_names = tuple(_distinct(name for name in self.names if name.id in ids))
        self._judged[word] = known_names
        return known_names


def resolve_overlaps(candidates: Iterable[NameMatch]) -> list[NameMatch]:
    """Those that stay where several overlap, in their order; a name that several have is shown as either."""
    return [
        replace(match, shown=join_alternatives(each.shown for each in (match, *more)))
        for match, *more in group_overlapping(candidates)
    ]


def group_overlapping(candidates: Iterable[NameMatch]) -> list[list[NameMatch]]:
    """The same, each with all that fit its place as well; sure ones come first, then the longest, then known forms."""
    kept: dict[tuple[int, int], list[NameMatch]] = {}
    covered: set[int] = set()
    for candidate in sorted(candidates, key=_standing):
        places = range(candidate.start, candidate.end)
        group = kept.get((candidate.start, candidate.end), [])
        if group and _standing(group[0]) == _standing(candidate):
            group += [candidate] if candidate.shown not in [group_match.shown for group_match in group] else []
        elif not covered.intersection(places):
            kept[candidate.start, candidate.end] = [candidate]
            covered.update(places)
    return sorted(kept.values(), key=lambda group_match: group_match[0].start)


def _unions(founds: Sequence[NameMatch], text: str) -> Iterator[NameMatch]:
    """Where sure places overlap in part, so that the shorter one would leave letters of a name behind: both as one."""
    kept = {
        place: match for match, *_ in group_overlapping(founds) if match.sure for place in range(match.start, match.end)
    }
    for match in founds:
        places = range(match.start, match.end)
        if match.sure and any(text[place].isalnum() and place not in kept for place in places):
            overlapping = [match, *(kept[place] for place in places if place in kept)]
            longest = max(overlapping, key=lambda each: each.end - each.start)
            first, last = min(each.start for each in overlapping), max(each.end for each in overlapping)
            yield replace(longest, start=first, end=last)


def join_alternatives(shown: Iterable[str]) -> str:
    """What is shown for a name that several have, as long as nobody has said whose it is."""
    return " or ".join(dict.fromkeys(shown))


def _standing(match: NameMatch) -> tuple[bool, int, int, bool]:
    return not match.sure, match.start - match.end, match.start, match.why != AS_IT_IS


def _fills(known: NameMatch, shape: PatternMatch, text: str) -> bool:
    """Whether a known number or address is all that has a shape, but for signs around it such as a plus."""
    if not (known.sure and shape.start <= known.start and known.end <= shape.end):
        return False
    around = text[shape.start : known.start] + text[known.end : shape.end]
    return bool(around) and not any(sign.isalnum() for sign in around)


def _put(node: _Node, rank: int, name: KnownName, form: NameForm) -> None:
    for step in form.steps():
        if isinstance(step, Joint):
            node = node.joints.setdefault(step, _Node())
            continue
        for letter in step:
            node = node.after.setdefault(letter, _Node())
    node.ends.append((form.extent, rank, name, form))
    node.ends.sort(key=lambda end: end[:2])


def _ends(node: _Node, text: str, start: int) -> Iterator[tuple[int, KnownName, NameForm]]:
    """Every name that begins at a place, with where it ends; all of those who share it."""
    waiting: list[tuple[_Node, int]] = [(node, start)]
    while waiting:
        here, at = waiting.pop()
        first: dict[tuple[str, frozenset[str]], tuple[KnownName, NameForm]] = {}
        for _, _, name, form in here.ends:
            first.setdefault((name.id, form.endings), (name, form))
        for name, form in first.values():
            yield at, name, form
        for joint, beyond in here.joints.items():
            waiting += [(beyond, end) for end in joint.find_ends(text, at)]
        if at < len(text) and (following := here.after.get(text[at])) is not None:
            waiting.append((following, at + 1))


def _distinct(names: Iterable[KnownName]) -> Iterable[KnownName]:
    """The first of each id."""
    names_by_id: dict[str, KnownName] = {}
    for name in names:
        names_by_id.setdefault(name.id, name)
    return names_by_id.values()


def _without_one(word: str) -> set[str]:
    """A word, and all that it is without one letter."""
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}


def _one_edit(word: str, other: str) -> bool:
    """Whether one letter is wrong, missing, too many, or two are in each other's place."""
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    begin = 0
    while begin < min(len(word), len(other)) and word[begin] == other[begin]:
        begin += 1
    left, right = word[begin:], other[begin:]
    if len(word) == len(other):
        return left[1:] == right[1:] or (left[:2] == right[:2][::-1] and left[2:] == right[2:])
    return left[1:] == right or left == right[1:]
