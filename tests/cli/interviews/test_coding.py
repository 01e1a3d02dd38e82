"""`quaestor interview items`, `code-agreement`, `in-vivo` and `adopt`: output, JSON and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.coded_interviews import ROUND, code_all, coded_study, stretch
from tests.support.command_line import quaestor
from tests.support.small_interviews import a_study

from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.round_acts import close_by_name
from quaestor.measures.agreement.unitizing import CodedText, u_alpha

ILLEGAL = "P1/00003"


@pytest.mark.slow
def test_transcripts_are_coded_compared_and_in_vivo_codes_adopted(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    again = json.loads(quaestor("interview", "items", "--json", cwd=tmp_path).stdout)
    assert (again["source"], again["items"], again["participants"], again["added"]) == ("turns", 2, 1, False)
    assert "add a round" not in quaestor("interview", "items", cwd=tmp_path).stderr
    while_open = quaestor("interview", "code-agreement", ROUND, "--as", "rater-1", cwd=tmp_path)
    assert (while_open.returncode, "the ratings of others are shown once it is closed" in while_open.stderr) == (
        2,
        True,
    )
    coding_by_turn = {ILLEGAL: [stretch(0, 24, "shapes"), stretch(77, 86)]}
    code_all(study, {"rater-1": coding_by_turn, "rater-2": {ILLEGAL: [stretch(5, 24, "shapes")]}})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    shown = quaestor("interview", "code-agreement", ROUND, "--yes", cwd=tmp_path)
    assert "legitimacy › shapes that do not match" in shown.stdout
    document = json.loads(
        quaestor("interview", "code-agreement", ROUND, "--unit", "answer", "--json", cwd=tmp_path).stdout
    )
    assert [(code["code"], code["percent"]) for code in document["codes"]] == [("shapes", 1.0)]
    (in_vivo,) = json.loads(quaestor("interview", "in-vivo", ROUND, "--json", cwd=tmp_path).stdout)["in_vivo"]
    assert (in_vivo["words"], in_vivo["raters"], in_vivo["code"]) == ("threshold", ["rater-1"], "")
    passage = (ILLEGAL, str(in_vivo["start"]), str(in_vivo["end"]))
    adopted = quaestor("interview", "adopt", ROUND, *passage, "legitimacy", "--new", "thresholds", cwd=tmp_path)
    assert adopted.stderr.strip() == f"This passage of {ILLEGAL} now has the code legitimacy/thresholds"
    assert "legitimacy › thresholds" in quaestor("interview", "in-vivo", ROUND, cwd=tmp_path).stdout
    refused = quaestor("interview", "adopt", ROUND, *passage, "nothing-like-it", cwd=tmp_path)
    assert (refused.returncode, "'nothing-like-it'" in refused.stderr) == (2, True)
    live = quaestor("ingest", "turns", cwd=tmp_path)
    assert (live.returncode, "read from interviews.db when they are needed" in live.stdout) == (0, True)


def test_no_interval_is_shown_if_the_standard_error_is_undefined(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    code_all(study, {"rater-1": {ILLEGAL: [stretch(0, 24, "shapes")]}, "rater-2": {}})
    close_by_name(study, ROUND, None)
    shown = quaestor("interview", "code-agreement", ROUND, "--yes", cwd=tmp_path).stdout
    (line,) = [text for text in shown.splitlines() if "shapes that do not match" in text]
    assert "0.00" in line.split()
    assert "(0.00 to 0.00)" not in shown
    assert "-0.00" not in shown
    (shapes,) = json.loads(quaestor("interview", "code-agreement", ROUND, "--json", cwd=tmp_path).stdout)["codes"]
    assert (shapes["kappa"], shapes["kappa_ci"]) == (0.0, None)


def test_items_need_a_transcript(tmp_path: Path) -> None:
    a_study(tmp_path)
    done = quaestor("interview", "items", cwd=tmp_path)
    assert (done.returncode, "no transcript has anything said by a participant" in done.stderr) == (2, True)


def test_agreement_by_passage_counts_how_far_passages_overlap(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    code_all(
        study,
        {
            "rater-1": {ILLEGAL: [stretch(0, 24, "shapes"), stretch(30, 40)]},
            "rater-2": {ILLEGAL: [stretch(4, 24, "shapes")]},
        },
    )
    close_by_name(study, ROUND, None)
    shown = quaestor("interview", "code-agreement", ROUND, "--unit", "passage", "--yes", cwd=tmp_path)
    assert "coded or not" in shown.stdout
    document = json.loads(
        quaestor("interview", "code-agreement", ROUND, "--unit", "passage", "--json", cwd=tmp_path).stdout
    )
    (code,) = document["codes"]
    turns = [CodedText(65, {"x": [], "y": []}), CodedText(87, {"x": [(0, 24, "a")], "y": [(4, 24, "a")]})]
    assert (code["code"], code["percent"]) == ("shapes", 1.0)
    assert code["u_alpha"] == document["overall"]["u_alpha"] == pytest.approx(u_alpha(turns, seed=0).value)
    assert 0.8 < code["u_alpha"] < 1
    unknown = quaestor("interview", "code-agreement", ROUND, "--unit", "word", cwd=tmp_path)
    assert (unknown.returncode, "choose from: turn, answer, passage" in unknown.stderr) == (2, True)
