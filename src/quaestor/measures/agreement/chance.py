"""What Fleiss' κ and Gwet's AC share: any number of raters, missing ratings, and the standard error of Gwet (2008)."""

from __future__ import annotations

from quaestor.measures.agreement.estimates import ONE_CODE, analytic, corrected
from quaestor.measures.agreement.patterns import Floats, Patterns
from quaestor.measures.records import Estimate


def beyond_chance(patterns: Patterns, agreed: Floats, chance: float, chance_of_each: Floats) -> Estimate:
    """A coefficient from agreement, found and by chance, overall and as each pattern contributes to it.

    The variance is that of the items' contributions to the coefficient, made linear in them.
    """
    value = corrected(patterns.mean(agreed), chance)
    if value is None:
        return Estimate(undefined=ONE_CODE)
    contribution = (agreed - chance - 2 * (1 - value) * (chance_of_each - chance)) / (1 - chance)
    return analytic(value, patterns.mean((contribution - value) ** 2) / (patterns.n - 1))
