"""Asks before a command shows ratings of a blind round for the first time, as the desk does."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from quaestor.base.errors import InputError
from quaestor.cli.output import say

if TYPE_CHECKING:
    from quaestor.study.folder import Study

YesOption = Annotated[
    bool, typer.Option("--yes", help="Do not ask before ratings of a blind round are shown for the first time.")
]


def confirm_views(study: Study, rounds: Iterable[str] | None, actor: str | None, *, yes: bool) -> None:
    """Asks before the first view of rounds, by default of all closed ones; ends the command if the answer is no.

    Without a terminal nobody can answer, so the command is refused unless --yes is given.
    """
    from quaestor.coding.agreement_access import find_access
    from quaestor.coding.model.state import CLOSED
    from quaestor.coding.session import open_coding
    from quaestor.study.folder import has_journal

    if yes or not has_journal(study):
        return
    with open_coding(study) as coding, coding.locked_state() as state:
        closed = (name for name, round_state in state.rounds.items() if round_state.status == CLOSED)
        chosen = [name for name in (closed if rounds is None else rounds) if name in state.rounds]
        questions = {name: find_access(state, name, actor or coding.lead, coding.lead) for name in chosen}
    for name, access in questions.items():
        if access.may != "ask":
            continue
        if not sys.stdin.isatty():
            raise InputError(f"this shows ratings of {name!r}. {access.message} Add --yes to go on")
        say(f"This shows ratings of {name!r}. {access.message}")
        if not typer.confirm("Go on?", err=True):
            say("Nothing was shown or recorded")
            raise typer.Exit(1)
