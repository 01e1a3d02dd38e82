"""Finds known names in a text in all their forms: cases, possessives, parts, initials, with a wrong letter.

All names are searched at once: a pattern finds where any of them may begin in the folded text, and only there the name
is determined. A match is sure, or a proposal that a person must judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from quaestor.deidentify.contact_patterns import REPLACEMENTS, PatternMatch, find_patterns
from quaestor.deidentify.folded_text import FoldedText, fold_rejoined, fold_with_positions
from quaestor.deidentify.joined_names import Joint
from quaestor.deidentify.match_confidence import AS_IT_IS, IN_PART, MISSPELT, SHORT, NameMatch, judge_match
from quaestor.deidentify.name_forms import DOUBTFUL, INITIALS, ORDINARY, KnownName, NameForm, build_forms, split_words

__all__ = ["Finder", "NameMatch", "group_overlapping", "join_alternatives", "resolve_overlaps"]

_AT_A_WORD, _AT_A_SIGN, _IN_A_WORD = r"(?<![^\W\d_])", r"(?=[\W_])", r"(?<=[^\W\d_])"
_CAPITALS = re.compile(r"(?<!\w)[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω](?:\.? ?[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω]){1,4}\b")
_EDITED = 6
_LONG_WORDS = re.compile(rf"(?<![^\W_])[^\W_]{{{_EDITED - 1},60}}(?![^\W_])")


@dataclass
class _Node:
    """A node of the trie of name forms: the next letters, the next joints, and the names that end here."""

    after: dict[str, _Node] = field(default_factory=dict)
    joints: dict[Joint, _Node] = field(default_factory=dict)
    ends: list[tuple[int, int, KnownName, NameForm]] = field(default_factory=list)

    def pattern(self) -> str:
        ways = [re.escape(letter) + node.pattern() for letter, node in sorted(self.after.items())]
        ways += [joint.pattern + node.pattern() for joint, node in self.joints.items()]
        if self.ends or not ways:
            return ""  # if a name may end here, the position is examined
        return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


class Finder:
    """Searches for many names at once; thread-safe."""

    def __init__(self, names: Iterable[KnownName]) -> None:
        self.names = tuple(names)
        self._root, self._inner = _Node(), _Node()
        self._acronyms: dict[str, list[KnownName]] = {}
        self._near: dict[str, list[tuple[str, KnownName]]] = {}
        self._keys: set[str] = set()
        self._near_cache: dict[str, tuple[KnownName, ...]] = {}
        for rank, name in enumerate(self.names):
            for form_text in name.forms:
                for form in build_forms(name.kind, form_text):
                    self._add(rank, name, form)
        begins = f"(?:{_AT_A_WORD}|{_AT_A_SIGN})" if self._root.joints else _AT_A_WORD
        self._searches = [
            (re.compile(f"{where}(?={root.pattern()})"), root)
            for where, root in ((begins, self._root), (_IN_A_WORD, self._inner))
            if root.after or root.joints
        ]

    def _add(self, rank: int, name: KnownName, form: NameForm) -> None:
        if form.extent == DOUBTFUL and len(form.words) > 1:
            self._acronyms.setdefault(form.key, []).append(name)
            return
        _insert(self._root, rank, name, form)
        if form.extent >= INITIALS:
            return
        begins_with_sign = bool(form.joints) and form.joints[0] is not None
        if (len(form.key) > SHORT or not form.key.isascii()) and not begins_with_sign:
            _insert(self._inner, rank, name, form)
        self._keys.add(form.key)
        if len(form.key) >= _EDITED:
            for shortened in _drop_one_letter(form.key):
                self._near.setdefault(shortened, []).append((form.key, name))

    def find(self, text: str) -> list[NameMatch]:
        """Returns names and contact data in a text, in order and without overlaps."""
        return resolve_overlaps(self.find_candidates(text))

    def find_sure_names(self, text: str) -> list[NameMatch]:
        """Returns the names that are certain, without contact data."""
        named = self._find_names(text)
        return [match for match in resolve_overlaps([*named, *_merge_overlapping(named, text)]) if match.sure]

    def find_sure(self, text: str) -> list[NameMatch]:
        """Returns the names and contact data that are certain."""
        return [match for match in self.find(text) if match.sure]

    def find_candidates(self, text: str) -> list[NameMatch]:
        """Returns all matches including overlapping ones, for callers that rule some of them out."""
        named = self._find_names(text)
        matches = list(named)
        for shape in find_patterns(text):
            matches += [
                replace(known, start=shape.start, end=shape.end)
                for known in named
                if _fills_pattern(known, shape, text)
            ]
            matches.append(
                NameMatch(shape.start, shape.end, shape.kind, REPLACEMENTS[shape.kind], shape.sure, "by its shape")
            )
        return [*matches, *_merge_overlapping(matches, text)]

    def _find_names(self, text: str) -> list[NameMatch]:
        if not self._searches:
            return []
        seen = fold_with_positions(text)
        matches = [*self._find_known(seen), *self._find_misspelt(seen), *self._find_initials(text)]
        if not text.isascii() and (apart := fold_with_positions(text, unseen=" ")).text != seen.text:
            matches += self._find_known(apart)
        whole = fold_rejoined(text)
        if whole is not None:
            matches += [
                match for match in self._find_known(whole) if "\n" in text[match.start : match.end] or "\r" in text
            ]
        return matches

    def _find_known(self, seen: FoldedText) -> Iterator[NameMatch]:
        for begins, root in self._searches:
            for begin in begins.finditer(seen.text):
                start = begin.start()
                if start and seen.positions[start] == seen.positions[start - 1]:
                    continue  # in the middle of a letter that was folded to several
                for end, name, form in _find_ends(root, seen.text, start):
                    match = judge_match(seen, start, end, name, form)
                    if match is not None:
                        yield match

    def _find_initials(self, text: str) -> Iterator[NameMatch]:
        for match in _CAPITALS.finditer(text) if self._acronyms else ():
            for name in _unique(self._acronyms.get("".join(split_words(match[0])), ())):
                yield NameMatch(*match.span(), name.id, name.shown, False, IN_PART)

    def _find_misspelt(self, seen: FoldedText) -> Iterator[NameMatch]:
        if not self._near:
            return
        words = set(_LONG_WORDS.findall(seen.text))
        if not any(map(self._find_near, words)):
            return
        for word in _LONG_WORDS.finditer(seen.text):
            for name in self._find_near(word[0]):
                low, high = seen.span(*word.span())
                yield NameMatch(low, high, name.id, name.shown, False, MISSPELT)

    def _find_near(self, word: str) -> tuple[KnownName, ...]:
        """Returns the names that differ from a word in one letter."""
        if word in self._near_cache:
            return self._near_cache[word]
        known_names: tuple[KnownName, ...] = ()
        if word not in self._keys and word not in ORDINARY:
            shorter = _drop_one_letter(word)
            near = [pair for word in shorter for pair in self._near.get(word, ())]
            ids = {name.id for key, name in near if _is_one_edit(key, word)}
            known_names = tuple(_unique(name for name in self.names if name.id in ids))
        self._near_cache[word] = known_names
        return known_names


def resolve_overlaps(candidates: Iterable[NameMatch]) -> list[NameMatch]:
    """Returns the best of overlapping matches in order; a name of several people is replaced by alternatives."""
    return [
        replace(match, shown=join_alternatives(same.shown for same in (match, *more)))
        for match, *more in group_overlapping(candidates)
    ]


def group_overlapping(candidates: Iterable[NameMatch]) -> list[list[NameMatch]]:
    """Groups the best matches with others at the same position; sure ones first, then the longest, then exact forms."""
    kept: dict[tuple[int, int], list[NameMatch]] = {}
    covered: set[int] = set()
    for candidate in sorted(candidates, key=_sort_key):
        positions = range(candidate.start, candidate.end)
        group = kept.get((candidate.start, candidate.end), [])
        if group and _sort_key(group[0]) == _sort_key(candidate):
            group += [candidate] if candidate.shown not in [match.shown for match in group] else []
        elif not covered.intersection(positions):
            kept[candidate.start, candidate.end] = [candidate]
            covered.update(positions)
    return sorted(kept.values(), key=lambda group: group[0].start)


def _merge_overlapping(matches: Sequence[NameMatch], text: str) -> Iterator[NameMatch]:
    """Yields unions of sure matches that overlap partly, since the shorter one would leave letters of a name behind."""
    kept = {
        position: match
        for match, *_ in group_overlapping(matches)
        if match.sure
        for position in range(match.start, match.end)
    }
    for match in matches:
        positions = range(match.start, match.end)
        if match.sure and any(text[position].isalnum() and position not in kept for position in positions):
            overlapping = [match, *(kept[position] for position in positions if position in kept)]
            longest = max(overlapping, key=lambda match: match.end - match.start)
            first, last = min(match.start for match in overlapping), max(match.end for match in overlapping)
            yield replace(longest, start=first, end=last)


def join_alternatives(shown: Iterable[str]) -> str:
    """Returns the replacement for a name that several people have, until somebody decides whose it is."""
    return " or ".join(dict.fromkeys(shown))


def _sort_key(match: NameMatch) -> tuple[bool, int, int, bool]:
    return not match.sure, match.start - match.end, match.start, match.why != AS_IT_IS


def _fills_pattern(known: NameMatch, shape: PatternMatch, text: str) -> bool:
    """Returns whether a known number or address fills a pattern match except for signs around it, such as a plus."""
    if not (known.sure and shape.start <= known.start and known.end <= shape.end):
        return False
    around = text[shape.start : known.start] + text[known.end : shape.end]
    return bool(around) and not any(sign.isalnum() for sign in around)


def _insert(node: _Node, rank: int, name: KnownName, form: NameForm) -> None:
    for step in form.steps():
        if isinstance(step, Joint):
            node = node.joints.setdefault(step, _Node())
            continue
        for letter in step:
            node = node.after.setdefault(letter, _Node())
    node.ends.append((form.extent, rank, name, form))
    node.ends.sort(key=lambda end: end[:2])


def _find_ends(node: _Node, text: str, start: int) -> Iterator[tuple[int, KnownName, NameForm]]:
    """Yields every name that begins at a position, with its end; a shared name is yielded for each of its owners."""
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


def _unique(names: Iterable[KnownName]) -> Iterable[KnownName]:
    """Returns the first name of each id."""
    names_by_id: dict[str, KnownName] = {}
    for name in names:
        names_by_id.setdefault(name.id, name)
    return names_by_id.values()


def _drop_one_letter(word: str) -> set[str]:
    """Returns a word and all its variants with one letter removed."""
    return {word, *(word[:index] + word[index + 1 :] for index in range(len(word)))}


def _is_one_edit(word: str, other: str) -> bool:
    """Returns whether one letter is wrong, missing or added, or two neighbours are swapped."""
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    begin = 0
    while begin < min(len(word), len(other)) and word[begin] == other[begin]:
        begin += 1
    left, right = word[begin:], other[begin:]
    if len(word) == len(other):
        return left[1:] == right[1:] or (left[:2] == right[:2][::-1] and left[2:] == right[2:])
    return left[1:] == right or left == right[1:]
