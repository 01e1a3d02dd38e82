"""A new statistic needs one entry in the table to appear everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.command_line import in_this_process
from tests.support.settled_study import differing

from quaestor.base.errors import SettingsError
from quaestor.coding.agreement_access import compute_rounds_agreement
from quaestor.coding.pages.agreement import build_csv_rows, list_measures
from quaestor.coding.round_setup import list_round_choices
from quaestor.measures.agreement import to_json
from quaestor.measures.agreement.statistics import STATISTICS, Ratings, Statistic
from quaestor.measures.records import Estimate
from quaestor.study.folder import Study, open_study


def _items(ratings: Ratings) -> Estimate:
    return Estimate(ratings.patterns.n / 100)


ITEM_SHARE = Statistic(
    "item_share", lambda found: f"items of {len(found.raters)} raters", _items, choice="items", is_share=True
)


def _reporting_items(folder: Path) -> Study:
    study = differing(folder)
    text = study.file.read_text("utf-8")
    study.file.write_text(text.replace('tie_breaker = "t', 'statistic = "item_share"\ntie_breaker = "t', 1), "utf-8")
    return open_study(folder)


def test_an_unknown_statistic_is_refused_with_the_allowed_ones(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"statistic is 'item_share'; choose from: .*alpha"):
        _reporting_items(tmp_path / "study")


def test_a_new_statistic_appears_in_settings_pages_command_line_and_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STATISTICS, "item_share", ITEM_SHARE)
    study = _reporting_items(tmp_path / "study")
    assert next(one for one in study.settings.rounds if one.round == "main").statistic == "item_share"
    assert ("item_share", "items") in list_round_choices(study).statistics
    (measured,) = compute_rounds_agreement(study, "main", [])
    assert measured.agreement.estimates["item_share"].value == 0.12
    assert list_measures(measured.agreement)[-1].name == "Items of 2 raters"
    assert list_measures(measured.agreement)[-1].value == "12.0 %"
    assert "item_share" in {row["statistic"] for row in build_csv_rows([measured])}
    assert to_json(measured.agreement)["item_share"] == 0.12
    assert to_json(measured.agreement)["item_share_ci"] is None
    assert "items of 2 raters" in in_this_process("agreement", "--round", "main", "--study", study.root).output
