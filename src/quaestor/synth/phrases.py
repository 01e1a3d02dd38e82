"""The words and phrases that synthetic posts are made of, read from the files in `words`.

In words/phrases.txt a phase is followed by its objects. Each line gives the object, how often it is asked about
(TensorFlow, PyTorch, Theano; the proportions are those of the published taxonomy), the wordings of the object, and
the patterns, each led by its verb; indented lines continue the line above.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import groupby
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

Words = Mapping[str, tuple[str, ...]]
"""By name of a slot, what can stand in it."""


def read_words(name: str) -> str:
    return (resources.files("quaestor.synth") / "words" / name).read_text("utf-8")


def _lists(section: Mapping[str, Any]) -> Words:
    return {name: tuple(values) for name, values in section.items()}


_WORDS = tomllib.loads(read_words("words.toml"))
_CODE = tomllib.loads(read_words("code.toml"))

TAGS = _lists(_WORDS["tags"])
GENERAL_WORDS, LEARNING_WORDS = _lists(_WORDS["general"]), _lists(_WORDS["learning"])
SENTENCES, TITLES = _lists(_WORDS["sentences"]), _lists(_WORDS["titles"])
EXCLUDED, EXCLUDED_WORDS = _lists(_WORDS["excluded"]), _lists(_WORDS["excluded_words"])
GENERAL_CODE, _ANY_CODE, _LEARNING_CODE = tuple(_CODE["general"]), tuple(_CODE["any"]), _lists(_CODE["learning"])


def list_code_snippets(framework: str) -> tuple[str, ...]:
    """Snippets that users of the framework would post."""
    return _LEARNING_CODE.get(framework, ()) + _ANY_CODE


def format_framework_name(framework: str) -> str:
    """The framework as people write it in a sentence."""
    name: str = _WORDS["frameworks"].get(framework, framework)
    return name


@dataclass(frozen=True)
class ObjectWording:
    """One way to call an object, and how often it is called so beside its other wordings."""

    text: str
    posts: int


@dataclass(frozen=True)
class Issue:
    """A line of a printed table: its name, its posts and the patterns that ask for it."""

    name: str
    posts: int
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class IssueBlock:
    """Objects of one phase that share the same issues."""

    phase: str
    objects: Mapping[str, tuple[ObjectWording, ...]]
    issues: tuple[Issue, ...]


@cache
def read_issue_blocks() -> tuple[IssueBlock, ...]:
    """Every block of the list, in its order."""
    blocks: list[IssueBlock] = []
    for text in read_words("issues.txt").replace("\n    ", " ").strip().split("\n\n"):
        phase, *lines = text.split("\n")
        parts = [list(part) for _, part in groupby(lines, key=lambda line: line.startswith("- "))]
        blocks.extend(_block(phase, *pair) for pair in zip(parts[::2], parts[1::2], strict=True))
    return tuple(blocks)


def format_phrase(pattern: str, wording: str) -> str:
    """The words that ask for something: the pattern, about the object as it is called."""
    return pattern.replace("{}", wording)


def apportion(weights: Sequence[int], total: int) -> npt.NDArray[np.int64]:
    """Whole parts of a total, in proportion and by largest remainder; each at least one where the total allows."""
    exact = np.array(weights, np.float64) / sum(weights) * total
    parts = np.floor(exact).astype(np.int64)
    if total >= len(weights):
        parts = np.maximum(parts, 1)
    while (missing := total - int(parts.sum())) != 0:
        step = 1 if missing > 0 else -1
        left = np.where((step > 0) | (parts > 1), (exact - parts) * step, -np.inf)
        parts[np.argmax(left)] += step
    return parts


def _block(phase: str, objects: list[str], issues: list[str]) -> IssueBlock:
    named = (line.split(" | ") for line in objects)
    wordings = {name: tuple(_wording(text) for text in texts.split(",")) for name, texts in named}
    return IssueBlock(phase, MappingProxyType(wordings), tuple(_issue(line[2:]) for line in issues))


def _wording(text: str) -> ObjectWording:
    words, _, posts = text.partition("*")
    return ObjectWording(words.strip(), int(posts or 1))


def _issue(text: str) -> Issue:
    head, patterns = text.split(": ", 1)
    posts, name = head.split(" ", 1)
    return Issue(name, int(posts), tuple(pattern.strip() for pattern in patterns.split(";")))


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
class TaskPhrase:
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
def list_phrases() -> tuple[TaskPhrase, ...]:
    """Those that are asked by weight, then those that are planted with a printed taxonomy."""
    return list_natural_phrases() + _planted_phrases()


@cache
def number_phrases() -> dict[tuple[str, str, str, str], int]:
    """Where each planted phrase stands among all, by phase, object, issue and text."""
    first = len(list_natural_phrases())
    return {
        (phrase.phase, phrase.object, phrase.issue, phrase.text): first + number
        for number, phrase in enumerate(_planted_phrases())
    }


@cache
def list_natural_phrases() -> tuple[TaskPhrase, ...]:
    """Every pattern with every wording of its object, sharing the weight of the object among them."""
    phrases = []
    for block in read_words("phrases.txt").replace("\n    ", " ").strip().split("\n\n"):
        phase, *entries = block.split("\n")
        for entry in entries:
            phrases.extend(_phrases_of(phase, entry))
    return tuple(phrases)


def _phrases_of(phase: str, entry: str) -> list[TaskPhrase]:
    subject, counts, wordings, patterns = (part.strip() for part in entry.split("|"))
    texts: list[tuple[str, str]] = []
    for pattern in (pattern.strip() for pattern in patterns.split(";")):
        used = wordings.split(",") if "{}" in pattern else [""]
        texts.extend((pattern.split()[0], pattern.replace("{}", wording.strip())) for wording in used)
    tensorflow, pytorch, theano = (int(count) / len(texts) for count in counts.split())
    return [TaskPhrase(phase, verb, subject, text, (tensorflow, pytorch, theano)) for verb, text in texts]


@cache
def _planted_phrases() -> tuple[TaskPhrase, ...]:
    """Every issue in every wording; nobody asks for them by chance."""
    texts = dict.fromkeys(
        (block.phase, subject, issue.name, pattern.split()[0], format_phrase(pattern, wording.text))
        for block in read_issue_blocks()
        for subject, wordings in block.objects.items()
        for issue in block.issues
        for pattern in issue.patterns
        for wording in wordings
    )
    return tuple(
        TaskPhrase(phase, verb, subject, text, (0, 0, 0), issue) for phase, subject, issue, verb, text in texts
    )
