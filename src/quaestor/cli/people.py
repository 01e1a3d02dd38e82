"""`quaestor invite` and `quaestor people`: who may come in, and who no longer."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, print_json, say

group = typer.Typer(help="Who has joined the study, and whose link is still open.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of an account or an invitation.")]


def add_to(app: typer.Typer) -> None:
    app.command()(invite)
    app.add_typer(group, name="people")


@group.callback()
def people() -> None:
    """List the people of the study, take back links, remove accounts."""


def invite(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A rater or tie-breaker of study.toml, or a new name.")],
    role: Annotated[
        str, typer.Option(metavar="ROLE", help="rater, tie-breaker, interviewer, viewer, reviewer or payer.")
    ],
    days: Annotated[int, typer.Option(min=1, max=365, help="How long the link can be used.")] = 7,
    address: Annotated[str, typer.Option(metavar="URL", help="Where the desk is reached.")] = "http://127.0.0.1:8321",
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Print a link by which somebody joins, once; a reviewer's link can be followed until it expires.

    A new link takes the place of an open one under the same name; for somebody who has joined, it sets a new password.

    Examples:
      quaestor invite rater-1 --role rater
      quaestor invite journal --role reviewer --days 30 --address https://study.example.org
    """
    from quaestor.base.errors import InputError
    from quaestor.people.membership import invite as invite_person
    from quaestor.people.roles import role_named

    if not address.startswith(("http://", "https://")):
        raise InputError(f"--address is {address!r}: write it as http://HOST:PORT or https://HOST/PATH")
    token, made = invite_person(chosen_study(study), name, role_named(role), timedelta(days=days))
    link = f"{address.rstrip('/')}/join/{token}"
    if json:
        print_json({"name": made.name, "role": made.role, "expires": made.expires.isoformat(), "link": link})
        return
    console().print(link, soft_wrap=True, markup=False)
    use = "until then as often as needed" if made.is_the_access else "once"
    say(f"{made.name}, {made.role}: the link can be used until {made.expires:%Y-%m-%d %H:%M} UTC, {use}")


@group.command("list")
def list_all(study: StudyOption = None, json: JsonOption = False) -> None:
    """List accounts and open invitations.

    Example: quaestor people list --json
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.people.membership import list_people

    found = list_people(chosen_study(study))
    if json:
        accounts = [{"name": one.name, "role": one.role, "joined": one.made.isoformat()} for one in found.accounts]
        invitations = [
            {"name": one.name, "role": one.role, "made": one.made.isoformat(), "expires": one.expires.isoformat()}
            for one in found.invitations
        ]
        print_json({"accounts": accounts, "invitations": invitations})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "role", "state"):
        table.add_column(heading, overflow="fold")
    for account in found.accounts:
        table.add_row(escape(account.name), account.role, f"joined {account.made:%Y-%m-%d}")
    for open_one in found.invitations:
        table.add_row(escape(open_one.name), open_one.role, f"invited, until {open_one.expires:%Y-%m-%d %H:%M} UTC")
    console().print(table)
    if not found.accounts and not found.invitations:
        say("Nobody yet: `quaestor serve` prints the lead's link, `quaestor invite` makes the others")


@group.command("remove")
def remove(name: NameArgument, study: StudyOption = None) -> None:
    """Erase an account, sign it out everywhere, and take back its links; what it did stays in the journal.

    Example: quaestor people remove rater-2
    """
    from quaestor.people.membership import remove_person
    from quaestor.store.erasure import describe_pending_erasures

    chosen = chosen_study(study)
    remove_person(chosen, name)
    say(f"{name} is removed and signed out everywhere")
    if pending := describe_pending_erasures(chosen.root):
        say(pending)


@group.command("revoke")
def revoke(name: NameArgument, study: StudyOption = None) -> None:
    """Take back an open invitation; a reviewer who came by it is signed out.

    Example: quaestor people revoke journal
    """
    from quaestor.people.membership import revoke_invitation

    revoke_invitation(chosen_study(study), name)
    say(f"The invitation for {name} is taken back")
