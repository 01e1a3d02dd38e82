"""`quaestor survey`: check, preview, open, follow and close surveys."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.command_line import PLAIN, in_this_process
from tests.support.small_survey import NAME, imported

from quaestor.base.errors import QuaestorError
from quaestor.study.templates import new_study

SOUND = """
[survey]
title = "Tools [of] ours"

[research]
rq1 = "Which tools?"

[[pages]]
page = "start"
[[pages.questions]]
id = "consent"
kind = "consent"
text = "May we?"

[[pages]]
page = "tools"
[[pages.questions]]
id = "onnx"
kind = "yes-no"
text = "Do you use ONNX?"

[[pages]]
page = "more"
show_if = "onnx = yes"
[[pages.questions]]
id = "why"
kind = "text"
text = "Why?"
"""


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def quaestor(*arguments: str, cwd: Path) -> Done:
    """Runs a command in this process, which is faster than starting another one."""
    done = in_this_process(*arguments, "--study", cwd, **PLAIN)
    if isinstance(done.exception, QuaestorError):
        return Done(done.exception.exit_code, done.stdout, f"{done.exception}\n")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = new_study(tmp_path / "study", "blank")
    (root / "instruments").mkdir(exist_ok=True)
    (root / "instruments" / "tools.toml").write_text(SOUND, "utf-8")
    return root


def test_a_check_lists_problems_and_whether_the_survey_can_be_opened(folder: Path) -> None:
    done = quaestor("survey", "check", "tools", cwd=folder)
    assert done.returncode == 0
    assert "Tools [of] ours: 3 pages, 3 questions, about 1 min" in done.stdout
    assert "research rq1" in done.stdout
    assert "It can be opened; consider the warnings" in done.stderr
    file = folder / "instruments" / "tools.toml"
    file.write_text(SOUND.replace("onnx = yes", "onyx = yes"), "utf-8")
    wrong = quaestor("survey", "check", "tools", cwd=folder)
    assert wrong.returncode == 1
    assert "error    page more" in wrong.stdout
    assert "It cannot be opened until this error is fixed" in wrong.stderr
    document = json.loads(quaestor("survey", "check", str(file), "--json", cwd=folder.parent).stdout)
    assert (document["survey"], document["pages"], document["questions"], document["grave"]) == ("tools", 3, 3, 1)
    assert [sorted(problem) for problem in document["problems"]] == [["grave", "where", "words"]] * 2
    refused = quaestor("survey", "open", "tools", cwd=folder)
    assert refused.returncode == 2
    assert "depends on 'onyx', which is not a question" in refused.stderr
    assert "quaestor survey check tools" in refused.stderr


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("tols", SOUND, "there is no questionnaire 'tols'"),
        ("none.toml", SOUND, "none.toml does not exist"),
        ("tools", SOUND.replace("[survey]", "[survey"), "is not valid TOML"),
        ("tools", SOUND.replace('kind = "text"', 'kind = "txt"'), "question why, kind"),
        ("tools", SOUND.replace("onnx = yes", "onnx is yes"), "cannot be read at 'onnx'"),
    ],
)
def test_an_unreadable_questionnaire_is_refused_in_one_sentence(
    folder: Path, name: str, text: str, complaint: str
) -> None:
    (folder / "instruments" / "tools.toml").write_text(text, "utf-8")
    for command in ("check", "preview"):
        done = quaestor("survey", command, name, cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert complaint in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_preview_lists_every_path(folder: Path) -> None:
    done = quaestor("survey", "preview", "tools", cwd=folder)
    assert done.returncode == 0
    assert "Path 1 of 3, to the end: 3 questions, about 1 min" in done.stdout
    assert "Path 3 of 3, ends early, declined: 1 question" in done.stdout
    assert "onnx: Do you use ONNX? → Yes" in done.stdout
    document = json.loads(quaestor("survey", "preview", "tools", "--json", cwd=folder).stdout)
    assert document["whole"] is True
    assert [(path["standing"], path["ends_early"], len(path["pages"])) for path in document["paths"]] == [
        ("finished", False, 3),
        ("finished", False, 2),
        ("declined", True, 1),
    ]
    assert document["paths"][0]["answers"]["onnx"] == {"choices": ["yes"]}
    some = quaestor("survey", "preview", "tools", "--limit", "1", cwd=folder)
    assert "Path 1 of 1" in some.stdout
    assert "Only the first 1 paths are shown" in some.stderr


def test_a_survey_is_opened_followed_and_closed(folder: Path) -> None:
    listed = quaestor("survey", "status", cwd=folder)
    assert "draft" in listed.stdout
    assert not (folder / "study.db").exists()
    assert not (folder / "answers.db").exists()
    opened = json.loads(quaestor("survey", "open", "tools", "--json", cwd=folder).stdout)
    assert (opened["survey"], opened["status"], opened["version"]) == ("tools", "open", 1)
    again = quaestor("survey", "open", "tools", cwd=folder)
    assert (again.returncode, "nothing has changed" in again.stderr) == (2, True)
    file = folder / "instruments" / "tools.toml"
    file.write_text(SOUND.replace("Why?", "Why so?"), "utf-8")
    assert "open, file changed since" in quaestor("survey", "status", cwd=folder).stdout
    assert "is open in version 2" in quaestor("survey", "open", "tools", cwd=folder).stderr
    refused = quaestor("survey", "close", "tools", "--as", "rater-1", cwd=folder)
    assert (refused.returncode, "not the lead" in refused.stderr) == (2, True)
    closed = json.loads(quaestor("survey", "close", "tools", "--json", cwd=folder).stdout)
    assert (closed["status"], closed["version"], closed["erased"]) == ("closed", 2, 0)
    assert closed["responses"] == {"open": 0, "finished": 0, "screened out": 0, "declined": 0}
    assert json.loads(quaestor("survey", "status", "--json", cwd=folder).stdout) == [closed]
    assert "closed, version 2: no responses yet" in quaestor("status", cwd=folder).stdout


def test_a_study_without_questionnaires_prints_how_to_begin(folder: Path) -> None:
    (folder / "instruments" / "tools.toml").unlink()
    done = quaestor("survey", "status", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert "write instruments/NAME.toml" in done.stderr


def test_missing_translations_are_found(folder: Path) -> None:
    text = SOUND.replace('title = "Tools [of] ours"', 'title = "Tools"\nlanguages = ["en", "de"]').replace(
        'text = "Why?"', 'text = { en = "Why?" }'
    )
    (folder / "instruments" / "tools.toml").write_text(text, "utf-8")
    done = quaestor("survey", "check", "tools", cwd=folder)
    assert done.returncode == 0
    assert "why text in de is missing: add it, or respondents see it in en" in done.stdout
    assert "its text is the same in en and de: translate it" in done.stdout


def test_english_options_are_reported_for_a_language_without_built_in_texts(folder: Path) -> None:
    text = SOUND.replace('title = "Tools [of] ours"', 'title = "Tools"\nlanguages = ["en", "sv"]')
    (folder / "instruments" / "tools.toml").write_text(text, "utf-8")
    assert "its options are in English in sv" in quaestor("survey", "check", "tools", cwd=folder).stdout


def test_opening_reports_earlier_imported_responses(tmp_path: Path) -> None:
    study = imported(tmp_path / "study", 3)
    assert json.loads(quaestor("survey", "status", "--json", cwd=study.root).stdout)[0]["status"] == "imported"
    done = quaestor("survey", "open", NAME, cwd=study.root)
    assert done.returncode == 0
    assert "is open in version 1" in done.stderr
    assert "Results will include 3 imported responses" in done.stderr
    quaestor("survey", "close", NAME, cwd=study.root)
    assert "imported" not in quaestor("survey", "open", NAME, cwd=study.root).stderr
