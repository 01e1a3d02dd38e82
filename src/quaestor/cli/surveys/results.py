"""`quaestor survey results`: every question counted on its own base, compared by groups, and written as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, number, print_json, say

if TYPE_CHECKING:
    from rich.table import Table as Screen

    from quaestor.render.table_model import Table
    from quaestor.surveys.results.compute import Results


def add_to(group: typer.Typer) -> None:
    group.command()(results)


def results(
    name: Annotated[str, typer.Argument(metavar="SURVEY", help="A questionnaire of the study, by its name.")],
    by: Annotated[
        str, typer.Option(metavar="QUESTION", help="Compare by its answers; QUESTION.ROW of a matrix, or stratum.")
    ] = "",
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Count responses that are not finished too.")
    ] = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write tables and figures into this folder.")] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Count every question of a survey: shares and means with their intervals, and why answers are missing.

    Examples:

        quaestor survey results fielded

        quaestor survey results fielded --by uses-onnx --out published/survey
    """
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.results.compute import survey_results
    from quaestor.surveys.results.export import results_json, write_results
    from quaestor.surveys.results.tables import tables_of

    with open_surveys(chosen_study(study)) as surveys:
        found = survey_results(surveys, name, by=by, unfinished=unfinished)
        if out is not None:
            written = write_results(surveys, found, out)
            say(f"{number(len(written))} files are in {out}")
    if json:
        print_json(results_json(found))
        return
    _show_base(found)
    for table in tables_of(found):
        console().print()
        console().print(f"[bold]{escape(table.title)}[/bold]", soft_wrap=True)
        console().print(_on_screen(table))
        for note in table.notes:
            console().print(note, markup=False, soft_wrap=True, style="dim")


def _show_base(found: Results) -> None:
    from quaestor.surveys.results.sentences import consents_in_words, counted_in_words

    console().print(f"[bold]{escape(found.title)}[/bold]", soft_wrap=True)
    for words in (" ".join(counted_in_words(found)), *consents_in_words(found)):
        console().print(words, markup=False, soft_wrap=True)


def _on_screen(table: Table) -> Screen:
    from rich.table import Table as Screen

    screen = Screen(box=None, pad_edge=False)
    screen.add_column(escape(table.stub), overflow="fold", ratio=None)
    for column in table.columns:
        screen.add_column(escape(column.title), justify="right", overflow="fold")
    for group in table.groups:
        if group.title:
            screen.add_row(f"[italic]{escape(group.title)}[/italic]")
        for row in group.rows:
            screen.add_row(escape(row.title), *(escape("  ".join(filter(None, cell.parts))) for cell in row.cells))
    return screen
