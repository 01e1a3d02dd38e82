"""`quaestor round add` and `round remove`: settings are checked before they are written, and the round is previewed."""

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


def test_a_round_is_added_with_all_options_and_removed_again(folder: Path) -> None:
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
    summary = json.loads(run(folder, *ADD, *more))
    assert (summary["round"], summary["items"], summary["shared"], summary["hindrance"]) == ("second", 4, 2, "")
    assert [(share["rater"], share["items"]) for share in summary["shares"]] == [("a", 3), ("b", 3)]
    settings = open_study(folder).settings.rounds[-1]
    assert (settings.raters, settings.overlap, settings.blind, settings.threshold) == (("a", "b"), 0.5, False, 0.7)
    assert settings.deadline is not None
    assert settings.deadline.isoformat() == "2031-01-02T23:59:59+00:00"
    assert not (folder / "study.db").exists()
    run(folder, "round", "remove", "second")
    assert (folder / "study.toml").read_bytes() == before


def test_a_round_of_some_of_what_is_left_says_how_its_items_are_drawn(folder: Path) -> None:
    run(folder, "codebook", "import")
    run(folder, "round", "open", "pilot")
    more = ("--items", "after=how-to", "--without", "pilot", "--size", "5", "--facet", "relevance", "--rater", "a")
    selection = "5 of 8 items after 'how-to', not in pilot, drawn with seed 4"
    assert json.loads(run(folder, "round", "add", "rest", *more, "--json"))["selection"] == selection
    assert json.loads(run(folder, "round", "open", "rest", "--json"))["selection"] == selection
    drawn = json.loads(run(folder, "sample", "--step", "how-to", "--without", "pilot", "--size", "3", "--json"))
    assert (drawn["population"], drawn["without"]) == (8, ["pilot"])


def test_a_round_covers_the_items_that_meet_conditions(folder: Path) -> None:
    run(folder, "codebook", "import")
    run(folder, "round", "open", "pilot")
    more = ("--items", "after=how-to", "--where", "round=pilot", "--facet", "relevance", "--rater", "a")
    added = json.loads(run(folder, "round", "add", "same", *more, "--json"))
    assert (added["items"], added["selection"]) == (4, "4 items after 'how-to', with round = pilot")
    with pytest.raises(QuaestorError, match=r"where.attributes is 'framework', but none is defined"):
        run(folder, "round", "add", "other", *more, "--where", "framework=torch")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (("--settle", "two-step"), "needs a tie_breaker"),
        (("--facet", "x"), "facets is 'x'"),
        (("--as", "a"), "not the lead"),
    ],
)
def test_an_invalid_round_is_refused(folder: Path, more: tuple[str, ...], expected: str) -> None:
    before = (folder / "study.toml").read_bytes()
    with pytest.raises(QuaestorError, match=expected):
        run(folder, *ADD, *more)
    assert (folder / "study.toml").read_bytes() == before
