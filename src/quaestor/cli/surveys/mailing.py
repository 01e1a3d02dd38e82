"""`quaestor survey recipients`, `mail` and `remind`: invite people by e-mail and remind those who have not answered."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quaestor.cli.output import (
    ActorOption,
    JsonOption,
    StudyOption,
    chosen_study,
    console,
    number,
    print_json,
    progress_bar,
    say,
)
from quaestor.cli.surveys.invitations import SurveyArgument

if TYPE_CHECKING:
    from quaestor.study.folder import Study
    from quaestor.surveys.lifecycle import Surveys
    from quaestor.surveys.mailing import MailPlan, MailReport, MailRequest
    from quaestor.surveys.recipients import AddedRecipients
    from quaestor.surveys.store.recipients import RecipientCounts

PreviewOption = Annotated[bool, typer.Option("--preview", help="Show the first e-mail exactly, and send nothing.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say how many people would get it; send nothing.")]
MergeOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write a new CSV file for a mail program instead of sending.", show_default=False
    ),
]
ToOption = Annotated[
    list[str] | None, typer.Option(metavar="ADDRESS", help="Only this recipient; can be repeated.", show_default=False)
]
AgainOption = Annotated[
    bool, typer.Option("--again", help="Also people who got this e-mail, or may have got it, before.")
]
RetryOption = Annotated[bool, typer.Option("--retry", help="Also people whose address the server refused before.")]
RateOption = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="At most this many e-mails a minute.", show_default=False)
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="The address of the desk for respondents; default: that of the running desk.",
        show_default=False,
    ),
]  # fmt: skip


def add_to(group: typer.Typer) -> None:
    group.command()(recipients)
    group.command()(mail)
    group.command()(remind)


def recipients(
    name: SurveyArgument,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A CSV, TSV or XLSX file of people.", show_default=False)
    ] = None,
    batch: Annotated[str, typer.Option(metavar="NAME", help="The batch of the people in FILE.")] = "",
    stratum: Annotated[str, typer.Option(metavar="NAME", help="Their stratum, if FILE has no column for it.")] = "",
    remove: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="Erase this address; can be repeated.", show_default=False),
    ] = None,
    remove_all: Annotated[bool, typer.Option("--remove-all", help="Erase all addresses of the survey.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm --remove-all.")] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Add the people of a file as recipients of e-mails, erase addresses, or count what they got.

    FILE has a column `e-mail` and, if you like, `name`, `language`, `stratum`, values of the link and the columns that
    the texts use. Addresses, names and links are stored encrypted, apart from the answers. Nothing is sent yet.

    Examples:
      quaestor survey recipients protocol people.csv --batch first
      quaestor survey recipients protocol
      quaestor survey recipients protocol --remove anna@example.org
      quaestor survey recipients protocol --remove-all --yes
    """
    from quaestor.base.errors import InputError
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.recipients import add_recipients, count_recipients, remove_recipients

    if (file is not None) + bool(remove) + remove_all > 1:
        raise InputError("give only one of FILE, --remove and --remove-all")
    if file is not None and not batch:
        raise InputError("name the batch of these people with --batch NAME, for example --batch first")
    if remove_all and not yes:
        raise InputError("nothing was erased: this cannot be undone, so add --yes to erase all addresses")
    with open_surveys(chosen_study(study)) as surveys:
        if file is not None:
            added = add_recipients(surveys, name, file, batch, stratum, actor)
            _print_added(name, batch, added)
        elif remove or remove_all:
            removed = remove_recipients(surveys, name, None if remove_all else remove or [], actor)
            say(f"{number(removed)} {'address' if removed == 1 else 'addresses'} erased")
            if remove and removed < len(remove):
                raise InputError(f"{len(remove) - removed} of these addresses are not recipients: check them")
        counts, is_started_known = count_recipients(surveys, name)
    if json:
        print_json(_counts_json(counts, is_started_known))
    elif file is None and not remove and not remove_all:
        for label, count in _counts_json(counts, is_started_known).items():
            shown = "–" if count is None else number(count)
            console().print(f"{label.replace('_', ' '):<12}{shown:>10}", highlight=False)


def _print_added(name: str, batch: str, added: AddedRecipients) -> None:
    people = "person" if added.added == 1 else "people"
    say(f"{number(added.added)} {people} added in the batch {batch}; nothing was sent yet")
    if added.known:
        say(f"{number(added.known)} are recipients already and were left as they are")
    if added.opted_out:
        say(f"{number(added.opted_out)} opted out of e-mails about this survey and stay out")
    if added.ignored:
        say(f"Ignored columns: {', '.join(added.ignored)}")
    if added.texts is not None:
        say(f"The texts of the e-mails are in {added.texts}, which was created: edit them")
    say(f"Next: quaestor survey mail {name} --preview")


def _counts_json(counts: RecipientCounts, is_started_known: bool) -> dict[str, int | None]:
    return {
        "recipients": counts.all, "invited": counts.invited, "reminded": counts.reminded,
        "started": counts.started if is_started_known else None, "opted_out": counts.opted_out,
        "refused": counts.refused, "uncertain": counts.uncertain,
    }  # fmt: skip


def mail(
    name: SurveyArgument,
    preview: PreviewOption = False,
    dry_run: DryRunOption = False,
    merge_file: MergeOption = None,
    to: ToOption = None,
    again: AgainOption = False,
    retry: RetryOption = False,
    rate: RateOption = None,
    address: AddressOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Send the invitation by e-mail to every recipient who has not got it; exit 1 if some could not be sent.

    Each recipient is recorded as soon as the server accepts the e-mail. After an interruption, run the command again:
    it goes on with the others. The server is in [mail] of study.toml, its password in QUAESTOR_MAIL_PASSWORD, or you
    are asked for it. The texts are in instruments/SURVEY.mail.toml. `survey recipients` adds people.

    Examples:
      quaestor survey mail protocol --preview
      quaestor survey mail protocol --dry-run
      quaestor survey mail protocol --rate 30
      quaestor survey mail protocol --again --to anna@example.org
      quaestor survey mail protocol --merge-file mail.csv
    """
    from quaestor.surveys.mailing import MailRequest

    request = MailRequest(name, 0, again, retry, tuple(to or ()))
    _mail(request, preview, dry_run, merge_file, rate, address, actor, study, json)


def remind(
    name: SurveyArgument,
    reminder: Annotated[
        int, typer.Option("--number", min=1, metavar="N", help="1 for the first reminder, 2 for the second, …")
    ] = 1,
    preview: PreviewOption = False,
    dry_run: DryRunOption = False,
    merge_file: MergeOption = None,
    to: ToOption = None,
    again: AgainOption = False,
    retry: RetryOption = False,
    rate: RateOption = None,
    address: AddressOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Remind the people who were invited by e-mail and have not answered; exit 1 if some could not be sent.

    Nobody who finished, declined or opted out is reminded. In an anonymous survey nobody who used the link is, because
    the study does not know whether they finished.

    Examples:
      quaestor survey remind protocol --dry-run
      quaestor survey remind protocol
      quaestor survey remind protocol --number 2 --merge-file second.csv
    """
    from quaestor.surveys.mailing import MailRequest

    request = MailRequest(name, reminder, again, retry, tuple(to or ()))
    _mail(request, preview, dry_run, merge_file, rate, address, actor, study, json)


def _mail(
    request: MailRequest,
    preview: bool,
    dry_run: bool,
    merge_file: Path | None,
    rate: int | None,
    address: str | None,
    actor: str | None,
    study: Path | None,
    json: bool,
) -> None:
    from quaestor.base.errors import InputError
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.mailing import describe_plan, plan_mails, write_merge_file

    if preview + dry_run + (merge_file is not None) > 1:
        raise InputError("give only one of --preview, --dry-run and --merge-file")
    opened = chosen_study(study)
    with open_surveys(opened) as surveys:
        plan = plan_mails(surveys, request)
        if dry_run:
            if json:
                print_json(
                    {"survey": request.survey, "kind": request.kind, "due": len(plan.due), "others": plan.others}
                )
            else:
                say(f"{describe_plan(plan)}; nothing was sent")
            return
        if not plan.due:
            say(describe_plan(plan))
            _advise(plan.uncertain)
            return
        links = _find_address(opened, address)
        if preview:
            _print_preview(surveys, plan, links)
        elif merge_file is not None:
            rows = write_merge_file(surveys, plan, merge_file, links, actor)
            say(f"{number(rows)} {request.kind}s written to {merge_file}, and counted as sent: delete it after use")
        else:
            _send(surveys, plan, links, rate, actor, json)


def _send(surveys: Surveys, plan: MailPlan, links: str, rate: int | None, actor: str | None, json: bool) -> None:
    from quaestor.base.errors import Interrupted
    from quaestor.surveys.mailing import MailReport, require_mail_settings, send_mails

    password = _find_password() if require_mail_settings(surveys).user else ""
    report = MailReport()
    try:
        with progress_bar(in_bytes=False) as progress:
            send_mails(surveys, plan, links, password, a_minute=rate, actor=actor, progress=progress, report=report)
    except Interrupted:
        _print_report(plan, report)
        raise Interrupted("interrupted; what was sent is recorded, run the command again to go on") from None
    if not json:
        _print_report(plan, report)
    else:
        print_json(
            {
                "survey": plan.request.survey, "kind": plan.request.kind, "sent": report.sent,
                "refused": [{"address": address, "answer": answer} for address, answer in report.refused],
                "postponed": [{"address": address, "answer": answer} for address, answer in report.postponed],
                "uncertain": report.uncertain, "stopped": report.stopped,
            }
        )  # fmt: skip
    if not report.is_complete:
        raise typer.Exit(1)


def _print_report(plan: MailPlan, report: MailReport) -> None:
    say(f"{number(report.sent)} of {number(len(plan.due))} {plan.request.kind}s sent")
    for address, answer in report.refused:
        say(f"Refused: {address} ({answer}); try again with --retry --to {address}")
    for address, answer in report.postponed:
        say(f"Not yet: {address} ({answer}); the next run tries it again")
    if report.stopped:
        say(f"Stopped: {report.stopped}; run the command again to go on")
    _advise(report.uncertain)


def _advise(uncertain: Iterable[str]) -> None:
    for address in uncertain:
        say(
            f"Unknown whether {address} got it, because the connection broke at that moment: "
            f"if not, use --again --to {address}"
        )


def _print_preview(surveys: Surveys, plan: MailPlan, links: str) -> None:
    from quaestor.surveys.mailing import build_messages, require_mail_settings

    _, message = next(build_messages(surveys, plan, require_mail_settings(surveys), links))
    for header in ("From", "To", "Reply-To", "Subject", "List-Unsubscribe"):
        if message[header]:
            print(f"{header}: {message[header]}")
    print(f"\n{message.get_content()}", end="")
    say(f"The first of {number(len(plan.due))}; nothing was sent")


def _find_password() -> str:
    from getpass import getpass

    from quaestor.base.errors import InputError
    from quaestor.surveys.mail_server import PASSWORD

    if password := os.environ.get(PASSWORD):
        return password
    if not sys.stdin.isatty():
        raise InputError(f"the mail server needs a password: set the environment variable {PASSWORD}")
    return getpass("Password of the mail server: ")


def _find_address(study: Study, address: str | None) -> str:
    """Returns where respondents reach the desk; raises InputError if only this machine would."""
    from quaestor.base.errors import InputError
    from quaestor.web.desk_address import find_running_desk

    if address is None:
        desk = find_running_desk(study.evidence)
        if desk is None or not desk.public:
            what = "the desk is not running" if desk is None else "the running desk has no public address"
            raise InputError(
                f"{what}, so the links would lead nowhere: give its address with --address https://HOST, "
                "or start it with `quaestor serve --allow-host HOST`"
            )
        return desk.public
    if not address.startswith(("http://", "https://")):
        raise InputError(f"--address is {address!r}: write it as http://HOST:PORT or https://HOST/PATH")
    return address
