"""`quaestor survey results`: count every question, compare groups, and write tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from quaestor.base.errors import SettingsError
from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, number, print_json, say

if TYPE_CHECKING:
    from rich.table import Table as Screen

    from quaestor.render.table_model import Table
    from quaestor.surveys.results.compute import SurveyResults


def add_to(group: typer.Typer) -> None:
    group.command()(results)


def results(
    name: Annotated[str, typer.Argument(metavar="SURVEY", help="The name of a questionnaire.")],
    by: Annotated[
        str,
        typer.Option(
            metavar="QUESTION",
            help="Compare groups by this question, QUESTION.ROW of a matrix, stratum, version or language.",
        ),
    ] = "",
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUESTION=OPTION", help="Count only these responses; also version=2 or language=de; repeatable."
        ),
    ] = None,
    unfinished: Annotated[bool, typer.Option("--unfinished", help="Also count unfinished responses.")] = False,
    unweighted: Annotated[
        bool, typer.Option("--unweighted", help="Leave out the weights that study.toml declares.")
    ] = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write tables and figures to this folder.")] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Count every question of a survey: shares and means with intervals, and reasons for missing answers.

    Examples:

        quaestor survey results fielded

        quaestor survey results fielded --by uses-onnx --out published/survey

        quaestor survey results fielded --by language --where version=2
    """
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.results.compute import survey_results
    from quaestor.surveys.results.export import results_json, write_results
    from quaestor.surveys.results.tables import build_tables
    from quaestor.surveys.results.weighting import weights_table

    with open_surveys(chosen_study(study)) as surveys:
        try:
            computed = survey_results(
                surveys, name, by=by, unfinished=unfinished, where=where or (), weighted=not unweighted
            )
        except SettingsError as error:
            raise SettingsError(f"{error}; or run with --unweighted") from None
        if out is not None:
            written = write_results(surveys, computed, out)
            say(f"{number(len(written))} files written to {out}")
    if json:
        print_json(results_json(computed))
        return
    _show_base(computed)
    if computed.weights is not None:
        show_table(weights_table(computed.weights))
    for table in build_tables(computed):
        show_table(table)


def show_table(table: Table) -> None:
    """Prints a table with its title and notes."""
    console().print()
    console().print(f"[bold]{escape(table.title)}[/bold]", soft_wrap=True)
    console().print(_build_screen_table(table))
    for note in table.notes:
        console().print(note, markup=False, soft_wrap=True, style="dim")


def _show_base(computed: SurveyResults) -> None:
    from quaestor.surveys.results.sentences import consents_in_words, counted_in_words, groups_in_words

    console().print(f"[bold]{escape(computed.title)}[/bold]", soft_wrap=True)
    lines = [" ".join(counted_in_words(computed)), *consents_in_words(computed), *groups_in_words(computed)]
    for line in lines:
        console().print(line, markup=False, soft_wrap=True)


def _build_screen_table(table: Table) -> Screen:
    from rich.table import Table as Screen

    screen = Screen(box=None, pad_edge=False)
    screen.add_column(escape(table.stub), overflow="fold", ratio=None)
    for column in table.columns:
        screen.add_column(escape(column.title), justify="right", overflow="fold")
    for group in table.groups:
        if group.title:
            screen.add_row(f"[italic]{escape(group.title)}[/italic]")
        for row in group.rows:
            cells = ("  ".join(filter(None, (*cell.parts, *cell.more))) for cell in row.cells)
            screen.add_row(escape(row.title), *map(escape, cells))
    return screen
