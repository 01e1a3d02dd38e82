"""Finds the line of the codebook that the verb and object of a phrase belong to, or the reason why there is none."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from pydantic import Field, ValidationError

from quaestor.base.errors import SettingsError
from quaestor.base.names import join_with_or
from quaestor.base.toml import Settings, read_toml
from quaestor.coding.model.records import Code, Codebook

_GRAMMAR = frozenset(
    {"a", "an", "and", "at", "by", "during", "for", "from", "if", "of", "on", "or", "the", "to", "using", "with"}
)
_CHOICE = re.compile(r"\(([^()]*)\)")
# Two neighbouring letters exchanged in a word of six are still a slip; shorter words are too easily another word.
_SLIP, _SHORTEST = 0.83, 6

Words = tuple[str, ...]


class PlacementWords(Settings):
    """The study's settings for words; without them, lines are matched by their names alone."""

    same: tuple[tuple[str, ...], ...] = ()
    light: tuple[str, ...] = ()
    lines: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    below: dict[str, str] = Field(default_factory=dict)
    complete: bool = False
    types: str = "object-type"
    operations: str = "operation-group"


def read_placement_words(path: Path) -> PlacementWords:
    """Reads the word settings of a study; returns empty ones if the file does not exist."""
    if not path.exists():
        return PlacementWords()
    try:
        return PlacementWords.model_validate(read_toml(path, SettingsError))
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            raise SettingsError(f"{path}: {where} is not a known key; choose from: {join_with_or(_KEYS)}") from None
        raise SettingsError(f"{path}, {where}: {problem['msg'][:1].lower()}{problem['msg'][1:]}") from None


_KEYS = tuple(PlacementWords.model_fields)


@dataclass(frozen=True)
class PlacementResult:
    """The code of a phrase and the words that matched, or no code and the reason."""

    code: str | None
    why: str


@dataclass(frozen=True)
class _LineVariant:
    """One variant of a line: its verb, and all words that a phrase must contain, including the verb."""

    line: str
    verb: str
    words: frozenset[str]


@dataclass(frozen=True)
class _Phrase:
    """A phrase with its synonyms; `words` maps each word to whether it is in the phrase itself."""

    tokens: Words
    words: Mapping[str, bool]
    openers: frozenset[str]
    """The first word and its synonyms."""
    closers: frozenset[str]
    """The last word of the verb and its synonyms: in "dot product" or "get layer output" the word that counts."""


@dataclass(frozen=True)
class PhrasePlacer:
    """Places phrases in the lines of one codebook."""

    book: Codebook
    words: PlacementWords
    _same: Mapping[Words, tuple[Words, ...]]
    _light: frozenset[str]
    _below: Mapping[str, tuple[_LineVariant, ...]]
    _operations: tuple[_LineVariant, ...]
    _types: Mapping[Words, str]
    _kinds: tuple[_LineVariant, ...]
    """The types that are not objects themselves: no code of another tree has their name."""
    _known: frozenset[str]
    _longest: int
    """The number of words in the longest synonym."""
    _corrected: dict[str, list[Words]] = field(default_factory=dict, init=False, compare=False, repr=False)
    """A cache by unknown word: the known word that it is probably a typo of."""

    @classmethod
    def build(cls, book: Codebook, words: PlacementWords) -> PhrasePlacer:
        """Builds the variants of all lines; ignores settings for codes that this version does not have."""
        same: dict[Words, tuple[Words, ...]] = {}
        for group in words.same:
            members = [member_words for member_words in map(_split_words, group) if member_words]
            for member in members:
                same[member] = (*same.get(member, ()), *(other for other in members if other != member))
        below: dict[str, tuple[_LineVariant, ...]] = {}
        operations: list[_LineVariant] = []
        for code in book.codes.values():
            if code.active and book.level(code.id) == book.facets[code.facet].levels[-1]:
                variants = _list_variants(book, code, words.lines.get(code.id, (code.name,)))
                below[code.parent] = (*below.get(code.parent, ()), *variants)
                operations += variants if code.facet == words.operations else ()
        known = {word for variants in below.values() for variant in variants for word in variant.words}
        known.update(word for member in same for word in member)
        objects = {_split_words(code.name) for code in book.codes.values() if code.facet != words.types}
        types = {_split_words(code.name): code.id for code in book.active(words.types)}
        kinds = tuple(_LineVariant(code, "", frozenset(name)) for name, code in types.items() if name not in objects)
        light = frozenset(word for text in words.light for word in _split_words(text))
        longest = max(map(len, same), default=1)
        return cls(book, words, same, light, below, tuple(operations), types, kinds, frozenset(known), longest)

    def place(self, verb: str, object_: str, code: str) -> PlacementResult:
        """Returns the line below a code that fits the phrase best; a more specific line wins over the bare verb."""
        if code not in self.book.codes:
            return PlacementResult(None, f'the codebook has no code "{code}"')
        entry = self.book.codes[code]
        if self.book.level(code) == self.book.facets[entry.facet].levels[-1]:
            return PlacementResult(code, "it is as deep as the codebook goes")
        parent = next(
            (self.words.below[ancestor] for ancestor in self.book.path(code) if ancestor in self.words.below), code
        )
        variants = self._below.get(parent, ())
        if not variants:
            return PlacementResult(None, f'"{self.book.path_name(code)}" has no lines below it')
        result = self._match(self._build_phrase(verb, object_), variants, _list_words(self.book, code))
        lines = {variant.line for variant in variants}
        if result.code is None and self.words.complete and len(lines) == 1:
            return PlacementResult(lines.pop(), f'the only line below "{self.book.path_name(parent)}"')
        return result

    def operation(self, verb: str, object_: str) -> PlacementResult:
        """Returns the operation of the verb; uses the object only if the verb alone does not decide."""
        if not self._operations:
            return PlacementResult(None, f'the codebook has no codes of the facet "{self.words.operations}"')
        alone = self._match(self._build_phrase(verb, ""), self._operations, frozenset())
        return (
            alone
            if alone.code is not None
            else self._match(self._build_phrase(verb, object_), self._operations, frozenset())
        )

    def object_type(self, object_: str) -> PlacementResult:
        """Returns the type of an object; an object without a modifier, such as a plain layer, is a type of its own."""
        if not self._types:
            return PlacementResult(None, f'the codebook has no codes of the facet "{self.words.types}"')
        object_words = _split_words(object_)
        if not object_words:
            return PlacementResult(None, "the phrase has no object")
        name = next(
            (object_words[start:] for start in range(len(object_words)) if object_words[start:] in self._types), ()
        )
        kind = object_words[: len(object_words) - len(name)]
        if name and (not kind or self._types[name] in {variant.line for variant in self._kinds}):
            return PlacementResult(self._types[name], f"it says {_quote(name)}")
        phrase = self._build_phrase(" ".join(kind), "")
        return self._find_best(phrase, self._kinds) or PlacementResult(None, f"no type has the words {_quote(kind)}")

    def _build_phrase(self, verb: str, object_: str) -> _Phrase:
        first = _split_words(verb)
        phrase_words = (*first, *_split_words(object_))
        words = dict.fromkeys(phrase_words, True)
        openers, closers = set(phrase_words[:1]), set(first[-1:])
        for start in range(len(phrase_words)):
            for end in range(start + 1, min(len(phrase_words), start + self._longest) + 1):
                for other in (
                    *self._same.get(phrase_words[start:end], ()),
                    *self._correct_typo(phrase_words[start:end]),
                ):
                    words.update((word, False) for word in other if word not in words)
                    openers.update(other[:1] if start == 0 else ())
                    closers.update(other if end == len(first) else ())
        return _Phrase(phrase_words, words, frozenset(openers), frozenset(closers))

    def _correct_typo(self, words: Words) -> list[Words]:
        """Returns the known word that an unknown word is probably a typo of."""
        word = words[0]
        if len(words) > 1 or len(word) < _SHORTEST or word in self._known:
            return []
        if word not in self._corrected:
            alike = [known for known in self._known if len(known) >= _SHORTEST and known[0] == word[0]]
            close_matches = difflib.get_close_matches(word, alike, n=1, cutoff=_SLIP)
            self._corrected[word] = [(close_match,) for close_match in close_matches]
        return self._corrected[word]

    def _match(self, phrase: _Phrase, variants: Sequence[_LineVariant], own: frozenset[str]) -> PlacementResult:
        """Returns the best variant whose words are all in the phrase, else the only line with its verb."""
        if not phrase.tokens:
            return PlacementResult(None, "the phrase has no words")
        verb = phrase.tokens[0]
        opened = [variant for variant in variants if variant.verb in phrase.openers]
        able = list(opened)
        if not opened or verb in self._light:
            able += [variant for variant in variants if variant.verb in phrase.closers]
        if not opened:
            able += [_without_verb(variant) for variant in variants if variant.verb in self._light]
        named = [] if opened else [variant for variant in variants if not variant.words & own]
        if best := self._find_best(phrase, able) or self._find_best(phrase, named):
            return best
        for lines in (
            {variant.line for variant in opened if variant.verb == verb},
            {variant.line for variant in opened},
        ):
            if len(lines) == 1:
                return PlacementResult(lines.pop(), f'the only line with "{verb}"')
        if opened:
            return PlacementResult(
                None, f'several lines have the verb "{verb}", and none the words {_quote(phrase.tokens[1:])}'
            )
        return PlacementResult(None, f'no line has the verb "{verb}"')

    def _find_best(self, phrase: _Phrase, variants: Iterable[_LineVariant]) -> PlacementResult | None:
        """Returns the best matching line by: matches the last word of the verb, most words, most exact words."""
        scored: dict[tuple[bool, int, int], dict[str, _LineVariant]] = {}
        for variant in variants:
            if not variant.words or not variant.words <= phrase.words.keys():
                continue
            others = variant.words - {variant.verb}
            exact = sum(phrase.words[word] for word in variant.words)
            score = (bool(others & phrase.closers), len(variant.words), exact)
            scored.setdefault(score, {})[variant.line] = variant
        if not scored:
            return None
        best = scored[max(scored)]
        if len(best) > 1:
            return PlacementResult(
                None, f"{len(best)} lines fit equally: {'; '.join(self.book.codes[line].name for line in best)}"
            )
        line, variant = best.popitem()
        return PlacementResult(
            line, f"it says {_quote(sorted(variant.words, key=lambda word: (word != variant.verb, word)))}"
        )


def _split_words(text: str) -> Words:
    """Returns the content words in the singular; hyphens and slashes separate words."""
    words = (_singular(word) for word in re.findall(r"[^\W_]+", text.casefold()))
    return tuple(word for word in words if word not in _GRAMMAR)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "is", "as")) else word


def _list_variants(book: Codebook, code: Code, texts: Iterable[str]) -> list[_LineVariant]:
    """Returns a variant for every combination of alternatives of a line, without the words of the codes above it."""
    above = _list_words(book, code.parent)
    variants: list[_LineVariant] = []
    for text in texts:
        parts = _CHOICE.split(text)
        choices = [part.split("/") if number % 2 else [part] for number, part in enumerate(parts)]
        for chosen in product(*choices):
            words = _split_words(" ".join(chosen))
            if words:
                variants.append(_LineVariant(code.id, words[0], frozenset({words[0], *(set(words[1:]) - above)})))
    return variants


def _list_words(book: Codebook, code: str) -> frozenset[str]:
    """Returns the words of a code's name and of the names of its ancestors."""
    return frozenset(word for ancestor in book.path(code) for word in _split_words(book.codes[ancestor].name))


def _without_verb(variant: _LineVariant) -> _LineVariant:
    return _LineVariant(variant.line, variant.verb, variant.words - {variant.verb})


def _quote(words: Iterable[str]) -> str:
    return ", ".join(f'"{word}"' for word in words) or '""'
