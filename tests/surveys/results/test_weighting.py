"""Weighted results: next to the unweighted ones in every table, with the effective sample size."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.command_line import quaestor
from tests.support.small_survey import STUDY
from tests.support.weighted_survey import NAME, PEOPLE, WEIGHTS, weighted_survey

from quaestor.base.errors import SettingsError
from quaestor.render.tables.files import to_csv, to_markdown
from quaestor.study.folder import open_study
from quaestor.surveys.exchange.export import export_answers
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.lifecycle import Surveys, open_surveys
from quaestor.surveys.results.compute import survey_results
from quaestor.surveys.results.export import results_json
from quaestor.surveys.results.tables import build_table, demographics
from quaestor.surveys.results.weighting import weights_in_words, weights_table

RAKING = """
[weights.panel]
method = "raking"
max_weight = 3

[[weights.panel.margins]]
by = "role"
targets = { research = 50, engineering = 50 }

[[weights.panel.margins]]
by = "size"
targets = { small = 0.7, large = 0.3 }
"""
# Six of research and two of engineering share half of 8 each; the ninth has no role.
RESEARCH, ENGINEERING = 4 / 6, 4 / 2
EFFECTIVE = (4 + 4 + 1) ** 2 / (6 * RESEARCH**2 + 2 * ENGINEERING**2 + 1)


@pytest.fixture(scope="module")
def surveys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surveys]:
    with weighted_survey(tmp_path_factory.mktemp("weighted")) as surveys:
        yield surveys


def test_weighted_shares_are_next_to_the_unweighted_ones(surveys: Surveys) -> None:
    results = survey_results(surveys, NAME)
    uses = results.question("uses")
    assert uses is not None
    onnx = uses.rows[0].lines[0].share
    assert (onnx.count, onnx.of) == (5, 9)
    assert onnx.weighted is not None
    assert onnx.weighted.value == pytest.approx((3 * RESEARCH + 2 * ENGINEERING) / 9)
    assert onnx.weighted.effective == pytest.approx(EFFECTIVE)
    assert onnx.weighted.low < onnx.weighted.value < onnx.weighted.high  # type: ignore[operator]
    table = build_table(results, uses)
    assert "| n | share | 95% interval | weighted share | weighted 95% interval |" in to_markdown(table)
    assert table.notes[1] == (
        "Weighted: effective sample size 6.9 of 9, design effect 1.30, weights from 0.67 to 2.00."
    )
    assert "weighted-interval: low" in to_csv(table)


def test_weighted_matrix_number_and_ranking(surveys: Surveys) -> None:
    results = survey_results(surveys, NAME)
    met, years, order = (results.question(name) for name in ("met", "years", "order"))
    assert met is not None
    assert years is not None
    assert order is not None
    often = met.rows[1].lines[1].share
    assert often.weighted is not None
    assert often.weighted.value == pytest.approx((2 * RESEARCH + 2 * ENGINEERING) / 9)
    assert years.numbers is not None
    assert years.numbers.weighted_mean is not None
    assert years.numbers.weighted_mean.value == pytest.approx((21 * RESEARCH + 30 * ENGINEERING + 7) / 9)
    speed = order.ranked[0].ranked
    assert speed.weighted_mean is not None
    assert speed.weighted_mean.value == pytest.approx(1 + (3 * RESEARCH + 1) / 9)
    for result in (met, years, order):
        assert "weighted" in to_csv(build_table(results, result)).splitlines()[0]


def test_every_group_has_its_weighted_shares(surveys: Surveys) -> None:
    results = survey_results(surveys, NAME, by="size")
    role, years = results.question("role"), results.question("years")
    assert role is not None
    assert years is not None
    small = role.rows[0].lines[0].by[0]
    assert small.weighted is not None
    assert (small.count, small.of) == (3, 4)
    assert small.weighted.value == pytest.approx(3 * RESEARCH / (3 * RESEARCH + ENGINEERING))
    assert "group-small: weighted share" in to_csv(build_table(results, role)).splitlines()[0]
    to_csv(build_table(results, years))


def test_a_filter_keeps_the_weights_of_the_whole_sample(surveys: Surveys) -> None:
    results = survey_results(surveys, NAME, where=["size=small"])
    role = results.question("role")
    assert role is not None
    engineering = role.rows[0].lines[1].share
    assert engineering.weighted is not None
    assert engineering.weighted.value == pytest.approx(ENGINEERING / (3 * RESEARCH + ENGINEERING))
    assert results.weights is not None
    assert results.weights.size.n == 9


def test_the_weights_are_a_table_that_says_how_they_were_made(surveys: Surveys) -> None:
    weights = survey_results(surveys, NAME).weights
    assert weights is not None
    table = weights_table(weights)
    assert [cell.parts[0] for cell in table.groups[0].rows[1].cells] == ["2", "25.0%", "50.0%", "50.0%"]
    assert table.groups[0].title == "What is your role?"
    sentences = weights_in_words(weights)
    assert "Weighted by post-stratification: effective sample size 6.9 of 9" in sentences[0]
    assert "1 response without an answer to role: together they keep their unweighted share." in sentences
    assert "Interpret with caution: fewer than 5 responses carry the weight of Engineering (2)." in sentences
    assert "Targets of role: Register of developers, 2026." in sentences


def test_json_has_weights_and_weighted_numbers(surveys: Surveys) -> None:
    document = results_json(survey_results(surveys, NAME))
    assert document["weights"]["effective"] == pytest.approx(EFFECTIVE)
    assert document["weights"]["margins"][0]["cells"][1]["cell"] == ["engineering"]
    uses = next(question for question in document["questions"] if question["question"] == "uses")
    assert uses["options"][0]["weighted"]["share"] == pytest.approx((3 * RESEARCH + 2 * ENGINEERING) / 9)
    assert uses["weighted"]["n"] == 9
    assert results_json(survey_results(surveys, NAME, weighted=False))["weights"] is None
    json.dumps(document)


def test_demographics_have_weighted_shares(surveys: Surveys) -> None:
    table = demographics(survey_results(surveys, NAME), ["role"])
    assert [cell.parts[0] for cell in table.groups[0].rows[0].cells] == ["6", "75.0%", "50.0%"]


def test_raking_meets_two_margins_and_says_what_was_trimmed(tmp_path: Path) -> None:
    with weighted_survey(tmp_path, RAKING) as surveys:
        weights = survey_results(surveys, NAME).weights
    assert weights is not None
    for margin in weights.margins:
        for cell in margin.cells:
            assert cell.weighted == pytest.approx(cell.target, abs=1e-6)
    assert "Weights are at most 3: no weight was trimmed." in weights_in_words(weights)


def test_joint_cells_and_merged_options(tmp_path: Path) -> None:
    joint = """
[weights.panel]
method = "post-stratification"
margins = [
    { by = ["size", "role"], targets = { small = { research = 30, "engineering | teaching" = 20 }, large = { research = 40, engineering = 10 } } },
]
"""  # noqa: E501
    with weighted_survey(tmp_path, joint) as surveys:
        weights = survey_results(surveys, NAME).weights
        assert weights is not None
        cell = weights.margins[0].cells[1]
        assert (cell.label, cell.count, cell.target) == ("Small × Engineering or Teaching", 1, pytest.approx(0.2))
        used = weights.values[~(weights.values != weights.values)]
    assert sorted(used.round(3).tolist()) == [0.8, 0.8, 0.8, 0.8, 1.0, 1.067, 1.067, 1.067, 1.6]


def test_an_export_has_the_weight_of_each_response_but_raw_answers_do_not(surveys: Surveys, tmp_path: Path) -> None:
    export_answers(surveys, NAME, tmp_path / "wide.csv", wide=True)
    rows = list(csv.DictReader((tmp_path / "wide.csv").read_text("utf-8").splitlines()))
    weights = {row["response:weight"] for row in rows if row["role"] == "engineering"}
    assert weights == {"2"}
    assert sum(float(row["response:weight"]) for row in rows) == pytest.approx(len(PEOPLE))
    export_answers(surveys, NAME, tmp_path / "tidy.csv")
    assert "response:weight" in (tmp_path / "tidy.csv").read_text("utf-8").splitlines()[0]
    for name, options in (("raw.csv", {"raw": True}), ("unweighted.csv", {"weighted": False})):
        export_answers(surveys, NAME, tmp_path / name, wide=True, **options)
        assert "response:weight" not in (tmp_path / name).read_text("utf-8")
    with weighted_survey(tmp_path / "elsewhere", "") as elsewhere:
        done = import_answers(elsewhere, NAME, tmp_path / "wide.csv", None)
        assert (done.unmapped_columns, done.unread) == ((), ())


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ('{ research = 0.5, enginering = 0.5 }', "unknown answer to 'role': 'enginering', available: engineering, "),
        ('{ research = 0.5, teaching = 0.5 }', "role = engineering (2 responses) has no target: add it, merge it"),
        ('{ research = 5, engineering = 3, teaching = 2 }',
         "no response has role = teaching, so no weight reaches the target: merge it with a similar option, for "
         'example "teaching | research" = 7'),
        ('{ "research | engineering" = 1, engineering = 1 }', "overlap: name each option once"),
    ],
)  # fmt: skip
def test_targets_that_do_not_fit_the_answers_are_refused(tmp_path: Path, targets: str, message: str) -> None:
    text = WEIGHTS.replace("{ research = 0.5, engineering = 0.5 }", targets)
    with weighted_survey(tmp_path, text) as surveys:
        with pytest.raises(SettingsError) as caught:
            survey_results(surveys, NAME)
        assert str(caught.value).startswith("study.toml: weights.panel: ")
        assert message in str(caught.value)
        assert survey_results(surveys, NAME, weighted=False).weights is None


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("engineering = 0.5", "engineering = 0.3", "targets of role sum to 0.8: write shares that sum to 1"),
        ("engineering = 0.5", "engineering = -1", "targets.engineering is -1: write a number above 0"),
        ("engineering = 0.5", 'engineering = "x"', "targets.engineering is 'x': write a number above 0"),
        ("engineering = 0.5", "engineering = { a = 1 }", "is a table, but by names 1 question"),
        (", engineering = 0.5", "", "need at least two options"),
        ('by = "role"', 'by = ["role", "size"]', "write a table with the options of the next question"),
        ("post-stratification", "raked", "weights.panel.method is 'raked'; choose from: raking or post-stratification"),
        ('method = "post-stratification"', 'method = "raking"\nmin_weight = 2', "weights.panel.min_weight is 2"),
        ("[weights.panel]", "[weights.panel]\ntrim = 3", "weights.panel.trim is not a known key"),
        (WEIGHTS, WEIGHTS + WEIGHTS.split("\n\n")[1], "post-stratification takes one entry in margins"),
    ],
)
def test_mistakes_in_the_study_file_are_named(tmp_path: Path, before: str, after: str, message: str) -> None:
    (tmp_path / "study.toml").write_text(STUDY + WEIGHTS.replace(before, after), "utf-8")
    with pytest.raises(SettingsError) as caught:
        open_study(tmp_path)
    assert message in str(caught.value)


def test_weights_of_an_unknown_survey_and_of_several_choices_are_refused(tmp_path: Path) -> None:
    unknown, message = (
        WEIGHTS.replace("weights.panel", "weights.panels"),
        r"weights\.panels names no survey of",
    )
    with weighted_survey(tmp_path, unknown) as surveys, pytest.raises(SettingsError, match=message):
        survey_results(surveys, NAME)
    text = WEIGHTS.replace('"role"', '"uses"').replace("research", "onnx").replace("engineering", "keras")
    (tmp_path / "study.toml").write_text(STUDY + text, "utf-8")
    with open_surveys(open_study(tmp_path)) as surveys, pytest.raises(SettingsError, match="'uses' takes several"):
        survey_results(surveys, NAME)


def test_the_command_prints_weighted_results_and_can_leave_them_out(tmp_path: Path) -> None:
    with weighted_survey(tmp_path):
        pass
    done = quaestor("survey", "results", NAME, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Weighted by post-stratification: effective sample size 6.9 of 9" in done.stdout
    assert "weighted share" in done.stdout
    assert "weighted" not in quaestor("survey", "results", NAME, "--unweighted", cwd=tmp_path).stdout
    text = (tmp_path / "study.toml").read_text("utf-8").replace("engineering = 0.5", "teaching = 0.5")
    (tmp_path / "study.toml").write_text(text, "utf-8")
    refused = quaestor("survey", "results", NAME, cwd=tmp_path)
    assert refused.returncode == 2
    assert "or run with --unweighted" in refused.stderr
