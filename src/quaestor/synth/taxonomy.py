"""The published taxonomy to plant: posts about each object, their popularity and their difficulty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quaestor.base.errors import InputError
from quaestor.synth.phrases import read_issue_blocks


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

    def counts(self) -> dict[str, int]:
        """Counts the posts of each framework over all objects."""
        counts: dict[str, int] = {}
        for planned in self.objects:
            for framework, posts in planned.posts.items():
                counts[framework] = counts.get(framework, 0) + posts
        return counts


def check_taxonomy(taxonomy: Taxonomy, refined: Mapping[str, int]) -> None:
    """Raises InputError if the taxonomy does not match the refined posts or has objects without phrases."""
    counts = taxonomy.counts()
    for framework in {**counts, **refined}:
        if counts.get(framework, 0) != refined.get(framework, 0):
            raise InputError(
                f"the taxonomy of the plan has {counts.get(framework, 0)} posts of {framework}, "
                f"but {refined.get(framework, 0)} are refined: make them equal"
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
