"""Names in transcripts on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import in_this_process
from tests.support.small_interviews import a_study, with_transcript

from quaestor.base.errors import QuaestorError, StateError
from quaestor.interviews.repository import open_interviews

TURNS = (("Interviewer", "At Obviax?"), ("Guest", "Yes, at Obviax, with Wexla. I mean Obviac."))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_interviews(a_study(tmp_path)) as room:
        with_transcript(room, turns=TURNS)
    return tmp_path


def run(folder: Path, *words: str, code: int = 0) -> str:
    done = in_this_process("interview", *words, "--study", folder)
    assert done.exit_code == code, done.output
    return done.output


def run_json(folder: Path, *words: str, code: int = 0) -> Any:
    done = in_this_process("interview", "names", *words, "--json", "--study", folder)
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def refusal(folder: Path, *words: str) -> QuaestorError:
    done = in_this_process("interview", *words, "--study", folder)
    assert isinstance(done.exception, QuaestorError), done.output
    return done.exception


def test_a_name_is_added_found_and_replaced_in_a_transcript(folder: Path) -> None:
    assert "No known names remain" in run(folder, "names", "remaining")
    added = run_json(folder, "add", "organisation", "--form", "Obviax")
    assert (added["shown"], added["found"]) == ("[organisation A]", 3)
    assert "[person 1]" in run(folder, "names", "add", "person", "--form", "Wexla Brimm")
    remaining = run_json(folder, "remaining", code=1)["remaining"]
    assert [place["shown"] for place in remaining] == ["[organisation A]", "[organisation A]", "[person 1]"]
    assert "Obviax" not in run(folder, "names", "remaining", code=1)
    stopped = refusal(folder, "items")
    assert isinstance(stopped, StateError)
    assert stopped.exit_code == 2
    assert "the turn P1/00000 ([organisation A])" in str(stopped)
    assert "Obviax" not in str(stopped)
    first, second, third, doubtful = run_json(folder, "find")["places"]
    assert [place["words"] for place in (first, second, third, doubtful)] == ["Obviax", "Obviax", "Wexla", "Obviac"]
    assert (doubtful["sure"], doubtful["why"]) == (False, "one letter differs")
    assert run_json(folder, "confirm", first["place"]) == {"answered": 1, "confirmed": True}
    assert "1 match refused" in run(folder, "names", "refuse", doubtful["place"])
    assert "2 matches replaced" in run(folder, "names", "confirm", "--all")
    assert run_json(folder, "list")["names"][0] | {"forms": []} == {
        "id": "organisation-1", "kind": "organisation", "forms": [], "shown": "[organisation A]",
        "open": 0, "doubtful": 0, "confirmed": 2, "refused": 1,
    }  # fmt: skip
    assert "with [person 1]." in run(folder, "transcript", "P1")
    assert run(folder, "names", "looked", "P1")
    assert "from 1 participant" in run(folder, "items")


def test_names_are_changed_listed_and_removed(folder: Path) -> None:
    run(folder, "names", "add", "organisation", "--form", "Obviax", "--ending", "ity")
    run(folder, "names", "confirm", "--all")
    assert run_json(folder, "change", "organisation A", "--shown", "[their employer]")["endings"] == ["ity"]
    assert "at [their employer], with Wexla" in run(folder, "transcript", "P1")
    assert "Obviax" in run(folder, "names", "list")
    assert "[their employer]" in run(folder, "names", "find", "--state", "confirmed")
    run(folder, "names", "remove", "[their employer]")
    assert run_json(folder, "list")["names"] == []


def test_wrong_calls_are_refused_with_one_sentence(folder: Path) -> None:
    assert "name the matches as `names find` lists them" in str(refusal(folder, "names", "confirm"))
    assert "there is no kind of name 'people'" in str(refusal(folder, "names", "add", "people", "--form", "Wexla"))
    assert "no name was given" in str(refusal(folder, "names", "add", "person"))
    assert "no name has the replacement 'person 7'" in str(refusal(folder, "names", "find", "--name", "person 7"))
    assert "not the lead" in str(refusal(folder, "names", "list", "--as", "rater-1"))


def test_help_shows_brackets_literally() -> None:
    assert "[person 1]" in " ".join(in_this_process("interview", "names", "add", "--help").output.split())
    assert '"[their manager]"' in " ".join(in_this_process("interview", "names", "change", "--help").output.split())
