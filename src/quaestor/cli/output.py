"""Options and output that the commands share: consoles, JSON, problem lists and a progress bar."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.base.errors import InputError
from quaestor.base.names import count_of

if TYPE_CHECKING:
    from rich.console import Console

    from quaestor.base.errors import Problem
    from quaestor.evidence.live_items import AddedItems
    from quaestor.evidence.sources.protocol import Progress
    from quaestor.study.folder import Study

StudyOption = Annotated[
    Path | None,
    typer.Option("--study", metavar="DIR", help="The study folder; default: the current folder.", show_default=False),
]
ActorOption = Annotated[
    str | None,
    typer.Option("--as", metavar="NAME", help="Act as this person; default: the study's lead.", show_default=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def errors() -> Console:
    """Returns the console for messages on standard error, so that standard output holds only results."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False)


def say(message: str) -> None:
    """Prints a line on standard error without interpreting brackets as styles."""
    errors().print(message, soft_wrap=True, markup=False)


def console() -> Console:
    from rich.console import Console

    # Output to a file or a pipe gets a fixed width, so that it does not depend on the terminal.
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160
    return Console(highlight=False, emoji=False, width=width)


def named_values(arguments: list[str], form: str) -> dict[str, str]:
    """Parses `name=value` arguments; `form` is the expected form in error messages."""
    values = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals:
            raise InputError(f"cannot read {argument!r}: write it as {form}")
        if name.strip() in values:
            raise InputError(f"{name.strip()!r} is given twice: give it once")
        values[name.strip()] = value.strip()
    return values


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def chosen_study(folder: Path | None) -> Study:
    """Opens the study named with --study, or the one that contains the working folder."""
    from quaestor.study.folder import open_study

    return open_study(folder or Path.cwd())


@contextmanager
def progress_bar(in_bytes: bool = True) -> Iterator[Progress]:
    """Shows a progress bar with speed and remaining time on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda label, done, total: None
        return
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.progress import (
        Progress as RichProgress,
    )

    counted = (DownloadColumn(), TransferSpeedColumn()) if in_bytes else (MofNCompleteColumn(),)
    columns = (TextColumn("{task.description}"), BarColumn(), *counted, TimeRemainingColumn())
    with RichProgress(*columns, console=errors(), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def update(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(label, total=total or None)
            bars.update(tasks[label], completed=done)

        yield update


def number(value: int) -> str:
    """Formats a number with separators, as in 90,697."""
    return f"{value:,}"


def tell_of_items(added: AddedItems, unit: str, step: str, *, json: bool) -> None:
    """Prints how many items a live source has and what to run next; `unit` names an item."""
    if json:
        print_json({
            "source": added.source, "file": added.file, "items": added.items, "participants": added.participants,
            "added": added.added, "block": added.block, "strand": added.strand,
        })  # fmt: skip
        return
    participants = count_of(added.participants, "participant")
    say(f"{count_of(added.items, unit)} from {participants}, read from {added.file} when they are needed")
    if added.added:
        kept_by = f"the strand {added.strand!r}" if added.strand else "a funnel that keeps all of its items"
        say(f"Added the source {added.source!r} to study.toml, with {kept_by}")
    if not added.added:
        say("Next: `quaestor funnel`; then `quaestor status` shows the next step")
        return
    items = f"of the strand {added.strand!r}" if added.strand else f"after the step {step!r}"
    say(f"Next: `quaestor funnel`, then add a round {items}")


def print_problems(title: str, size: str, problems: Sequence[Problem], used: str) -> None:
    """Prints one line per problem and whether the instrument can be `used` ("opened", "used") nevertheless."""
    from rich.markup import escape
    from rich.table import Table

    screen = console()
    screen.print(f"[bold]{escape(title)}[/bold]: {size}", soft_wrap=True)
    table = Table(box=None, pad_edge=False, show_header=False)
    for problem in problems:
        label = "[red]error[/red]" if problem.grave else "[yellow]warning[/yellow]"
        table.add_row(label, escape(problem.where), escape(problem.words))
    if problems:
        screen.print(table)
    grave = sum(problem.grave for problem in problems)
    if grave:
        say(f"It cannot be {used} until {'this error is' if grave == 1 else f'these {grave} errors are'} fixed")
    else:
        say(f"It can be {used}" + ("; consider the warnings" if problems else ""))
