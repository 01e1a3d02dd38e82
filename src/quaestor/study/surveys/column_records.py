"""What the columns of a survey's answers are: the answers to one question in the order of the responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.instruments.records import Missing, Page, Question

Flags = NDArray[np.bool_]
Small = NDArray[np.int16]
Floats = NDArray[np.float64]

REASONS = (Missing.NOT_SHOWN, Missing.SKIPPED, Missing.NOT_REACHED)
ANSWERED = -1
_BITS = 62
NOBODY: Small = np.empty((0, 0), np.int16)
Held = tuple[str, int, str, str, str, str, int]
"""Id, version, standing, stratum, pages that were sent, answers, whether it is synthetic: as the file holds them."""


@dataclass(frozen=True)
class Asked:
    """A question over all versions that ask it in the same way, with every option and row one of them has."""

    question: Question
    pages: Mapping[int, tuple[Page, Question]]
    """By version: where it stands, and as it is asked there."""

    @property
    def kept_as(self) -> str:
        """The name under which its answers lie in the file."""
        _, question = next(iter(self.pages.values()))
        return question.id


@dataclass(frozen=True)
class Column:
    """All answers to one question, in the order of the responses."""

    question: Question
    missing: Small
    """`ANSWERED`, or the place of the reason in `REASONS`."""
    chosen: Flags
    """Choices: by option."""
    places: Small = field(default_factory=lambda: NOBODY)
    """Matrix: the step by row, −1 for none. Ranking: the place by option, 0 for none."""
    numbers: Floats = field(default_factory=lambda: np.empty(0))
    worded: Flags = field(default_factory=lambda: np.empty((0, 0), np.bool_))
    """Words of one's own by option or row."""
    offered: Flags = field(default_factory=lambda: np.empty((0, 0), np.bool_))
    """Whether the version has the option, of a matrix the row; empty where every version has all."""

    @property
    def answered(self) -> Flags:
        found: Flags = self.missing == ANSWERED
        return found

    def signs(self, here: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
        """All that tells answers apart but free words, one array a part, for responses at these places."""
        yield self.answered[here]
        if self.chosen.shape[1] <= _BITS:
            yield self.chosen[here] @ (1 << np.arange(self.chosen.shape[1], dtype=np.int64))
        else:
            yield from self.chosen[here].T
        yield from self.worded[here].T
        yield from self.places[here].T if self.places.size else ()
        if self.numbers.size:
            yield np.nan_to_num(self.numbers[here], nan=-np.inf)


@dataclass(frozen=True)
class Columns:
    """Every response to a survey, whether it is used or not."""

    ids: tuple[str, ...]
    standings: NDArray[np.str_]
    versions: NDArray[np.int64]
    strata: NDArray[np.str_]
    synthetic: Flags
    questions: Mapping[str, Column]

    def __len__(self) -> int:
        return len(self.ids)
