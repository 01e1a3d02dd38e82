"""A round can cover the items with a decided code, a disagreement, a year, a tag or an attribute."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.support.searched_study import ITEMS, searched_study, with_closed_round, with_open_round, with_settled_round

from quaestor.base.errors import InputError, QuaestorError, SettingsError, StateError
from quaestor.coding.codebook import change_codebook
from quaestor.coding.model.records import RoundPlan
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.round_setup import add_round, check_round, preview_planned_round, remove_round
from quaestor.coding.session import open_coding
from quaestor.coding.visibility import Viewer
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.text_index import build_index
from quaestor.people.roles import Role
from quaestor.search.index_query import Search
from quaestor.search.query import Query
from quaestor.search.results import find_items
from quaestor.study.folder import Study, open_study

ATTRIBUTES = """
[families]
keras = ["keras*"]
torch = ["pytorch"]

[attributes.framework]
first_of = ["torch", "keras"]

[attributes.asker]
column = "owner_display_name"
"""


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The round main is closed and settled: items 1 to 5, of which 3 and 4 were disputed and 1 is coded loss."""
    study = with_settled_round(searched_study(tmp_path_factory.mktemp("conditions") / "study"))
    study.file.write_text(study.file.read_text("utf-8") + ATTRIBUTES, "utf-8")
    study = open_study(study.root)
    run_funnel(study)
    return study


def plan_round(study: Study, where: Mapping[str, Any], **items: Any) -> Study:
    settings = {"facets": ["phase"], "raters": ["a"], "items": {**(items or {"again": "main"}), "where": where}}
    add_round(study, {"round": "next", **settings})
    return open_study(study.root)


def preview_items(study: Study, where: Mapping[str, Any], **items: Any) -> int:
    """Returns how many items a round would have, and leaves no round behind."""
    planned = plan_round(study, where, **items)
    try:
        preview = preview_planned_round(planned, "next")
        assert preview.items or "has no items" in preview.obstacle, preview.obstacle
        return preview.items
    finally:
        remove_round(planned, "next")


def open_round(study: Study, where: Mapping[str, Any], **items: Any) -> RoundPlan:
    study = plan_round(study, where, **items)
    open_by_name(study, "next", None)
    with open_coding(study) as coding:
        return coding.state.round("next").plan


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"code": "training"}, 5),
        ({"code": "phase:training/loss"}, 1),
        ({"code": "relevance:keep"}, 5),
        ({"code": "setting"}, 0),
        ({"disagreement": "any"}, 2),
        ({"disagreement": "open"}, 0),
        ({"code": "phase:", "disagreement": "settled"}, 1),
        ({"round": "main", "year": 2016}, 2),
        ({"year": 2016}, 2),
        ({"tag": "Keras"}, 3),
        ({"family": "torch"}, 2),
        ({"attributes": {"framework": "torch"}}, 2),
        ({"attributes": {"framework": "keras", "asker": "Author McName"}, "year": 2015}, 1),
        ({"attributes": {"asker": "nobody"}}, 0),
        ({"code": "training", "disagreement": "any", "year": 2017, "tag": "pytorch"}, 1),
    ],
)
def test_a_round_has_the_items_that_meet_all_conditions(settled: Study, where: dict[str, Any], expected: int) -> None:
    assert preview_items(settled, where) == expected
    assert preview_items(settled, where, after="viewed") == expected


@pytest.mark.parametrize(
    "conditions", [{"code": "training"}, {"code": "loss"}, {"disagreement": "any"}, {"year": 2016}, {"tag": "keras"},
                   {"round": "main", "disagreement": "settled", "year": 2017}],
)  # fmt: skip
def test_a_round_has_what_a_search_for_the_same_conditions_finds(settled: Study, conditions: dict[str, Any]) -> None:
    with open_coding(settled) as coding:
        lead = Viewer(coding.lead, Role.LEAD)
        search = Search(settled, coding, build_index(settled, lambda *progress: None), lead)
        found = find_items(search, Query(**conditions, step="viewed"))
    assert preview_items(settled, conditions, after="viewed") == len(found.rows)


def test_the_plan_states_the_conditions_and_freezes_the_items(tmp_path: Path) -> None:
    study = with_settled_round(searched_study(tmp_path / "study"))
    plan = open_round(study, {"code": "phase:training", "year": 2016}, again="main", size=1)
    assert plan.selection == "1 of 2 items of main, with code = phase:training, year = 2016, drawn with seed 4"
    assert plan.items in [(ITEMS[1],), (ITEMS[2],)]
    change_codebook(study, "codebook.rename", {"code": "training", "name": "fitting"})
    with open_coding(study) as coding:
        assert coding.state.round("next").plan == plan


def test_the_items_of_a_split_code_are_rated_again(tmp_path: Path) -> None:
    study = with_settled_round(searched_study(tmp_path / "study"))
    parts = [{"id": "own", "name": "own loss"}, {"id": "plain", "name": "plain loss"}]
    change_codebook(study, "codebook.split", {"code": "training/loss", "parts": parts, "otherwise": "plain"})
    assert preview_items(study, {"code": "own"}) == 0
    assert preview_items(study, {"code": "plain"}) == 1
    assert open_round(study, {"code": "training/loss"}).items == (ITEMS[0],)


def test_a_round_of_unsettled_disagreements_waits_until_the_lead_may_see_them(tmp_path: Path) -> None:
    study = with_closed_round(searched_study(tmp_path / "closed"))
    planned = plan_round(study, {"disagreement": "open"})
    assert "where.round" in preview_planned_round(planned, "next").obstacle
    with pytest.raises(StateError, match="open the disagreements of main"):
        open_by_name(planned, "next", None)
    study = with_open_round(searched_study(tmp_path / "open"))
    planned = plan_round(study, {"code": "training", "round": "main"})
    with pytest.raises(StateError, match="the round main is open"):
        open_by_name(planned, "next", None)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ({"code": "trainin"}, "no item was coded 'trainin', most similar: training"),
        ({"code": "phas:training"}, "no decisions on the facet 'phas'; choose from: phase"),
        ({"round": "mani", "code": "training"}, "the round 'mani' has not been opened"),
    ],
)
def test_a_condition_with_an_unknown_name_is_refused(settled: Study, where: dict[str, Any], words: str) -> None:
    planned = plan_round(settled, where)
    try:
        assert words in preview_planned_round(planned, "next").obstacle
        with pytest.raises(QuaestorError, match=words):
            open_by_name(planned, "next", None)
    finally:
        remove_round(planned, "next")


def test_settings_name_only_known_families_and_attributes(settled: Study) -> None:
    with pytest.raises(SettingsError, match=r"items\.where\.family is 'kera'; choose from: keras"):
        plan_round(settled, {"family": "kera"})
    with pytest.raises(SettingsError, match=r"items\.where\.attributes is 'year'; choose from"):
        plan_round(settled, {"attributes": {"year": "2016"}})
    with pytest.raises(InputError, match="where needs a condition"):
        check_round({"round": "x", "facets": ["f"], "raters": ["a"], "items": {"after": "s", "where": {}}})
