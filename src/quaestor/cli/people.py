"""`quaestor invite` and `quaestor people`: invite people to the study, list them, revoke links, remove accounts."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, print_json, say

group = typer.Typer(help="Accounts and open invitations of the study.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of an account or an invitation.")]


def add_to(app: typer.Typer) -> None:
    app.command()(invite)
    app.add_typer(group, name="people")


@group.callback()
def people() -> None:
    """List accounts and invitations, revoke links, remove accounts."""


def invite(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name under which rounds know the person, or a new name.")
    ],
    role: Annotated[
        str, typer.Option(metavar="ROLE", help="rater, tie-breaker, interviewer, viewer, reviewer or payer.")
    ],
    days: Annotated[int, typer.Option(min=1, max=365, help="For how many days the link is valid.")] = 7,
    address: Annotated[
        str | None, typer.Option(metavar="URL", help="The address of the desk; default: that of the running one.")
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Print a link with which a person joins the study.

    The link is valid once, except that a reviewer's link works until it expires. A new link replaces an open one under
    the same name. A person who has already joined uses it to set a new password.

    Examples:
      quaestor invite rater-1 --role rater
      quaestor invite journal --role reviewer --days 30 --address https://study.example.org
    """
    from quaestor.base.errors import InputError
    from quaestor.people.membership import describe_missing_round
    from quaestor.people.membership import invite as invite_person
    from quaestor.people.roles import parse_role
    from quaestor.web.desk_address import DEFAULT_ADDRESS, DeskAddress, find_running_desk

    if address is not None and not address.startswith(("http://", "https://")):
        raise InputError(f"--address is {address!r}: write it as http://HOST:PORT or https://HOST/PATH")
    opened = chosen_study(study)
    desk = find_running_desk(opened.evidence) if address is None else DeskAddress(address)
    token, invitation = invite_person(opened, name, parse_role(role), timedelta(days=days))
    link = f"{(desk.best if desk else DEFAULT_ADDRESS).rstrip('/')}/join/{token}"
    if json:
        expires = invitation.expires.isoformat()
        print_json({"name": invitation.name, "role": invitation.role, "expires": expires, "link": link})
    else:
        console().print(link, soft_wrap=True, markup=False)
    if desk is None:
        say("The desk is not running: start it with `quaestor serve`; the link works if it is served at this address")
    elif desk.public:
        say(f"On this machine also: {desk.local}join/{token}")
    if missing := describe_missing_round(opened, invitation.name, invitation.role):
        say(missing)
    if json:
        return
    use = "any number of times" if invitation.is_reusable else "once"
    until = f"{invitation.expires:%Y-%m-%d %H:%M} UTC"
    say(f"{invitation.name}, {invitation.role}: the link can be used {use}, until {until}")


@group.command("list")
def list_all(study: StudyOption = None, json: JsonOption = False) -> None:
    """List accounts and open invitations.

    Example: quaestor people list --json
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.people.membership import list_people

    members = list_people(chosen_study(study))
    if json:
        accounts = [
            {"name": account.name, "role": account.role, "joined": account.created.isoformat()}
            for account in members.accounts
        ]
        invitations = [
            {
                "name": invitation.name,
                "role": invitation.role,
                "made": invitation.created.isoformat(),
                "expires": invitation.expires.isoformat(),
            }
            for invitation in members.invitations
        ]
        print_json({"accounts": accounts, "invitations": invitations})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "role", "state"):
        table.add_column(heading, overflow="fold")
    for account in members.accounts:
        table.add_row(escape(account.name), account.role, f"joined {account.created:%Y-%m-%d}")
    for invitation in members.invitations:
        until = f"{invitation.expires:%Y-%m-%d %H:%M} UTC"
        table.add_row(escape(invitation.name), invitation.role, f"invited, valid until {until}")
    console().print(table)
    if not members.accounts and not members.invitations:
        say("Nobody has joined yet: `quaestor serve` prints the lead's link, `quaestor invite` creates the others")


@group.command("remove")
def remove(name: NameArgument, study: StudyOption = None) -> None:
    """Erase an account, sign it out everywhere and revoke its links; its acts stay in the journal.

    Example: quaestor people remove rater-2
    """
    from quaestor.people.membership import remove_person
    from quaestor.store.erasure import describe_pending_erasures

    chosen = chosen_study(study)
    remove_person(chosen, name)
    say(f"{name} is removed and signed out everywhere")
    if pending := describe_pending_erasures(chosen.root):
        say(pending)


@group.command("rename")
def rename(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A rater or tie-breaker of a round.")],
    to: Annotated[str, typer.Argument(metavar="NEW_NAME", help="A name that nobody in the study has or had.")],
    study: StudyOption = None,
) -> None:
    """Rename a rater or tie-breaker everywhere: rounds, ratings, decisions, exports, study.toml and the account.

    The renaming is an act of the journal; earlier acts are not rewritten.

    Example: quaestor people rename rater-1 anna
    """
    from quaestor.coding.renaming import rename_rater

    rename_rater(chosen_study(study), name, to)
    say(f"{name} is now called {to.strip()}, also for signing in")


@group.command("revoke")
def revoke(name: NameArgument, study: StudyOption = None) -> None:
    """Revoke an open invitation; a reviewer who joined with it is signed out.

    Example: quaestor people revoke journal
    """
    from quaestor.people.membership import revoke_invitation

    revoke_invitation(chosen_study(study), name)
    say(f"The invitation for {name} is revoked")
