"""What people want to implement with a framework: (verb, object) phrases of the seven phases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from quaestor.synth.phrase_list import PHRASES

IMPLEMENTATION = "implementation"
TOPICS = (
    IMPLEMENTATION,
    "program crash",
    "training anomaly",
    "model deployment",
    "comprehension",
    "installation",
    "performance",
)
"""What a how-to question can be about; a study keeps the first and excludes the six others."""

TOPIC_SHARES = (0.62, 0.11, 0.06, 0.05, 0.06, 0.05, 0.05)

_COLUMNS = {"tensorflow": 0, "pytorch": 1, "theano": 2}


@dataclass(frozen=True)
class Phrase:
    """One thing to implement: its place in the taxonomy and the words that ask for it."""

    phase: str
    verb: str
    object: str
    text: str
    weights: tuple[float, float, float]

    def weight(self, framework: str) -> float:
        """How often users of the framework ask for it, relative to its other phrases."""
        column = _COLUMNS.get(framework)
        return sum(self.weights) if column is None else self.weights[column]


@cache
def all_phrases() -> tuple[Phrase, ...]:
    """Every pattern with every wording of its object, sharing the weight of the object among them."""
    phrases = []
    for block in PHRASES.replace("\n    ", " ").strip().split("\n\n"):
        phase, *entries = block.split("\n")
        for entry in entries:
            phrases.extend(_phrases_of(phase, entry))
    return tuple(phrases)


def _phrases_of(phase: str, entry: str) -> list[Phrase]:
    subject, counts, wordings, patterns = (part.strip() for part in entry.split("|"))
    texts: list[tuple[str, str]] = []
    for pattern in (pattern.strip() for pattern in patterns.split(";")):
        used = wordings.split(",") if "{}" in pattern else [""]
        texts.extend((pattern.split()[0], pattern.replace("{}", wording.strip())) for wording in used)
    tensorflow, pytorch, theano = (int(count) / len(texts) for count in counts.split())
    return [Phrase(phase, verb, subject, text, (tensorflow, pytorch, theano)) for verb, text in texts]
