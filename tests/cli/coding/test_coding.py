"""Coding on the command line: two raters from the codebook to decisions, and wrong calls with one-sentence errors."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from tests.support.command_line import quaestor
from tests.support.small_study import ITEMS, small_study


class Shell:
    """A terminal in a study folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str) -> CompletedProcess[str]:
        return quaestor(*arguments, cwd=self.folder)

    def json(self, *arguments: str) -> Any:
        done = self(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def refusal(self, *arguments: str) -> str:
        done = self(*arguments)
        assert done.returncode == 2, done.stdout + done.stderr
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1, done.stderr
        return done.stderr


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    small_study(tmp_path / "study")
    return Shell(tmp_path / "study")


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A study that no test changes."""
    folder = tmp_path_factory.mktemp("untouched")
    small_study(folder)
    return Shell(folder)


def test_a_pair_of_raters_goes_from_the_codebook_to_decisions(shell: Shell, tmp_path: Path) -> None:
    assert "Next: quaestor codebook import" in shell("status").stdout
    assert shell.json("codebook", "import")["version"] == 1
    assert shell.json("round", "open", "pilot")["items"] == 4
    shown = shell.json("ratings", "next", "pilot", "--as", "rater-1")
    assert shown["instructions"] == "Read the title."
    assert "relevance" in shell("ratings", "next", "pilot", "--as", "rater-1").stdout
    rating = shell.json(
        "ratings", "give", "pilot", shown["item"], "relevance=keep", "--as", "rater-1", "--memo", "clear"
    )
    assert rating["left"] == 3
    items = shell.json("round", "items", "pilot", "--as", "rater-1")
    rows = ["item,rater,relevance"]
    for number, entry in enumerate(items):
        second = "exclude: crash" if number == 0 else "keep"
        rows += [f"{entry['item']},rater-1,keep", f"{entry['item']},rater-2,{second}"]
    (tmp_path / "ratings.csv").write_text("\n".join(rows), "utf-8")
    imported = shell.json("ratings", "import", "pilot", str(tmp_path / "ratings.csv"))
    assert (imported["given"], imported["known"]) == (7, 1), "one was given before"
    assert "8 were known already" in shell("ratings", "import", "pilot", str(tmp_path / "ratings.csv")).stderr
    assert shell.json("round", "close", "pilot")["missing"] == 0
    agreement = shell.json("agreement", "--round", "pilot", "--yes")
    assert (agreement["n"], agreement["percent"], agreement["passed"], agreement["simulated"]) == (
        4,
        0.75,
        False,
        False,
    )
    assert "threshold of 0.4 for kappa not reached" in shell("agreement", "--round", "pilot").stdout
    (disagreement,) = shell.json("decisions", "list", "pilot")
    assert disagreement["answers"] == [["rater-1", "keep"], ["rater-2", "exclude: crash"]]
    assert shell.json("decisions", "agree", "pilot") == {"decided": 0}, "closing the round recorded them"
    item = disagreement["item"]
    shell.json("decisions", "comment", "pilot", item, "it is a crash", "--as", "rater-2")
    settle = ("decisions", "settle", "pilot", item, "exclude: crash", "--how", "discussion", "--as", "rater-1")
    assert shell.json(*settle) == {"recorded": True, "settled": False}
    waiting = shell("decisions", "list", "pilot")
    assert "proposed: exclude: crash  (assents: rater-1)" in waiting.stdout
    assert "1 case, 0 settled" in waiting.stderr
    assert "already assented" in shell.refusal("decisions", "assent", "pilot", item, "--as", "rater-1")
    assert shell.json("decisions", "assent", "pilot", item, "--as", "rater-2") == {"recorded": True, "settled": True}
    assert "1 case, 1 settled" in shell("decisions", "list", "pilot").stderr
    exported = shell("decisions", "export", "pilot").stdout
    assert exported.count("agreement") == 3
    assert "discussion" in exported
    assert "answer: keep" not in shell.refusal("round", "open", "main")
    shell.json("round", "waive", "pilot", "--reason", "too few")
    assert shell.json("round", "open", "main")["items"] == 12
    assert "round main" in shell("status").stdout


def test_the_codebook_is_changed_compared_and_changed_back(shell: Shell, tmp_path: Path) -> None:
    shell.json("codebook", "import")
    shell.json("codebook", "add", "setting/layer", "--facet", "issue", "--parent", "setting", "--name", "layer")
    shell.json("codebook", "rename", "setting/layer", "a layer")
    shell.json("codebook", "redefine", "setting/layer", "--definition", "One part of a model.", "--key", "l")
    shell.json("codebook", "move", "setting/layer", "--parent", "training")
    shell.json("codebook", "merge", "setting/layer", "--into", "training/loss")
    shell.json("codebook", "split", "training/loss", "--part", "a=custom", "--part", "b=plain", "--otherwise", "b")
    shell.json("codebook", "retire", "a")
    assert shell.json("codebook", "undo", "8")["version"] == 9
    changes = shell.json("codebook", "log")
    assert [change["kind"] for change in changes][-2:] == ["retire", "undo"]
    assert [change["version"] for change in changes if change["undone"]] == [8]
    assert {difference["what"] for difference in shell.json("codebook", "diff", "1")} == {"added", "split"}
    assert "version 9" in shell("codebook", "show").stdout
    shell("codebook", "show", "--version", "2", "--out", str(tmp_path / "two.toml"))
    assert 'id = "setting/layer"' in (tmp_path / "two.toml").read_text("utf-8")
    assert shell.json("codebook", "show")["codes"][0]["id"] == "training"


def test_simulated_raters_need_synthetic_evidence(shell: Shell) -> None:
    shell.json("round", "open", "pilot")
    assert "simulated raters need a synthetic dump" in shell.refusal("synth", "ratings", "pilot")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["round", "open", "pillot"], "there is no round 'pillot'; choose from: pilot"),
        (["round", "close", "pilot"], "the round 'pilot' has not been opened, opened so far: none"),
        (["round", "open", "main"], "comes after 'pilot', which has not been opened: open and close that"),
        (["ratings", "next", "pilot", "--as", "x"], "the round 'pilot' has not been opened"),
        (["decisions", "list", "pilot"], "the round 'pilot' has not been opened"),
        (["agreement"], "no round has been closed yet"),
        (["agreement", "--against", "pilot"], "--against needs a ROUND"),
        (["codebook", "rename", "x", "y"], "there is no code 'x' in the codebook"),
        (["codebook", "split", "x", "--part", "a", "--otherwise", "a"], "write it as ID=name"),
        (["codebook", "redefine", "x"], "nothing to change: give at least one option"),
        (["codebook", "import", "nowhere.toml"], "nowhere.toml cannot be read"),
        (["codebook", "show", "--version", "7"], "has no version 7"),
        (["phrases", "curves", "pilot"], "the round 'pilot' has not been opened"),
        (["ratings", "import", "pilot", "nowhere.csv"], "the round 'pilot' has not been opened"),
    ],
)
def test_a_wrong_call_gives_a_one_sentence_error(untouched: Shell, arguments: list[str], expected: str) -> None:
    assert expected in untouched.refusal(*arguments)


def test_invalid_round_settings_are_refused_with_the_allowed_values(shell: Shell) -> None:
    file = shell.folder / "study.toml"
    text = file.read_text("utf-8")
    for old, new, expected in (
        ('facets = ["relevance"]', 'facets = ["relevanse"]', "rounds[0].facets is 'relevanse'; choose from: relevance"),
        ('after = "pilot"', 'after = "later"', "rounds[1].after is 'later'; choose from: pilot"),
        ('tie_breaker = "tie-breaker"', 'tie_breaker = "rater-1"', "cannot be its tie-breaker"),
        ("items = { sample", 'items = { after = "how-to", sample', "items need exactly one of"),
        ('kind = "pilot"', 'kind = "trial"', "rounds[0].kind is 'trial'; choose from: pilot"),
        ('codes = "issue"', 'options = ["a"]', "level needs codes"),
        ("threshold = 0.4", "treshold = 0.4", "rounds[0].treshold is not a known key, allowed here: threshold"),
    ):
        assert old in text
        file.write_text(text.replace(old, new, 1), "utf-8")
        assert expected in shell.refusal("round", "list")
    assert ITEMS
