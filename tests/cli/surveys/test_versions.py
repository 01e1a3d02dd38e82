"""`quaestor survey check`, `open`, `merge` and `results` of a questionnaire that changed while people answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.command_line import quaestor
from tests.support.small_survey import Form, answered, fielded

from quaestor.study.folder import open_study
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.results.compute import survey_results

NAME = "work"
TEXT = """
[survey]
title = "Work"

[[pages]]
page = "consent"
questions = [{ id = "consent", kind = "consent", text = "May we?" }]

[[pages]]
page = "all"

[[pages.questions]]
id = "often"
kind = "single"
text = "How often do you convert?"
# The steps of the scale.
options = ["Never", "Sometimes", "Often"]

[[pages.questions]]
id = "tools"
kind = "multiple"
text = "Which tools?"
options = ["ONNX", "TVM"]

[[pages.questions]]
id = "wait"
kind = "number"
text = "How long do you wait?"
unit = "hours"
"""
REWORDED = TEXT.replace('"Sometimes"', '"Now and then"').replace('"hours"', '"days"').replace('"TVM"', '"TVM", "MLIR"')
FORMS: Mapping[str, Form] = {
    "consent": {"q.consent": ["agree"]},
    "all": {"q.often": ["sometimes"], "q.tools": ["onnx", "tvm"], "q.wait": ["48"]},
}
QUESTION = "8 people chose “Sometimes”; is “Now and then” the same option, reworded?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "study"
    with fielded(root, TEXT, NAME) as surveys:
        for _ in range(8):
            answered(surveys, NAME, FORMS)
    (root / "instruments" / f"{NAME}.toml").write_text(REWORDED, "utf-8")
    return root


def shares(root: Path, question: str) -> dict[str, tuple[int, int]]:
    with open_surveys(open_study(root)) as surveys:
        result = survey_results(surveys, NAME).question(question)
    assert result is not None
    return {line.key: (line.share.count, line.share.of) for line in result.rows[0].lines}


def test_check_shows_what_an_edit_does_to_earlier_answers(folder: Path) -> None:
    done = quaestor("survey", "check", NAME, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"? often: {QUESTION}" in done.stdout
    assert "? wait: 8 people answered “How long do you wait?” in “hours”; the unit is now “days”" in done.stdout
    assert "- tools: the option “MLIR” is new; it is counted of those who are offered it." in done.stdout
    edits = json.loads(quaestor("survey", "check", NAME, "--json", cwd=folder).stdout)["edits"]
    keys = ("question", "part", "code", "answers", "new")
    assert [tuple(part[key] for key in keys) for part in edits["questions"]] == [
        ("often", "option", "sometimes", 8, ["now-and-then"]), ("wait", "unit", "hours", 8, ["days"])
    ]  # fmt: skip


def test_open_is_refused_until_it_is_said_what_was_reworded(folder: Path) -> None:
    refused = quaestor("survey", "open", NAME, cwd=folder)
    assert refused.returncode == 2
    assert QUESTION in refused.stderr
    assert "--same often.sometimes=now-and-then, or --different often.sometimes" in refused.stderr
    for options, words in (
        (["--same", "often.seldom=now-and-then"], "no longer has: often.sometimes, wait.hours"),
        (["--same", "often.sometimes=never", "--different", "wait.hours"], "'never' is not a new option of 'often'"),
        (["--same", "often.sometimes=now-and-then", "--convert", "wait=often"], "'often' is not a number"),
        (["--convert", "often=2"], "--convert often=2: write QUESTION=FACTOR"),
    ):
        done = quaestor("survey", "open", NAME, *options, cwd=folder)
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    with open_surveys(open_study(folder)) as surveys:
        assert surveys.fielding(NAME).version == 1


def test_what_is_the_same_keeps_its_code_in_the_file(folder: Path) -> None:
    done = quaestor(
        "survey", "open", NAME, "--same", "often.sometimes=now-and-then", "--convert", "wait=1/24", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    text = (folder / "instruments" / f"{NAME}.toml").read_text("utf-8")
    assert '["Never", {code = "sometimes", label = "Now and then"}, "Often"]' in text
    assert 'convert = {hours = "1/24"}' in text
    assert "# The steps of the scale." in text
    assert shares(folder, "often") == {"never": (0, 8), "sometimes": (8, 8), "often": (0, 8)}
    with open_surveys(open_study(folder)) as surveys:
        answered(surveys, NAME, {**FORMS, "all": {"q.often": ["sometimes"], "q.wait": ["2"]}})
        wait = survey_results(surveys, NAME).question("wait")
        (act,) = [act for act in surveys.coding.state.unhandled_acts if act.payload.get("version") == 2]
    assert wait is not None
    assert wait.numbers is not None
    assert (wait.base, wait.numbers.mean.value) == (9, 2)
    assert act.payload["same"] == [
        {"question": "often", "part": "option", "code": "sometimes", "as": "now-and-then"},
        {"question": "wait", "part": "unit", "code": "hours", "as": "1/24"},
    ]


def test_what_is_different_is_recorded_and_not_asked_again(folder: Path) -> None:
    done = quaestor("survey", "open", NAME, "--different", "often.sometimes", "--different", "wait.hours", cwd=folder)
    assert done.returncode == 0, done.stderr
    file = folder / "instruments" / f"{NAME}.toml"
    assert file.read_text("utf-8") == REWORDED
    file.write_text(REWORDED.replace("Which tools?", "Which of these tools?"), "utf-8")
    assert quaestor("survey", "open", NAME, cwd=folder).returncode == 0
    assert shares(folder, "often")["sometimes"] == (8, 8)


def test_open_asks_in_a_terminal(folder: Path) -> None:
    ours, theirs = os.openpty()
    os.write(ours, b"y\n1/24\n")
    command = [sys.executable, "-m", "quaestor.cli.main", "survey", "open", NAME]
    done = subprocess.run(command, cwd=folder, stdin=theirs, capture_output=True, text=True, timeout=60, check=False)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert f"{QUESTION} [y/N]:" in done.stdout
    assert "1 hours = ? days" in done.stdout
    assert shares(folder, "often")["sometimes"] == (8, 8)


CONDITIONAL = (
    TEXT.replace('title = "Work"', 'title = "Work"\nquotas = [{ of = "often = sometimes", most = 50 }]')
    + '\n[[pages]]\npage = "more"\nshow_if = "often = sometimes or met.crash answered"\n\n[[pages.questions]]\n'
    'id = "why"\nkind = "text"\ntext = "Why?"\nshow_if = "not (often = \\"sometimes\\") and met.crash = sometimes"\n'
).replace(
    '[[pages.questions]]\nid = "tools"',
    '[[pages.questions]]\nid = "met"\nkind = "matrix"\ntext = "What did you meet?"\ncentre = "sometimes"\n'
    'options = ["Never", "Sometimes", "Often"]\nrows = ["Crash", "Delay"]\n\n[[pages.questions]]\nid = "tools"',
)


@pytest.mark.parametrize("is_renamed_everywhere", [True, False])
def test_conditions_name_a_reworded_option_by_its_earlier_code(tmp_path: Path, is_renamed_everywhere: bool) -> None:
    root = tmp_path / "study"
    with fielded(root, CONDITIONAL, NAME) as surveys:
        everything = {**FORMS["all"], "q.met.crash": ["sometimes"]}
        answered(surveys, NAME, {**FORMS, "all": everything, "more": {}})
    file = root / "instruments" / f"{NAME}.toml"
    reworded = CONDITIONAL.replace('"Sometimes"', '"Now and then"').replace('"Crash"', '"Program crash"')
    if is_renamed_everywhere:
        reworded = reworded.replace("= sometimes", "= now-and-then").replace('\\"sometimes\\"', '\\"now-and-then\\"')
        reworded = reworded.replace('centre = "sometimes"', 'centre = "now-and-then"').replace(
            "met.crash", "met.program-crash"
        )
    file.write_text(reworded, "utf-8")
    check = quaestor("survey", "check", NAME, cwd=root)
    assert check.returncode == (0 if is_renamed_everywhere else 1)
    assert ("errors that an earlier code does not exist then disappear" in check.stderr) != is_renamed_everywhere
    same = ("often.sometimes=now-and-then", "met.sometimes=now-and-then", "met.crash=program-crash")
    done = quaestor("survey", "open", NAME, *(word for pair in same for word in ("--same", pair)), cwd=root)
    assert done.returncode == 0, done.stderr
    text = file.read_text("utf-8")
    assert text.count("now-and-then") == text.count("program-crash") == 0
    for unchanged in (
        'of = "often = sometimes"', 'show_if = "often = sometimes or met.crash answered"', 'centre = "sometimes"',
        'and met.crash = sometimes"',
    ):  # fmt: skip
        assert unchanged in text


def test_open_says_what_the_answers_lead_to(folder: Path) -> None:
    check = quaestor("survey", "check", NAME, cwd=folder)
    assert "“Now and then” is new" not in check.stdout
    done = quaestor(
        "survey", "open", NAME, "--same", "often.sometimes=now-and-then", "--different", "wait.hours", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert "“Now and then” is new" not in done.stderr
    assert (
        "often: “Sometimes” now reads “Now and then”; its 8 answers stay, and both wordings are shown." in done.stderr
    )
    assert "wait: the unit was “hours”; its 8 answers are counted separately." in done.stderr
    file = folder / "instruments" / f"{NAME}.toml"
    file.write_text(file.read_text("utf-8").replace("Which tools?", "Which of these tools?"), "utf-8")
    assert quaestor("survey", "open", NAME, cwd=folder).stderr.splitlines() == [
        "tools: the text changed; earlier answers are counted with new ones, and both texts are shown.",
        "work is open in version 3: `quaestor serve` shows it at /s/work",
    ]


def test_a_version_that_offers_two_merged_options_is_not_opened(folder: Path) -> None:
    quaestor("survey", "open", NAME, "--different", "often.sometimes", "--different", "wait.hours", cwd=folder)
    quaestor("survey", "merge", NAME, "often", "sometimes", "now-and-then", cwd=folder)
    both = REWORDED.replace('"Now and then"', '"Now and then", "Sometimes"')
    (folder / "instruments" / f"{NAME}.toml").write_text(both, "utf-8")
    words = "often offers 'now-and-then' and 'sometimes', which are counted as one"
    assert words in quaestor("survey", "check", NAME, cwd=folder).stdout
    done = quaestor("survey", "open", NAME, cwd=folder)
    assert done.returncode == 2
    assert words in done.stderr
    assert "survey merge work … --undo" in done.stderr
    assert shares(folder, "often")["now-and-then"] == (8, 8)


def test_options_are_merged_on_record_and_separated_again(folder: Path) -> None:
    quaestor("survey", "open", NAME, "--different", "often.sometimes", "--different", "wait.hours", cwd=folder)
    done = quaestor("survey", "merge", NAME, "often", "sometimes", "now-and-then", cwd=folder)
    assert (done.returncode, done.stderr.strip()) == (0, "“Sometimes” is counted as “Now and then” in often")
    assert shares(folder, "often") == {"never": (0, 8), "now-and-then": (8, 8), "often": (0, 8)}
    assert quaestor("survey", "merge", NAME, cwd=folder).stdout.strip() == "often.sometimes → now-and-then"
    undone = quaestor("survey", "merge", NAME, "often", "sometimes", "--undo", "--json", cwd=folder)
    assert json.loads(undone.stdout) == {"survey": NAME, "merges": []}
    assert shares(folder, "often")["sometimes"] == (8, 8)
    wrong = quaestor("survey", "merge", NAME, "often", "sometimes", cwd=folder)
    assert wrong.returncode == 2
    assert "name QUESTION, OLD and NEW to merge" in wrong.stderr


def test_results_are_filtered_and_say_which_groups_overlap(folder: Path) -> None:
    done = quaestor("survey", "results", NAME, "--by", "tools", "--where", "version=1", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "8 responses are counted, where version=1." in done.stdout
    assert "Compared by “Which tools?”: ONNX (8), TVM (8). A response may be in several of these groups" in done.stdout
    wrong = quaestor("survey", "results", NAME, "--where", "version=4", cwd=folder)
    assert wrong.returncode == 2
    assert "unknown answer to 'version': '4', available: 1" in wrong.stderr
