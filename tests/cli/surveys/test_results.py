"""`quaestor survey results`: the numbers on a screen, as JSON and as files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import quaestor
from tests.support.small_survey import FORMS, NAME, answered, fielded


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("survey-results") / "study"
    with fielded(root) as surveys:
        for _ in range(3):
            answered(surveys)
        answered(surveys, forms={"consent": FORMS["consent"]})
    return root


def test_every_question_is_shown_with_its_base(folder: Path) -> None:
    done = quaestor("survey", "results", NAME, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "3 responses are counted. Not counted: 1 not finished." in done.stdout
    assert "ONNX, the exchange format" in done.stdout
    assert "3 answered" in done.stdout
    assert done.stdout.count("Do you agree to take part?") == 1
    assert "Do you agree to take part? 4 agreed, 0 did not, of everybody who started." in done.stdout
    assert "3 not shown" in done.stdout


def test_a_group_is_shown_with_its_base_in_each_question(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        answered(surveys)
        answered(surveys, forms={**FORMS, "tools": {**FORMS["tools"], "q.careful": []}})
    done = quaestor("survey", "results", NAME, "--by", "converted", cwd=tmp_path / "study")
    assert done.returncode == 0, done.stderr
    careful = done.stdout.partition("Please choose the second answer.")[2].partition("1 answered")[0]
    assert "Yes (n = 1)" in careful
    assert "No (n = 0)" in careful


@pytest.mark.slow
def test_json_and_files_have_the_same_content(folder: Path, tmp_path: Path) -> None:
    done = quaestor("survey", "results", NAME, "--by", "converted", "--json", "--out", tmp_path / "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["survey"], document["responses"], document["left_out"]) == (NAME, 3, {"open": 1})
    assert [group["responses"] for group in document["by"]["groups"]] == [3, 0]
    assert json.loads((tmp_path / "out" / "results.json").read_text("utf-8")) == document
    agreed = {"question": "consent", "text": "Do you agree to take part?", "agreed": 4, "declined": 0}
    assert document["consents"] == [agreed]
    assert not [path.name for path in (tmp_path / "out").rglob("*consent*")]
    assert (tmp_path / "out" / "figures" / "met.svg").is_file()
    assert (tmp_path / "out" / "tables" / "table-demographics.tex").is_file()


def test_a_question_without_options_cannot_define_groups(folder: Path) -> None:
    done = quaestor("survey", "results", NAME, "--by", "years", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'years' has no options to compare by" in done.stderr
    assert "Traceback" not in done.stderr
