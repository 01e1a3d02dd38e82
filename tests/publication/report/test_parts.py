"""A report that reuses parts of the last build has the bytes of a full build."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.publication.report.test_write import hashes, quiet
from tests.publication.test_right_numbers import CONTESTED, make_study, rate_all
from tests.support.settling import settle_with_assents

from quaestor.base.errors import StateError
from quaestor.coding.codebook import change_codebook
from quaestor.coding.round_acts import close_by_name
from quaestor.publication.report.make import build_report
from quaestor.publication.report.parts import LastBuild, ReportParts
from quaestor.render.figures.drawing_process import DrawingProcess
from quaestor.render.figures.records import Figure, FigurePlan, ProcessStage, ProcessStep
from quaestor.study.folder import Study, open_study


def edit_settings(study: Study, old: str, new: str) -> None:
    text = study.file.read_text("utf-8")
    assert old in text
    study.file.write_text(text.replace(old, new, 1), "utf-8")


def change_title(study: Study, chance: random.Random) -> None:
    edit_settings(study, 'title = "Posts by', f'title = "{chance.random()} Posts by')


def change_note(study: Study, chance: random.Random) -> None:
    edit_settings(study, 'table = "2"', f'table = "2"\nnote = "seen {chance.random()}"')


def change_description(study: Study, chance: random.Random) -> None:
    edit_settings(study, 'title = "', f'title = "{chance.random()} ')


def edit_a_published_file(study: Study, chance: random.Random) -> None:
    files = sorted(path for path in (study.published / "report").rglob("*") if path.is_file())
    path = chance.choice([path for path in files if path.name != "findings.json"])
    path.write_bytes(path.read_bytes() + b"edited by hand")


def remove_a_published_file(study: Study, chance: random.Random) -> None:
    folder = chance.choice(["tables", "figures"])
    chance.choice(sorted((study.published / "report" / folder).iterdir())).unlink()


def damage_the_record(study: Study, chance: random.Random) -> None:
    record = chance.choice(sorted((study.evidence / "made").iterdir()))
    record.write_bytes(record.read_bytes()[: chance.randrange(40)])


CHANGES: list[Callable[[Study, random.Random], None]] = [
    change_title, change_note, change_description, edit_a_published_file, remove_a_published_file, damage_the_record,
]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_a_rebuild_after_random_changes_has_the_bytes_of_a_full_build(copied: Study, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    build_report(copied, quiet)
    for change in chance.sample(CHANGES, 3):
        change(copied, chance)
    changed = open_study(copied.root)
    build_report(changed, quiet)
    fresh = tmp_path / "fresh"
    shutil.copytree(changed.root, fresh)
    shutil.rmtree(fresh / "published")
    shutil.rmtree(fresh / "evidence" / "made")
    build_report(open_study(fresh), quiet)
    assert hashes(changed.published / "report") == hashes(fresh / "published" / "report")


@pytest.mark.parametrize("seed", range(2))
def test_a_rebuild_after_each_random_act_has_the_bytes_of_a_full_build(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    study = make_study(tmp_path / "study")
    rate_all(study)
    close_by_name(study, "main", None)
    for item in CONTESTED:
        settle_with_assents(study, "main", "rater-1", item, "topic", "training")
    build_report(study, quiet)
    for number in range(3):
        if chance.random() < 0.7:
            answer = chance.choice(["setting", "training", "training/loss"])
            settle_with_assents(study, "main", "rater-1", chance.choice(CONTESTED), "topic", answer, reason="again")
        else:
            payload = {"code": "training/loss", "name": f"loss {number}"}
            change_codebook(study, "codebook.rename", payload)
        build_report(study, quiet)
        rebuilt = hashes(study.published / "report")
        shutil.rmtree(study.published)
        shutil.rmtree(study.evidence / "made")
        build_report(study, quiet)
        assert hashes(study.published / "report") == rebuilt


def test_an_unchanged_report_draws_nothing_and_changes_no_byte(copied: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    build_report(copied, quiet)
    before = hashes(copied.published / "report")

    def refuse(process: DrawingProcess, figure: Figure | FigurePlan) -> None:
        raise AssertionError(f"drawn again: {figure}")

    monkeypatch.setattr(DrawingProcess, "submit", refuse)
    build_report(copied, quiet)
    assert hashes(copied.published / "report") == before


def test_what_a_build_leaves_for_the_next_one_contains_no_text_of_the_report(copied: Study) -> None:
    build_report(copied, quiet)
    record = (copied.evidence / "made" / "report-parts.json").read_text("utf-8")
    assert "tables/table-1.csv" in record
    assert "Posts by" not in record


def test_figures_are_drawn_in_the_order_of_submission_and_errors_are_raised_here() -> None:
    stages = [ProcessStage("Collect", (ProcessStep("all", 3, "posts"),))]
    with DrawingProcess() as process:
        process.submit(FigurePlan("process", (stages,)))
        process.submit(FigurePlan("process", ("no stages",)))
        process.submit(FigurePlan("funnel", ([],)))
        assert process.next().name == "process"
        with pytest.raises(AttributeError):
            process.next()
        drawn = process.next()
    assert drawn.name == "funnel"
    assert drawn.svg.startswith("<svg")
    assert drawn.pdf.startswith(b"%PDF")
    assert drawn.png.startswith(b"\x89PNG")


def test_a_drawing_process_that_ends_early_is_an_error_instead_of_a_wait() -> None:
    with DrawingProcess() as process:
        process.close()
        with pytest.raises(StateError, match="ended early"):
            process.next()


def test_a_drawn_figure_is_read_back_from_its_files(tmp_path: Path) -> None:
    stages = [ProcessStage('Collect & "keep" <all>', (ProcessStep("all", 3, "posts"),))]
    (tmp_path / "figures").mkdir()
    plan = FigurePlan("process", (stages,))
    with ReportParts(LastBuild(tmp_path)) as parts:
        drawn = parts.write_figure(tmp_path, plan)
        parts.record(tmp_path / "record.json")
    with ReportParts(LastBuild.read(tmp_path, tmp_path / "record.json")) as parts:
        assert parts.draw(plan) == drawn
