"""`quaestor interview participant consent`, `link` and `interview agreement`: what is asked, and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, print_json, say

if TYPE_CHECKING:
    from quaestor.interviews.participants.consent import Consent

_THIS_MACHINE = "http://127.0.0.1:8321"
PseudonymArgument = Annotated[str, typer.Argument(metavar="PSEUDONYM", help="A participant, such as P1.")]


def add_to(group: typer.Typer) -> None:
    group.command()(consent)
    group.command()(link)


def consent(
    pseudonym: PseudonymArgument,
    what: Annotated[str, typer.Argument(metavar="WHAT", help="accepted or declined; left out, it is told.")] = "",
    how: Annotated[str, typer.Option(help="How it was given: on paper or spoken.")] = "spoken",
    version: Annotated[
        int | None,
        typer.Option(help="The version they answered; default: that in force.", show_default=False),
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Record what a participant said to the agreement, or tell what is on record.

    Examples:
      quaestor interview participant consent P1 accepted --how "on paper" --version 1
      quaestor interview participant consent P1
    """
    from quaestor.interviews.participants.consent import DECLINED, consent_of, has_said, record_consent
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        if what:
            found = record_consent(interviews, pseudonym, what, how, actor or "", version)
        else:
            found = consent_of(interviews, pseudonym)
        quoted = found.what == DECLINED and has_said(interviews, pseudonym)
    if json:
        print_json({"participant": pseudonym, **consent_json(found)})
    else:
        print(f"{pseudonym}: {found.words}" + (f", {found.how}, {found.day}" if found.what else ""))
    if quoted and what:
        say("What is published already may quote them until it is made anew: `quaestor report`")


def link(
    pseudonym: PseudonymArgument,
    address: Annotated[str, typer.Option(metavar="URL", help="Where the desk is reached.")] = _THIS_MACHINE,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Print a personal link by which a participant reads the agreement, answers it, and can withdraw.

    It is told once; of its code only a hash is kept. A new link ends the earlier one.

    Example: quaestor interview participant link P1 --address https://study.example.org
    """
    from quaestor.base.errors import InputError
    from quaestor.interviews.participants.consent import make_link
    from quaestor.interviews.repository import open_interviews

    if not address.startswith(("http://", "https://")):
        raise InputError(f"--address is {address!r}: write it as http://HOST:PORT or https://HOST/PATH")
    with open_interviews(chosen_study(study)) as interviews:
        made = make_link(interviews, pseudonym, actor)
    told = f"{address.rstrip('/')}/c/{made.code}"
    if json:
        print_json({"participant": pseudonym, "link": told})
        return
    console().print(told, soft_wrap=True, markup=False)
    say(f"Send it to {pseudonym} alone; it is not shown again")


def agreement(
    use: Annotated[bool, typer.Option("--use", help="Put what the file says now in force.")] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Tell which version of the agreement is in force, or put the changed file in force: all are asked again.

    Examples:
      quaestor interview agreement
      quaestor interview agreement --use
    """
    from quaestor.interviews.participants.consent import agreement_of, agreement_versions, put_agreement_in_force
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        if use:
            put_agreement_in_force(interviews, actor)
        now, versions = agreement_of(interviews), agreement_versions(interviews)
    if json:
        told = [{"version": one.version, "day": one.day, "sha256": one.sha256} for one in versions]
        print_json({"file": now.file, "changed": now.changed, "versions": told})
        return
    if now.kept is None:
        say(f"No agreement is in force yet: {now.file} {'waits' if now.text else 'is not written'}")
    else:
        print(f"version {now.kept.version}, in force since {now.kept.day}")
        if now.changed:
            say(f"{now.file} has changed since: `quaestor interview agreement --use` puts it in force")


def consent_json(found: Consent) -> dict[str, Any]:
    """What somebody said to the agreement, as commands tell it."""
    return {
        "consent": found.what or None,
        "version": found.version,
        "how": found.how or None,
        "day": found.day or None,
        "in_force": found.newest,
        "linked": found.linked,
    }
