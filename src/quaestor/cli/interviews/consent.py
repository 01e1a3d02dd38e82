"""`quaestor interview participant consent`, `link` and `interview agreement`: the consent form and its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, print_json, say

if TYPE_CHECKING:
    from quaestor.interviews.participants.consent import ParticipantConsent

_THIS_MACHINE = "http://127.0.0.1:8321"
PseudonymArgument = Annotated[str, typer.Argument(metavar="PSEUDONYM", help="A participant, such as P1.")]


def add_to(group: typer.Typer) -> None:
    group.command()(consent)
    group.command()(link)


def consent(
    pseudonym: PseudonymArgument,
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help="accepted or declined; without it, show the answer.")
    ] = "",
    how: Annotated[
        str, typer.Option("--how", help="How consent was given, in your words; it is never published.")
    ] = "spoken",
    version: Annotated[
        int | None,
        typer.Option(help="The version of the form they answered; default: the one in force.", show_default=False),
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Record a participant's answer to the consent form, or show it.

    Examples:
      quaestor interview participant consent P1 accepted --how "on paper" --version 1
      quaestor interview participant consent P1 accepted --how "e-mail of 3 May"
      quaestor interview participant consent P1
    """
    from quaestor.interviews.participants.consent import DECLINED, find_consent, has_interview_data, record_consent
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        if what:
            answer = record_consent(interviews, pseudonym, what, how, actor or "", version)
        else:
            answer = find_consent(interviews, pseudonym)
        quoted = answer.what == DECLINED and has_interview_data(interviews, pseudonym)
    if json:
        print_json({"participant": pseudonym, **consent_json(answer)})
    else:
        print(f"{pseudonym}: {answer.words}" + (f", {answer.how}, {answer.day}" if answer.what else ""))
    if quoted and what:
        say("Published results may still quote this participant: rebuild them with `quaestor report`")


def link(
    pseudonym: PseudonymArgument,
    address: Annotated[str, typer.Option(metavar="URL", help="The address of the desk.")] = _THIS_MACHINE,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Print a personal link with which a participant reads and answers the consent form, and can withdraw.

    The link is shown once; only a hash of it is stored. A new link replaces the earlier one.

    Example: quaestor interview participant link P1 --address https://study.example.org
    """
    from quaestor.base.errors import InputError
    from quaestor.interviews.participants.consent import make_link
    from quaestor.interviews.repository import open_interviews

    if not address.startswith(("http://", "https://")):
        raise InputError(f"--address is {address!r}: write it as http://HOST:PORT or https://HOST/PATH")
    with open_interviews(chosen_study(study)) as interviews:
        consent_link = make_link(interviews, pseudonym, actor)
    url = f"{address.rstrip('/')}/c/{consent_link.code}"
    if json:
        print_json({"participant": pseudonym, "link": url})
        return
    console().print(url, soft_wrap=True, markup=False)
    say(f"Send it only to {pseudonym}; it is not shown again")


def agreement(
    put_in_force: Annotated[bool, typer.Option("--put-in-force", help="Put the current file in force.")] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Show which version of the consent form is in force, or put the changed file in force; all are asked again.

    Examples:
      quaestor interview agreement
      quaestor interview agreement --put-in-force
    """
    from quaestor.interviews.participants.consent import (
        list_consent_form_versions,
        put_consent_form_in_force,
        read_consent_form,
    )
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        if put_in_force:
            put_consent_form_in_force(interviews, actor)
        now, versions = read_consent_form(interviews), list_consent_form_versions(interviews)
    if json:
        rows = [{"version": version.version, "day": version.day, "sha256": version.sha256} for version in versions]
        print_json({"file": now.file, "changed": now.changed, "versions": rows})
        return
    if now.kept is None:
        state = "takes effect when the first participant is asked" if now.text else "does not exist"
        say(f"No consent form is in force yet: {now.file} {state}")
    else:
        print(f"version {now.kept.version}, in force since {now.kept.day}")
        if now.changed:
            say(f"{now.file} has changed since: put it in force with `quaestor interview agreement --put-in-force`")


def consent_json(answer: ParticipantConsent) -> dict[str, Any]:
    """Returns the JSON of a participant's answer to the consent form."""
    return {
        "consent": answer.what or None,
        "version": answer.version,
        "how": answer.how or None,
        "day": answer.day or None,
        "in_force": answer.newest,
        "linked": answer.linked,
    }
