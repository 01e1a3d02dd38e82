"""Whole numbers with heavy tails whose medians are those that were printed, of every object and of every phase."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
_NORMAL = NormalDist()
_NEAR = 0.15
"""How far, as a share, a value moves at most beyond the median of its phase."""


@dataclass(frozen=True)
class Groups:
    """The posts of all objects, one object after the other, each from its smallest value to its largest."""

    objects: Numbers
    phases: Numbers
    sizes: Numbers

    @property
    def place(self) -> Numbers:
        """The number of each post inside its object."""
        first = np.cumsum(self.sizes) - self.sizes
        places: Numbers = np.arange(len(self.objects)) - first[self.objects]
        return places

    @property
    def side(self) -> Numbers:
        """Below its object's median (-1), at its middle (0) or above it (1), for each post."""
        distance = 2 * self.place + 1 - self.sizes[self.objects]
        sides: Numbers = np.sign(distance) * (np.abs(distance) > 1)
        return sides

    def normal(self, within: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """For each post the normal deviate that its place in the object stands for; `within` is where in the place."""
        shares = (self.place + within) / self.sizes[self.objects]
        return np.array([_NORMAL.inv_cdf(share) for share in shares.tolist()], np.float64)

    def middles(self, medians: npt.NDArray[np.float64]) -> tuple[Numbers, Numbers]:
        """The two values, equal or not, that stand in the middle of each object and average to its median.

        Two posts alone would be twins if both stood at the median, so they keep a distance.
        """
        pairs = self.sizes == 2
        low = np.floor(np.where(pairs, 0.7 * medians, medians)).astype(np.int64)
        high = np.where(pairs, np.rint(2 * medians - low), np.ceil(medians)).astype(np.int64)
        single = self.sizes % 2 == 1
        low = np.where(single, np.rint(medians).astype(np.int64), low)
        return low, np.where(single, low, high)


def around(
    groups: Groups, medians: npt.NDArray[np.float64], spread: float, least: int, rng: np.random.Generator
) -> Numbers:
    """Lognormal values of each post, those of an object around its median."""
    deviates = groups.normal(rng.uniform(0.1, 0.9, len(groups.objects)))
    drawn = np.rint(np.maximum(medians, 0.5)[groups.objects] * np.exp(spread * deviates)).astype(np.int64)
    return keep_middles(groups, medians, np.maximum(drawn, least))


def keep_middles(groups: Groups, medians: npt.NDArray[np.float64], drawn: Numbers) -> Numbers:
    """The same values with the median of each object exact: none below it above the middle, none above it below."""
    low, high = (middle[groups.objects] for middle in groups.middles(medians))
    second = 2 * groups.place >= groups.sizes[groups.objects]
    middle = np.where(second, high, low)
    return np.where(groups.side < 0, np.minimum(drawn, low), np.where(groups.side > 0, np.maximum(drawn, high), middle))


def settle_phases(
    groups: Groups,
    medians: npt.NDArray[np.float64],
    of_phases: npt.NDArray[np.float64],
    values: Numbers,
    rng: np.random.Generator,
) -> Numbers:
    """Move the values nearest to the median of their phase across it until it is exact; those of objects stay so."""
    low, high = (middle[groups.objects] for middle in groups.middles(medians))
    floor = np.where(groups.side > 0, high, np.iinfo(np.int64).min)
    ceiling = np.where(groups.side < 0, low, np.iinfo(np.int64).max)
    settled = values.copy()
    for phase, wanted in enumerate(np.rint(of_phases).astype(np.int64).tolist()):
        free = (groups.phases == phase) & (groups.side != 0) & (floor <= wanted) & (wanted <= ceiling)
        mine = settled[groups.phases == phase]
        allowed = (len(mine) - 1) // 2
        below, above = int((mine < wanted).sum()) - allowed, int((mine > wanted).sum()) - allowed
        for step, surplus, other in ((1, below, above), (-1, above, below)):
            movable = np.flatnonzero(free & ((wanted - settled) * step > 0))
            nearest = movable[np.argsort(np.abs(settled[movable] - wanted), kind="stable")][: max(surplus, 0)]
            beyond = 1 + (rng.random(len(nearest)) * _NEAR * wanted).astype(np.int64)
            beyond[max(-other, 0) :] = 0
            settled[nearest] = np.clip(wanted + step * beyond, floor[nearest], ceiling[nearest])
    return settled
