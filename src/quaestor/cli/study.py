"""`quaestor new`, `status`, `doctor`: a study folder and the machine it is on."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, print_json

_MARKS = {
    "done": "[green]✓[/green]",
    "stale": "[yellow]![/yellow]",
    "doubtful": "[yellow]![/yellow]",
    "waiting": "[yellow]·[/yellow]",
    "none": "[red]–[/red]",
}


def add_to(app: typer.Typer) -> None:
    app.command()(new)
    app.command()(status)
    app.command()(doctor)


def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make.")],
    template: Annotated[str, typer.Option(help="The bundled study to begin from.")] = "blank",
) -> None:
    """Make a study folder from a bundled study.

    Example: quaestor new my-study --template dl-implementation-issues
    """
    from quaestor.study.folder import open_study
    from quaestor.study.status import study_status
    from quaestor.study.templates import new_study

    made = new_study(folder, template)
    screen = console()
    screen.print(f"Made {made} from the bundled study {template}.", soft_wrap=True)
    screen.print(f"Next: {study_status(open_study(made)).next}", soft_wrap=True)


def status(study: StudyOption = None, json: JsonOption = False) -> None:
    """Say what a study has done and what comes next."""
    from rich.markup import escape
    from rich.table import Table

    from quaestor.study.status import study_status

    found = study_status(chosen_study(study))
    if json:
        print_json(asdict(found))
        return
    screen = console()
    screen.print(f"[bold]{escape(found.title)}[/bold]")
    table = Table(box=None, pad_edge=False, show_header=False)
    for stage in found.stages:
        table.add_row(_MARKS[stage.state], escape(stage.name), escape(stage.detail))
    screen.print(table)
    screen.print(f"Next: {escape(found.next)}", soft_wrap=True)


def doctor(study: StudyOption = None, json: JsonOption = False) -> None:
    """Say what this machine lacks and how to get it; exit 1 when something needed is missing."""
    from rich.markup import escape
    from rich.table import Table

    from quaestor.study.doctor import examine

    checks = examine(study or Path.cwd())
    if json:
        print_json([asdict(check) for check in checks])
    else:
        table = Table(box=None, pad_edge=False, show_header=False)
        for check in checks:
            mark = "done" if check.found else "none" if check.needed else "stale"
            detail = check.detail if check.found else f"{check.detail}: {check.remedy}"
            table.add_row(_MARKS[mark], check.name, escape(detail))
        console().print(table)
    if any(check.needed and not check.found for check in checks):
        raise typer.Exit(1)
