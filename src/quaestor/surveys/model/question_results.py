"""Results of a question, and their formatting as JSON and table cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from quaestor.measures.records import Effect, Estimate, GroupTest, Share, Summary, WeightedShare
from quaestor.measures.survey_answers import GroupDifference, OptionRank
from quaestor.measures.weighting import SampleSize
from quaestor.render.number_format import ABSENT, interval, percent, whole
from quaestor.render.table_model import Cell, Column, Selection
from quaestor.surveys.model.answer_columns import Flags, Floats, Small
from quaestor.surveys.model.records import EarlierLabel, Missing, Question

NOT_ALL_OFFERED = "not every respondent was offered all of these answers, because versions differ"
"""A caution about a test of all options together: nobody can choose what is not offered."""
INTERVAL = Column("interval", "95% interval", numbers=("low", "high"))
SHARE_COLUMNS = (Column("n", "n"), Column("share", "share"), INTERVAL)
WEIGHTED_COLUMNS = (
    Column("weighted", "weighted share"),
    Column("weighted-interval", "weighted 95% interval", numbers=("low", "high")),
)


@dataclass(frozen=True)
class Groups:
    """Responses grouped by their answers to one question."""

    name: str
    label: str
    keys: tuple[str, ...]
    labels: tuple[str, ...]
    members: Flags
    """By response and group."""
    overlapping: bool
    """Whether a response may be in several groups, so that they cannot be tested against each other."""

    def codes(self) -> Small:
        """Returns the group of each response, −1 for none."""
        codes = np.where(self.members.any(axis=1), self.members.argmax(axis=1), -1)
        return codes.astype(np.int16)


@dataclass(frozen=True)
class Counting:
    """The responses that are counted, and the groups to compare."""

    used: Flags
    groups: Groups | None
    seed: int
    weights: Floats | None = None
    """The weight of each counted response."""

    @cached_property
    def members(self) -> list[Flags]:
        """Returns for each group which of the counted responses are in it."""
        return list(self.groups.members[self.used].T) if self.groups else []

    @cached_property
    def codes(self) -> Small:
        return self.groups.codes()[self.used] if self.groups else np.empty(0, np.int16)

    @property
    def is_tested(self) -> bool:
        return self.groups is not None and not self.groups.overlapping

    def weights_of(self, some: Flags) -> Floats | None:
        """Returns the weights of some of the counted responses; None without weights."""
        return None if self.weights is None else self.weights[some]

    def bases(self, answered: Flags) -> tuple[int, ...]:
        """Returns how many of each group answered."""
        return tuple(int((answered & member).sum()) for member in self.members)


@dataclass(frozen=True)
class ResultLine:
    """One option with the share that chose it."""

    key: str
    label: str
    share: Share
    with_text: int = 0
    """Number of respondents who added text."""
    by: tuple[Share, ...] = ()
    """The share in each group."""
    crossed: GroupDifference | None = None
    """The test of groups, if each option is tested separately."""

    def as_json(self) -> dict[str, Any]:
        return {
            "option": self.key,
            "label": self.label,
            **share_json(self.share),
            "texts": self.with_text,
            "groups": [share_json(share) for share in self.by],
            "test": association_json(self.crossed),
        }


@dataclass(frozen=True)
class Distribution:
    """The options of a choice, or the steps of one matrix row, with their own base."""

    key: str
    label: str
    base: int
    missing: Mapping[Missing, int]
    lines: tuple[ResultLine, ...]
    with_text: int = 0
    bases: tuple[int, ...] = ()
    """The base of each group."""
    crossed: GroupDifference | None = None


@dataclass(frozen=True)
class Numbers:
    """Numeric answers: mean and median with intervals, and the distribution."""

    mean: Estimate
    summary: Summary
    least: float | None
    most: float | None
    bars: tuple[tuple[str, Share], ...]
    by: tuple[Summary, ...] = ()
    test: GroupTest | None = None
    effect: Effect | None = None
    groups: tuple[str, ...] = ()
    """Labels of the groups that are tested against each other."""
    doubts: tuple[str, ...] = ()
    """Why the test is unreliable."""
    left_out: int = 0
    """Number of answers too large or too small to compute with; excluded from all other numbers here."""
    weighted_mean: Estimate | None = None


@dataclass(frozen=True)
class RankedLine:
    """One option of a ranking."""

    key: str
    label: str
    ranked: OptionRank
    places: tuple[int, ...]
    """Number of respondents who ranked it first, second, and so on."""
    by: tuple[OptionRank, ...] = ()
    """The same for each group."""


@dataclass(frozen=True)
class QuestionResult:
    """Results of one question; its kind fills in distributions, numbers or ranks."""

    question: Question
    base: int
    """Number of respondents who answered."""
    missing: Mapping[Missing, int]
    rows: tuple[Distribution, ...] = ()
    numbers: Numbers | None = None
    ranked: tuple[RankedLine, ...] = ()
    bases: tuple[int, ...] = ()
    """Number of answers in each group."""
    partly: tuple[tuple[str, int], ...] = ()
    """Options or rows that only some versions offer, with the number of respondents who could choose them."""
    partly_steps: tuple[tuple[str, int], ...] = ()
    """Steps of a matrix that only some versions offer, with the number of respondents who could choose them."""
    earlier: tuple[EarlierLabel, ...] = ()
    """Texts and labels that were reworded."""
    converted: tuple[tuple[str, float, int], ...] = ()
    """Earlier units, with the factor that converts them and the number of respondents who answered in them."""
    weighted: SampleSize | None = None
    """The effective sample size of those who answered, if the responses have weights."""

    @property
    def weighted_size(self) -> SampleSize | None:
        """The effective sample size, if there are answers and weighted numbers of them."""
        return self.weighted if self.base and (self.rows or self.numbers or self.ranked) else None

    @property
    def asked(self) -> int:
        """Number of respondents who saw it."""
        return self.base + self.missing.get(Missing.SKIPPED, 0)


def count_table(lines: Sequence[ResultLine]) -> list[list[int]]:
    """Returns counts by option and group, as input of a test."""
    return [[group.count for group in line.by] for line in lines]


def share_json(share: Share) -> dict[str, Any]:
    weighted = share.weighted
    return {
        "count": share.count, "of": share.of, "share": share.value, "low": share.low, "high": share.high,
        "weighted": None if weighted is None else {
            "share": weighted.value, "low": weighted.low, "high": weighted.high, "effective": weighted.effective,
        },
    }  # fmt: skip


def size_json(size: SampleSize | None) -> dict[str, Any] | None:
    if size is None:
        return None
    return {
        "n": size.n, "effective": size.effective, "design_effect": size.design_effect if size.n else None,
        "min": size.least, "max": size.most,
    }  # fmt: skip


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": estimate.value, "low": estimate.low, "high": estimate.high,
        "how": estimate.how, "undefined": estimate.undefined,
    }  # fmt: skip


def association_json(crossed: GroupDifference | None) -> dict[str, Any] | None:
    if crossed is None:
        return None
    association, strength = crossed.association, crossed.strength
    return {
        "test": association.test,
        "n": association.n,
        "statistic": association.statistic,
        "df": association.df,
        "p": association.p,
        "adjusted": crossed.adjusted,
        "cramers_v": strength.value,
        "low": strength.low,
        "high": strength.high,
        "band": strength.band,
        "doubts": list(crossed.doubts),
        "undefined": association.undefined,
    }


def build_selection(question: str, option: str = "", row: str = "", **more: str) -> Selection:
    """Returns the selection of the responses behind a cell, with the fields of `counting.ResponseSelection`."""
    parts = {"question": question, "option": option, "row": row, **more}
    return Selection(tuple((name, (value,)) for name, value in parts.items() if value))


def base_cell(question: str, base: int, **which: str) -> Cell:
    return Cell((whole(base),), (base,), build_selection(question, **which))


def share_cells(share: Share, selection: Selection | None = None) -> Iterator[Cell]:
    """Yields count, share and interval as separate cells."""
    yield Cell((whole(share.count),), (share.count,), selection)
    yield Cell((percent(share.value),), (share.value,))
    yield Cell((share_interval(share),), (share.low, share.high))


def share_cell(share: Share, selection: Selection | None) -> Cell:
    """Returns count, share and, with weights, the weighted share in one cell."""
    parts, values = [whole(share.count), percent(share.value)], [share.count, share.value]
    if share.weighted is not None:
        parts.append(percent(share.weighted.value))
        values.append(share.weighted.value)
    return Cell(tuple(parts), tuple(values), selection)


def share_parts(is_weighted: bool) -> tuple[str, ...]:
    """Returns the names of the parts of a cell of `share_cell`."""
    return ("n", "share", "weighted share") if is_weighted else ("n", "share")


def weighted_cells(share: Share) -> Iterator[Cell]:
    """Yields weighted share and interval as separate cells; nothing without weights."""
    weighted = share.weighted
    if weighted is not None:
        yield Cell((percent(weighted.value),), (weighted.value,))
        yield Cell((share_interval(weighted),), (weighted.low, weighted.high))


def share_interval(share: Share | WeightedShare) -> str:
    """`12.3% to 45.6%`."""
    known = share.low is not None and share.high is not None
    return f"{percent(share.low)} to {percent(share.high)}" if known else ABSENT


def bounds(estimate: Estimate | Summary) -> str:
    """Formats `[1.2 to 3.4]`; empty without an interval."""
    return f"[{interval(estimate.low, estimate.high)}]" if estimate.low is not None else ""
