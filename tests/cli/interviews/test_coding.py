"""`quaestor interview items`, `code-agreement`, `in-vivo` and `adopt` as a lead meets them: words, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.coded_interviews import ROUND, code_all, coded_study, stretch
from tests.support.command_line import quaestor
from tests.support.small_interviews import a_study

from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.round_acts import close_by_name

ILLEGAL = "P1/00003"


@pytest.mark.slow
def test_from_items_to_agreement_and_words_that_are_adopted(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    again = json.loads(quaestor("interview", "items", "--json", cwd=tmp_path).stdout)
    assert (again["source"], again["items"], again["participants"], again["added"]) == ("turns", 2, 1, False)
    open_ = quaestor("interview", "code-agreement", ROUND, "--as", "rater-1", cwd=tmp_path)
    assert (open_.returncode, "sees the others' ratings when it is closed" in open_.stderr) == (2, True)
    said = {ILLEGAL: [stretch(0, 24, "shapes"), stretch(77, 86)]}
    code_all(study, {"rater-1": said, "rater-2": {ILLEGAL: [stretch(5, 24, "shapes")]}})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    shown = quaestor("interview", "code-agreement", ROUND, cwd=tmp_path)
    assert "legitimacy › shapes that do not match" in shown.stdout
    document = json.loads(
        quaestor("interview", "code-agreement", ROUND, "--by", "answer", "--json", cwd=tmp_path).stdout
    )
    assert [(one["code"], one["percent"]) for one in document["codes"]] == [("shapes", 1.0)]
    (words,) = json.loads(quaestor("interview", "in-vivo", ROUND, "--json", cwd=tmp_path).stdout)["in_vivo"]
    assert (words["words"], words["raters"], words["code"]) == ("threshold", ["rater-1"], "")
    place = (ILLEGAL, str(words["start"]), str(words["end"]))
    made = quaestor("interview", "adopt", ROUND, *place, "legitimacy", "--new", "thresholds", cwd=tmp_path)
    assert made.stderr.strip() == f"these words of {ILLEGAL} count as legitimacy/thresholds now"
    assert "legitimacy › thresholds" in quaestor("interview", "in-vivo", ROUND, cwd=tmp_path).stdout
    refused = quaestor("interview", "adopt", ROUND, *place, "nothing-like-it", cwd=tmp_path)
    assert (refused.returncode, "no code 'nothing-like-it'" in refused.stderr) == (2, True)
    (tmp_path / "evidence" / "interviews" / "turns.csv").unlink()
    missing = quaestor("ingest", "turns", cwd=tmp_path)
    assert (missing.returncode, "run `quaestor interview items`, which writes it" in missing.stderr) == (2, True)


def test_no_interval_is_told_where_a_standard_error_of_nothing_would_make_it(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    code_all(study, {"rater-1": {ILLEGAL: [stretch(0, 24, "shapes")]}, "rater-2": {}})
    close_by_name(study, ROUND, None)
    shown = quaestor("interview", "code-agreement", ROUND, cwd=tmp_path).stdout
    (line,) = [one for one in shown.splitlines() if "shapes that do not match" in one]
    assert "0.00" in line.split()
    assert "(0.00 to 0.00)" not in shown
    assert "-0.00" not in shown
    (shapes,) = json.loads(quaestor("interview", "code-agreement", ROUND, "--json", cwd=tmp_path).stdout)["codes"]
    assert (shapes["kappa"], shapes["kappa_ci"]) == (0.0, None)


def test_there_are_no_items_before_anybody_spoke(tmp_path: Path) -> None:
    a_study(tmp_path)
    said = quaestor("interview", "items", cwd=tmp_path)
    assert (said.returncode, "no participant says anything" in said.stderr) == (2, True)
