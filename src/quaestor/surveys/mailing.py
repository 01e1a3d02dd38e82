"""Sends invitations and reminders by e-mail, or writes them to a mail-merge file; never mails anybody twice.

Each recipient is marked before the server gets the mail, and again when the server has accepted it. So an interrupted
run goes on where it stopped, and a mail of which nobody knows whether it was accepted is not sent again unasked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path

from quaestor.base.errors import InputError, SettingsError, StateError
from quaestor.base.names import count_of
from quaestor.base.table_files import ExportTable, write_csv
from quaestor.coding.session import require_lead
from quaestor.store.records import NewAct
from quaestor.study.settings.schema import MailSettings
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.mail_server import DeliveryOutcome, MailServer
from quaestor.surveys.mail_texts import (
    INVITATION,
    REMINDER,
    build_message,
    fill_placeholders,
    find_used_placeholders,
    merge_row,
    read_mail_texts,
    write_message,
)
from quaestor.surveys.model.records import Questionnaire, ResponseStatus
from quaestor.surveys.recipients import MAIL_ACT, open_recipients
from quaestor.surveys.respond import code_of_link
from quaestor.surveys.store.recipients import Addressee, Gone, Recipient, RecipientFile

_FEW = 5
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class MailRequest:
    """Which e-mail goes to whom."""

    survey: str
    reminder: int = 0
    """The number of the reminder; 0 for the invitation."""
    again: bool = False
    """Include people who got this e-mail, may have got it, or whose address was refused."""
    retry: bool = False
    """Include people whose address was refused."""
    only: tuple[str, ...] = ()
    """Addresses; everybody if empty."""

    @property
    def kind(self) -> str:
        return REMINDER if self.reminder else INVITATION


@dataclass(frozen=True)
class MailPlan:
    """Who gets an e-mail, and how many others do not, by the reason."""

    request: MailRequest
    due: tuple[Recipient, ...]
    others: dict[str, int]
    uncertain: tuple[str, ...] = field(default=(), repr=False)
    """Addresses of which nobody knows whether the server accepted the e-mail."""

    @property
    def people(self) -> Iterator[Addressee]:
        return (recipient.person for recipient in self.due if recipient.person is not None)


@dataclass
class MailReport:
    """What became of the e-mails of one run."""

    sent: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list, repr=False)
    """Addresses that the server refuses permanently, with its answer."""
    postponed: list[tuple[str, str]] = field(default_factory=list, repr=False)
    """Addresses that the server refuses for now; the next run tries them again."""
    uncertain: list[str] = field(default_factory=list, repr=False)
    stopped: str = ""
    """Why the run ended before the last recipient; empty if it did not."""

    @property
    def is_complete(self) -> bool:
        return not (self.refused or self.postponed or self.uncertain or self.stopped)


ANSWERED, OPTED_OUT, MAILED, REFUSED, UNCERTAIN, NOT_INVITED = (
    "have answered", "opted out", "got it before", "have a refused address", "may have got it", "were not invited yet",
)  # fmt: skip


def plan_mails(surveys: Surveys, request: MailRequest) -> MailPlan:
    """Returns who gets the e-mail: nobody who answered, declined, opted out, or got it before."""
    questionnaire = surveys.questionnaire(request.survey)
    with open_recipients(surveys) as recipients:
        everybody = [recipient for recipient in recipients.read(request.survey) if recipient.gone is not Gone.REMOVED]
    if not everybody:
        raise StateError(
            f"nobody is to be mailed about {request.survey!r}: "
            f"add people with `quaestor survey recipients {request.survey} FILE --batch NAME`"
        )
    known = {recipient.person.address.casefold() for recipient in everybody if recipient.person}
    for address in request.only:
        if address.casefold() not in known:
            raise InputError(f"{address!r} is not a recipient of {request.survey!r}: check the address")
    only = {address.casefold() for address in request.only}
    due: list[Recipient] = []
    uncertain: list[str] = []
    others: dict[str, int] = {}
    for recipient in everybody:
        if only and (recipient.person is None or recipient.person.address.casefold() not in only):
            continue
        reason = _find_reason(surveys, questionnaire, recipient, request)
        if not reason:
            due.append(recipient)
            continue
        others[reason] = others.get(reason, 0) + 1
        if reason == UNCERTAIN and recipient.person is not None:
            uncertain.append(recipient.person.address)
    return MailPlan(request, tuple(due), others, tuple(uncertain))


def _find_reason(surveys: Surveys, questionnaire: Questionnaire, recipient: Recipient, request: MailRequest) -> str:
    """Returns why a recipient does not get the e-mail; empty if they do."""
    if recipient.gone or recipient.person is None:
        return OPTED_OUT
    if recipient.used and not (request.reminder and _is_under_way(surveys, questionnaire, recipient.person)):
        return ANSWERED
    if request.reminder and not recipient.mails:
        return NOT_INVITED
    if request.again:
        return ""
    if recipient.mails > request.reminder:
        return MAILED
    if recipient.trying:
        return UNCERTAIN
    return REFUSED if recipient.refused and not request.retry else ""


def _is_under_way(surveys: Surveys, questionnaire: Questionnaire, person: Addressee) -> bool:
    """Tells whether a person began and did not finish; in an anonymous survey nobody knows."""
    if questionnaire.anonymous:
        return False
    response = surveys.answers.find(code_of_link(person.token))
    return response is not None and response.standing is ResponseStatus.OPEN


def require_open(surveys: Surveys, name: str) -> None:
    """Raises StateError if the links of an e-mail would not work now."""
    if not surveys.is_open(name):
        raise StateError(f"the survey {name!r} is not open, so no link would work: `quaestor survey open {name}`")


def require_mail_settings(surveys: Surveys) -> MailSettings:
    settings = surveys.study.settings.mail
    if settings is None:
        raise SettingsError(
            f"{surveys.study.file} has no [mail]: add host, sender and security, or write a file with --merge-file FILE"
        )
    return settings


def build_messages(
    surveys: Surveys, plan: MailPlan, settings: MailSettings, address: str
) -> Iterator[tuple[Recipient, EmailMessage]]:
    """Returns the e-mail of each recipient, built when it is needed; raises InputError if one cannot be built."""
    newest = surveys.questionnaire(plan.request.survey)
    texts = read_mail_texts(surveys.study, newest).require(plan.request.kind)
    _require_values(surveys, plan, find_used_placeholders(texts), address)
    return (
        (
            recipient,
            build_message(settings, texts, _in_language(surveys, newest, recipient.person), recipient.person, address),
        )
        for recipient in plan.due
        if recipient.person is not None
    )


def _require_values(surveys: Surveys, plan: MailPlan, used: set[str], address: str) -> None:
    questionnaire = surveys.questionnaire(plan.request.survey)
    for name in sorted(used):
        lacking = [
            person.address for person in plan.people if not fill_placeholders(questionnaire, person, address).get(name)
        ]
        if lacking:
            shown = ", ".join(lacking[:_FEW]) + (f" and {len(lacking) - _FEW:,} more" if len(lacking) > _FEW else "")
            raise InputError(
                f"the text contains {{{name}}}, but there is none for {shown}: remove it from the text, "
                "or remove these people and add them again with it"
            )


def _in_language(surveys: Surveys, questionnaire: Questionnaire, person: Addressee) -> Questionnaire:
    if person.language in ("", questionnaire.language) or person.language not in questionnaire.languages:
        return questionnaire
    version = surveys.answers.version(questionnaire.id)
    return surveys.questionnaire(questionnaire.id, version.number if version else None, person.language)


def write_merge_file(surveys: Surveys, plan: MailPlan, file: Path, address: str, actor: str | None = None) -> int:
    """Writes a new CSV for a mail program with a row per person, and counts them as mailed; returns how many."""
    lead = require_lead(surveys.coding, actor, "invite to a survey")
    require_open(surveys, plan.request.survey)
    if file.exists():
        raise InputError(f"{file} exists: name a new file")
    newest = surveys.questionnaire(plan.request.survey)
    rows = [merge_row(_in_language(surveys, newest, person), person, address) for person in plan.people]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    if rows:
        table = ExportTable("mail", columns, [[row.get(column, "") for column in columns] for row in rows])
        write_csv(table, file, private=True)
        with open_recipients(surveys) as recipients:
            for recipient in plan.due:
                recipients.release(recipient, mails=max(recipient.mails, plan.request.reminder + 1))
            recipients.clear_log()
        _record(surveys, lead, plan.request, len(rows), "file")
    return len(rows)


def send_mails(
    surveys: Surveys,
    plan: MailPlan,
    address: str,
    password: str = "",
    *,
    a_minute: int | None = None,
    actor: str | None = None,
    progress: Progress = lambda label, done, total: None,
    sleep: Callable[[float], None] = time.sleep,
    report: MailReport | None = None,
) -> MailReport:
    """Sends the e-mails of a plan one by one; what the server accepted is recorded at once.

    Pass a `report` to know what was sent even if the run is interrupted.
    """
    lead = require_lead(surveys.coding, actor, "invite to a survey")
    require_open(surveys, plan.request.survey)
    settings = require_mail_settings(surveys)
    report = MailReport() if report is None else report
    if not plan.due:
        return report
    messages = build_messages(surveys, plan, settings, address)
    with open_recipients(surveys) as recipients, MailServer(settings, password) as server:
        try:
            for number, (recipient, message) in enumerate(messages):
                if number and a_minute:
                    sleep(60 / a_minute)
                _send(recipients, server, plan.request, recipient, message, report)
                progress("e-mails", number + 1, len(plan.due))
                if report.stopped:
                    break
        finally:
            recipients.clear_log()
            if report.sent:
                _record(surveys, lead, plan.request, report.sent, "server")
    return report


def _send(
    recipients: RecipientFile,
    server: MailServer,
    request: MailRequest,
    recipient: Recipient,
    message: EmailMessage,
    report: MailReport,
) -> None:
    """Sends one e-mail and records its outcome."""
    person = recipient.person
    if person is None or not recipients.claim(recipient):
        return  # another process mails them, or they opted out meanwhile
    try:
        delivery = server.send(person.address, write_message(message))
    except BaseException:  # the run is interrupted
        if not server.is_handing_over:
            recipients.release(recipient, refused=recipient.refused)
        raise
    match delivery.outcome:
        case DeliveryOutcome.ACCEPTED:
            recipients.release(recipient, mails=max(recipient.mails, request.reminder + 1))
            report.sent += 1
        case DeliveryOutcome.ADDRESS_REFUSED:
            recipients.release(recipient, refused=delivery.code)
            report.refused.append((person.address, delivery.words))
        case DeliveryOutcome.ADDRESS_POSTPONED:
            recipients.release(recipient, refused=recipient.refused)
            report.postponed.append((person.address, delivery.words))
        case DeliveryOutcome.STOPPED:
            recipients.release(recipient, refused=recipient.refused)
            report.stopped = delivery.words
        case DeliveryOutcome.UNCERTAIN:  # it stays marked, so that nobody is mailed twice
            report.uncertain.append(person.address)
            report.stopped = delivery.words


def _record(surveys: Surveys, lead: str, request: MailRequest, count: int, how: str) -> None:
    payload = {"survey": request.survey, "kind": request.kind, "reminder": request.reminder, "count": count, "how": how}
    surveys.coding.act(lambda state: NewAct(MAIL_ACT, lead, payload))


def describe_plan(plan: MailPlan) -> str:
    """Returns how many people get the e-mail, and how many do not and why, as a sentence."""
    others = "; ".join(f"{count:,} {reason}" for reason, count in plan.others.items())
    return f"{count_of(len(plan.due), plan.request.kind)} to send{f' ({others})' if others else ''}"
