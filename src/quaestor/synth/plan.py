"""The plan of a synthetic dump: its counts, its frameworks and their lifetimes, and the published taxonomy to plant."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import numpy as np

from quaestor.base.errors import InputError
from quaestor.study.templates import template_folder
from quaestor.synth.phrases import read_issue_blocks

FIRST_YEAR, LAST_YEAR = 2008, 2021
BEGIN = np.datetime64("2008-07-31T21:42:52", "ms")
END = np.datetime64("2021-09-05T00:00:00", "ms")
"""Every post is written between these times; the last year of a dump is rarely complete."""

LAST_QUESTION = END - np.timedelta64(6, "h")
"""No question is asked later, so that each can still be answered within the dump."""

DEFAULT_FAMILIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "tensorflow": ("tensorflow", "tensorflow2.0", "tensorflow-lite", "tensorflow-datasets"),
        "pytorch": ("pytorch", "pytorch-lightning", "pytorch-dataloader"),
        "theano": ("theano",),
    }
)

POSTS_BY_YEAR: Mapping[int, float] = MappingProxyType(
    dict(
        zip(
            range(FIRST_YEAR, LAST_YEAR + 1),
            (0.06, 0.35, 0.7, 1.2, 1.65, 2.05, 2.15, 2.2, 2.2, 2.1, 1.9, 1.75, 1.85, 1.1),
            strict=True,
        )
    )
)
"""The approximate number of questions per year on the whole site, in millions."""

_LIVES: Mapping[str, Mapping[int, float]] = MappingProxyType(
    {
        "tensorflow": {2015: 0.6, 2016: 8, 2017: 14, 2018: 16, 2019: 16, 2020: 15, 2021: 8},
        "pytorch": {2017: 0.8, 2018: 2.2, 2019: 4, 2020: 5.5, 2021: 5},
        "theano": {2012: 0.05, 2013: 0.1, 2014: 0.3, 2015: 0.7, 2016: 0.9, 2017: 0.4, 2018: 0.1, 2019: 0.03},
    }
)
_BIRTHS: Mapping[str, np.datetime64] = MappingProxyType(
    {
        "tensorflow": np.datetime64("2015-11-09T12:00:00", "ms"),
        "pytorch": np.datetime64("2017-01-18T12:00:00", "ms"),
    }
)
_STEPS = ("tagged", "how_to", "accepted", "open", "refined")
_TAXONOMY, _MEDIANS, _OTHER = "table03-taxonomy.csv", "table14-popularity-difficulty.csv", "other.csv"
_CORRELATIONS = ("Pearson r of viewcount and score", "Pearson r of popularity and difficulty")
_FIGURES = ("viewcount", "score", "response_days")
_TOTAL = "(total)"

Row = Mapping[str, str]


@dataclass(frozen=True)
class Medians:
    """The published medians of a group of posts; the response time in days, to two decimals."""

    viewcount: float
    score: float
    response_days: float


@dataclass(frozen=True)
class PlannedObject:
    """An object of a phase: its posts by framework, and their medians."""

    phase: str
    object: str
    posts: Mapping[str, int]
    medians: Medians

    @property
    def total(self) -> int:
        return sum(self.posts.values())


@dataclass(frozen=True)
class Taxonomy:
    """The objects of a study, the medians of its phases, and the correlations of its figures (Pearson's r)."""

    objects: tuple[PlannedObject, ...]
    phases: Mapping[str, Medians]
    viewcount_and_score: float
    viewcount_and_response: float

    def counts(self) -> Counter[str]:
        """Counts the posts of each framework over all objects."""
        counts: Counter[str] = Counter()
        for planned in self.objects:
            counts.update(planned.posts)
        return counts


def check_taxonomy(taxonomy: Taxonomy, refined: Counter[str]) -> None:
    """Raises InputError if the taxonomy does not match the refined posts or has objects without phrases."""
    counts = taxonomy.counts()
    for framework in {**counts, **refined}:
        if counts[framework] != refined[framework]:
            raise InputError(
                f"the taxonomy of the plan has {counts[framework]} posts of {framework}, "
                f"but {refined[framework]} are refined: make them equal"
            )
    known = {(block.phase, name) for block in read_issue_blocks() for name in block.objects}
    for planned in taxonomy.objects:
        place = f"{planned.object} ({planned.phase})"
        if (planned.phase, planned.object) not in known:
            raise InputError(
                f"the plan has posts about {place}, for which there are no phrases: add them to issue_list"
            )
        if planned.phase not in taxonomy.phases:
            raise InputError(f"the plan has no medians of the phase {planned.phase}: add them")
        if (
            min(planned.posts.values(), default=0) < 0
            or min(planned.medians.viewcount, planned.medians.response_days) < 0
        ):
            raise InputError(f"the plan has a negative number for {place}: use numbers from 0")


@dataclass(frozen=True)
class SynthPlan:
    """The counts of a published study, each a subset of the one before, which the dump reproduces exactly."""

    tagged: int
    how_to: int
    accepted: int
    open: int
    refined: int
    yearly: Mapping[tuple[str, int], int]
    families: Mapping[str, tuple[str, ...]]
    taxonomy: Taxonomy | None = None


def minimum_posts(plan: SynthPlan) -> int:
    """Returns the fewest posts that the plan needs: its questions and one answer per accepted answer."""
    return plan.tagged + plan.accepted


def check_plan(plan: SynthPlan, posts: int) -> None:
    """Raises InputError if a dump of this size cannot fulfil the plan."""
    steps = (plan.tagged, plan.how_to, plan.accepted, plan.open, plan.refined, 0)
    if any(inner > outer for outer, inner in pairwise(steps)):
        raise InputError(f"a plan narrows from step to step, but {steps[:-1]} does not: order its counts")
    if sum(plan.yearly.values()) != plan.refined or any(count < 0 for count in plan.yearly.values()):
        raise InputError(
            f"the yearly counts of the plan sum to {sum(plan.yearly.values())}, "
            f"but {plan.refined} posts are refined: make them equal"
        )
    known = ", ".join(plan.families)
    for framework, year in plan.yearly:
        if framework not in plan.families:
            raise InputError(f"the plan counts posts of {framework}, but has families only for {known}: add it")
        if not FIRST_YEAR <= year <= LAST_YEAR:
            raise InputError(f"the plan counts posts of {year}: use years from {FIRST_YEAR} to {LAST_YEAR}")
    check_families(plan.families)
    if plan.taxonomy:
        refined: Counter[str] = Counter()
        for (framework, _), count in plan.yearly.items():
            refined[framework] += count
        check_taxonomy(plan.taxonomy, refined)
    if posts < minimum_posts(plan):
        raise InputError(f"the plan needs at least {minimum_posts(plan)} posts, but {posts} were asked for")


def check_families(families: Mapping[str, tuple[str, ...]]) -> None:
    """Raises InputError if the tags cannot distinguish the frameworks."""
    if not families:
        raise InputError("the plan names no framework: give at least one with its tags")
    for framework, tags in list_own_tags(families).items():
        if not tags:
            raise InputError(f"every tag of {framework} belongs to an earlier framework: add one of its own")


def list_own_tags(families: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Lists the tags of each framework that no earlier framework has."""
    claimed: list[str] = []
    own = {}
    for framework, tags in families.items():
        own[framework] = tuple(tag for tag in tags if tag not in claimed)
        claimed.extend(tags)
    return own


def read_lifetime(framework: str) -> Mapping[int, float]:
    """Returns the relative number of questions about a framework by year."""
    return _LIVES.get(framework, dict.fromkeys(range(2015, LAST_YEAR + 1), 1.0))


def find_time_span(year: int, framework: str | None = None) -> tuple[int, int]:
    """Returns the first and last millisecond of questions in a year, not before the framework's release."""
    first = max(to_milliseconds(np.datetime64(f"{year}-01-01", "ms")), to_milliseconds(BEGIN))
    last = min(to_milliseconds(np.datetime64(f"{year + 1}-01-01", "ms")), to_milliseconds(LAST_QUESTION))
    birth = to_milliseconds(_BIRTHS.get(framework or "", BEGIN))
    return (birth if first < birth < last else first), last


def to_milliseconds(when: np.datetime64) -> int:
    """Converts a time to milliseconds since 1970, the unit of all time arrays."""
    return int(when.astype("datetime64[ms]").astype(np.int64))


def read_plan(study: str) -> SynthPlan:
    """Reads the plan of a bundled study: its published funnel, posts by year, and taxonomy if there is one."""
    folder = template_folder(study)
    described = folder / "synthetic.toml"
    if not described.exists():
        raise InputError(f"the bundled study {study!r} has no plan for synthetic data: leave --like out")
    planted = tomllib.loads(described.read_text("utf-8"))
    families = {name: tuple(tags) for name, tags in planted["families"].items()}
    printed = folder / "printed"
    counts = dict(zip(_STEPS, (int(row["posts"]) for row in _read_rows(printed / "funnel.csv")), strict=True))
    yearly = {
        (framework, int(row["year"])): int(row[framework])
        for row in _read_rows(printed / "table01-posts-by-year.csv")
        if row["year"].isdigit()
        for framework in families
    }
    taxonomy = read_taxonomy(printed, tuple(families), planted.get("medians", {}))
    return SynthPlan(**counts, yearly=yearly, families=families, taxonomy=taxonomy)


def read_taxonomy(
    printed: Path, frameworks: tuple[str, ...], restored: Mapping[str, Mapping[str, float]]
) -> Taxonomy | None:
    """Reads the published taxonomy, or returns None if a part of it is missing.

    A missing median comes from `restored`, or else from its phase.
    """
    if not all((printed / name).exists() for name in (_TAXONOMY, _MEDIANS, _OTHER)):
        return None
    counts = list(_read_rows(printed / _TAXONOMY))
    medians = {row["code"]: row for row in _read_rows(printed / _MEDIANS)}
    codes = {row["phase"]: row["code"] for row in counts if row["object"] == _TOTAL}
    phases = {phase: _read_medians(medians[code], {}, {}) for phase, code in codes.items()}
    objects = tuple(
        PlannedObject(
            phase=row["phase"],
            object=row["object"],
            posts={framework: int(row[framework]) for framework in frameworks},
            medians=_read_medians(medians[row["code"]], restored.get(row["code"], {}), medians[codes[row["phase"]]]),
        )
        for row in counts
        if row["object"] != _TOTAL
    )
    other = {row["figure"]: row["value"] for row in _read_rows(printed / _OTHER)}
    missing = [name for name in _CORRELATIONS if name not in other]
    if missing:
        raise InputError(f"{printed / _OTHER} has no figure {missing[0]!r}: add it, or remove {_TAXONOMY}")
    return Taxonomy(objects, phases, *(float(other[name]) for name in _CORRELATIONS))


def _read_medians(row: Row, restored: Mapping[str, float], phase: Row) -> Medians:
    figures = [row[name] or str(restored.get(name, "")) or phase.get(name, "") for name in _FIGURES]
    if not all(figures):
        raise InputError(f"{_MEDIANS} has no median for {row['code']}: add it there or to [medians] in synthetic.toml")
    return Medians(*(float(figure) for figure in figures))


def _read_rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
