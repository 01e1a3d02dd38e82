"""Tables that commands write: no text of a rater becomes a formula, and an import reads the same text again."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from tests.support.command_line import quaestor
from tests.support.settling import settle_with_assents
from tests.support.small_study import small_study

from quaestor.coding.model.settlement import DISCUSSION
from quaestor.coding.rating_files import import_ratings, rate
from quaestor.coding.round_acts import close_by_name, list_rater_items, open_by_name
from quaestor.coding.session import open_coding
from quaestor.evidence.table_rows import read_rows
from quaestor.study.folder import Study

MEMOS = (
    '=HYPERLINK("http://x.example","y")',
    "+cmd|' /C calc'!A0",
    "@SUM(1)",
    "\uff1d1+1",
    "\t=1",
    "'=1",
    "-3",
    "  two\n",
)


def rated_pilot(folder: Path) -> Study:
    """A study with an open round in which both raters wrote memos that begin like formulas."""
    study = small_study(folder)
    open_by_name(study, "pilot", None)
    memos = iter(MEMOS)
    with open_coding(study) as coding:
        for item in [rater_item["item"] for rater_item in list_rater_items(study, "pilot", "rater-1", left_only=False)]:
            for rater in ("rater-1", "rater-2"):
                answer = "keep" if rater == "rater-1" else "exclude: crash"
                rate(coding, "pilot", rater, item, {"relevance": answer}, memo=next(memos))
    return study


def is_formula(text: str) -> bool:
    return text.lstrip()[:1] in tuple("=+@\uff1d") or text[:1] in ("\t", "\r")


def test_ratings_export_writes_no_formula_and_import_reads_the_memos_again(tmp_path: Path) -> None:
    folder = rated_pilot(tmp_path / "study").root
    printed = quaestor("ratings", "export", "pilot", "--yes", cwd=folder).stdout
    for name in ("ratings.csv", "ratings.xlsx"):
        assert quaestor("ratings", "export", "pilot", "--yes", "--out", name, cwd=folder).returncode == 0
    shown = [row["memo"] for row in csv.DictReader(io.StringIO(printed, newline=""))]
    written = [row["memo"] for row in csv.DictReader(io.StringIO((folder / "ratings.csv").read_bytes().decode()))]
    assert len(shown) == len(written) == len(MEMOS)
    assert not [memo for memo in (*shown, *written) if is_formula(memo)]
    in_workbook = [row["memo"] for _, row in read_rows(folder / "ratings.xlsx", exact=("memo",))]
    assert sorted(in_workbook) == sorted(MEMOS)
    for name in ("ratings.csv", "ratings.xlsx"):
        other = small_study(tmp_path / f"other-{name}")
        open_by_name(other, "pilot", None)
        with open_coding(other) as coding:
            assert import_ratings(coding, "pilot", folder / name).added == len(MEMOS)
            memos = [rating.memo for rating in coding.state.round("pilot").all_ratings()]
        assert sorted(memos) == sorted(MEMOS)


@pytest.mark.parametrize("name", ["decisions.csv", "decisions.xlsx"])
def test_decisions_export_writes_no_formula_and_import_reads_the_answers_again(tmp_path: Path, name: str) -> None:
    rated, study = rated_pilot(tmp_path / "study"), small_study(tmp_path / "other")
    folder = rated.root
    close_by_name(rated, "pilot", None)
    item = list_rater_items(rated, "pilot", "rater-1", left_only=False)[0]["item"]
    settle_with_assents(
        rated, "pilot", None, item, None, "exclude: crash", DISCUSSION, '=WEBSERVICE("http://x.example")'
    )
    assert quaestor("decisions", "export", "pilot", "--out", name, cwd=folder).returncode == 0
    printed = quaestor("decisions", "export", "pilot", cwd=folder).stdout
    assert [row["reason"][:2] for row in csv.DictReader(io.StringIO(printed, newline=""))] == ["'="]
    if name.endswith(".csv"):
        text = (folder / name).read_text("utf-8")
        assert [row["reason"][:2] for row in csv.DictReader(io.StringIO(text))] == ["'="]
    assert [row["reason"][:1] for _, row in read_rows(folder / name)] == ["="]
    done = quaestor("decisions", "import", "theirs", folder / name, cwd=study.root)
    assert done.returncode == 0, done.stderr
    with open_coding(study) as coding:
        taken = [(one.item, one.facet, one.answer) for one in coding.state.published["theirs"].values()]
    assert taken == [(item, "relevance", "exclude: crash")]
