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
"""The possible words for each slot of a pattern."""


def read_words(name: str) -> str:
    return (resources.files("quaestor.synth") / "words" / name).read_text("utf-8")


def _read_lists(section: Mapping[str, Any]) -> Words:
    return {name: tuple(values) for name, values in section.items()}


_WORDS = tomllib.loads(read_words("words.toml"))
_CODE = tomllib.loads(read_words("code.toml"))

TAGS = _read_lists(_WORDS["tags"])
GENERAL_WORDS, LEARNING_WORDS = _read_lists(_WORDS["general"]), _read_lists(_WORDS["learning"])
SENTENCES, TITLES = _read_lists(_WORDS["sentences"]), _read_lists(_WORDS["titles"])
EXCLUDED, EXCLUDED_WORDS = _read_lists(_WORDS["excluded"]), _read_lists(_WORDS["excluded_words"])
GENERAL_CODE, _ANY_CODE, _LEARNING_CODE = tuple(_CODE["general"]), tuple(_CODE["any"]), _read_lists(_CODE["learning"])


def list_code_snippets(framework: str) -> tuple[str, ...]:
    """Lists code snippets that users of the framework would post."""
    return _LEARNING_CODE.get(framework, ()) + _ANY_CODE


def format_framework_name(framework: str) -> str:
    """Returns the framework's name as people write it."""
    name: str = _WORDS["frameworks"].get(framework, framework)
    return name


@dataclass(frozen=True)
class ObjectWording:
    """A wording of an object and its relative frequency."""

    text: str
    posts: int


@dataclass(frozen=True)
class Issue:
    """An issue of a published table: its name, its number of posts and the patterns that ask for it."""

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
    """Reads words/issues.txt."""
    blocks: list[IssueBlock] = []
    for text in read_words("issues.txt").replace("\n    ", " ").strip().split("\n\n"):
        phase, *lines = text.split("\n")
        parts = [list(part) for _, part in groupby(lines, key=lambda line: line.startswith("- "))]
        blocks.extend(_parse_block(phase, *pair) for pair in zip(parts[::2], parts[1::2], strict=True))
    return tuple(blocks)


def format_phrase(pattern: str, wording: str) -> str:
    """Inserts the wording of an object into a pattern."""
    return pattern.replace("{}", wording)


def apportion(weights: Sequence[int], total: int) -> npt.NDArray[np.int64]:
    """Divides a total in proportion by largest remainder; each part is at least 1 if the total allows."""
    exact = np.array(weights, np.float64) / sum(weights) * total
    parts = np.floor(exact).astype(np.int64)
    if total >= len(weights):
        parts = np.maximum(parts, 1)
    while (missing := total - int(parts.sum())) != 0:
        step = 1 if missing > 0 else -1
        left = np.where((step > 0) | (parts > 1), (exact - parts) * step, -np.inf)
        parts[np.argmax(left)] += step
    return parts


def _parse_block(phase: str, objects: list[str], issues: list[str]) -> IssueBlock:
    named = (line.split(" | ") for line in objects)
    wordings = {name: tuple(_parse_wording(text) for text in texts.split(",")) for name, texts in named}
    return IssueBlock(phase, MappingProxyType(wordings), tuple(_parse_issue(line[2:]) for line in issues))


def _parse_wording(text: str) -> ObjectWording:
    words, _, posts = text.partition("*")
    return ObjectWording(words.strip(), int(posts or 1))


def _parse_issue(text: str) -> Issue:
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
"""The topics of how-to questions; a study keeps the first and excludes the six others."""

TOPIC_SHARES = (0.62, 0.11, 0.06, 0.05, 0.06, 0.05, 0.05)

_COLUMNS = {"tensorflow": 0, "pytorch": 1, "theano": 2}


@dataclass(frozen=True)
class TaskPhrase:
    """A task to implement: its position in the taxonomy and its text."""

    phase: str
    verb: str
    object: str
    text: str
    weights: tuple[float, float, float]
    issue: str = ""

    def weight(self, framework: str) -> float:
        """The relative frequency among the users of a framework."""
        column = _COLUMNS.get(framework)
        return sum(self.weights) if column is None else self.weights[column]


@cache
def list_phrases() -> tuple[TaskPhrase, ...]:
    """Lists the naturally distributed phrases, then those that are planted with a published taxonomy."""
    return list_natural_phrases() + _list_planted_phrases()


@cache
def number_phrases() -> dict[tuple[str, str, str, str], int]:
    """Returns the index of each planted phrase by phase, object, issue and text."""
    first = len(list_natural_phrases())
    return {
        (phrase.phase, phrase.object, phrase.issue, phrase.text): first + number
        for number, phrase in enumerate(_list_planted_phrases())
    }


@cache
def list_natural_phrases() -> tuple[TaskPhrase, ...]:
    """Lists every pattern with every wording of its object; they share the weight of the object."""
    phrases = []
    for block in read_words("phrases.txt").replace("\n    ", " ").strip().split("\n\n"):
        phase, *entries = block.split("\n")
        for entry in entries:
            phrases.extend(_parse_phrases(phase, entry))
    return tuple(phrases)


def _parse_phrases(phase: str, entry: str) -> list[TaskPhrase]:
    subject, counts, wordings, patterns = (part.strip() for part in entry.split("|"))
    texts: list[tuple[str, str]] = []
    for pattern in (pattern.strip() for pattern in patterns.split(";")):
        used = wordings.split(",") if "{}" in pattern else [""]
        texts.extend((pattern.split()[0], pattern.replace("{}", wording.strip())) for wording in used)
    tensorflow, pytorch, theano = (int(count) / len(texts) for count in counts.split())
    return [TaskPhrase(phase, verb, subject, text, (tensorflow, pytorch, theano)) for verb, text in texts]


@cache
def _list_planted_phrases() -> tuple[TaskPhrase, ...]:
    """Lists every issue in every wording, with weight 0 so that they never occur by chance."""
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
