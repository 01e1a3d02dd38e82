"""What the commands share: options, consoles, JSON, and a progress bar with rate and estimate."""

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

if TYPE_CHECKING:
    from rich.console import Console

    from quaestor.base.errors import Problem
    from quaestor.evidence.derived_items import ItemsMade
    from quaestor.evidence.sources.protocol import Progress
    from quaestor.study.folder import Study

StudyOption = Annotated[
    Path | None,
    typer.Option("--study", metavar="DIR", help="The study folder; default: the one you are in.", show_default=False),
]
ActorOption = Annotated[
    str | None, typer.Option("--as", metavar="NAME", help="Who acts; default: the study's lead.", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def errors() -> Console:
    """Where words for the person go, so that standard output holds results alone."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False)


def say(words: str) -> None:
    """A line for the person, as it is: brackets in it mean nothing."""
    errors().print(words, soft_wrap=True, markup=False)


def console() -> Console:
    from rich.console import Console

    # Where nobody looks at a screen, lines keep their length.
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160
    return Console(highlight=False, emoji=False, width=width)


def named_values(given: list[str], form: str) -> dict[str, str]:
    """`name=value` words as a table; `form` says how one is written."""
    found = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals:
            raise InputError(f"{one!r} is written wrongly: write it as {form}")
        if name.strip() in found:
            raise InputError(f"{name.strip()!r} is given twice: give it once")
        found[name.strip()] = value.strip()
    return found


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def chosen_study(folder: Path | None) -> Study:
    """The study named with --study, or the one around the working folder."""
    from quaestor.study.folder import open_study

    return open_study(folder or Path.cwd())


@contextmanager
def progress_bar(in_bytes: bool = True) -> Iterator[Progress]:
    """A bar with rate and estimate on a terminal; silent elsewhere."""
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
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

        def tell(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total or None)
            bars.update(tasks[what], completed=done)

        yield tell


def number(value: int) -> str:
    """`90,697`."""
    return f"{value:,}"


def tell_of_items(made: ItemsMade, units: str, step: str, *, json: bool) -> None:
    """How many there are, and what comes next; `units` is what they are called."""
    if json:
        told = {"source": made.source, "file": str(made.path), "items": made.items, "participants": made.participants}
        print_json({**told, "added": made.added, "block": made.block})
        return
    say(f"{number(made.items)} {units} of {number(made.participants)} participants are in {made.path}")
    if made.by_hand:
        say("The study has sources or a funnel already. Add this to study.toml, and let funnel.source name it:")
        console().print(made.block, markup=False, soft_wrap=True)
        return
    if made.added:
        say(f"study.toml has the source {made.source!r} now, and a funnel that lets all of it through")
    say(f"Next: `quaestor ingest {made.source}`, `quaestor funnel`, then a round after the step {step!r}")


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
