"""`quaestor interview themes`, `quotations` and `saturation`, and the cells of their tables, as a script meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import in_this_process
from tests.support.themed_interviews import themed_study

from quaestor.study.folder import Study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return themed_study(tmp_path_factory.mktemp("themed"))


def run(study: Study, *words: str | Path) -> str:
    done = in_this_process(*words, "--study", study.root, COLUMNS="200", NO_COLOR="1")
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.slow
def test_themes_are_told_counted_and_written(study: Study, tmp_path: Path) -> None:
    told = run(study, "interview", "themes", "--out", tmp_path / "out")
    assert "50.0%   18.8% to 81.2%" in told
    assert "23 quotations of 6 participants in 6 coded interviews" in told
    assert (tmp_path / "out" / "figures" / "saturation.pdf").exists()
    found = json.loads(run(study, "interview", "themes", "--json"))
    data = next(one for one in found["codes"] if one["code"] == "data")
    assert (data["participants"], data["of"], data["mentions"]["P4"]) == (3, 6, 2)
    assert found["together"][0]["codes"] == ["shapes", "indicator"]
    assert found["references"][0]["items"][0]["ticked"] == ["P1", "P2"]
    assert json.loads((tmp_path / "out" / "themes.json").read_text())["codes"] == found["codes"]


def test_quotations_of_a_code_are_listed_with_what_they_say_more(study: Study) -> None:
    told = run(study, "interview", "quotations", "indicator")
    assert "When shapes do not match. Or “the loss is above 10 after an epoch”." in told
    assert told.index("what: loss") < told.index("threshold: 10")
    found = json.loads(run(study, "interview", "quotations", "factors", "--json"))
    assert (found["name"], len(found["quotations"])) == ("Factors weighed", 8)


def test_saturation_is_told_with_its_rules(study: Study) -> None:
    assert "(10 + 3): cannot be told yet, it needs 13 interviews, and there are 6." in run(
        study, "interview", "saturation"
    )
    found = json.loads(run(study, "interview", "saturation", "--json"))
    assert [one["new"] for one in found["interviews"]] == [6, 2, 0, 0, 0, 1]
    assert found["rules"][0]["reached"] is None


def test_a_cell_lists_its_turns(study: Study) -> None:
    assert run(study, "items", "--cell", "saturation:P6:new").split() == ["P6/00001", "the", "people"]


def test_a_rater_sees_no_themes_of_an_open_round(tmp_path: Path) -> None:
    study = themed_study(tmp_path, [("{data:One}.", "two", "three")], settled=False)
    done = in_this_process("interview", "themes", "--study", study.root, "--as", "rater-1")
    assert done.exit_code != 0
    assert "One" not in done.output
