"""Invitations, payment and flags on the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from tests.support.command_line import quaestor
from tests.support.small_survey import NAME, QUESTIONNAIRE, answered, fielded

from quaestor.study.folder import open_study
from quaestor.surveys.invitations import accept_invitation
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.payment import claim_token, submit_claim


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with fielded(tmp_path / "study"):
        pass
    return tmp_path / "study"


def test_links_are_printed_once_and_response_rates_are_shown(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "people.txt").write_text("one@example.org\n\ntwo@example.org\n")
    invited = quaestor(
        "survey", "invite", NAME, "--batch", "first", "--stratum", "pro", "--labels", tmp_path / "people.txt",
        "--address", "https://study.example.org", cwd=folder,
    )  # fmt: skip
    assert invited.returncode == 0, invited.stderr
    rows = list(csv.DictReader(io.StringIO(invited.stdout)))
    assert [row["label"] for row in rows] == ["one@example.org", "two@example.org"]
    assert "not shown again" in invited.stderr
    with open_surveys(open_study(folder)) as surveys:
        accept_invitation(surveys, rows[0]["link"].removeprefix("https://study.example.org/i/"))
    rates = json.loads(quaestor("survey", "rates", NAME, "--json", cwd=folder).stdout)
    assert (rates["sent"], rates["used"], rates["rate"]) == (2, 1, 0.5)
    nobody = {"finished": None, "finished_rate": None}
    assert rates["batch"] == [{"name": "first", "sent": 2, "used": 1, "rate": 0.5, **nobody}]


def test_links_are_written_to_a_new_private_file(folder: Path, tmp_path: Path) -> None:
    def invite(stratum: str) -> int:
        call = ("survey", "invite", NAME, "--batch", "first", "--stratum", stratum, "--count", "2")
        return quaestor(*call, "--out", tmp_path / "links.csv", cwd=folder).returncode

    assert (invite("nobody"), (tmp_path / "links.csv").exists()) == (2, False)
    assert invite("pro") == 0
    written = (tmp_path / "links.csv").read_text("utf-8")
    assert (len(written.splitlines()), (tmp_path / "links.csv").stat().st_mode & 0o777) == (3, 0o600)
    assert (invite("pro"), (tmp_path / "links.csv").read_text("utf-8")) == (2, written)
    assert json.loads(quaestor("survey", "rates", NAME, "--json", cwd=folder).stdout)["sent"] == 2


def test_a_used_up_budget_is_reported(tmp_path: Path) -> None:
    with fielded(tmp_path, QUESTIONNAIRE.replace("budget = 500", "budget = 50")) as surveys:
        for number in range(5):
            submit_claim(surveys, NAME, claim_token(surveys, answered(surveys)[0]), f"somebody-{number}@example.org")
    message = f"The budget of {NAME} is used up"
    assert message not in quaestor("survey", "status", cwd=tmp_path).stderr
    assert quaestor("survey", "claims", "release", NAME, cwd=tmp_path).returncode == 0
    assert message in quaestor("survey", "status", cwd=tmp_path).stderr


@pytest.mark.slow
def test_pay_is_released_exported_and_marked_paid(folder: Path, tmp_path: Path) -> None:
    with open_surveys(open_study(folder)) as surveys:
        for number in range(5):
            submit_claim(surveys, NAME, claim_token(surveys, answered(surveys)[0]), f"somebody-{number}@example.org")
    early = quaestor("survey", "claims", "release", NAME, "--count", "1", cwd=folder)
    assert (early.returncode, "1 card is too few" in early.stderr) == (2, True)
    assert quaestor("survey", "claims", "release", NAME, cwd=folder).returncode == 0
    output = quaestor("survey", "claims", "status", "--json", cwd=folder).stdout
    [payment] = json.loads(output)
    assert (payment["survey"], payment["released"], payment["cost"], payment["budget"]) == (NAME, 5, 50, 500)
    assert "@" not in output
    out = tmp_path / "cards.csv"
    assert quaestor("survey", "claims", "export", NAME, "--out", out, cwd=folder).returncode == 0
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert {row["address"] for row in rows} == {f"somebody-{number}@example.org" for number in range(5)}
    again = quaestor("survey", "claims", "export", NAME, "--again", cwd=folder)
    assert again.stdout.splitlines() == out.read_text().splitlines()
    other = quaestor("survey", "claims", "paid", NAME, "--cards", "4", cwd=folder)
    assert (other.returncode, "5 cards of 'tools' are exported" in other.stderr) == (2, True)
    assert "5 cards marked as paid" in quaestor("survey", "claims", "paid", NAME, "--cards", "5", cwd=folder).stderr


@pytest.mark.slow
def test_flags_are_listed_and_decided(folder: Path) -> None:
    with open_surveys(open_study(folder)) as surveys:
        _, fast = answered(surveys, seconds=1)
    listed = quaestor("survey", "flags", NAME, cwd=folder)
    assert ("Answered in 4 seconds" in listed.stdout, "1 to review" in listed.stderr) == (True, True)
    assert quaestor("survey", "decide", NAME, fast.id, "--reason", "too fast", cwd=folder).returncode == 2
    done = quaestor("survey", "decide", NAME, fast.id, "--drop", "--reason", "too fast", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "1 flagged, all reviewed" in quaestor("survey", "flags", NAME, cwd=folder).stderr
    [flagged] = json.loads(quaestor("survey", "flags", NAME, "--json", cwd=folder).stdout)
    assert (flagged["response"], flagged["keep"], flagged["why"]) == (fast.id, False, "too fast")
    assert flagged["reasons"][0]["sign"] == "fast"
