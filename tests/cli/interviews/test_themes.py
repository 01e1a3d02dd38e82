"""`quaestor interview themes`, `quotations` and `saturation`, and the items behind the cells of their tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.coded_interviews import ROUND, code_all, copy_of, stretch
from tests.support.command_line import in_this_process
from tests.support.themed_interviews import themed_study

from quaestor.coding.round_acts import close_by_name
from quaestor.coding.session import open_coding
from quaestor.interviews.overview import build_interview_line
from quaestor.interviews.repository import open_interviews
from quaestor.study.folder import Study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return themed_study(tmp_path_factory.mktemp("themed"))


def run(study: Study, *words: str | Path) -> str:
    done = in_this_process(*words, "--study", study.root, COLUMNS="200", NO_COLOR="1")
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study with a closed round whose only disagreement is open, so that it can be reopened as blind."""
    study = themed_study(tmp_path_factory.mktemp("closed"), [("One.", "two", "three")], settled=False, rated=False)
    code_all(study, {"rater-1": {"P1/00001": [stretch(0, 3, "data")]}, "rater-2": {}})
    close_by_name(study, ROUND, None)
    return study


@pytest.fixture
def unseen(closed: Study, tmp_path: Path) -> Study:
    return copy_of(closed, tmp_path)


def list_viewers(study: Study) -> list[str]:
    with open_coding(study) as coding:
        return coding.state.round(ROUND).unblinded


@pytest.mark.slow
def test_themes_are_counted_printed_and_written(study: Study, tmp_path: Path) -> None:
    output = run(study, "interview", "themes", "--out", tmp_path / "out")
    assert "50.0%   18.8% to 81.2%" in output
    assert "23 quotations of 6 participants in 6 coded interviews" in output
    assert (tmp_path / "out" / "figures" / "saturation.pdf").exists()
    document = json.loads(run(study, "interview", "themes", "--json"))
    data = next(code for code in document["codes"] if code["code"] == "data")
    assert (data["participants"], data["of"], data["mentions"]["P4"]) == (3, 6, 2)
    assert document["together"][0]["codes"] == ["shapes", "indicator"]
    assert document["references"][0]["items"][0]["ticked"] == ["P1", "P2"]
    assert json.loads((tmp_path / "out" / "themes.json").read_text())["codes"] == document["codes"]


def test_quotations_of_a_code_are_listed_with_context_and_fields(study: Study) -> None:
    output = run(study, "interview", "quotations", "indicator")
    assert "When shapes do not match. Or “the loss is above 10 after an epoch”." in output
    assert output.index("what: loss") < output.index("threshold: 10")
    document = json.loads(run(study, "interview", "quotations", "factors", "--json"))
    assert (document["name"], len(document["quotations"])) == ("Factors weighed", 8)


def test_saturation_is_shown_with_its_stopping_rules(study: Study) -> None:
    assert "(10 + 3): cannot be determined yet, it needs 13 interviews, but there are 6." in run(
        study, "interview", "saturation"
    )
    document = json.loads(run(study, "interview", "saturation", "--json"))
    assert [interview["new"] for interview in document["interviews"]] == [6, 2, 0, 0, 0, 1]
    assert document["rules"][0]["reached"] is None


def test_a_cell_lists_its_turns(study: Study) -> None:
    assert run(study, "items", "--cell", "saturation:P6:new").split() == ["P6/00001", "the", "people"]


def test_a_rater_sees_no_themes_of_an_open_round(tmp_path: Path) -> None:
    study = themed_study(tmp_path, [("{data:One}.", "two", "three")], settled=False)
    done = in_this_process("interview", "themes", "--study", study.root, "--as", "rater-1")
    assert done.exit_code != 0
    assert "One" not in done.output


@pytest.mark.parametrize("command", [["themes"], ["quotations", "data"], ["saturation", "--json"]])
def test_the_first_view_of_a_round_that_can_be_reopened_is_asked_for(unseen: Study, command: list[str]) -> None:
    refused = in_this_process("interview", *command, "--study", unseen.root)
    assert "Your view is recorded" in str(refused.exception)
    assert "Add --yes to go on" in str(refused.exception)
    assert list_viewers(unseen) == []


def test_a_confirmed_view_is_recorded_and_not_asked_for_again(unseen: Study) -> None:
    run(unseen, "interview", "saturation", "--yes")
    assert list_viewers(unseen) == ["lead"]
    run(unseen, "interview", "themes")


def test_a_coded_interview_is_neither_planned_nor_merely_held(study: Study) -> None:
    listed = json.loads(run(study, "interview", "list", "--json"))
    assert {(row["stage"], row["next"]) for row in listed} == {("coded", "names")}
    assert "P1 coded" in run(study, "interview", "participant", "list")
    assert json.loads(run(study, "interview", "status", "--json"))["tally"]["coded"] == 6
    assert "6 transcribed, 6 coded" in run(study, "status")


def test_an_interview_is_being_coded_while_its_round_is_open(tmp_path: Path) -> None:
    study = themed_study(tmp_path, [("{data:One}.", "two", "three")], settled=False, rated=False)
    with open_interviews(study) as interviews:
        assert build_interview_line(interviews, "P1", leads=False).stage == "transcribed"
    code_all(study, {"rater-1": {}})
    with open_interviews(study) as interviews:
        line = build_interview_line(interviews, "P1", leads=True)
    assert (line.stage, line.next and line.next.words) == ("being coded", "find names and replace them")
