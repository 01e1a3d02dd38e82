"""`quaestor interview`: check and print guides, plan and list interviews."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import in_this_process
from tests.support.small_interviews import SMALL, a_study, with_participant

from quaestor.base.errors import InputError
from quaestor.interviews.repository import open_interviews
from quaestor.study.folder import open_study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return a_study(tmp_path / "study").root


def test_a_guide_is_checked_by_its_name_by_its_file_and_with_all_others(folder: Path) -> None:
    for named in ([], ["guide"], [str(folder / "instruments" / "guide.md")]):
        assert in_this_process("interview", "check", *named, "--study", folder).exit_code == 0
    (folder / "instruments" / "guide.md").write_text(SMALL.replace("minutes=5", "minutes=6"), "utf-8")
    done = in_this_process("interview", "check", "--study", folder, "--json")
    assert done.exit_code == 1
    (result,) = json.loads(done.stdout)
    assert (result["guide"], result["sections"], result["questions"], result["grave"]) == ("guide", 4, 3, 1)
    assert result["problems"][0]["where"] == "guide"
    printed = in_this_process("interview", "check", "guide", "--study", folder)
    assert printed.exit_code == 1
    assert "the sections take 11 minutes in total, but the guide says 10" in printed.stdout


def test_an_unreadable_guide_does_not_hide_others(folder: Path) -> None:
    (folder / "instruments" / "foreign.md").write_text("---\ntitle: Other\n---\n\n# Section\n")
    done = in_this_process("interview", "check", "--study", folder)
    assert "How developers judge models: 4 sections" in done.stdout
    assert isinstance(done.exception, InputError)
    assert "foreign.md does not begin with +++" in str(done.exception)
    (folder / "instruments" / "plain.md").write_text("# Section\n")
    named = in_this_process("interview", "check", "plain", "--study", folder)
    assert "plain.md does not begin with +++" in str(named.exception)


def test_a_wrong_call_gives_a_one_sentence_error(folder: Path) -> None:
    for arguments, expected in (
        (("check", "gide"), "there is no interview guide 'gide'"),
        (("guide", "guide", "--version", "3"), "there is no version 3 of the guide 'guide'"),
        (("plan", "P7"), "there is no participant 'P7'"),
    ):
        done = in_this_process("interview", *arguments, "--study", folder)
        assert isinstance(done.exception, InputError)
        assert expected in str(done.exception)


def test_a_guide_is_printed_with_times_notes_probes_and_boxes(folder: Path) -> None:
    output = in_this_process("interview", "guide", "guide", "--study", folder).stdout
    for line in ("0–1 Welcome", "1–6 Practice", "  Thank you for your time.", "  Note: Start the recording.",
                 "  • Which stages does your work have? (stages, open)", "      – Which one takes longest?",
                 "      [ ] Size of the data", "      [ ] other: ____"):  # fmt: skip
        assert line in output.splitlines()
    document = json.loads(in_this_process("interview", "guide", "guide", "--study", folder, "--json").stdout)
    assert [(section["id"], section["begins"]) for section in document["sections"]] == [
        ("welcome", 0), ("practice", 1), ("legitimacy", 6), ("thanks", 9),
    ]  # fmt: skip
    assert document["version"] is None
    narrow = in_this_process("interview", "guide", "guide", "--study", folder, COLUMNS="50").stdout
    assert all(len(line) <= 60 for line in narrow.splitlines()[1:])


def test_an_interview_is_planned_listed_and_keeps_its_version(folder: Path) -> None:
    assert json.loads(in_this_process("interview", "list", "--study", folder, "--json").stdout) == []
    assert not (folder / "interviews.db").exists(), "listing creates no files"
    with open_interviews(open_study(folder)) as repository:
        with_participant(repository, consent=False)
    assert in_this_process("interview", "plan", "P1", "--study", folder).stdout == "P1\n"
    (folder / "instruments" / "guide.md").write_text(SMALL.replace("Which stages", "What stages"), "utf-8")
    planned = in_this_process("interview", "plan", "P1", "--guide", "guide", "--study", folder, "--json")
    assert {key: json.loads(planned.stdout)[key] for key in ("id", "version")} == {"id": "P1-2", "version": 2}
    interviews = json.loads(in_this_process("interview", "list", "--study", folder, "--json").stdout)
    assert [(entry["id"], entry["version"], entry["next"]) for entry in interviews] == [
        ("P1", 1, "consent"),
        ("P1-2", 2, "consent"),
    ]
    (line,) = json.loads(in_this_process("interview", "guides", "--study", folder, "--json").stdout)
    assert [(version["number"], version["interviews"]) for version in line["versions"]] == [(1, ["P1"]), (2, ["P1-2"])]
    shown = in_this_process("interview", "guide", "guide", "--version", "1", "--study", folder).stdout
    assert "Which stages" in shown
    assert "P1-2" in in_this_process("interview", "guides", "--study", folder).stdout
    assert "ask for consent" in in_this_process("interview", "list", "--study", folder).stdout


def test_status_summarises_participants_guides_and_the_consent_form(folder: Path) -> None:
    with open_interviews(open_study(folder)) as interviews:
        with_participant(interviews)
    summary = json.loads(in_this_process("interview", "status", "--study", folder, "--json").stdout)
    assert summary["tally"] == {"take part": 1, "agreed": 1, "held": 0, "transcribed": 0}
    assert summary["agreement"] == {"version": 1, "to_ask_again": 0}
    assert summary["guides"] == [{"guide": "guide", "grave": 0, "why": ""}]
    output = in_this_process("interview", "status", "--study", folder).stdout
    assert "Guide guide: no problems" in output
    assert "Consent form: version 1 since" in output


def test_interrater_agreement_and_consent_form_have_separate_commands() -> None:
    """`agreement` is the consent form, `code-agreement` is interrater agreement."""
    consent = in_this_process("interview", "agreement", "--help").output
    codes = in_this_process("interview", "code-agreement", "--help").output
    assert "--put-in-force" in consent
    assert "--unit" in codes
