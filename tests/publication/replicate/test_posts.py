"""The public labelled posts, replicated by one command, against the same numbers computed with pandas."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.support.command_line import in_this_process
from tests.support.paths import SHARED

from quaestor.study.templates import template_folder

DATA = SHARED / "data" / "dl-posts"
PRINTED = template_folder("dl-implementation-issues") / "printed"
FRAMEWORKS = ("tensorflow", "pytorch", "theano")
# The objects of the replication package by their numbers in label-codes.csv, and where the six moves put them.
PHASES = "DMTPVRE"
MOVED = {("M", 5): "T8", ("M", 9): "D10", ("M", 11): "T15", ("M", 12): "T18", ("M", 14): "T9", ("M", 16): "T1"}
OBJECTS = {
    "D": ["D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D9"],
    "M": ["M1", "M4", "M2", "M7", "M5", "", "M6", "M3", "M8", "", "M11", "", "", "M9", "", "M10", ""],
    "T": ["T2", "T3", "T4", "T5", "T6", "T7", "T10", "T11", "T12", "T13", "T1", "T14", "T16", "T17"],
    "P": ["P1", "P2", "P3", "P4", "P5"],
    "V": ["V1", "V2", "V3", "V4", "V5", "V6", "V7"],
    "R": ["R1", "R2", "R3", "R4", "R5", "R6"],
    "E": ["E1", "E2", "E3", "E4", "E5", "E6"],
}


def need_data() -> None:
    if not (DATA / "open.csv").exists():
        pytest.skip("the labelled posts ../shared/data/dl-posts/open.csv are not here")


@pytest.fixture(scope="module")
def replicated() -> dict[str, Any]:
    need_data()
    run = in_this_process("replicate", "dl-implementation-issues", "--data", DATA / "open.csv", "--json")
    assert run.exit_code == 1, run.stderr  # a part of the posts cannot have the printed counts
    document: dict[str, Any] = json.loads(run.stdout)
    return document


@pytest.fixture(scope="module")
def posts() -> pd.DataFrame:
    """The posts with their final object, by the replication package's own rule: the first ending that fits wins."""
    need_data()
    frame = pd.read_csv(DATA / "open.csv")
    with (DATA / "label-codes.csv").open(encoding="utf-8", newline="") as file:
        endings = [(row[0], int(row[1]), int(row[2])) for row in csv.reader(file)]

    def final(label: str) -> str:
        level, number = next((one, two) for ending, one, two in endings if label.endswith(ending))
        return MOVED.get((PHASES[level], number)) or OBJECTS[PHASES[level]][number]

    frame["object"] = [final(label) for label in frame["label"]]
    frame["phase"] = frame["object"].str[0]
    frame["framework"] = [
        next(name for name in FRAMEWORKS if name in tags) for tags in frame["tags"]
    ]  # fmt: skip
    asked, answered = (pd.to_datetime(frame[name]) for name in ("question_created", "answer_created"))
    frame["year"] = asked.dt.year.astype(str)
    frame["days"] = ((answered - asked).dt.total_seconds() / 86_400).round(2)
    return frame


def computed(document: Mapping[str, Any], table: str) -> dict[tuple[str, str], Any]:
    return {(cell["row"], cell["column"]): cell["computed"] for cell in document["cells"] if cell["table"] == table}


def test_table_1_matches_pandas(replicated: dict[str, Any], posts: pd.DataFrame) -> None:
    expected = pd.crosstab(posts["year"], posts["framework"], margins=True)
    found = computed(replicated, "1")
    assert len(found) == 36
    for (row, column), value in found.items():
        assert value == expected.loc[row.replace("total", "All"), column.replace("total", "All")], (row, column)


def test_table_3_matches_pandas(replicated: dict[str, Any], posts: pd.DataFrame) -> None:
    objects = pd.crosstab(posts["object"], posts["framework"], margins=True)
    phases = pd.crosstab(posts["phase"], posts["framework"], margins=True)
    found = computed(replicated, "3")
    assert len(found) == 280
    for (row, column), value in found.items():
        counts = objects if len(row) > 1 else phases
        expected = counts.loc[row, column.replace("total", "All")] if row in counts.index else 0
        assert value == expected, (row, column)


def test_table_4_matches_scipy(replicated: dict[str, Any], posts: pd.DataFrame) -> None:
    objects = sorted({name for names in OBJECTS.values() for name in names if name} | set(MOVED.values()))
    counts = pd.crosstab(posts["object"], posts["framework"]).reindex(objects, fill_value=0)
    counts["total"] = counts.sum(axis=1)
    names = {"Data processing": "D", "Model setting": "M", "Model training": "T", "Model prediction": "P",
             "Model evaluation": "E", "Runtime environment": "R", "Visualization": "V", "All": ""}  # fmt: skip
    found = computed(replicated, "4")
    assert len(found) == 48
    for (row, column), value in found.items():
        first, _, second = column.rpartition("_")[0].partition("_vs_")
        part = counts[counts.index.str.startswith(names[row])]
        expected = stats.pearsonr(part[first], part[second])
        number = expected.statistic if column.endswith("_r") else expected.pvalue
        assert value == pytest.approx(number, abs=1e-9), (row, column)


def test_table_14_matches_the_medians_of_pandas(replicated: dict[str, Any], posts: pd.DataFrame) -> None:
    names = {"viewcount": "viewcount", "score": "score", "response_days": "days"}
    found = computed(replicated, "14")
    assert len(found) == 210
    for (row, column), value in found.items():
        part = posts[posts["object" if len(row) > 1 else "phase"] == row][names[column]]
        if part.empty:
            assert value is None
        else:
            assert value == pytest.approx(float(part.median()), abs=1e-12), (row, column)


def test_correlations_of_posts_match_pandas(replicated: dict[str, Any], posts: pd.DataFrame) -> None:
    found = computed(replicated, "other")
    assert found["Pearson r of viewcount and score", "value"] == pytest.approx(
        posts["viewcount"].corr(posts["score"]), abs=1e-9
    )
    assert found["Pearson r of popularity and difficulty", "value"] == pytest.approx(
        posts["viewcount"].corr(posts["days"]), abs=1e-9
    )


def test_shares_in_findings_match_pandas(replicated: dict[str, Any], posts: pd.DataFrame) -> None:
    found = {row: value for (row, _), value in computed(replicated, "findings").items()}
    expected = 100 * posts["phase"].isin(["D", "M", "T"]).mean()
    assert found["share of data processing + model setting + model training"] == pytest.approx(expected)
    gpu = posts[posts["phase"] == "R"]["object"].isin(["R1", "R2"]).mean()
    assert found["share of GPU use among runtime environment"] == pytest.approx(100 * gpu)


def test_cells_have_the_names_of_the_published_files(replicated: dict[str, Any]) -> None:
    keys = {(cell["table"], cell["row"], cell["column"]) for cell in replicated["cells"]}
    for table, file, row in (("1", "table01-posts-by-year.csv", "year"), ("3", "table03-taxonomy.csv", "code"),
                             ("4", "table04-correlations.csv", "phase"),
                             ("14", "table14-popularity-difficulty.csv", "code")):  # fmt: skip
        with (PRINTED / file).open(encoding="utf-8", newline="") as opened:
            for line in csv.DictReader(opened):
                for column in line:
                    if column not in (row, "phase", "object", "legibility", "code"):
                        assert (table, line[row], column) in keys
    first = next(cell for cell in replicated["cells"] if (cell["table"], cell["row"]) == ("3", "D1"))
    assert first["printed"] == 328
    assert first["column"] == "tensorflow"
    verdicts = {"match", "rounding", "differs", "not printed", "not computable"}
    assert {cell["verdict"] for cell in replicated["cells"]} <= verdicts


def test_every_post_is_placed_or_listed_with_its_label(replicated: dict[str, Any], posts: pd.DataFrame) -> None:
    sizes = posts["phase"].value_counts()
    for one in replicated["placements"]:
        assert one["placed"] + len(one["unplaced"]) == one["posts"]
        assert all(item["item"] and item["label"] and item["why"] for item in one["unplaced"])
    by_table = {placement["table"]: placement for placement in replicated["placements"]}
    assert by_table["5"]["posts"] == sizes["D"]
    assert by_table["9"]["posts"] == sizes["T"]
    assert by_table["7"]["posts"] == posts["object"].isin(["M1", "M2", "M4"]).sum() == by_table["8"]["posts"]
    shares = [placement["placed"] / placement["posts"] for placement in replicated["placements"]]
    assert np.mean(shares) > 0.95


def test_unread_and_rejected_rows_are_counted(replicated: dict[str, Any]) -> None:
    assert (replicated["posts"], replicated["rejected"], replicated["unread"]) == (1600, 0, [])
