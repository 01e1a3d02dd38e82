"""The reference of measures lists every function and every reason for an undefined result."""

from __future__ import annotations

import inspect
import math
import re
from types import ModuleType

import pytest
from tests.support.paths import DOCS

from quaestor.measures import (
    association,
    descriptive,
    group_comparison,
    trends,
)
from quaestor.measures import (
    co_occurrence as interviews,
)
from quaestor.measures import (
    survey_answers as surveys,
)

PAGE = (DOCS / "reference" / "measures.md").read_text(encoding="utf-8")
MODULES = [association, descriptive, group_comparison, interviews, surveys, trends]
WITHIN = {"draw_median_positions"}
"""Named for the tests alone."""


def public(module: ModuleType) -> list[str]:
    """Functions of a module that others call; those that are cached are wrapped and look like objects."""
    functions = {
        name: inspect.unwrap(value) for name, value in vars(module).items() if callable(value) and name[0] != "_"
    }
    return [
        name for name, value in functions.items() if inspect.isfunction(value) and value.__module__ == module.__name__
    ]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_function_is_documented(module: ModuleType) -> None:
    names = set(public(module)) - WITHIN
    assert names
    for name in names:
        assert f"`{name}" in PAGE, name


def test_the_reference_lists_every_reason_for_an_undefined_result() -> None:
    listed = set(re.findall(r"^\| ((?:the interval is )?undefined, because [^|]+) \|", PAGE, re.MULTILINE))
    happened = {
        descriptive.share(0, 0).undefined,
        descriptive.summary([math.nan], 0).undefined,
        descriptive.summary([1], 0).undefined,
        association.pearson([1], [1]).undefined,
        association.pearson([1, 1, 1], [1, 2, 3]).undefined,
        association.pearson([1, 2, 3], [1, 3, 2]).undefined,
        association.pearson([1, 2, 3, 4], [1, 2, 3, 4]).undefined,
        group_comparison.kruskal_wallis([1], [0], 2).undefined,
        group_comparison.kruskal_wallis([1, 1], [0, 1], 2).undefined,
        group_comparison.cliffs_delta([], []).undefined,
        group_comparison.cliffs_delta([1], []).undefined,
        group_comparison.cliffs_delta([1], [2]).undefined,
        group_comparison.cliffs_delta([1, 1], [1, 1]).undefined,
        association.association([[0]], 0).undefined,
        association.association([[1]], 0).undefined,
        trends.mann_kendall([1]).undefined,
        trends.mann_kendall([1, 1, 1]).undefined,
    }
    assert happened == listed
