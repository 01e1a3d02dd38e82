"""`quaestor survey recipients`, `mail` and `remind`: from a file of people to e-mails, without a word too much."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import PLAIN, in_this_process, quaestor
from tests.support.mail_server import Behaviour, mail_server
from tests.support.small_survey import NAME, STUDY, fielded

from quaestor.base.errors import InputError

ADDRESS = ("--address", "https://study.example.org")
MAIL = '\n[mail]\nhost = "127.0.0.1"\nport = {port}\nsecurity = "none"\nsender = "study@example.org"\n'


@pytest.fixture
def study(tmp_path: Path) -> Path:
    with fielded(tmp_path / "study"):
        pass
    (tmp_path / "people.csv").write_text("e-mail,team\nanna@example.org,a\nben@example.org,b\n", "utf-8")
    return tmp_path / "study"


def test_people_are_added_previewed_mailed_and_reminded(study: Path) -> None:
    here = ("--study", study)
    added = in_this_process(
        "survey", "recipients", NAME, study.with_name("people.csv"), "--batch", "first", "--stratum", "pro", *here,
        **PLAIN,
    )  # fmt: skip
    assert added.exit_code == 0, added.exception
    assert "2 people added in the batch first; nothing was sent yet" in added.stderr
    assert "Ignored columns: team" in added.stderr
    assert (study / "instruments" / f"{NAME}.mail.toml").exists()
    behaviour = Behaviour(refuses={"ben@example.org": "550 no such user"})
    with mail_server(behaviour) as box:
        (study / "study.toml").write_text(STUDY + MAIL.format(port=box.port), "utf-8")
        preview = in_this_process("survey", "mail", NAME, "--preview", *ADDRESS, *here, **PLAIN)
        assert "Subject: Invitation: How models travel\n" in preview.stdout
        assert "https://study.example.org/i/" in preview.stdout
        dry = in_this_process("survey", "mail", NAME, "--dry-run", *here, **PLAIN)
        assert "2 invitations to send; nothing was sent" in dry.stderr
        assert box.accepted == []
        sent = in_this_process("survey", "mail", NAME, *ADDRESS, *here, **PLAIN)
        assert sent.exit_code == 1
        assert "1 of 2 invitations sent" in sent.stderr
        assert "Refused: ben@example.org (550 no such user); try again with --retry --to ben@example.org" in sent.stderr
        behaviour.refuses.clear()
        again = quaestor("survey", "mail", NAME, "--retry", "--to", "ben@example.org", *ADDRESS, *here)
        assert (again.returncode, again.stderr.strip()) == (0, "1 of 1 invitations sent")
        reminded = in_this_process("survey", "remind", NAME, "--json", *ADDRESS, *here, **PLAIN)
        assert json.loads(reminded.stdout)["sent"] == 2
        nobody = in_this_process("survey", "remind", NAME, *ADDRESS, *here, **PLAIN)
        assert (nobody.exit_code, "0 reminders to send (2 got it before)" in nobody.stderr) == (0, True)
        assert box.addresses[:2] == ["anna@example.org", "ben@example.org"]
        assert sorted(box.addresses[2:]) == ["anna@example.org", "ben@example.org"]
    counts = json.loads(in_this_process("survey", "recipients", NAME, "--json", *here, **PLAIN).stdout)
    assert counts == {
        "recipients": 2, "invited": 2, "reminded": 2, "started": None, "opted_out": 0, "refused": 0, "uncertain": 0,
    }  # fmt: skip


def test_without_an_address_of_the_desk_nothing_is_sent(study: Path) -> None:
    here = ("--study", study)
    people = study.with_name("people.csv")
    in_this_process("survey", "recipients", NAME, people, "--batch", "first", "--stratum", "pro", *here, **PLAIN)
    refused = in_this_process("survey", "mail", NAME, *here, **PLAIN)
    assert isinstance(refused.exception, InputError)
    assert "the desk is not running, so the links would lead nowhere" in str(refused.exception)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("mail", NAME), "nobody is to be mailed"),
        (("recipients", NAME, "people.csv"), "--batch"),
        (("recipients", NAME, "--remove-all"), "add --yes"),
        (("recipients", "unknown"), "no questionnaire 'unknown'"),
        (("mail", NAME, "--preview", "--dry-run"), "only one of"),
    ],
)
def test_a_wrong_call_is_explained_in_a_sentence(study: Path, arguments: tuple[str, ...], words: str) -> None:
    refused = in_this_process("survey", *arguments, "--study", study, **PLAIN)
    assert words in str(refused.exception)
