"""Withdrawals, names, files and backups of a study with posts, open answers and interviews."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.support.command_line import quaestor
from tests.support.mixed_study import ANSWERS, RATERS, SPOKEN, TURNS, WRITTEN, decide_all, mixed_study
from tests.support.small_survey import NAME

from quaestor.base.errors import StateError
from quaestor.coding.rating_files import export_decisions, export_ratings, rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import read_passed
from quaestor.evidence.item_texts import read_item_texts
from quaestor.evidence.sources.protocol import no_progress
from quaestor.evidence.text_index import build_index
from quaestor.publication.handbook.make import make_handbook
from quaestor.publication.report.make import build_report
from quaestor.publication.results.joint_display import compute_joint_display
from quaestor.study.folder import Study, open_study
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.open_answers import erase_response, parse_item

SPOKEN_WORD, WRITTEN_WORD = SPOKEN.split("-")[0], WRITTEN.split()[0]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Decided and published, with every copy of the texts that the study makes: indexes, caches, report, handbook."""
    study = mixed_study(tmp_path / "study")
    # Each respondent names another topic, so that the joint display quotes both.
    decide_all(study, agreed={find_written_item(study): ["speed"]})
    for strand in study.in_each_strand():
        build_index(strand, no_progress)
        read_item_texts(study, read_passed(strand, -1))
    build_report(study, lambda words: None)
    make_handbook(study, no_progress)
    return study


def find_written_item(study: Study) -> str:
    """The answer of the first respondent."""
    texts = read_item_texts(study, read_passed(study.in_strand(ANSWERS), -1))
    [item] = [item for item, text in texts.items() if WRITTEN_WORD in text.body]
    return item


def list_files_with(study: Study, word: str) -> list[str]:
    """The files of the study folder that contain a word, also inside Parquet files."""
    return sorted(str(path.relative_to(study.root)) for path in _files(study.root) if word in _read(path))


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _read(path: Path) -> str:
    if path.suffix == ".parquet":
        return str(pq.read_table(path).to_pylist())
    return path.read_bytes().decode("utf-8", "replace")


def test_nothing_that_a_withdrawn_participant_said_is_kept_in_any_strand(study: Study) -> None:
    copies = list_files_with(study, SPOKEN_WORD)
    assert copies, "quoted in the report"
    assert {path.partition("/")[0] for path in copies} == {"published"}
    done = quaestor("interview", "participant", "withdraw", "P1", "--yes", cwd=study.root)
    assert done.returncode == 0, done.stderr
    assert list_files_with(study, SPOKEN_WORD) == []
    assert read_passed(study.in_strand(TURNS), -1) == ["turns:P2/00001", "turns:P2/00003"]
    assert len(read_passed(study.in_strand(ANSWERS), -1)) == 2
    with open_coding(study) as coding:
        joint = compute_joint_display(coding)
    assert joint is not None
    assert [len(strand.units) for strand in joint.strands] == [2, 2, 1]


def test_nothing_that_a_withdrawn_respondent_wrote_is_kept_in_any_strand(study: Study) -> None:
    copies = list_files_with(study, WRITTEN_WORD)
    assert copies, "quoted in the report"
    assert {path.partition("/")[0].removesuffix("-wal") for path in copies} == {"published", "answers.db"}
    item = find_written_item(study)
    with open_surveys(study) as surveys:
        erase_response(surveys, NAME, parse_item(item)[1], "asked by mail")
    assert list_files_with(study, WRITTEN_WORD) == []
    assert len(read_passed(study.in_strand(ANSWERS), -1)) == 1
    with open_coding(study) as coding:
        joint = compute_joint_display(coding)
    assert joint is not None
    assert [len(strand.units) for strand in joint.strands] == [2, 1, 2]


def test_a_report_that_may_quote_a_respondent_who_withdrew_meanwhile_is_not_published(study: Study) -> None:
    item = read_passed(study.in_strand(ANSWERS), -1)[0]
    withdrawn: list[str] = []

    def withdraw_once(words: str) -> None:
        if not withdrawn:
            withdrawn.append(item)
            with open_surveys(study) as surveys:
                erase_response(surveys, NAME, parse_item(item)[1], "asked by mail")

    with pytest.raises(StateError, match="a respondent withdrew while the report was generated: rebuild it"):
        build_report(study, withdraw_once)
    assert not (study.published / "report").exists()


def test_turns_that_are_coded_as_a_whole_count_by_participant_and_are_quoted_only_if_allowed(tmp_path: Path) -> None:
    study = mixed_study(tmp_path / "study")
    settings = {"round": "whole", "items": {"strand": TURNS}, "facets": ["topics"], "raters": list(RATERS)}
    add_round(study, settings)
    study = open_study(study.root)
    open_by_name(study, "whole", None)
    decide_all(study)
    with open_coding(study) as coding:
        for item in coding.state.round("whole").plan.items:
            for rater in RATERS:
                rate(coding, "whole", rater, item, {"topics": ["layers"]})
    close_by_name(study, "whole", None)
    text, strand = study.file.read_text("utf-8"), 'code = "interviews.passages", title = "Interviews", quote = true'
    for quote in ("true", "false"):
        study.file.write_text(text.replace(strand, f'code = "whole.topics", quote = {quote}'), "utf-8")
        with open_coding(open_study(study.root)) as coding:
            joint = compute_joint_display(coding)
        assert joint is not None
        turns = joint.strands[2]
        assert (turns.unit, sorted(turns.units), turns.share_of("layers").count) == ("participants", ["P1", "P2"], 2)
        assert list(turns.examples) == (["layers"] if quote == "true" else [])
        assert all(example.endswith(("(P1)", "(P2)")) for example in turns.examples.values())


def test_ratings_and_decisions_of_every_strand_go_out_and_back_in(study: Study, tmp_path: Path) -> None:
    for name in ("posts", "answers", "interviews"):
        for what in ("ratings", "decisions"):
            file = tmp_path / f"{name}-{what}.csv"
            done = quaestor(what, "export", name, "--out", file, "--yes", cwd=study.root)
            assert done.returncode == 0, done.stderr
        done = quaestor("decisions", "import", f"{name}-again", tmp_path / f"{name}-decisions.csv", cwd=study.root)
        assert done.returncode == 0, done.stderr
        with open_coding(study) as coding:
            first, again = (export_decisions(coding.state, round_name) for round_name in (name, f"{name}-again"))
            ratings = export_ratings(coding, name, coding.lead)
        answers = {(row["item"], row["facet"]): row["answer"] for row in first}
        assert answers == {(row["item"], row["facet"]): row["answer"] for row in again}
        with (tmp_path / f"{name}-ratings.csv").open(encoding="utf-8", newline="") as table:
            assert [row["item"] for row in csv.DictReader(table)] == [row["item"] for row in ratings]


def test_a_restored_backup_has_the_decisions_and_words_of_every_strand(study: Study, tmp_path: Path) -> None:
    with open_coding(study) as coding:
        before = compute_joint_display(coding)
    done = quaestor("backup", tmp_path / "copy.backup", cwd=study.root)
    assert done.returncode == 0, done.stderr
    for path in [*study.root.glob("*.db"), *study.root.glob("*.db-*")]:
        path.unlink()
    done = quaestor("restore", tmp_path / "copy.backup", cwd=study.root)
    assert done.returncode == 0, done.stderr
    with open_coding(open_study(study.root)) as coding:
        assert compute_joint_display(coding) == before


def test_a_name_found_later_is_masked_in_the_strand_of_turns(study: Study) -> None:
    for command in (
        ("names", "add", "product", "--form", SPOKEN_WORD),
        ("names", "confirm", "--all"),
        ("items",),
    ):
        done = quaestor("interview", *command, cwd=study.root)
        assert done.returncode == 0, (command, done.stderr)
    for command in (("ingest",), ("funnel",), ("report",), ("handbook",)):
        done = quaestor(*command, cwd=study.root)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    assert [name for name in list_files_with(study, SPOKEN_WORD) if not name.endswith(".db")] == []
    with open_coding(study) as coding:
        joint = compute_joint_display(coding)
    assert joint is not None
    assert "[product 1]" in joint.strands[2].examples["layers"] or "P2" in joint.strands[2].examples["layers"]
