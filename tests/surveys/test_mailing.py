"""Invitations and reminders by e-mail, against a real server on this machine."""

from __future__ import annotations

import csv
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.support.mail_server import Behaviour, MailBox, mail_server, make_certificate
from tests.support.small_survey import NAME, STUDY, send, small_survey

from quaestor.base.errors import InputError, SettingsError, StateError
from quaestor.study.backup import back_up_study, restore_study
from quaestor.study.folder import open_study
from quaestor.surveys.invitations import accept_invitation, response_rates
from quaestor.surveys.lifecycle import Surveys, close_survey, open_survey, open_surveys
from quaestor.surveys.mail_texts import mail_text_file
from quaestor.surveys.mailing import (
    ANSWERED,
    MAILED,
    OPTED_OUT,
    REFUSED,
    UNCERTAIN,
    MailReport,
    MailRequest,
    build_messages,
    plan_mails,
    require_mail_settings,
    send_mails,
    write_merge_file,
)
from quaestor.surveys.recipients import add_recipients, count_recipients, opt_out, remove_recipients
from quaestor.surveys.report_section import fingerprint
from quaestor.surveys.respond import code_of_link, code_of_page
from quaestor.surveys.store.responses import hashed

ADDRESS = "https://study.example.org"
QUESTIONNAIRE = """
[survey]
title = { en = "Tools", de = "Werkzeuge" }
languages = ["en", "de"]
by_invitation = true
anonymous = ANONYMOUS

[[pages]]
page = "consent"

[[pages.questions]]
id = "channel"
kind = "link-value"
text = "Where the link was published"

[[pages.questions]]
id = "consent"
kind = "consent"
text = "Do you agree to take part?"

[[pages]]
page = "use"

[[pages.questions]]
id = "use"
kind = "text"
text = "What do you use?"
"""
MAIL = """
[mail]
host = "127.0.0.1"
port = {port}
security = "{security}"
sender = "The study <study@example.org>"
reply_to = "lead@example.org"
"""
PEOPLE = "e-mail,name,language\nanna@example.org,Anna Ö.,\nben@example.org,Ben,de\ncleo@example.org,Cleo,\n"
TEXTS = """
[invitation]
subject = { en = "Invitation for {name}: {title}", de = "Einladung: {title}" }
body = { en = "Dear {name},\\nhere: {link}\\nstop: {opt_out}", de = "Liebe(r) {name},\\n{link}\\n{opt_out}" }

[reminder]
subject = "Reminder"
body = "{link} {opt_out}"
"""


@contextmanager
def invited(
    folder: Path, box: MailBox | None = None, people: str = PEOPLE, *, anonymous: bool = True, more: str = "",
    security: str = "none",
) -> Iterator[Surveys]:  # fmt: skip
    """An open survey whose recipients are those of a file."""
    small_survey(folder, QUESTIONNAIRE.replace("ANONYMOUS", str(anonymous).lower()))
    port = box.port if box else 9
    (folder / "study.toml").write_text(STUDY + MAIL.format(port=port, security=security) + more, "utf-8")
    (folder / "instruments" / f"{NAME}.mail.toml").write_text(TEXTS, "utf-8")
    file = folder.with_name("people.csv")
    file.write_text(people, "utf-8")
    with open_surveys(open_study(folder)) as surveys:
        open_survey(surveys, NAME)
        add_recipients(surveys, NAME, file, "first")
        yield surveys


def mail_all(surveys: Surveys, reminder: int = 0, again: bool = False, retry: bool = False, **more: str) -> MailReport:
    plan = plan_mails(surveys, MailRequest(NAME, reminder, again, retry))
    return send_mails(surveys, plan, ADDRESS, **more)  # type: ignore[arg-type]


def token_in(box: MailBox, address: str) -> str:
    """The random part of the link that a person got."""
    text = next(message.get_content() for to, message in box.accepted if to == address)
    return str(text).partition("/i/")[2].split()[0].partition("?")[0]


def test_each_recipient_gets_one_mail_with_a_link_of_their_own(tmp_path: Path) -> None:
    with mail_server() as box, invited(tmp_path / "study", box) as surveys:
        assert mail_all(surveys).sent == 3
        assert sorted(box.addresses) == ["anna@example.org", "ben@example.org", "cleo@example.org"]
        messages = dict(box.accepted)
        anna, ben = messages["anna@example.org"], messages["ben@example.org"]
        assert anna["Subject"] == "Invitation for Anna Ö.: Tools"
        assert (ben["Subject"], "Liebe(r) Ben" in ben.get_content()) == ("Einladung: Werkzeuge", True)
        assert (anna["From"], anna["Reply-To"]) == ("The study <study@example.org>", "lead@example.org")
        assert anna["To"] == '"Anna Ö." <anna@example.org>'
        tokens = {token_in(box, address) for address in box.addresses}
        assert len(tokens) == 3
        assert f"{ADDRESS}/i/{token_in(box, 'ben@example.org')}?language=de" in ben.get_content()
        assert anna["List-Unsubscribe"] == f"<{ADDRESS}/i/{token_in(box, 'anna@example.org')}/stop>"
        assert accept_invitation(surveys, tokens.pop())[0] == NAME
        assert mail_all(surveys).sent == 0  # never twice
        assert plan_mails(surveys, MailRequest(NAME)).others == {MAILED: 2, ANSWERED: 1}
        acts = [act.payload for act in surveys.coding.journal.acts() if act.kind == "survey.mail"]
        expected = {"survey": NAME, "kind": "invitation", "reminder": 0, "count": 3, "how": "server"}
        assert acts == [expected]


@pytest.mark.parametrize(("dies_at", "is_unknown"), [("MAIL", False), ("RCPT", False), ("END", True)])
def test_a_run_goes_on_after_the_server_died_and_nobody_is_mailed_twice(
    tmp_path: Path, dies_at: str, is_unknown: bool
) -> None:
    behaviour = Behaviour(dies_at=dies_at, dies_after=1)
    with mail_server(behaviour) as box, invited(tmp_path / "study", box) as surveys:
        report = mail_all(surveys)
        assert (report.sent, len(report.uncertain)) == (1, int(is_unknown))
        assert "broke" in report.stopped
        behaviour.dies_at = ""
        again = mail_all(surveys)
        assert again.sent == (1 if is_unknown else 2)
        assert len(set(box.addresses)) == len(box.addresses)
        if is_unknown:
            plan = plan_mails(surveys, MailRequest(NAME))
            assert (plan.others, list(plan.uncertain)) == ({MAILED: 2, UNCERTAIN: 1}, report.uncertain)
            request = MailRequest(NAME, again=True, only=(report.uncertain[0].upper(),))
            assert send_mails(surveys, plan_mails(surveys, request), ADDRESS).sent == 1
        assert sorted(box.addresses) == ["anna@example.org", "ben@example.org", "cleo@example.org"]


def test_a_server_that_ends_the_connection_between_mails_is_connected_to_again(tmp_path: Path) -> None:
    behaviour = Behaviour(dies_at="MAIL", dies_after=1, is_cut_once=True)
    with mail_server(behaviour) as box, invited(tmp_path / "study", box) as surveys:
        assert mail_all(surveys).is_complete
        assert (len(box.accepted), box.connections) == (3, 2)


def test_an_interruption_leaves_nobody_out(tmp_path: Path) -> None:
    with mail_server() as box, invited(tmp_path / "study", box) as surveys:
        waits = iter([None])

        def sleep(seconds: float) -> None:
            assert seconds == 2.0
            if next(waits, "second") == "second":
                raise KeyboardInterrupt

        report, plan = MailReport(), plan_mails(surveys, MailRequest(NAME))
        with pytest.raises(KeyboardInterrupt):
            send_mails(surveys, plan, ADDRESS, a_minute=30, sleep=sleep, report=report)
        assert report.sent == 2
        assert mail_all(surveys).sent == 1
        assert len(set(box.addresses)) == 3


def test_two_runs_at_once_mail_everybody_once(tmp_path: Path) -> None:
    people = "e-mail\n" + "".join(f"person{number}@example.org\n" for number in range(12))
    texts = TEXTS.replace("{name}", "you")
    with mail_server() as box, invited(tmp_path / "study", box, people) as surveys:
        mail_text_file(surveys.study, NAME).write_text(texts, "utf-8")
        plan = plan_mails(surveys, MailRequest(NAME))
        threads = [threading.Thread(target=send_mails, args=(surveys, plan, ADDRESS)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(box.addresses) == sorted({f"person{number}@example.org" for number in range(12)})


def test_refused_addresses_are_reported_and_tried_again_on_request(tmp_path: Path) -> None:
    behaviour = Behaviour(refuses={"ben@example.org": "550 no such user", "cleo@example.org": "450 mailbox full"})
    with mail_server(behaviour) as box, invited(tmp_path / "study", box) as surveys:
        report = mail_all(surveys)
        assert report.refused == [("ben@example.org", "550 no such user")]
        assert report.postponed == [("cleo@example.org", "450 mailbox full")]
        behaviour.refuses.clear()
        assert mail_all(surveys).sent == 1  # Cleo: the refusal was for that moment only
        assert plan_mails(surveys, MailRequest(NAME)).others == {MAILED: 2, REFUSED: 1}
        assert count_recipients(surveys, NAME)[0].refused == 1
        assert mail_all(surveys, retry=True).sent == 1
        assert len(box.accepted) == 3


def test_a_refused_message_stops_the_run(tmp_path: Path) -> None:
    with (
        mail_server(Behaviour(refuses_content="554 looks like spam")) as box,
        invited(tmp_path / "study", box) as surveys,
    ):
        report = mail_all(surveys)
        assert (report.sent, box.begun) == (0, 1)
        assert "554 looks like spam" in report.stopped
        assert len(plan_mails(surveys, MailRequest(NAME)).due) == 3


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_the_connection_is_encrypted_and_the_certificate_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, security: str
) -> None:
    behaviour = Behaviour(certificate=make_certificate(tmp_path), implicit=security == "tls", password="a secret")
    user = 'user = "study"\n'
    with (
        mail_server(behaviour) as box,
        invited(tmp_path / "study", box, security=security, more=user) as surveys,
    ):
        with pytest.raises(InputError, match="certificate that cannot be trusted"):
            mail_all(surveys, password="a secret")
        monkeypatch.setenv("SSL_CERT_FILE", str(behaviour.certificate))
        with pytest.raises(InputError, match="refused the user 'study' or the password"):
            mail_all(surveys, password="wrong")
        assert mail_all(surveys, password="a secret").sent == 3
        assert box.was_encrypted == [True] * 3


def test_a_server_without_encryption_is_refused(tmp_path: Path) -> None:
    with mail_server() as box, invited(tmp_path / "study", box, security="starttls") as surveys:
        with pytest.raises(InputError, match="does not support what"):
            mail_all(surveys)
        assert box.accepted == []
    elsewhere = MAIL.format(port=25, security="none").replace("127.0.0.1", "mail.example.org") + 'user = "study"\n'
    with mail_server(), invited(tmp_path / "other") as surveys:
        (tmp_path / "other" / "study.toml").write_text(STUDY + elsewhere, "utf-8")
        with (
            open_surveys(open_study(tmp_path / "other")) as reopened,
            pytest.raises(SettingsError, match="could read the password"),
        ):
            mail_all(reopened, password="a secret")


def test_the_password_cannot_be_in_the_study_file(tmp_path: Path) -> None:
    small_survey(tmp_path / "study", QUESTIONNAIRE.replace("ANONYMOUS", "true"))
    (tmp_path / "study" / "study.toml").write_text(
        STUDY + MAIL.format(port=25, security="none") + 'password = "x"\n', "utf-8"
    )
    with pytest.raises(SettingsError, match=r"mail\.password"):
        _ = open_study(tmp_path / "study").settings


def test_reminders_of_an_anonymous_survey_go_to_those_who_did_not_use_their_link(tmp_path: Path) -> None:
    with mail_server() as box, invited(tmp_path / "study", box) as surveys:
        assert plan_mails(surveys, MailRequest(NAME, 1)).due == ()  # nobody is reminded before being invited
        mail_all(surveys)
        accept_invitation(surveys, token_in(box, "anna@example.org"))
        assert opt_out(surveys, token_in(box, "ben@example.org"))
        assert mail_all(surveys, reminder=1).sent == 1
        assert box.addresses[3:] == ["cleo@example.org"]
        assert token_in(box, "cleo@example.org") in box.accepted[3][1].get_content()  # the same link
        assert mail_all(surveys, reminder=1).sent == 0
        assert mail_all(surveys, reminder=2).sent == 1
        plan = plan_mails(surveys, MailRequest(NAME, 2, again=True))
        assert (len(plan.due), plan.others) == (1, {ANSWERED: 1, OPTED_OUT: 1})


def test_no_stored_link_of_an_anonymous_survey_leads_to_a_response(tmp_path: Path) -> None:
    with mail_server() as box, invited(tmp_path / "study", box) as surveys:
        mail_all(surveys)
        tokens = [token_in(box, address) for address in box.addresses]
        for token in tokens:
            code = accept_invitation(surveys, token, key="a key that only the page knows, 32+")[1]
            send(surveys, code, "consent", {"q.consent": ["agree"]})
        with closing(sqlite3.connect(tmp_path / "study" / "answers.db")) as answers:
            codes = {code for (code,) in answers.execute("SELECT code FROM responses")}
        assert len(codes) == 3
        guesses = [guess for token in tokens for guess in (token, code_of_link(token), code_of_page(token, ""))]
        assert not codes & {hashed(guess) for guess in guesses}


def test_reminders_of_a_survey_that_is_not_anonymous_go_to_those_who_did_not_finish(tmp_path: Path) -> None:
    with mail_server() as box, invited(tmp_path / "study", box, anonymous=False) as surveys:
        mail_all(surveys)
        codes = {address: accept_invitation(surveys, token_in(box, address))[1] for address in box.addresses}
        send(surveys, codes["anna@example.org"], "consent", {"q.consent": ["agree"]})
        send(surveys, codes["anna@example.org"], "use", {"q.use": ["a tool"]})
        send(surveys, codes["ben@example.org"], "consent", {"q.consent": ["decline"]})
        assert mail_all(surveys, reminder=1).sent == 1
        assert box.addresses[3:] == ["cleo@example.org"]


def test_an_opt_out_erases_the_address_and_lasts(tmp_path: Path) -> None:
    with mail_server() as box, invited(tmp_path / "study", box) as surveys:
        mail_all(surveys)
        opt_out(surveys, token_in(box, "ben@example.org"))
        assert not opt_out(surveys, "another")
        added = add_recipients(surveys, NAME, tmp_path / "people.csv", "second")
        assert (added.added, added.known, added.opted_out) == (0, 2, 1)
        with pytest.raises(InputError, match="is not a recipient"):
            plan_mails(surveys, MailRequest(NAME, only=("ben@example.org",)))
        assert count_recipients(surveys, NAME)[0].opted_out == 1
        assert accept_invitation(surveys, token_in(box, "ben@example.org"))[0] == NAME  # the link still works


def test_removed_addresses_are_erased_and_can_be_added_again(tmp_path: Path) -> None:
    with invited(tmp_path / "study") as surveys:
        with closing(sqlite3.connect(tmp_path / "study" / "invitations.db")) as file:
            before = {bytes(sealed) for (sealed,) in file.execute("SELECT sealed FROM recipients")}
        assert remove_recipients(surveys, NAME, ["BEN@example.org", "nobody@example.org"]) == 1
        assert remove_recipients(surveys, NAME) == 2
        held = b"".join(path.read_bytes() for path in (tmp_path / "study").glob("invitations.db*"))
        assert not any(sealed in held for sealed in before)
        assert add_recipients(surveys, NAME, tmp_path / "people.csv", "again").added == 3
        assert [act.kind for act in surveys.coding.journal.acts()][-4:] == [
            "survey.invite", "survey.forget", "survey.forget", "survey.invite",
        ]  # fmt: skip


def test_no_file_of_the_study_has_an_address_or_a_link_in_plain_text(tmp_path: Path) -> None:
    with mail_server() as box, invited(tmp_path / "study", box) as surveys:
        mail_all(surveys)
        secrets = [b"anna@", b"Anna", token_in(box, "anna@example.org").encode()]
        back_up_study(surveys.study, tmp_path / "copy.backup")
        files = [path for path in (tmp_path / "study").rglob("*") if path.is_file()]
        for path in (*files, tmp_path / "copy.backup"):
            assert not [secret for secret in secrets if secret in path.read_bytes()], path
        assert (tmp_path / "study" / "invitations.key").stat().st_mode & 0o777 == 0o600
        key = (tmp_path / "study" / "invitations.key").read_bytes()
        assert key not in (tmp_path / "copy.backup").read_bytes()


def test_a_restore_neither_mails_again_nor_brings_addresses_back(tmp_path: Path) -> None:
    with mail_server() as box:
        with invited(tmp_path / "study", box) as surveys:
            study = surveys.study
            back_up_study(study, tmp_path / "copy.backup")
            mail_all(surveys)
            opt_out(surveys, token_in(box, "ben@example.org"))
            more = tmp_path / "more.csv"
            more.write_text("e-mail,name\ndora@example.org,Dora\n", "utf-8")
            add_recipients(surveys, NAME, more, "second")
            remove_recipients(surveys, NAME, ["cleo@example.org"])
            mail_all(surveys)
        restore_study(study, tmp_path / "copy.backup", replacing=True)
        with open_surveys(open_study(tmp_path / "study")) as surveys:
            assert plan_mails(surveys, MailRequest(NAME)).others == {MAILED: 2, OPTED_OUT: 1}
            assert plan_mails(surveys, MailRequest(NAME)).due == ()
            assert accept_invitation(surveys, token_in(box, "dora@example.org"))[0] == NAME


def test_the_merge_file_is_safe_to_open_and_counts_as_sent(tmp_path: Path) -> None:
    people = 'e-mail,name,channel\nanna@example.org,"=HYPERLINK(""http://x"")",news\nben@example.org,Ben,\n'
    with invited(tmp_path / "study", people=people, anonymous=False) as surveys:
        file = tmp_path / "mail.csv"
        assert write_merge_file(surveys, plan_mails(surveys, MailRequest(NAME)), file, ADDRESS) == 2
        assert file.stat().st_mode & 0o777 == 0o600
        rows = {row["e-mail"]: row for row in csv.DictReader(file.read_text("utf-8").splitlines())}
        assert rows["anna@example.org"]["name"].startswith("'=HYPERLINK")
        assert rows["anna@example.org"]["link"].endswith("?channel=news")
        assert rows["ben@example.org"]["opt_out"].endswith("/stop")
        assert plan_mails(surveys, MailRequest(NAME)).due == ()
        assert len(plan_mails(surveys, MailRequest(NAME, 1)).due) == 2
        with pytest.raises(InputError, match="exists"):
            write_merge_file(surveys, plan_mails(surveys, MailRequest(NAME, 1)), file, ADDRESS)
        close_survey(surveys, NAME)
        with pytest.raises(StateError, match="not open"):
            write_merge_file(surveys, plan_mails(surveys, MailRequest(NAME, 1)), tmp_path / "new.csv", ADDRESS)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("here: {link}", "here", r"invitation.body in en does not contain {link}"),
        ("\\nstop: {opt_out}", "", r"does not contain {opt_out}"),
        ("Dear {name}", "You said {use}", r"{use}, which is a question: no answer can be in an e-mail"),
        ("Dear {name}", "Dear {nme}", r"{nme}, which is unknown; choose from: name"),
        ("Invitation for {name}", "Hello\\nBcc: x@example.org", "contains a line break"),
        ("Dear {name}", "Until {closes}", "the survey has no last day"),
        ("de = ", "fr = ", "'fr' is not a language of the survey"),
        ("[invitation]", 'columns = ["use"]\n[invitation]', "no answer can be in an e-mail"),
    ],
)
def test_a_text_with_another_placeholder_or_line_break_is_refused(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    with invited(tmp_path / "study") as surveys:
        mail_text_file(surveys.study, NAME).write_text(TEXTS.replace(old, new), "utf-8")
        plan = plan_mails(surveys, MailRequest(NAME))
        with pytest.raises(InputError) as refused:
            build_messages(surveys, plan, require_mail_settings(surveys), ADDRESS)
        assert words in str(refused.value)


def test_response_rates_count_recipients_once_they_were_mailed(tmp_path: Path) -> None:
    people = "e-mail\nanna@example.org\nben@example.org\n"
    with invited(tmp_path / "study", people=people, anonymous=False) as surveys:
        before = fingerprint(surveys.study)
        assert response_rates(surveys, NAME).whole.sent == 0
        write_merge_file(
            surveys, plan_mails(surveys, MailRequest(NAME, only=("anna@example.org",))), tmp_path / "mail.csv", ADDRESS
        )
        assert response_rates(surveys, NAME).whole.sent == 1
        assert fingerprint(surveys.study) != before


def test_braces_in_a_name_are_not_a_placeholder(tmp_path: Path) -> None:
    people = "e-mail,name\nanna@example.org,{link}\n"
    with mail_server() as box, invited(tmp_path / "study", box, people) as surveys:
        mail_all(surveys)
        assert box.accepted[0][1]["Subject"] == "Invitation for {link}: Tools"


def test_a_missing_name_is_reported_before_anything_is_sent(tmp_path: Path) -> None:
    with mail_server() as box, invited(tmp_path / "study", box, PEOPLE.replace("Ben", "")) as surveys:
        with pytest.raises(InputError, match=r"contains {name}, but there is none for ben@example.org"):
            mail_all(surveys)
        assert box.accepted == []
