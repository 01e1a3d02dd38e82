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
from quaestor.interviews.participants.consent import find_consent_request
from quaestor.interviews.repository import open_interviews
from quaestor.study.folder import open_study

NAMED = ("--name", "Wilhelmina Xanthe", "--email", "w.xanthe@example.org", "--telephone", "+41 555 0199")
IDENTIFYING = ("Xanthe", "w.xanthe", "555 0199")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    a_study(tmp_path)
    return tmp_path


def run(folder: Path, *words: str) -> str:
    """Returns the output of `quaestor interview WORDS`."""
    done = in_this_process("interview", *words, "--study", folder)
    assert done.exit_code == 0, done.output
    return done.output


def refusal(folder: Path, *words: str) -> str:
    """Returns the output and the error of a refused call."""
    done = in_this_process("interview", *words, "--study", folder)
    assert isinstance(done.exception, QuaestorError), done.output
    return f"{done.output}{done.exception}"


def run_json(folder: Path, *words: str) -> Any:
    done = in_this_process("interview", *words, "--json", "--study", folder)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_participant_is_added_changed_and_gives_consent(folder: Path) -> None:
    participant = run_json(folder, "participant", "add", "--role", "engineer", "--years", "7", "--field", "runtimes")
    assert participant == {
        "pseudonym": "P1", "role": "engineer", "years": 7.0, "field": "runtimes", "synthetic": False, "attributes": {}
    }  # fmt: skip
    assert run_json(folder, "participant", "change", "P1", "--years", "8")["years"] == 8.0
    assert run_json(folder, "participant", "change", "P1", "--years", "")["years"] is None
    assert run_json(folder, "participant", "consent", "P1")["consent"] is None
    consent = run_json(folder, "participant", "consent", "P1", "accepted", "--how", "e-mail of 3 May")
    assert (consent["consent"], consent["version"], consent["in_force"]) == ("accepted", 1, 1)
    listed = run_json(folder, "participant", "list")
    assert [(entry["pseudonym"], entry["consent"]["consent"]) for entry in listed["participants"]] == [
        ("P1", "accepted")
    ]
    assert listed["participants"][0]["consent"]["how"] == "e-mail of 3 May"
    assert "accepted, version 1" in run(folder, "participant", "list")
    assert "accepted, version 1, e-mail of 3 May" in run(folder, "participant", "consent", "P1")
    assert "the role has" in refusal(folder, "participant", "add", "--role", "x" * 300)


def test_a_link_is_printed_once_and_opens(folder: Path) -> None:
    run(folder, "participant", "add")
    link = run_json(folder, "participant", "link", "P1", "--address", "https://study.example.org/desk/")["link"]
    address, _, code = link.rpartition("/")
    assert address == "https://study.example.org/desk/c"
    with open_interviews(open_study(folder)) as interviews:
        assert find_consent_request(interviews, code) is not None
    assert code not in run(folder, "participant", "list")
    assert "write it as http" in refusal(folder, "participant", "link", "P1", "--address", "study")


def test_contact_details_are_printed_by_one_command_only(folder: Path) -> None:
    run(folder, "participant", "add")
    output = run(folder, "participant", "contact", "set", "P1", *NAMED)
    run(folder, "participant", "contact", "set", "P1", "--more", "In the morning.")
    shown = run_json(folder, "participant", "contact", "show", "P1")
    assert (shown["email"], shown["more"]) == ("w.xanthe@example.org", "In the morning.")
    assert "name: Wilhelmina Xanthe" in run(folder, "participant", "contact", "show", "P1")
    others = [output, run(folder, "participant", "list"), run(folder, "participant", "consent", "P1")]
    others += [json.dumps(run_json(folder, "participant", "list")), in_this_process("status", "--study", folder).output]
    others.append(refusal(folder, "participant", "contact", "show", "P1", "--as", "rater-1"))
    others.append(refusal(folder, "participant", "contact", "set", "P1", "--email", "w.xanthe at home"))
    assert not [word for word in IDENTIFYING for text in others if word in text]
    run(folder, "participant", "contact", "forget", "P1")
    assert "No contact details of P1 are stored" in run(folder, "participant", "contact", "show", "P1")


@pytest.mark.slow
def test_a_withdrawal_is_not_reported_as_done_while_another_program_reads_the_files(folder: Path) -> None:
    with open_interviews(open_study(folder)) as room:
        with_transcript(room)
        with_transcript(room)
    with read_elsewhere(folder / "interviews.db", folder / "identities.db"):
        done = in_this_process("interview", "participant", "withdraw", "P1", "--yes", "--study", folder)
        assert (done.exit_code, "P1 is erased" in done.output) == (1, False)
        assert "may still be in the bytes of identities.db and interviews.db" in done.output
        done = in_this_process("interview", "participant", "withdraw", "P2", "--yes", "--json", "--study", folder)
        assert (done.exit_code, json.loads(done.stdout)["pending"]) == (1, True)
    assert run_json(folder, "participant", "withdraw", "P1", "--yes")["pending"] is False


def test_a_withdrawal_needs_a_confirmation(folder: Path) -> None:
    with open_interviews(open_study(folder)) as room:
        with_transcript(room)
    declined = in_this_process("interview", "participant", "consent", "P1", "declined", "--study", folder).output
    assert "may still quote this participant: rebuild them" in declined
    assert "nothing was erased" in refusal(folder, "participant", "withdraw", "P1")
    done = run_json(folder, "participant", "withdraw", "P1", "--yes")
    assert (done["participant"], done["interviews"], done["published"]) == ("P1", ["P1"], False)
    assert "P1 withdrew on" in run(folder, "participant", "list")
    assert "P1 withdrew on" in refusal(folder, "participant", "consent", "P1")


def test_a_changed_consent_form_is_put_into_force_by_a_command(folder: Path) -> None:
    assert "instruments/agreement.md takes effect when the first participant is asked" in run(folder, "agreement")
    run(folder, "participant", "add")
    run(folder, "participant", "consent", "P1", "accepted")
    (folder / "instruments" / "agreement.md").write_text("Another text.", "utf-8")
    assert run_json(folder, "agreement")["changed"]
    used = run_json(folder, "agreement", "--put-in-force")
    assert ([version["version"] for version in used["versions"]], used["changed"]) == ([1, 2], False)
    assert "ask again for 2" in run(folder, "participant", "list")


def test_the_status_of_a_study_counts_its_interviews(folder: Path) -> None:
    def status() -> dict[str, Any]:
        summary: dict[str, Any] = json.loads(in_this_process("status", "--json", "--study", folder).stdout)
        return summary

    assert status()["next"] == "quaestor interview participant add"
    with open_interviews(open_study(folder)) as interviews:
        with_transcript(interviews)
    stage = next(entry for entry in status()["stages"] if entry["name"] == "interviews")
    assert (stage["state"], stage["detail"]) == ("done", "1 take part, 1 agreed, 1 held, 1 transcribed")
