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


def told(folder: Path, *words: str, code: int = 0) -> Any:
    done = in_this_process("interview", "names", *words, "--json", "--study", folder)
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def refused(folder: Path, *words: str) -> QuaestorError:
    done = in_this_process("interview", *words, "--study", folder)
    assert isinstance(done.exception, QuaestorError), done.output
    return done.exception


def test_from_a_name_to_a_transcript_without_it(folder: Path) -> None:
    assert "No known name remains" in run(folder, "names", "remaining")
    made = told(folder, "add", "organisation", "--form", "Obviax")
    assert (made["shown"], made["found"]) == ("[organisation A]", 3)
    assert "[person 1]" in run(folder, "names", "add", "person", "--form", "Wexla Brimm")
    left = told(folder, "remaining", code=1)["remaining"]
    assert [one["shown"] for one in left] == ["[organisation A]", "[organisation A]", "[person 1]"]
    assert "Obviax" not in run(folder, "names", "remaining", code=1)
    stopped = refused(folder, "items")
    assert isinstance(stopped, StateError)
    assert stopped.exit_code == 2
    assert "the turn P1/00000 ([organisation A])" in str(stopped)
    assert "Obviax" not in str(stopped)
    first, second, third, doubted = told(folder, "find")["places"]
    assert [one["words"] for one in (first, second, third, doubted)] == ["Obviax", "Obviax", "Wexla", "Obviac"]
    assert (doubted["sure"], doubted["why"]) == (False, "one letter differs")
    assert told(folder, "confirm", first["place"]) == {"answered": 1, "confirmed": True}
    assert "1 place refused" in run(folder, "names", "refuse", doubted["place"])
    assert "2 places replaced" in run(folder, "names", "confirm", "--all")
    assert told(folder, "list")["names"][0] | {"forms": []} == {
        "id": "organisation-1", "kind": "organisation", "forms": [], "shown": "[organisation A]",
        "open": 0, "doubtful": 0, "confirmed": 2, "refused": 1,
    }  # fmt: skip
    assert "with [person 1]." in run(folder, "transcript", "P1")
    assert run(folder, "names", "looked", "P1")
    assert "of 1 participants" in run(folder, "items")


def test_names_are_changed_listed_and_removed(folder: Path) -> None:
    run(folder, "names", "add", "organisation", "--form", "Obviax", "--ending", "ity")
    run(folder, "names", "confirm", "--all")
    assert told(folder, "change", "organisation A", "--shown", "[their employer]")["endings"] == ["ity"]
    assert "at [their employer], with Wexla" in run(folder, "transcript", "P1")
    assert "Obviax" in run(folder, "names", "list")
    assert "[their employer]" in run(folder, "names", "find", "--state", "confirmed")
    run(folder, "names", "remove", "[their employer]")
    assert told(folder, "list")["names"] == []


def test_what_cannot_be_done_is_refused_in_a_sentence(folder: Path) -> None:
    assert "say which places are meant" in str(refused(folder, "names", "confirm"))
    assert "there is no kind of names 'people'" in str(refused(folder, "names", "add", "people", "--form", "Wexla"))
    assert "no name was given" in str(refused(folder, "names", "add", "person"))
    assert "no name is shown as 'person 7'" in str(refused(folder, "names", "find", "--name", "person 7"))
    assert "not the lead" in str(refused(folder, "names", "list", "--as", "rater-1"))


def test_help_shows_what_stands_in_brackets() -> None:
    assert "[person 1]" in " ".join(in_this_process("interview", "names", "add", "--help").output.split())
    assert '"[their manager]"' in " ".join(in_this_process("interview", "names", "change", "--help").output.split())
