"""`quaestor survey results`: the numbers on a screen, as JSON and as files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import quaestor
from tests.support.small_survey import FORMS, NAME, answered, fielded


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("survey-results") / "study"
    with fielded(found) as surveys:
        for _ in range(3):
            answered(surveys)
        answered(surveys, forms={"consent": FORMS["consent"]})
    return found


def test_every_question_is_told_with_its_base(folder: Path) -> None:
    told = quaestor("survey", "results", NAME, cwd=folder)
    assert told.returncode == 0, told.stderr
    assert "3 responses are counted. Not counted: 1 not finished." in told.stdout
    assert "ONNX, the exchange format" in told.stdout
    assert "3 answered" in told.stdout
    assert told.stdout.count("Do you agree to take part?") == 1
    assert "Do you agree to take part? 4 agreed, 0 did not, of all who came." in told.stdout
    assert "3 not asked" in told.stdout


def test_a_group_is_told_with_its_base_in_each_question(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        answered(surveys)
        answered(surveys, forms={**FORMS, "tools": {**FORMS["tools"], "q.careful": []}})
    told = quaestor("survey", "results", NAME, "--by", "converted", cwd=tmp_path / "study")
    assert told.returncode == 0, told.stderr
    careful = told.stdout.partition("Please choose the second answer.")[2].partition("1 answered")[0]
    assert "Yes (n = 1)" in careful
    assert "No (n = 0)" in careful


@pytest.mark.slow
def test_json_and_files_hold_the_same(folder: Path, tmp_path: Path) -> None:
    told = quaestor("survey", "results", NAME, "--by", "converted", "--json", "--out", tmp_path / "out", cwd=folder)
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert (found["survey"], found["responses"], found["left_out"]) == (NAME, 3, {"open": 1})
    assert [one["responses"] for one in found["by"]["groups"]] == [3, 0]
    assert json.loads((tmp_path / "out" / "results.json").read_text("utf-8")) == found
    agreed = {"question": "consent", "text": "Do you agree to take part?", "agreed": 4, "declined": 0}
    assert found["consents"] == [agreed]
    assert not [path.name for path in (tmp_path / "out").rglob("*consent*")]
    assert (tmp_path / "out" / "figures" / "met.svg").is_file()
    assert (tmp_path / "out" / "tables" / "table-demographics.tex").is_file()


def test_what_cannot_be_compared_by_is_one_sentence(folder: Path) -> None:
    told = quaestor("survey", "results", NAME, "--by", "years", cwd=folder)
    assert (told.returncode, told.stdout) == (2, "")
    assert "'years' has no options to compare by" in told.stderr
    assert "Traceback" not in told.stderr
