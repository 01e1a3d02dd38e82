"""`quaestor survey import` and `export`: import responses of other services, and export responses with a codebook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.base.errors import SettingsError
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, number, print_json, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quaestor.surveys.exchange.import_answers import AnswerImport
    from quaestor.surveys.model.records import CellRemark

_MOST_LISTED = 20
NameArgument = Annotated[str, typer.Argument(metavar="SURVEY", help="The name of a questionnaire.")]


def add_to(group: typer.Typer) -> None:
    group.command("import")(import_file)
    group.command("export")(export_file)


def import_file(
    name: NameArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV, TSV or XLSX file from a survey service.")],
    mapping: Annotated[
        Path | None,
        typer.Option(help="The mapping of columns to questions; default: instruments/SURVEY.mapping.toml."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be imported without importing it.")
    ] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Import a file of responses, completely or not at all; importing it twice changes nothing.

    Example: quaestor survey import fielded survey-open.xlsx
    """
    from quaestor.surveys.exchange.import_answers import import_answers, mapping_file
    from quaestor.surveys.lifecycle import open_surveys

    with open_surveys(chosen_study(study)) as surveys:
        chosen = mapping or mapping_file(surveys, name, file)
        done = import_answers(surveys, name, file, chosen, actor, keep=not dry_run)
    if json:
        print_json(_as_json(done, dry_run))
        return
    verb = "would be imported" if dry_run else "imported"
    say(f"{_format_count(done.responses, 'response')} {verb}, {number(done.known)} were known already")
    for line in _describe_omissions(done):
        say(line)


def export_file(
    name: NameArgument,
    out: Annotated[Path, typer.Option(help="A .csv, .xlsx or .parquet file; the codebook is written with it.")],
    wide: Annotated[
        bool, typer.Option("--wide/--tidy", help="One row per response, or one row per part of an answer.")
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Write texts unchanged, even if a spreadsheet would read them as formulas.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Include unfinished and excluded responses, with columns that mark them.")
    ] = False,
    unweighted: Annotated[
        bool, typer.Option("--unweighted", help="Leave out the weights that study.toml declares.")
    ] = False,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Export responses with a codebook: codes, labels, order and reasons for missing answers.

    Example: quaestor survey export fielded --out answers.csv
    """
    from quaestor.surveys.exchange.export import export_answers
    from quaestor.surveys.lifecycle import open_surveys

    with open_surveys(chosen_study(study)) as surveys:
        try:
            done = export_answers(surveys, name, out, wide=wide, raw=raw, everything=every, weighted=not unweighted)
        except SettingsError as error:
            raise SettingsError(f"{error}; or run with --unweighted") from None
    files = [str(path) for path in done.files]
    if json:
        print_json({
            "files": files, "responses": done.responses, "rows": done.rows, "columns": done.columns,
            "left_out": dict(done.left_out), "withdrawn": done.withdrawn,
        })  # fmt: skip
        return
    rows = _format_count(done.rows, "row")
    say(f"{_format_count(done.responses, 'response')} in {rows} written to {' and '.join(files)}")
    for reason, count in done.left_out.items():
        say(f"{number(count)} left out: {reason} (include them with --all)")
    if done.withdrawn:
        say(f"{number(done.withdrawn)} withdrawn responses are not included")


def _as_json(done: AnswerImport, dry_run: bool) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(done), "kept": not dry_run}


def _describe_omissions(done: AnswerImport) -> list[str]:
    """Lists everything in the file that did not become an answer, one line each."""
    lines = [
        f"{_format_count(len(rows), 'row')} {what}: {_format_list(rows)}"
        for rows, what in (
            (done.no_consent, "without consent, left out"),
            (done.empty, "without any answer"),
            (done.headers, "repeating the header"),
            (done.repeated, "of a response that is already in the file, left out"),
        )
        if rows
    ]
    if done.withdrawn:
        lines.insert(0, f"{_format_count(done.withdrawn, 'response')} withdrawn earlier, left out")
    if done.dropped:
        lines.append(
            f"{_format_count(done.dropped, 'response')} excluded by the lead in the exported study, and so here"
        )
    if done.strange_versions:
        named = _format_list(done.strange_versions)
        lines.append(f"versions that this survey does not have, read as the newest version: {named}")
    if done.markers:
        where = _format_list([f"{cell.column} in row {cell.row}" for cell in done.markers])
        lines.append(f"{_format_count(len(done.markers), 'cell')} with a marker instead of an answer: {where}")
    lines += _describe_cells(done.unread, "could not be read", "left out")
    lines += _describe_cells(done.odd, "would not be accepted in the survey", "kept")
    for columns, what in (
        (done.display_columns, "with the order in which options were shown"),
        (done.unmapped_columns, "not mapped"),
    ):
        if columns:
            lines.append(f"{_format_count(len(columns), 'column')} {what}: {_format_list(columns)}")
    if done.unasked:
        lines.append(f"{_format_count(len(done.unasked), 'question')} without a column: {_format_list(done.unasked)}")
    return lines


def _describe_cells(remarks: Sequence[CellRemark], what: str, then: str) -> list[str]:
    """Lists cells, one line each, up to a limit."""
    lines = [
        f"row {remark.row}, {remark.column or remark.question}: {remark.said!r} {remark.why}; {then}"
        for remark in remarks[:_MOST_LISTED]
    ]
    if len(remarks) > _MOST_LISTED:
        lines.append(f"{_format_count(len(remarks) - _MOST_LISTED, 'more cell')} {what} (--json lists them)")
    return lines


def _format_count(count: int, what: str) -> str:
    return f"{number(count)} {what}{'' if count == 1 else 's'}"


def _format_list(values: Sequence[object]) -> str:
    more = f" and {len(values) - _MOST_LISTED} more" if len(values) > _MOST_LISTED else ""
    return ", ".join(map(str, values[:_MOST_LISTED])) + more
