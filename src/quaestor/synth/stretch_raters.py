"""Simulated raters of transcripts: they find what is planted, miss some of it, cut it short or take a sibling."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import InputError
from quaestor.synth.interviews import PlantedStretch

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class SimulatedCoder:
    """A rater: how often a planted stretch is found, its ends are a word off, or a sibling is taken."""

    name: str
    finding: float
    shifting: float
    mistaking: float
    seed: int

    def __post_init__(self) -> None:
        for word in ("finding", "shifting", "mistaking"):
            value = getattr(self, word)
            if not 0 <= value <= 1:
                raise InputError(f"--{word} is {value:g}: a share between 0 and 1 is needed")

    def answer(
        self,
        item: str,
        text: str,
        planted: Sequence[PlantedStretch],
        siblings: Mapping[str, Sequence[str]],
        fields: Mapping[str, Sequence[str]],
    ) -> list[dict[str, Any]]:
        """The stretches that this rater codes in a turn; `fields` has what each code asks for."""
        found = []
        for place, one in enumerate(planted):
            dice = random.Random(f"{self.seed}/{self.name}/{item}/{place}")
            if dice.random() >= self.finding:
                continue
            start, end = (one.start, one.end) if dice.random() >= self.shifting else _shifted(text, one, dice)
            others = siblings.get(one.code, ())
            code = dice.choice(others) if others and dice.random() < self.mistaking else one.code
            said = {name: words for name, words in one.fields.items() if name in fields.get(code, ())}
            found.append({"start": start, "end": end, "code": code, **({"fields": said} if said else {})})
        return found


def _shifted(text: str, one: PlantedStretch, dice: random.Random) -> tuple[int, int]:
    """One of the ends a word further in or out, as far as there are words."""
    words = [match.span() for match in _WORD.finditer(text)]
    first = next(place for place, (_, end) in enumerate(words) if end > one.start)
    last = next(place for place, (_, end) in enumerate(words) if end >= one.end)
    step = dice.choice((-1, 1))
    if dice.random() < 0.5:
        first = min(max(first + step, 0), last)
        return words[first][0], one.end
    last = min(max(last + step, first), len(words) - 1)
    return one.start, words[last][1]
