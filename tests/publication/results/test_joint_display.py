"""The joint display of posts and open answers under one codebook."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from statsmodels.stats.proportion import proportion_confint
from tests.evidence.test_strands import CODEBOOK, RATERS, mixed_study
from tests.publication.report.test_write import hashes, quiet
from tests.support.small_survey import NAME

from quaestor.base.errors import SettingsError, StateError
from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name, reopen_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.publication.handbook.make import make_handbook
from quaestor.publication.items_behind_cell import items_behind
from quaestor.publication.report.make import NotFullyDecided, build_report
from quaestor.publication.results.joint_display import (
    JointDisplay,
    StrandCodes,
    build_joint_table,
    compute_joint_display,
)
from quaestor.render.figures.drawing_process import DrawingProcess
from quaestor.render.figures.records import Figure, FigurePlan
from quaestor.study.folder import Study, open_study
from quaestor.surveys.lifecycle import close_survey, open_surveys, review_response
from quaestor.surveys.open_answers import parse_item

JOINT = """
[joint_display]
title = "Posts and answers"
strands = [
    { code = "posts.theme" },
    { code = "answers.theme", title = "Survey", quote = true },
]
"""


def coded_study(folder: Path) -> Study:
    """Both strands coded: the first post and every answer are about layers, the second post is about speed."""
    study = mixed_study(folder)
    codebook = folder / "codebook.toml"
    codebook.write_text(CODEBOOK, "utf-8")
    with open_coding(study) as coding:
        import_codebook(coding, codebook)
    for name, items in (("posts", {"after": "long posts"}), ("answers", {"strand": "tools-hardest"})):
        add_round(study, {"round": name, "items": items, "facets": ["theme"], "raters": RATERS})
        study = open_study(folder)
        open_by_name(study, name, None)
        with open_coding(study) as coding:
            for item in coding.state.round(name).plan.items:
                for rater in RATERS:
                    rate(coding, name, rater, item, {"theme": "speed" if item == "p2" else "layers"})
    file = folder / "study.toml"
    file.write_text(file.read_text("utf-8") + JOINT, "utf-8")
    return open_study(folder)


def test_each_strand_is_counted_by_its_own_units_with_its_own_base(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    for name in ("posts", "answers"):
        close_by_name(study, name, None)
    with open_coding(study) as coding:
        joint = compute_joint_display(coding)
    assert joint is not None
    posts, answers = joint.strands
    assert (posts.title, posts.unit, len(posts.units)) == ("Posts", "posts", 2)
    assert (answers.title, answers.unit, len(answers.units)) == ("Survey", "respondents", 2)
    assert [(posts.share_of(code).count, answers.share_of(code).count) for code in joint.codes] == [(1, 2), (1, 0)]
    low, high = proportion_confint(1, 2, method="wilson")
    assert posts.share_of("layers").low == pytest.approx(low)
    assert posts.share_of("layers").high == pytest.approx(high)
    assert joint.compare("layers") == "agree"
    assert joint.compare("speed") == "agree; Survey silent"
    assert posts.examples == {"layers": "Post 1", "speed": "Post 2"}
    assert answers.examples["layers"].startswith("“")
    table = build_joint_table(joint)
    cell = table.cell("layers", "posts")
    assert cell is not None
    assert cell.parts[:2] == ("1", "50.0%")


def test_an_excluded_respondent_is_neither_counted_nor_quoted(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    for name in ("posts", "answers"):
        close_by_name(study, name, None)
    with open_coding(study) as coding:
        items = coding.state.round("answers").plan.items
    for item in items:
        survey, response, _ = parse_item(item)
        with open_surveys(study) as surveys:
            review_response(surveys, survey, response, keep=False, why="a test")
    with open_coding(study) as coding:
        joint = compute_joint_display(coding)
    assert joint is not None
    assert joint.strands[1].share_of("layers").share is None
    assert joint.strands[1].examples == {}
    assert joint.compare("layers") == "no data: Survey"


def test_the_report_has_the_table_and_the_figure(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    with pytest.raises(StateError, match="still open"), open_coding(study) as coding:
        compute_joint_display(coding)
    for name in ("posts", "answers"):
        close_by_name(study, name, None)
    file = study.file
    file.write_text(file.read_text("utf-8") + '\n[results]\ntree = "theme"\ncode = "posts.theme"\n', "utf-8")
    outcome = build_report(open_study(tmp_path), lambda words: None)
    page = (outcome.folder / "index.html").read_text("utf-8")
    assert "Posts and answers" in page
    assert (outcome.folder / "figures" / "joint-display.svg").exists()
    table = (outcome.folder / "tables" / "table-joint.csv").read_text("utf-8")
    assert "custom layers,1,0.5" in table
    make_handbook(open_study(tmp_path), lambda what, done, total: None)
    handbook = (study.published / "handbook" / "strands.html").read_text("utf-8")
    assert "Posts and answers" in handbook
    assert "inference speed" in handbook


def test_an_unchanged_joint_display_is_not_drawn_again_and_a_changed_one_equals_a_full_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = coded_study(tmp_path)
    for name in ("posts", "answers"):
        close_by_name(study, name, None)
    build_report(study, quiet)
    before = hashes(study.published / "report")
    assert "figures/joint-display.svg" in before

    def refuse(process: DrawingProcess, figure: Figure | FigurePlan) -> None:
        raise AssertionError(f"drawn again: {figure}")

    with monkeypatch.context() as patched:
        patched.setattr(DrawingProcess, "submit", refuse)
        build_report(study, quiet)
    assert hashes(study.published / "report") == before
    reopen_by_name(study, "posts", None, "again", not_blind=True)
    with open_coding(study) as coding:
        for rater in RATERS:
            rate(coding, "posts", rater, "p2", {"theme": "layers"})
    close_by_name(study, "posts", None)
    build_report(study, quiet)
    changed = hashes(study.published / "report")
    for file in ("figures/joint-display.svg", "tables/table-joint.csv"):
        assert changed[file] != before[file]
    shutil.rmtree(study.published)
    shutil.rmtree(study.evidence / "made")
    build_report(study, quiet)
    assert hashes(study.published / "report") == changed


def test_a_report_without_final_codes_has_the_codes_of_every_strand_and_the_joint_display(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    for name in ("posts", "answers"):
        close_by_name(study, name, None)
    with open_surveys(study) as surveys:
        close_survey(surveys, NAME)
    assert not study.settings.results.code
    page = (build_report(study, quiet).folder / "index.html").read_text("utf-8")
    for words in ("Theme in the round posts", "Posts and answers", "Themes of open answers: theme"):
        assert words in page


def test_a_number_of_a_round_leads_to_its_items_in_any_strand(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    text = """
[sources.notes]
kind = "table"
path = "notes.csv"
item = "{id}"
columns.id = {}
columns.title = {}

[strands.notes]
source = "notes"
"""
    study = coded_study(tmp_path)
    file.write_text(file.read_text("utf-8").partition("[joint_display]")[0] + text, "utf-8")
    (tmp_path / "notes.csv").write_text("id,title\nn1,Note 1\nn2,Note 2\n", "utf-8")
    study = open_study(tmp_path)
    ingest_source(study, "notes")
    run_funnel(study.in_strand("notes"))
    add_round(study, {"round": "notes", "items": {"strand": "notes"}, "facets": ["theme"], "raters": RATERS})
    study = open_study(tmp_path)
    open_by_name(study, "notes", None)
    with open_coding(study) as coding:
        for item in coding.state.round("notes").plan.items:
            for rater in RATERS:
                rate(coding, "notes", rater, item, {"theme": "speed"})
    for name in ("posts", "answers", "notes"):
        close_by_name(study, name, None)
    examples, _ = items_behind(study, "notes-theme:speed:items")
    assert [example.title for example in examples] == ["Note 1", "Note 2"]
    examples, _ = items_behind(study, "posts-theme:layers:items")
    assert [example.title for example in examples] == ["Post 1"]


def test_undecided_items_stop_the_report_and_are_named(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    with open_coding(study) as coding:
        item = coding.state.round("answers").plan.items[0]
        rate(coding, "answers", "rater-2", item, {"theme": "speed"})
    for name in ("posts", "answers"):
        close_by_name(study, name, None)
    file = study.file
    file.write_text(file.read_text("utf-8") + '\n[results]\ntree = "theme"\ncode = "posts.theme"\n', "utf-8")
    with pytest.raises(NotFullyDecided, match="In the round answers 1 item is undecided"):
        build_report(open_study(tmp_path), lambda words: None)
    with open_coding(open_study(tmp_path)) as coding:
        joint = compute_joint_display(coding)
    assert joint is not None
    assert len(joint.strands[1].units) == 1
    note = "Survey: 1 item is undecided and not counted (1 with an open disagreement)."
    assert note in build_joint_table(joint).notes


def test_counts_equal_a_naive_recount_for_random_decisions(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    chance = random.Random(20)
    for _ in range(10):
        with open_coding(study) as coding:
            for name in ("posts", "answers"):
                for item in coding.state.round(name).plan.items:
                    for rater in RATERS:
                        rate(coding, name, rater, item, {"theme": chance.choice(["layers", "speed"])})
        for name in ("posts", "answers"):
            close_by_name(study, name, None)
        with open_coding(study) as coding:
            joint = compute_joint_display(coding)
        assert joint is not None
        with closing(sqlite3.connect(tmp_path / "study.db")) as journal:
            rows = journal.execute("SELECT actor, payload FROM acts WHERE kind = 'rating' ORDER BY number").fetchall()
        last = {
            (rating["item"], rater): rating["answers"]["theme"]
            for rater, payload in rows
            if (rating := json.loads(payload))["round"] == "posts"
        }
        codes = {item: {code for (rated, _), code in last.items() if rated == item} for item, _ in last}
        agreed = {item: next(iter(given)) for item, given in codes.items() if len(given) == 1}
        assert joint.strands[0].units == frozenset(agreed)
        for code in joint.codes:
            counted = joint.strands[0].units_by_code.get(code, frozenset())
            assert counted == {item for item, decided in agreed.items() if decided == code}
        for name in ("posts", "answers"):
            reopen_by_name(study, name, None, "again", not_blind=True)


def test_strands_differ_only_if_their_intervals_do_not_overlap() -> None:
    many = frozenset(map(str, range(100)))
    few = frozenset(map(str, range(5)))
    first = StrandCodes("Posts", "posts", many, {"a": many, "b": few})
    second = StrandCodes("Survey", "respondents", many, {"a": few, "b": few})
    joint = JointDisplay("Joint", {"a": "A", "b": "B", "c": "C"}, (first, second))
    assert [joint.compare(code) for code in joint.codes] == ["differ", "agree", "not mentioned"]


@pytest.mark.parametrize(
    ("joint", "sentence"),
    [
        ('strands = [{ code = "posts.theme" }]', "compares at least two strands"),
        ('strands = [{ code = "posts" }, { code = "a.b" }]', "write round.facet"),
    ],
)
def test_a_wrong_joint_display_is_refused_in_one_sentence(tmp_path: Path, joint: str, sentence: str) -> None:
    (tmp_path / "study.toml").write_text(f'[study]\nname = "s"\n\n[joint_display]\n{joint}\n', "utf-8")
    with pytest.raises(SettingsError, match=sentence):
        open_study(tmp_path)
