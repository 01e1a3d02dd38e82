"""`quaestor backup` and `quaestor restore`: all acts of a study to one file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, number, print_json


def add_to(app: typer.Typer) -> None:
    app.command()(backup)
    app.command()(restore)


def backup(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The new file; default: one named after this moment in backups/."),
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Write every act of the study to one file and read it back; people may go on working meanwhile.

    Example: quaestor backup
    """
    from quaestor.study.journal import back_up_study

    report = back_up_study(chosen_study(study), file)
    if json:
        print_json({"file": str(report.file), "acts": report.acts, "sha256": report.sha256, "made": report.made})
        return
    screen = console()
    screen.print(f"{number(report.acts)} acts in {report.file}, read back and found whole", soft_wrap=True)
    screen.print(f"SHA-256 of the acts: {report.sha256}", soft_wrap=True)


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace acts that the backup does not have; they are kept in a file.")
    ] = False,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Bring the acts of a backup into the study; end `quaestor serve` before.

    Example: quaestor restore backups/study-2026-01-31T120000.000000.backup
    """
    from quaestor.study.journal import restore_study

    report = restore_study(chosen_study(study), file, replace)
    if json:
        kept = None if report.kept is None else str(report.kept)
        print_json({"acts": report.acts, "added": report.added, "kept": kept})
        return
    screen = console()
    screen.print(
        f"The study has {number(report.acts)} acts, {number(report.added)} of them from {file}", soft_wrap=True
    )
    if report.kept is not None:
        screen.print(f"What was there before is kept in {report.kept}", soft_wrap=True)
