"""Gives each refined question a phrase, a popularity and a difficulty that match the published taxonomy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from quaestor.synth.phrases import IssueBlock, apportion, format_phrase, number_phrases, read_issue_blocks
from quaestor.synth.plan import END, PlannedObject, Taxonomy, to_milliseconds
from quaestor.synth.questions import Numbers, Small, Times

_NORMAL = NormalDist()
_MOST_SHIFT = 0.15
"""The largest share by which a value is moved beyond the median of its phase."""


@dataclass(frozen=True)
class ObjectGroups:
    """The posts of all objects, object by object, each sorted from the smallest to the largest value."""

    objects: Numbers
    phases: Numbers
    sizes: Numbers

    @property
    def position(self) -> Numbers:
        """The index of each post within its object."""
        first = np.cumsum(self.sizes) - self.sizes
        places: Numbers = np.arange(len(self.objects)) - first[self.objects]
        return places

    @property
    def side(self) -> Numbers:
        """For each post -1 below its object's median, 0 in the middle, 1 above it."""
        distance = 2 * self.position + 1 - self.sizes[self.objects]
        sides: Numbers = np.sign(distance) * (np.abs(distance) > 1)
        return sides

    def normal(self, within: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Returns the normal deviate of each post's rank in its object; `within` is the offset within the rank."""
        shares = (self.position + within) / self.sizes[self.objects]
        return np.array([_NORMAL.inv_cdf(share) for share in shares.tolist()], np.float64)

    def middles(self, medians: npt.NDArray[np.float64]) -> tuple[Numbers, Numbers]:
        """Returns the two middle values of each object, which average to its median.

        An object with two posts gets two different values; otherwise both posts would be identical.
        """
        pairs = self.sizes == 2
        low = np.floor(np.where(pairs, 0.7 * medians, medians)).astype(np.int64)
        high = np.where(pairs, np.rint(2 * medians - low), np.ceil(medians)).astype(np.int64)
        single = self.sizes % 2 == 1
        low = np.where(single, np.rint(medians).astype(np.int64), low)
        return low, np.where(single, low, high)


def draw_around(
    groups: ObjectGroups, medians: npt.NDArray[np.float64], spread: float, least: int, rng: np.random.Generator
) -> Numbers:
    """Draws a lognormal value for each post around the median of its object."""
    deviates = groups.normal(rng.uniform(0.1, 0.9, len(groups.objects)))
    drawn = np.rint(np.maximum(medians, 0.5)[groups.objects] * np.exp(spread * deviates)).astype(np.int64)
    return keep_middles(groups, medians, np.maximum(drawn, least))


def keep_middles(groups: ObjectGroups, medians: npt.NDArray[np.float64], drawn: Numbers) -> Numbers:
    """Clips the values so that the median of each object is exact."""
    low, high = (middle[groups.objects] for middle in groups.middles(medians))
    second = 2 * groups.position >= groups.sizes[groups.objects]
    middle = np.where(second, high, low)
    return np.where(groups.side < 0, np.minimum(drawn, low), np.where(groups.side > 0, np.maximum(drawn, high), middle))


def settle_phases(
    groups: ObjectGroups,
    medians: npt.NDArray[np.float64],
    of_phases: npt.NDArray[np.float64],
    values: Numbers,
    rng: np.random.Generator,
) -> Numbers:
    """Moves values across the median of their phase, nearest first, until it is exact; object medians stay exact."""
    low, high = (middle[groups.objects] for middle in groups.middles(medians))
    floor = np.where(groups.side > 0, high, np.iinfo(np.int64).min)
    ceiling = np.where(groups.side < 0, low, np.iinfo(np.int64).max)
    settled = values.copy()
    for phase, target in enumerate(np.rint(of_phases).astype(np.int64).tolist()):
        free = (groups.phases == phase) & (groups.side != 0) & (floor <= target) & (target <= ceiling)
        mine = settled[groups.phases == phase]
        allowed = (len(mine) - 1) // 2
        below, above = int((mine < target).sum()) - allowed, int((mine > target).sum()) - allowed
        for step, surplus, other in ((1, below, above), (-1, above, below)):
            movable = np.flatnonzero(free & ((target - settled) * step > 0))
            nearest = movable[np.argsort(np.abs(settled[movable] - target), kind="stable")][: max(surplus, 0)]
            beyond = 1 + (rng.random(len(nearest)) * _MOST_SHIFT * target).astype(np.int64)
            beyond[max(-other, 0) :] = 0
            settled[nearest] = np.clip(target + step * beyond, floor[nearest], ceiling[nearest])
    return settled


_HUNDREDTH = 864_000
"""Milliseconds in a hundredth of a day, the precision of published response times."""

_SECOND = 1_000
_VIEWS_SPREAD, _WAIT_SPREAD = 1.6, 2.5
_VIEWS_A_VOTE = 700
_LEAST_VIEWS, _LEAST_SCORE = 5, -3
_TRIES = 80
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PlantedFigures:
    """The planted figures of the refined questions, which come first; waits are in milliseconds."""

    phrase: npt.NDArray[np.int16]
    views: Numbers
    scores: Numbers
    waits: Times

    def __len__(self) -> int:
        return len(self.phrase)


def plant_taxonomy(
    taxonomy: Taxonomy, frameworks: Sequence[str], framework: Small, times: Times, rng: np.random.Generator
) -> PlantedFigures:
    """Assigns phrases and figures to the refined questions so that each answer is within the dump."""
    groups = _build_groups(taxonomy)
    views, scores, hundredths = _draw_figures(taxonomy, groups, rng)
    waits = np.maximum(hundredths * _HUNDREDTH + rng.integers(-430_000, 430_000, len(views)), 45 * _SECOND)
    phrase = _choose_phrases(taxonomy.objects, rng)
    owners = np.concatenate([_shuffle_frameworks(planned, frameworks, rng) for planned in taxonomy.objects])
    room = to_milliseconds(END) - times - _SECOND
    dealt = np.empty(len(times), np.int64)
    for number in range(len(frameworks)):
        mine = np.flatnonzero(framework == number)
        entries = np.flatnonzero(owners == number)
        dealt[mine] = entries[_order_to_fit(waits[entries], room[mine], rng)]
    in_time = np.minimum(waits[dealt], (room * rng.uniform(0.5, 0.99, len(room))).astype(np.int64))
    return PlantedFigures(
        phrase=phrase[dealt],
        views=views[dealt],
        scores=scores[dealt],
        waits=np.where(waits[dealt] < room, waits[dealt], in_time),
    )


def _build_groups(taxonomy: Taxonomy) -> ObjectGroups:
    phases = list(taxonomy.phases)
    sizes = np.array([planned.total for planned in taxonomy.objects], np.int64)
    objects = np.repeat(np.arange(len(sizes)), sizes)
    return ObjectGroups(
        objects, np.array([phases.index(planned.phase) for planned in taxonomy.objects])[objects], sizes
    )


def _draw_figures(
    taxonomy: Taxonomy, groups: ObjectGroups, rng: np.random.Generator
) -> tuple[Numbers, Numbers, Numbers]:
    """Draws views, scores and response times (hundredths of days) of all posts, sorted by views within objects."""
    both = ([planned.medians for planned in taxonomy.objects], list(taxonomy.phases.values()))
    median_views, in_phase = (np.array([medians.viewcount for medians in level]) for level in both)
    views = draw_around(groups, median_views, _VIEWS_SPREAD, _LEAST_VIEWS, rng)
    views = settle_phases(groups, median_views, in_phase, views, rng)
    median_scores, in_phase = (np.array([medians.score for medians in level]) for level in both)
    luck = rng.normal(0.0, 1.0, len(views))
    downvotes = rng.geometric(0.65, len(views)) - 1
    scores = _choose_nearest(
        lambda noise: _draw_scores(
            groups, median_scores, views - median_views[groups.objects], noise * luck, downvotes
        ),
        np.linspace(0.0, 1.6, _TRIES), views, taxonomy.viewcount_and_score,
    )  # fmt: skip
    scores = settle_phases(groups, median_scores, in_phase, scores, rng)
    median_waits, in_phase = (np.rint([100 * medians.response_days for medians in level]) for level in both)
    waits = settle_phases(groups, median_waits, in_phase, draw_around(groups, median_waits, _WAIT_SPREAD, 0, rng), rng)
    waits = waits[np.lexsort((waits, groups.objects))]
    deviates, chance = groups.normal(np.full(len(views), 0.5)), rng.normal(0.0, 1.0, len(views))
    waits = _choose_nearest(
        lambda strength: _pair_waits(groups, waits, strength * deviates + (1 - abs(strength)) * chance),
        np.linspace(-0.5, 1.0, _TRIES), views, taxonomy.viewcount_and_response,
    )  # fmt: skip
    return views, scores, waits


def _draw_scores(groups: ObjectGroups, medians: Floats, beyond: Floats, noise: Floats, downvotes: Numbers) -> Numbers:
    """Draws scores: votes in proportion to the views above the object's median, downvotes below it."""
    votes = np.rint(np.maximum(beyond, 0.0) / _VIEWS_A_VOTE * np.exp(noise)).astype(np.int64)
    middle = np.rint(medians).astype(np.int64)[groups.objects]
    drawn = np.where(groups.side > 0, middle + votes, np.maximum(middle - downvotes, _LEAST_SCORE))
    return keep_middles(groups, medians, drawn)


def _pair_waits(groups: ObjectGroups, waits: Numbers, leaning: Floats) -> Numbers:
    """Assigns the ascending waits of each object to its posts in the order of `leaning`."""
    paired = np.empty_like(waits)
    paired[np.lexsort((leaning, groups.objects))] = waits
    return paired


def _choose_nearest(draw: Callable[[float], Numbers], settings: Floats, views: Numbers, target: float) -> Numbers:
    """Returns the result of the setting whose correlation with the views is nearest to the target."""
    results = [draw(setting) for setting in settings.tolist()]
    return min(results, key=lambda values: abs(compute_correlation(views, values) - target))


def compute_correlation(first: npt.NDArray[np.number], second: npt.NDArray[np.number]) -> float:
    """Computes Pearson's r; 0 if one of the arrays is constant."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def _choose_phrases(planned: Sequence[PlannedObject], rng: np.random.Generator) -> npt.NDArray[np.int16]:
    """Chooses a phrase for each post: issues and wordings in the published proportions, in random order."""
    phrases: dict[tuple[str, str], list[int]] = {}
    for block in read_issue_blocks():
        totals = {
            object_plan.object: object_plan.total
            for object_plan in planned
            if object_plan.phase == block.phase and object_plan.object in block.objects
        }
        issues = iter(_shuffle_issues(block, sum(totals.values()), rng))
        for name, total in totals.items():
            wordings = block.objects[name]
            called = np.repeat(np.arange(len(wordings)), apportion([wording.posts for wording in wordings], total))
            phrases[block.phase, name] = [
                number_phrases()[block.phase, name, issue, format_phrase(pattern, wordings[wording].text)]
                for wording, (issue, pattern) in zip(rng.permutation(called).tolist(), issues, strict=False)
            ]
    return np.array(
        [number for object_plan in planned for number in phrases[object_plan.phase, object_plan.object]], np.int16
    )


def _shuffle_issues(block: IssueBlock, total: int, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Returns issues and their patterns in random order; the patterns of an issue alternate."""
    parts = apportion([issue.posts for issue in block.issues], total).tolist()
    listed = [
        (issue.name, issue.patterns[turn % len(issue.patterns)])
        for issue, part in zip(block.issues, parts, strict=True)
        for turn in range(part)
    ]
    return [listed[number] for number in rng.permutation(total).tolist()]


def _shuffle_frameworks(planned: PlannedObject, frameworks: Sequence[str], rng: np.random.Generator) -> Numbers:
    counts = [planned.posts.get(name, 0) for name in frameworks]
    return rng.permutation(np.repeat(np.arange(len(frameworks)), counts))


def _order_to_fit(waits: Times, available: Times, rng: np.random.Generator) -> Numbers:
    """Returns a random order in which each wait fits into its available time; swaps entries that do not fit."""
    order = rng.permutation(len(waits))
    for index in np.flatnonzero(waits[order] >= available).tolist():
        candidates = np.flatnonzero((available > waits[order[index]]) & (waits[order] < available[index]))
        if len(candidates):
            other = int(rng.choice(candidates))
            order[[index, other]] = order[[other, index]]
    return order
