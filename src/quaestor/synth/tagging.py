"""Assigns tags to questions: combinations are drawn once, and each question refers to one."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from quaestor.base.errors import InputError
from quaestor.synth.phrases import TAGS
from quaestor.synth.plan import LAST_YEAR, list_own_tags, read_lifetime
from quaestor.synth.questions import Questions
from quaestor.synth.texts import escape

TAG_SYNTAXES = ("new", "old")
_SECOND_GENERATION = re.compile(r"2(\.\d|\.x|$)")
_GENERAL_TURN, _FRAMEWORK_TURN = 2015, 2019
"""The years in which newer tags, general or of a framework, come into use."""


@dataclass(frozen=True)
class Tagging:
    """The combinations of tags, and the index of each question's combination."""

    combinations: tuple[tuple[str, ...], ...]
    chosen: npt.NDArray[np.int32]

    def counts(self) -> dict[str, int]:
        """Counts the questions of each tag, the most frequent tag first."""
        uses = np.bincount(self.chosen, minlength=len(self.combinations)).tolist()
        counts: dict[str, int] = {}
        for combination, amount in zip(self.combinations, uses, strict=True):
            for tag in combination if amount else ():
                counts[tag] = counts.get(tag, 0) + amount
        return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def write_tags(tags: Sequence[str], syntax: str) -> bytes:
    """Formats tags for an attribute: `|a|b|` today, `<a><b>` until 2024."""
    if syntax == "new":
        return escape(f"|{'|'.join(tags)}|")
    return escape("".join(f"<{tag}>" for tag in tags))


def check_syntax(syntax: str) -> None:
    """Raises InputError if there is no such syntax."""
    if syntax not in TAG_SYNTAXES:
        raise InputError(f"there is no tag syntax {syntax!r}: use one of {', '.join(TAG_SYNTAXES)}")


def choose_tags(
    questions: Questions, families: Mapping[str, tuple[str, ...]], amount: int, chance: random.Random,
    rng: np.random.Generator,
) -> Tagging:  # fmt: skip
    """Gives each question of a framework a tag of its family, and other questions none of these tags."""
    years = questions.asked_at.astype("datetime64[ms]").astype("datetime64[Y]").astype(np.int64) + 1970
    combinations: list[tuple[str, ...]] = []
    chosen = np.zeros(len(questions), np.int32)
    for number in range(-1, len(families)):
        turn = _FRAMEWORK_TURN if number >= 0 else _GENERAL_TURN
        for young in (False, True):
            group = np.flatnonzero((questions.framework == number) & ((years >= turn) == young))
            pool = _pool(number, families, young, amount, chance)
            chosen[group] = len(combinations) + rng.integers(0, len(pool), len(group))
            combinations.extend(pool)
    return Tagging(tuple(combinations), chosen)


def _pool(
    number: int, families: Mapping[str, tuple[str, ...]], young: bool, amount: int, chance: random.Random
) -> list[tuple[str, ...]]:
    """Draws the combinations of a framework, or of general questions, before or after newer tags exist."""
    claimed = {tag for tags in families.values() for tag in tags}
    if number < 0:
        general = [tag for tag in TAGS["general"] if tag not in claimed and (young or tag not in TAGS["young"])]
        sizes = chance.choices((1, 2, 3, 4, 5), (1, 2, 3, 1, 1), k=amount)
        return [_choose_tags((), general, size, chance) for size in sizes]
    own, names = list(list_own_tags(families).values()), list(families)
    mine = [tag for tag in own[number] if young or not _SECOND_GENERATION.search(tag)] or list(own[number])
    alive = [rank for rank in range(number + 1, len(names)) if young and LAST_YEAR in read_lifetime(names[rank])]
    others = [own[rank][0] for rank in alive]
    companions = [tag for tag in TAGS["learning"] if tag not in claimed]
    return [
        _choose_tags(_family_tags(mine, others, chance), companions, chance.randint(1, 5), chance)
        for _ in range(max(20, amount // 4))
    ]


def _family_tags(mine: Sequence[str], others: Sequence[str], chance: random.Random) -> tuple[str, ...]:
    """Draws mostly the first tag of the family, sometimes another or a second, rarely one of a later framework."""
    tags = [mine[0] if chance.random() < 0.85 else chance.choice(mine)]
    if chance.random() < 0.15:
        tags.append(chance.choice(mine))
    if others and chance.random() < 0.02:
        tags.append(chance.choice(others))
    return tuple(dict.fromkeys(tags))


def _choose_tags(first: tuple[str, ...], tags: Sequence[str], total: int, chance: random.Random) -> tuple[str, ...]:
    """Returns the first tags and others, each once, up to the total and in random order."""
    chosen = dict.fromkeys(first)
    for tag in chance.choices(tags, cum_weights=_zipf(len(tags)), k=max(0, total - len(first))):
        chosen.setdefault(tag)
    mixed = list(chosen)
    chance.shuffle(mixed)
    return tuple(mixed)


@cache
def _zipf(total: int) -> list[float]:
    """Returns cumulative Zipf weights: the tag of rank n is about 1/n times as frequent as the first."""
    return list(accumulate(1.0 / (rank + 2) for rank in range(total)))
