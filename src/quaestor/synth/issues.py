"""The printed issues as values: which object is asked about how often, and in which words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from quaestor.synth.issue_list import ISSUES


@dataclass(frozen=True)
class Wording:
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
    objects: Mapping[str, tuple[Wording, ...]]
    issues: tuple[Issue, ...]


@cache
def issue_blocks() -> tuple[IssueBlock, ...]:
    """Every block of the list, in its order."""
    blocks: list[IssueBlock] = []
    for text in ISSUES.replace("\n    ", " ").strip().split("\n\n"):
        phase, *lines = text.split("\n")
        parts = [list(part) for _, part in groupby(lines, key=lambda line: line.startswith("- "))]
        blocks.extend(_block(phase, *pair) for pair in zip(parts[::2], parts[1::2], strict=True))
    return tuple(blocks)


def text_of(pattern: str, wording: str) -> str:
    """The words that ask for something: the pattern, about the object as it is called."""
    return pattern.replace("{}", wording)


def shared_out(weights: Sequence[int], total: int) -> npt.NDArray[np.int64]:
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


def _wording(text: str) -> Wording:
    words, _, posts = text.partition("*")
    return Wording(words.strip(), int(posts or 1))


def _issue(text: str) -> Issue:
    head, patterns = text.split(": ", 1)
    posts, name = head.split(" ", 1)
    return Issue(name, int(posts), tuple(pattern.strip() for pattern in patterns.split(";")))
