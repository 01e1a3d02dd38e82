"""`quaestor round add` and `round remove`: checked before anything is written, and told what it would be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import in_this_process
from tests.support.small_study import small_study

from quaestor.base.errors import QuaestorError
from quaestor.study.folder import open_study

ADD = ("round", "add", "second", "--kind", "pilot", "--items", "sample=pilot", "--facet", "relevance", "--rater", "a")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_study(tmp_path / "study").root


def run(folder: Path, *arguments: str) -> str:
    done = in_this_process(*arguments, "--study", folder)
    if done.exception is not None:
        raise done.exception
    return done.stdout


def test_a_round_is_added_with_all_it_says_and_taken_away_again(folder: Path) -> None:
    before = (folder / "study.toml").read_bytes()
    more = (
        "--rater",
        "b",
        "--overlap",
        "0.5",
        "--no-blind",
        "--threshold",
        "0.7",
        "--deadline",
        "2031-01-02",
        "--json",
    )
    told = json.loads(run(folder, *ADD, *more))
    assert (told["round"], told["items"], told["shared"], told["hindrance"]) == ("second", 4, 2, "")
    assert [(share["rater"], share["items"]) for share in told["shares"]] == [("a", 3), ("b", 3)]
    one = open_study(folder).settings.rounds[-1]
    assert (one.raters, one.overlap, one.blind, one.threshold) == (("a", "b"), 0.5, False, 0.7)
    assert one.deadline is not None
    assert one.deadline.isoformat() == "2031-01-02T23:59:59+00:00"
    assert not (folder / "study.db").exists()
    run(folder, "round", "remove", "second")
    assert (folder / "study.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--settle", "two-step"), "needs a tie_breaker"),
        (("--facet", "x"), "facets is 'x'"),
        (("--as", "a"), "not the lead"),
    ],
)
def test_what_cannot_be_a_round_is_refused(folder: Path, more: tuple[str, ...], words: str) -> None:
    before = (folder / "study.toml").read_bytes()
    with pytest.raises(QuaestorError, match=words):
        run(folder, *ADD, *more)
    assert (folder / "study.toml").read_bytes() == before
