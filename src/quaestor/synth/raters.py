"""Simulated raters: they know the truth, err as often as they are told to, and say that they are simulated."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import InputError
from quaestor.coding.records import EXCLUDE, KEEP, Facet

# Words that mean the same to a person; each simulated rater has a favourite.
_VARIANTS: Mapping[str, tuple[str, ...]] = {
    "load": ("load", "read"),
    "restore": ("restore", "recover"),
    "get": ("get", "obtain", "retrieve"),
    "compute": ("compute", "calculate"),
    "create": ("create", "make", "generate"),
    "build": ("build", "construct"),
    "convert": ("convert", "transform"),
    "remove": ("remove", "delete", "drop"),
    "save": ("save", "store", "export"),
    "show": ("show", "display"),
    "plot": ("plot", "draw"),
    "concatenate": ("concatenate", "join"),
    "add": ("add", "insert"),
    "replace": ("replace", "swap"),
    "freeze": ("freeze", "fix"),
    "define": ("define", "write"),
    "split": ("split", "divide"),
    "image": ("image", "picture"),
    "dataset": ("dataset", "data set"),
    "weight": ("weight", "parameter"),
    "prediction result": ("prediction result", "prediction"),
    "gpu memory": ("gpu memory", "memory"),
}
_WANDERING = 0.12
_NO_PLURAL = {"data", "training data"}


@dataclass(frozen=True)
class Simulated:
    """A rater: how often they are right, how far their errors follow a habit, and their seed."""

    name: str
    accuracy: float
    confusion: float
    seed: int

    def __post_init__(self) -> None:
        for word, value in (("accuracy", self.accuracy), ("confusion", self.confusion)):
            if not 0 <= value <= 1:
                raise InputError(f"--{word} is {value:g}: a share between 0 and 1 is needed")

    def answer(self, item: str, facet: Facet, truth: Any, choices: Sequence[str]) -> Any:
        """What this rater says of an item of which the truth is known."""
        dice = random.Random(f"{self.seed}/{self.name}/{facet.id}/{item}")
        right = dice.random() < self.accuracy
        if facet.kind == "phrase":
            return self._phrase(truth, dice, right)
        if facet.kind == "keep":
            return _keep(truth, dice, facet.reasons, right)
        if facet.kind == "confirm":
            return {"answer": "yes" if (truth == "yes") == right else "no"}
        if facet.kind == "multiple":
            return sorted(truth) if right else sorted({*truth, self._other(dice, sorted(truth)[0], choices)})
        if facet.kind == "text":
            return str(truth)
        return truth if right else self._other(dice, truth, choices)

    def _other(self, dice: random.Random, truth: str, choices: Sequence[str]) -> str:
        """A wrong choice: by habit always the same one, else any."""
        others = [choice for choice in choices if choice != truth]
        if not others:
            return truth
        habit = random.Random(f"{self.seed}/habit/{truth}").choice(others)
        return habit if dice.random() < self.confusion else dice.choice(others)

    def _phrase(self, truth: Mapping[str, str], dice: random.Random, right: bool) -> dict[str, str]:
        said = {part: self._word(word, dice) for part, word in truth.items()}
        if not right:
            said["object"] = dice.choice([variant for names in _VARIANTS.values() for variant in names[:1]])
        return said

    def _word(self, word: str, dice: random.Random) -> str:
        """Mostly the rater's favourite of the words for a thing, now and then another one."""
        variants = _variants(word)
        if dice.random() < _WANDERING:
            return dice.choice(variants)
        return random.Random(f"{self.seed}/{self.name}/word/{word}").choice(variants)


def _variants(word: str) -> tuple[str, ...]:
    """A word, what else it is called, and its plural."""
    names = _VARIANTS.get(word, (word,))
    return names if word.endswith("s") or word in _NO_PLURAL else (*names, f"{word}s")


def meaning(word: str) -> str:
    """The word that all its variants stand for."""
    for name, variants in _VARIANTS.items():
        if word in variants or word == f"{name}s":
            return name
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _keep(truth: Mapping[str, str], dice: random.Random, reasons: Sequence[str], right: bool) -> dict[str, str]:
    keep = truth["answer"] == KEEP
    if keep == right:
        return {"answer": KEEP}
    reason = truth.get("reason") if right else dice.choice(list(reasons)) if reasons else ""
    return {"answer": EXCLUDE, "reason": reason} if reason else {"answer": EXCLUDE}
