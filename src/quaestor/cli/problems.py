"""What is wrong with a questionnaire or a guide, as a person reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quaestor.cli.output import console, say

if TYPE_CHECKING:
    from quaestor.instruments.records import Problem


def print_problems(title: str, size: str, problems: Sequence[Problem], used: str) -> None:
    """Each problem on a line, and whether it can be `used` (opened, used …) all the same."""
    from rich.markup import escape
    from rich.table import Table

    screen = console()
    screen.print(f"[bold]{escape(title)}[/bold]: {size}", soft_wrap=True)
    table = Table(box=None, pad_edge=False, show_header=False)
    for one in problems:
        mark = "[red]grave[/red]" if one.grave else "[yellow]look[/yellow]"
        table.add_row(mark, escape(one.where), escape(one.words))
    if problems:
        screen.print(table)
    grave = sum(one.grave for one in problems)
    if grave:
        count = f"{grave} of {len(problems)} problems {'is' if grave == 1 else 'are'} grave"
        say(f"It cannot be {used} like this: {'its one problem is grave' if len(problems) == 1 else count}")
    else:
        say(f"It can be {used}" + (", with this to think about" if problems else ""))
