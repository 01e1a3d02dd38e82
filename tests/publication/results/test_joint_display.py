"""The joint display of posts and open answers under one codebook."""

from __future__ import annotations

from pathlib import Path

import pytest
from statsmodels.stats.proportion import proportion_confint
from tests.evidence.test_strands import CODEBOOK, RATERS, mixed_study
from tests.support.mixed_study import decide_all
from tests.support.mixed_study import mixed_study as three_strands

from quaestor.base.errors import InputError, SettingsError, StateError
from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.session import open_coding
from quaestor.publication.handbook.make import make_handbook
from quaestor.publication.items_behind_cell import items_behind
from quaestor.publication.report.make import NotFullyDecided, build_report
from quaestor.publication.results.joint_display import (
    JointDisplay,
    StrandCodes,
    build_joint_table,
    compute_joint_display,
)
from quaestor.study.folder import Study, open_study
from quaestor.surveys.lifecycle import open_surveys, review_response
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
    cell = table.cell("layers", "strand-1")
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


def test_undecided_items_of_every_strand_stop_the_report_or_are_left_out_and_named(tmp_path: Path) -> None:
    study = three_strands(tmp_path)
    with open_coding(study) as coding:
        answer = coding.state.round("answers").plan.items[0]
    differing = {answer: ["speed"], "turns:P2/00003": [{"start": 0, "end": 5, "code": "speed"}]}
    decide_all(study, differing)
    with pytest.raises(NotFullyDecided, match="In the round answers 1 item is undecided"):
        build_report(study, lambda words: None)
    outcome = build_report(study, lambda words: None, leave_out_undecided=True)
    assert [note.split(" ")[3] for note in outcome.undecided] == ["answers", "interviews"]
    table = (outcome.folder / "tables" / "table-joint.md").read_text("utf-8")
    assert "Of 2 posts (Posts), 1 respondents (Survey), 2 participants (Interviews)" in table
    assert "Undecided items are left out: 1 of Survey, 1 of Interviews." in table
    assert "undecided" not in (outcome.folder / "tables" / "table-1.md").read_text("utf-8")


def test_a_cell_of_the_joint_display_names_the_command_that_lists_its_items(tmp_path: Path) -> None:
    study = three_strands(tmp_path)
    decide_all(study)
    with pytest.raises(InputError, match="quaestor items --round interviews --code layers"):
        items_behind(study, "joint:layers:strand-3")
