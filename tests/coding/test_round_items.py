"""The items of a round: some of what earlier rounds left, drawn by the seed and stated in the plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.support.small_study import ITEMS, small_study

from quaestor.base.errors import InputError, QuaestorError, SettingsError, StateError
from quaestor.coding.codebook import import_codebook
from quaestor.coding.model.records import RoundPlan
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.round_setup import add_round, check_round, preview_planned_round
from quaestor.coding.session import open_coding
from quaestor.evidence.samples import build_sample_settings, draw_sample
from quaestor.study.folder import Study, has_journal, open_study

SAMPLE = """
[samples.rest]
after = "how-to"
size = 5
without = ["pilot"]
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study with an open pilot of four items."""
    study = small_study(tmp_path / "study")
    import_codebook(study)
    open_by_name(study, "pilot", None)
    return study


def open_round(study: Study, items: Mapping[str, Any], **more: Any) -> RoundPlan:
    settings = {"round": "next", "facets": ["relevance"], "raters": ["a", "b"], "items": items, **more}
    add_round(study, settings)
    study = open_study(study.root)
    assert preview_planned_round(study, "next").obstacle == ""
    open_by_name(study, "next", None)
    return read_plan(study, "next")


def read_plan(study: Study, name: str) -> RoundPlan:
    with open_coding(study) as coding:
        return coding.state.round(name).plan


def test_a_round_draws_a_number_of_items_from_what_another_left(study: Study) -> None:
    pilot = read_plan(study, "pilot").items
    plan = open_round(study, {"after": "how-to", "without": ["pilot"], "size": 5})
    assert len(plan.items) == 5
    assert not set(plan.items) & set(pilot)
    assert plan.selection == "5 of 8 items after 'how-to', not in pilot, drawn with seed 4"


def test_the_same_seed_draws_the_same_items_and_another_seed_others(tmp_path: Path) -> None:
    drawn = []
    for number, seed in enumerate((None, None, 9)):
        study = small_study(tmp_path / f"study-{number}")
        import_codebook(study)
        more = {} if seed is None else {"seed": seed}
        drawn.append(open_round(study, {"after": "how-to", "size": 6}, **more).items)
    assert drawn[0] == drawn[1] != drawn[2]


def test_items_of_other_rounds_are_left_out_before_a_number_is_drawn(study: Study) -> None:
    add_round(study, {"round": "all", "facets": ["relevance"], "raters": ["a"], "items": {"after": "how-to"}})
    study = open_study(study.root)
    open_by_name(study, "all", None)
    plan = open_round(study, {"again": "all", "without": ["pilot"], "size": 8})
    assert set(plan.items) == set(ITEMS) - set(read_plan(study, "pilot").items)
    assert plan.selection == "8 of 8 items of all, not in pilot, drawn with seed 4"


def test_more_items_than_are_left_are_refused(study: Study) -> None:
    add_round(study, {
        "round": "next", "facets": ["relevance"], "raters": ["a"],
        "items": {"after": "how-to", "without": ["pilot"], "size": 9},
    })  # fmt: skip
    study = open_study(study.root)
    words = "a sample of 9 cannot be drawn from 8 items"
    assert words in preview_planned_round(study, "next").obstacle
    with pytest.raises(InputError, match=words):
        open_by_name(study, "next", None)


def test_a_sample_is_drawn_from_what_a_round_left(study: Study) -> None:
    study.file.write_text(study.file.read_text("utf-8") + SAMPLE, "utf-8")
    study = open_study(study.root)
    pilot = set(read_plan(study, "pilot").items)
    sample = draw_sample(study, "rest")
    assert (sample.population, sample.size, sample.without) == (8, 5, ("pilot",))
    plan = open_round(study, {"sample": "rest"})
    assert list(plan.items) == sample.strata["all"]
    assert not pilot & set(plan.items)
    assert plan.selection == "5 items of the sample rest (5 of 8 items not in pilot, drawn with seed 4)"


def test_a_sample_needs_the_round_that_it_leaves_out_to_be_opened(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    with pytest.raises(StateError, match="'pilot' has not been opened"):
        draw_sample(study, None, build_sample_settings(without=("pilot",), after="how-to", size=2))
    assert not has_journal(study), "a question creates no journal"
    import_codebook(study)
    with pytest.raises(StateError, match="'pilot' has not been opened"):
        draw_sample(study, None, build_sample_settings(without=("pilot",), after="how-to", size=2))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SAMPLE.replace("pilot", "pilo"), "samples.rest.without is 'pilo'; choose from: pilot"),
        (SAMPLE.replace('"pilot"', '"late"') + """
[[rounds]]
round = "early"
items = { sample = "rest" }
facets = ["relevance"]
raters = ["a"]
[[rounds]]
round = "late"
items = { after = "how-to" }
facets = ["relevance"]
raters = ["a"]
""", "leaves out the items of 'late': that round must come earlier"),
    ],
)  # fmt: skip
def test_a_sample_names_only_rounds_that_come_before_it_is_used(study: Study, text: str, words: str) -> None:
    study.file.write_text(study.file.read_text("utf-8") + text, "utf-8")
    with pytest.raises(SettingsError, match=words):
        open_study(study.root)


def test_a_size_does_not_go_with_a_sample() -> None:
    with pytest.raises(QuaestorError, match="size does not go with sample"):
        check_round({"round": "x", "facets": ["f"], "raters": ["a"], "items": {"sample": "pilot", "size": 3}})
