"""Participants of interviews on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import in_this_process
from tests.support.reading_elsewhere import read_elsewhere
from tests.support.small_interviews import a_study, with_transcript

from quaestor.base.errors import QuaestorError
from quaestor.interviews.participants.consent import asked_by
from quaestor.interviews.repository import open_interviews
from quaestor.study.folder import open_study

NAMED = ("--name", "Wilhelmina Xanthe", "--email", "w.xanthe@example.org", "--telephone", "+41 555 0199")
TELLING = ("Xanthe", "w.xanthe", "555 0199")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    a_study(tmp_path)
    return tmp_path


def run(folder: Path, *words: str) -> str:
    """What `quaestor interview WORDS` prints."""
    done = in_this_process("interview", *words, "--study", folder)
    assert done.exit_code == 0, done.output
    return done.output


def refused(folder: Path, *words: str) -> str:
    """Why it does not do it."""
    done = in_this_process("interview", *words, "--study", folder)
    assert isinstance(done.exception, QuaestorError), done.output
    return f"{done.output}{done.exception}"


def told(folder: Path, *words: str) -> Any:
    done = in_this_process("interview", *words, "--json", "--study", folder)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_from_the_first_word_to_a_planned_interview(folder: Path) -> None:
    made = told(folder, "participant", "add", "--role", "engineer", "--years", "7", "--field", "runtimes")
    assert made == {"pseudonym": "P1", "role": "engineer", "years": 7.0, "field": "runtimes", "synthetic": False}
    assert told(folder, "participant", "change", "P1", "--years", "8")["years"] == 8.0
    assert told(folder, "participant", "change", "P1", "--years", "")["years"] is None
    assert told(folder, "participant", "consent", "P1")["consent"] is None
    given = told(folder, "participant", "consent", "P1", "accepted", "--how", "on paper")
    assert (given["consent"], given["version"], given["how"], given["in_force"]) == ("accepted", 1, "on paper", 1)
    listed = told(folder, "participant", "list")
    assert [(one["pseudonym"], one["consent"]["consent"]) for one in listed["participants"]] == [("P1", "accepted")]
    assert "accepted, version 1" in run(folder, "participant", "list")
    assert "the role has" in refused(folder, "participant", "add", "--role", "x" * 300)


def test_a_link_is_printed_once_and_opens(folder: Path) -> None:
    run(folder, "participant", "add")
    made = told(folder, "participant", "link", "P1", "--address", "https://study.example.org/desk/")["link"]
    address, _, code = made.rpartition("/")
    assert address == "https://study.example.org/desk/c"
    with open_interviews(open_study(folder)) as room:
        assert asked_by(room, code) is not None
    assert code not in run(folder, "participant", "list")
    assert "write it as http" in refused(folder, "participant", "link", "P1", "--address", "study")


def test_how_to_reach_somebody_is_printed_by_one_command_alone(folder: Path) -> None:
    run(folder, "participant", "add")
    said = run(folder, "participant", "contact", "set", "P1", *NAMED)
    run(folder, "participant", "contact", "set", "P1", "--more", "In the morning.")
    shown = told(folder, "participant", "contact", "show", "P1")
    assert (shown["email"], shown["more"]) == ("w.xanthe@example.org", "In the morning.")
    assert "name: Wilhelmina Xanthe" in run(folder, "participant", "contact", "show", "P1")
    others = [said, run(folder, "participant", "list"), run(folder, "participant", "consent", "P1")]
    others += [json.dumps(told(folder, "participant", "list")), in_this_process("status", "--study", folder).output]
    others.append(refused(folder, "participant", "contact", "show", "P1", "--as", "rater-1"))
    others.append(refused(folder, "participant", "contact", "set", "P1", "--email", "w.xanthe at home"))
    assert not [word for word in TELLING for one in others if word in one]
    run(folder, "participant", "contact", "forget", "P1")
    assert "not known" in run(folder, "participant", "contact", "show", "P1")


@pytest.mark.slow
def test_while_another_program_reads_the_files_it_does_not_say_that_somebody_is_erased(folder: Path) -> None:
    with open_interviews(open_study(folder)) as room:
        with_transcript(room)
        with_transcript(room)
    with read_elsewhere(folder / "interviews.db", folder / "identities.db"):
        done = in_this_process("interview", "participant", "withdraw", "P1", "--yes", "--study", folder)
        assert (done.exit_code, "P1 is erased" in done.output) == (1, False)
        assert "can still be found in the bytes of identities.db and interviews.db" in done.output
        done = in_this_process("interview", "participant", "withdraw", "P2", "--yes", "--json", "--study", folder)
        assert (done.exit_code, json.loads(done.stdout)["pending"]) == (1, True)
    assert told(folder, "participant", "withdraw", "P1", "--yes")["pending"] is False


def test_nobody_is_erased_by_mistake(folder: Path) -> None:
    with open_interviews(open_study(folder)) as room:
        with_transcript(room)
    declined = in_this_process("interview", "participant", "consent", "P1", "declined", "--study", folder).output
    assert "may quote them until it is made anew" in declined
    assert "nothing was erased" in refused(folder, "participant", "withdraw", "P1")
    done = told(folder, "participant", "withdraw", "P1", "--yes")
    assert (done["participant"], done["interviews"], done["published"]) == ("P1", ["P1"], False)
    assert "P1 withdrew on" in run(folder, "participant", "list")
    assert "P1 has withdrawn on" in refused(folder, "participant", "consent", "P1")


def test_a_changed_agreement_is_put_in_force_by_a_command(folder: Path) -> None:
    assert "instruments/agreement.md waits" in run(folder, "agreement")
    run(folder, "participant", "add")
    run(folder, "participant", "consent", "P1", "accepted")
    (folder / "instruments" / "agreement.md").write_text("Another text.", "utf-8")
    assert told(folder, "agreement")["changed"]
    used = told(folder, "agreement", "--use")
    assert ([one["version"] for one in used["versions"]], used["changed"]) == ([1, 2], False)
    assert "ask again for 2" in run(folder, "participant", "list")


def test_the_status_of_a_study_tells_how_far_its_interviews_are(folder: Path) -> None:
    def status() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(in_this_process("status", "--json", "--study", folder).stdout)
        return found

    assert status()["next"] == "quaestor interview participant add"
    with open_interviews(open_study(folder)) as room:
        with_transcript(room)
    stage = next(one for one in status()["stages"] if one["name"] == "interviews")
    assert (stage["state"], stage["detail"]) == ("done", "1 take part, 1 agreed, 0 held, 1 transcribed")
