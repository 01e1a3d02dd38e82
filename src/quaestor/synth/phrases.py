"""What people want to implement with a framework: (verb, object) phrases of the seven phases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from quaestor.synth.issues import issue_blocks, text_of
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
    issue: str = ""

    def weight(self, framework: str) -> float:
        """How often users of the framework ask for it, relative to its other phrases."""
        column = _COLUMNS.get(framework)
        return sum(self.weights) if column is None else self.weights[column]


@cache
def all_phrases() -> tuple[Phrase, ...]:
    """Those that are asked by weight, then those that are planted with a printed taxonomy."""
    return natural_phrases() + _planted_phrases()


@cache
def phrase_numbers() -> dict[tuple[str, str, str, str], int]:
    """Where each planted phrase stands among all, by phase, object, issue and text."""
    first = len(natural_phrases())
    return {
        (phrase.phase, phrase.object, phrase.issue, phrase.text): first + number
        for number, phrase in enumerate(_planted_phrases())
    }


@cache
def natural_phrases() -> tuple[Phrase, ...]:
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


@cache
def _planted_phrases() -> tuple[Phrase, ...]:
    """Every issue in every wording; nobody asks for them by chance."""
    texts = dict.fromkeys(
        (block.phase, subject, issue.name, pattern.split()[0], text_of(pattern, wording.text))
        for block in issue_blocks()
        for subject, wordings in block.objects.items()
        for issue in block.issues
        for pattern in issue.patterns
        for wording in wordings
    )
    return tuple(Phrase(phase, verb, subject, text, (0, 0, 0), issue) for phase, subject, issue, verb, text in texts)
