"""`quaestor survey import` and `export`: answers in from files of other services, and out with their codebook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, number, print_json, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quaestor.surveys.exchange.import_answers import Imported
    from quaestor.surveys.model.records import CellRemark

_TOLD = 20
NameArgument = Annotated[str, typer.Argument(metavar="SURVEY", help="A questionnaire of the study, by its name.")]


def add_to(group: typer.Typer) -> None:
    group.command("import")(import_file)
    group.command("export")(export_file)


def import_file(
    name: NameArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV or XLSX, as a survey service exports it.")],
    mapping: Annotated[
        Path | None,
        typer.Option(help="Which column answers which question; default: instruments/SURVEY.mapping.toml."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be taken in, and take in nothing.")
    ] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Take in a file of answers, whole or not at all; the same file twice gives its responses once.

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
    would = "would be taken in" if dry_run else "taken in"
    say(f"{_counted(done.responses, 'response')} {would}, {number(done.known)} known already")
    for line in _remarks(done):
        say(line)


def export_file(
    name: NameArgument,
    out: Annotated[Path, typer.Option(help="A .csv, .xlsx or .parquet file; the codebook is written with it.")],
    wide: Annotated[
        bool, typer.Option("--wide/--tidy", help="A row for each response, or a line for each part of an answer.")
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Texts as they are, even where a spreadsheet would take one for a formula.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Unfinished and dropped responses too, with columns that say so.")
    ] = False,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Write the answers with their codebook: codes, labels, orders and why an answer is missing.

    Example: quaestor survey export fielded --out answers.csv
    """
    from quaestor.surveys.exchange.export import export_answers
    from quaestor.surveys.lifecycle import open_surveys

    with open_surveys(chosen_study(study)) as surveys:
        done = export_answers(surveys, name, out, wide=wide, raw=raw, everything=everything)
    files = [str(path) for path in done.files]
    if json:
        print_json({
            "files": files, "responses": done.responses, "rows": done.rows, "columns": done.columns,
            "left_out": dict(done.left_out), "withdrawn": done.withdrawn,
        })  # fmt: skip
        return
    rows = _counted(done.rows, "row")
    say(f"{_counted(done.responses, 'response')} in {rows} written to {' and '.join(files)}")
    for reason, count in done.left_out.items():
        say(f"{number(count)} left out: {reason} (--all writes them too)")
    if done.withdrawn:
        say(f"{number(done.withdrawn)} withdrew and stand in no table")


def _as_json(done: Imported, dry_run: bool) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(done), "kept": not dry_run}


def _remarks(done: Imported) -> list[str]:
    """Everything of the file that did not become an answer, a line each."""
    lines = [
        f"{_counted(len(rows), 'row')} {what}: {_listed(rows)}"
        for rows, what in (
            (done.no_consent, "without consent, left out"),
            (done.empty, "without any answer"),
            (done.headers, "with the header once more"),
            (done.repeated, "of a response that stands in the file before, left out"),
        )
        if rows
    ]
    if done.withdrawn:
        lines.insert(0, f"{_counted(done.withdrawn, 'response')} withdrawn here before, left out")
    if done.dropped:
        lines.append(f"{_counted(done.dropped, 'response')} left out by the lead there, and so here")
    if done.strange_versions:
        named = _listed(done.strange_versions)
        lines.append(f"versions that this survey does not have, read as the newest one: {named}")
    if done.markers:
        where = _listed([f"{one.column} in row {one.row}" for one in done.markers])
        lines.append(f"{_counted(len(done.markers), 'cell')} with a marker, which is no answer: {where}")
    lines += _cells(done.unread, "could not be read", "left out")
    lines += _cells(done.odd, "would not have been taken", "kept")
    for columns, what in (
        (done.display_columns, "with the order in which options were shown"),
        (done.unmapped_columns, "not mapped"),
    ):
        if columns:
            lines.append(f"{_counted(len(columns), 'column')} {what}: {_listed(columns)}")
    if done.unasked:
        lines.append(f"{_counted(len(done.unasked), 'question')} without a column: {_listed(done.unasked)}")
    return lines


def _cells(places: Sequence[CellRemark], what: str, then: str) -> list[str]:
    """A line for each cell, as far as a person reads on."""
    lines = [f"row {one.row}, {one.column or one.question}: {one.said!r} {one.why}; {then}" for one in places[:_TOLD]]
    if len(places) > _TOLD:
        lines.append(f"{_counted(len(places) - _TOLD, 'more cell')} {what} (--json lists them)")
    return lines


def _counted(count: int, what: str) -> str:
    return f"{number(count)} {what}{'' if count == 1 else 's'}"


def _listed(values: Sequence[object]) -> str:
    more = f" and {len(values) - _TOLD} more" if len(values) > _TOLD else ""
    return ", ".join(map(str, values[:_TOLD])) + more
