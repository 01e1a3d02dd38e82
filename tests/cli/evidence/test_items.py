"""`quaestor items`: the command line finds the same items as the pages, and refuses wrong searches."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.support.command_line import in_this_process
from tests.support.searched_study import ITEMS, searched_study, with_settled_round

from quaestor.study.folder import Study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return with_settled_round(searched_study(tmp_path_factory.mktemp("items") / "study"))


def items(study: Study, *words: str) -> list[dict[str, object]]:
    result = in_this_process("items", *words, "--json", "--study", study.root)
    assert result.exit_code == 0, result.output
    rows: list[dict[str, object]] = json.loads(result.stdout)
    return rows


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (["--search", "layer -keras"], [7]),
        (["--tag", "pytorch", "--year", "2017"], [4]),
        (["--code", "loss"], [1]),
        (["--facet", "phase", "--code", "training", "--search", "freez*"], [2, 4]),
        (["--disagreement", "settled"], [3, 4]),
        (["--round", "main", "--limit", "2"], [1, 2]),
        (["--tag", "keras", "--step", "viewed", "--dropped"], [6]),
    ],
)
def test_every_option_narrows_the_search(study: Study, words: list[str], numbers: list[int]) -> None:
    assert sorted(str(row["item"]) for row in items(study, *words)) == [ITEMS[number - 1] for number in numbers]


def test_all_matches_are_written_to_a_file(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "found.csv"
    result = in_this_process("items", "--search", "how", "--limit", "1", "--out", out, "--study", study.root)
    assert result.exit_code == 0, result.output
    with out.open(encoding="utf-8", newline="") as file:
        assert [row["item"] for row in csv.DictReader(file)] == ITEMS[:6]


@pytest.mark.parametrize("words", [["--search", "***"], ["--disagreement", "no"], ["--code", "nothing like it"]])
def test_a_wrong_search_is_refused(study: Study, words: list[str]) -> None:
    result = in_this_process("items", *words, "--study", study.root)
    assert result.exit_code != 0
    assert "Traceback" not in result.output
