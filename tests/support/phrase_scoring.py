"""How far proposals agree with the phrases that people wrote: coverage, precision and recall on either half."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from quaestor.coding.model.phrase_proposals.lexicon import read_title, read_words, singular
from quaestor.coding.model.phrase_proposals.proposal import PhraseProposal, find_cue_end

Judge = Callable[[str, str], bool]


@dataclass(frozen=True)
class Labelled:
    """A title and the phrase that people agreed on for it."""

    item: str
    title: str
    verb: str
    object: str


@dataclass(frozen=True)
class Score:
    """Counts behind the shares, so that nothing is lost in rounding."""

    items: int
    proposed: int
    verbs: int
    objects: int
    both: int

    @property
    def coverage(self) -> float:
        """The share of items with a proposal."""
        return self.proposed / self.items if self.items else 0.0

    def precision(self, correct: int) -> float:
        """The share of proposals that are correct."""
        return correct / self.proposed if self.proposed else 0.0

    def recall(self, correct: int) -> float:
        """The share of items whose proposal is correct."""
        return correct / self.items if self.items else 0.0


def labelled(item: str, title: str, label: str) -> Labelled:
    """A label `verb,object,phase` as written phrase; the verb is its first word (`get shape` is said with get)."""
    verb, object, *_ = label.split(",")
    short_names = _tables()["short_names"]
    return Labelled(item, title, verb.split(" ")[0], short_names.get(object, object))


def is_for_tuning(item: str) -> bool:
    """Whether rules may be written with this item in view; the other half is held out.

    The first byte of the SHA-256 of the item's id decides, so the halves stay the same whatever else changes.
    """
    return hashlib.sha256(item.encode()).digest()[0] < 128


def exactly(proposed: str, written: str) -> bool:
    """Equal in lower case, each word in the singular."""
    return _same_form(proposed) == _same_form(written)


def leniently_verb(proposed: str, written: str) -> bool:
    """Equal, or in one group of verbs that raters unify."""
    return exactly(proposed, written) or _in_one_group(proposed, written, _groups("verbs"))


def leniently_object(proposed: str, written: str) -> bool:
    """Equal, with the same head noun, or with head nouns in one group."""
    heads = _same_form(proposed).rsplit(" ", 1)[-1], _same_form(written).rsplit(" ", 1)[-1]
    return exactly(*heads) or any(
        _in_one_group(*pair, _groups("objects")) for pair in (heads, (_same_form(proposed), _same_form(written)))
    )


def score(
    items: Iterable[Labelled],
    propose: Callable[[str], PhraseProposal | None],
    same_verb: Judge = exactly,
    same_object: Judge = exactly,
) -> Score:
    """Counts of proposals that give the written verb, the written object, and both."""
    seen = proposed = verbs = objects = both = 0
    for item in items:
        seen += 1
        proposal = propose(item.title)
        if proposal is None:
            continue
        verb_is_right = same_verb(proposal.verb, item.verb)
        object_is_right = same_object(proposal.object, item.object)
        proposed += 1
        verbs += verb_is_right
        objects += object_is_right
        both += verb_is_right and object_is_right
    return Score(seen, proposed, verbs, objects, both)


def _same_form(phrase: str) -> str:
    return " ".join(singular(word) for word in phrase.lower().split())


def _in_one_group(first: str, second: str, groups: Sequence[frozenset[str]]) -> bool:
    return any(first in group and second in group for group in groups)


@cache
def _groups(facet: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(group) for group in _tables()[facet])


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("phrase_synonyms.toml").read_text("utf-8"))


def first_verb(title: str) -> PhraseProposal | None:
    """The baseline: the first known verb after "how to", and the next word that may be a noun."""
    known = read_words()
    title_words = read_title(title, known)
    start = find_cue_end(title_words, frozenset({("how", "to")}))
    no_noun = known.grammar["boundaries"] | known.grammar["determiners"] | known.grammar["adverbs"]
    for position in range(start or len(title_words), len(title_words)):
        verb = known.verbs.get(title_words[position])
        if verb:
            nouns = (word for word in title_words[position + 1 :] if word not in no_noun and not word[0].isdigit())
            noun = next(nouns, None)
            return PhraseProposal(verb, singular(noun), "plain") if noun else None
    return None
