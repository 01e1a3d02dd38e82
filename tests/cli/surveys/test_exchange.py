"""`quaestor survey import` and `export`: import and export responses, and report everything that was left out."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import in_this_process
from tests.support.small_survey import NAME, answered, fielded

from quaestor.base.errors import InputError

MAPPING = """
nothing = ["AnswerDisplayOrder"]
[columns]
Q1 = "consent"
Q2 = "used"
"""
ROWS = [
    ["Q1", "Q2", "Q2_DO", "Q3"], ["Agree?", "Which?", "Order", "More?"],
    ["I agree", "TorchScript,[bold]Caffe", "2|1", "x"], ["", "TorchScript", "", ""], ["", "", "", ""],
    ["I agree", "AnswerDisplayOrder", "", ""],
]  # fmt: skip


@pytest.fixture
def study(tmp_path: Path) -> Path:
    with fielded(tmp_path / "study") as surveys:
        answered(surveys)
    (tmp_path / "study" / "instruments" / f"{NAME}.mapping.toml").write_text(MAPPING, "utf-8")
    with (tmp_path / "answers.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(ROWS)
    return tmp_path


def survey(study: Path, *words: str | Path) -> Any:
    return in_this_process("survey", *words, "--study", study / "study")


def run_json(study: Path, *words: str | Path) -> dict[str, Any]:
    result = survey(study, *words, "--json")
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_an_import_reports_what_was_imported_and_what_was_left_out(study: Path) -> None:
    trial = survey(study, "import", NAME, study / "answers.csv", "--dry-run")
    assert "2 responses would be imported" in trial.stderr
    output = survey(study, "import", NAME, study / "answers.csv").stderr
    assert "2 responses imported, 0 were known already" in output
    assert "1 row without consent, left out: 4" in output
    assert "1 row without any answer: 5" in output
    assert "1 cell with a marker instead of an answer: Q2 in row 6" in output
    assert "row 3, Q2: '[bold]Caffe' is not an option; left out" in output
    assert "1 column with the order in which options were shown: Q2_DO" in output
    assert "1 column not mapped: Q3" in output
    assert "questions without a column: converted" in output
    again = run_json(study, "import", NAME, study / "answers.csv")
    assert (again["responses"], again["known"], again["no_consent"], again["kept"]) == (0, 2, [4], True)
    assert again["unread"] == [
        {"row": 3, "column": "Q2", "question": "used", "said": "[bold]Caffe", "why": "is not an option"}
    ]


def test_an_export_is_imported_again_without_a_mapping(study: Path) -> None:
    for name in ("out.csv", "out.xlsx"):
        done = run_json(study, "export", NAME, "--out", study / name, "--wide", "--raw")
        assert (done["responses"], done["rows"], done["left_out"], done["withdrawn"]) == (1, 1, {}, 0)
        back = run_json(study, "import", NAME, study / name)
        assert (back["known"], back["unmapped_columns"]) == (1, [])
    assert "1 response in 18 rows written to" in survey(study, "export", NAME, "--out", study / "tidy.csv").stderr


def test_wrong_calls_are_refused_with_one_sentence(study: Path) -> None:
    for words, expected in (
        (("import", NAME, study / "none.csv"), "does not exist"),
        (("import", NAME, study / "answers.csv", "--as", "rater-1"), "is not the lead of the study"),
        (("import", "tool", study / "answers.csv"), "there is no questionnaire 'tool'"),
        (("export", NAME, "--out", study / "out.doc"), "use .csv, .xlsx, .parquet"),
    ):
        result = survey(study, *words)
        assert expected in str(result.exception), words
    (study / "study" / "instruments" / f"{NAME}.mapping.toml").unlink()
    assert isinstance(survey(study, "import", NAME, study / "answers.csv").exception, InputError)
