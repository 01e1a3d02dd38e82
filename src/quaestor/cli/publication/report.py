"""`quaestor report`, `audit`, `replicate`, `handbook`: build the publication and check it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.base.errors import InputError
from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, errors, number, print_json, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from quaestor.publication.audit.records import Audit
    from quaestor.publication.replicate.survey import SurveyReplication
    from quaestor.publication.report.make import ReportOutcome
    from quaestor.render.table_model import Finding, Table


_SHOWN = 12
AllOption = Annotated[bool, typer.Option("--all", help="List every cell, not only those that differ.")]


def add_to(app: typer.Typer) -> None:
    app.command()(report)
    app.command()(audit)
    app.command()(replicate)
    app.command()(handbook)


class UndecidedOption(StrEnum):
    """What to do about items that the rounds behind a report have not decided."""

    STOP = "stop"
    LEAVE_OUT = "leave-out"


def report(
    undecided: Annotated[
        UndecidedOption, typer.Option(help="If items are undecided: stop, or leave them out and say so in the report.")
    ] = UndecidedOption.STOP,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Rebuild every table, figure and finding in published/report.

    Exits with 1 if a finding no longer holds, or if a round behind the report is not fully decided.

    Examples:

        quaestor report

        quaestor report --undecided leave-out
    """
    from quaestor.study.session import collector_paused

    opened = chosen_study(study)
    with collector_paused():  # importing allocates much and frees little, as building does
        from quaestor.publication.report.make import NotFullyDecided, build_report

        try:
            outcome = build_report(opened, say, leave_out_undecided=undecided is UndecidedOption.LEAVE_OUT)
        except NotFullyDecided as error:
            errors().print(f"quaestor: {error}", markup=False, soft_wrap=True)
            raise typer.Exit(1) from None
    if json:
        print_json(_report_json(outcome))
    else:
        _show_report(outcome)
    if outcome.failures:
        raise typer.Exit(1)


def _report_json(outcome: ReportOutcome) -> dict[str, object]:
    return {
        "folder": str(outcome.folder),
        "tables": outcome.tables,
        "figures": outcome.figures,
        "findings": outcome.findings,
        "held": outcome.supported,
        "failures": list(outcome.failures),
        "missing": outcome.missing,
        "undecided": list(outcome.undecided),
        "audit": outcome.audit.summary() if outcome.audit is not None else None,
    }


def _show_report(outcome: ReportOutcome) -> None:
    screen = console()
    findings = f"; {outcome.supported} of {outcome.findings} findings hold" if outcome.findings else ""
    screen.print(f"{outcome.tables} tables, {outcome.figures} figures{findings}", soft_wrap=True)
    for note in (*outcome.undecided, *outcome.stale):
        screen.print(note, markup=False, soft_wrap=True)
    for failure in outcome.failures:
        screen.print(f"no longer supported: {failure}", style="red", markup=False, soft_wrap=True)
    for table, reason in outcome.missing.items():
        screen.print(f"table {table} could not be built: {reason}", markup=False, soft_wrap=True)
    if outcome.audit is not None:
        screen.print(f"Audit: {_format_summary(outcome.audit)}", markup=False, soft_wrap=True)
    screen.print(f"Open {outcome.folder / 'index.html'}", markup=False, soft_wrap=True)


def audit(
    every: AllOption = False,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Compare computed and printed tables cell by cell; exit 1 if a difference has no note.

    Examples:

        quaestor audit

        quaestor audit --json > audit.json
    """
    from quaestor.publication.audit.run import audit_json
    from quaestor.publication.publication import audit_study, compute_publication, open_computed

    opened = chosen_study(study)
    with open_computed(opened, needs_results=False) as computed:
        result = audit_study(compute_publication(computed, lambda message: None))
    if json:
        print_json(audit_json(result))
    else:
        _show_audit(result, every)
    if result.open:
        raise typer.Exit(1)


def replicate(
    name: Annotated[str, typer.Argument(help="A bundled study, such as dl-implementation-issues.")],
    data: Annotated[
        Path,
        typer.Option(
            metavar="PATH", help="Its public data: a file of labelled items, or a folder with survey answers."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the study, with its report and audit, in this new folder.")
    ] = None,
    every: AllOption = False,
    json: JsonOption = False,
) -> None:
    """Recompute a bundled study from its public data and audit the result; exit 1 if something differs.

    Examples:

        quaestor replicate dl-implementation-issues --data labelled-posts.csv

        quaestor replicate dl-implementation-issues --data labelled-posts.csv --out replication --json

        quaestor replicate onnx-interoperability --data public-answers
    """
    from quaestor.publication.replicate.survey import is_survey

    if is_survey(name):
        _replicate_survey(name, data, out, every, json)
        return
    from quaestor.publication.audit.run import audit_json
    from quaestor.publication.publication import audit_study, compute_publication, open_computed
    from quaestor.publication.replicate.posts import load_labels
    from quaestor.publication.report.make import build_report

    with _study_folder(out) as folder:
        with _original_name_in_errors(data, folder):
            loaded = load_labels(name, data, folder, say)
        if len(loaded.unread) == loaded.labelled:
            raise InputError(f"none of the labels in {data} could be read, for example: {loaded.unread[0].why}")
        with open_computed(loaded.study) as computed:
            publication = compute_publication(computed, say)
            result = audit_study(publication)
        if out is not None:
            build_report(loaded.study, lambda message: None)
    if out is not None:
        say(f"The study is in {out}, its report in {out / 'published' / 'report' / 'index.html'}")
    unread = [{"item": label.item, "label": label.label, "why": label.why} for label in loaded.unread]
    if json:
        findings = [
            {"finding": finding.finding, "sentence": finding.sentence, "holds": finding.holds}
            for finding in publication.findings
        ]
        more = {"posts": loaded.labelled, "rejected": loaded.rejected, "unread": unread, "findings": findings}
        print_json({**audit_json(result), **more})
    else:
        _show_findings(publication.findings, unread)
        _show_audit(result, every)
    if result.open:
        raise typer.Exit(1)


def _show_findings(findings: tuple[Finding, ...], unread: Sequence[Mapping[str, str]]) -> None:
    from quaestor.publication.results.values import list_failures

    screen = console()
    for finding in findings:
        verdict = "[green]holds[/green]" if finding.holds else "[red]fails[/red]"
        screen.print(f"finding {finding.finding:>2} {verdict}  ", end="")
        screen.print(finding.sentence, markup=False, soft_wrap=True)
    for failure in list_failures(findings):
        screen.print(f"  {failure}", style="red", markup=False, soft_wrap=True)
    for item in unread:
        screen.print(f"label not read: {item['item']}, {item['why']}", markup=False, soft_wrap=True)


def _replicate_survey(name: str, data: Path, out: Path | None, every: bool, json: bool) -> None:
    from quaestor.publication.audit.run import audit_json

    with _study_folder(out) as folder:
        replication, result = replicate_answers(name, data, folder, out is not None)
    if out is not None:
        say(f"The study is in {out}, its report in {out / 'published' / 'report' / 'index.html'}")
    if json:
        print_answers_json(replication, audit_json(result))
    else:
        show_tables(replication)
        _show_audit(result, every)
    if result.open:
        raise typer.Exit(1)


@contextmanager
def _study_folder(out: Path | None) -> Iterator[Path]:
    """Yields a temporary folder for the study and moves it to its destination only when it is complete."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="quaestor-replicate-") as temporary:
            yield Path(temporary) / "study"
        return
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file: name a new folder")
    if out.exists() and any(out.iterdir()):
        raise InputError(f"{out} already exists and is not empty: name a new folder")
    destination = out.resolve()
    existing = next(folder for folder in destination.parents if folder.exists())
    if not existing.is_dir():
        raise InputError(f"{existing} is a file, so {out} cannot be created in it: name a new folder")
    # The temporary folder is on the same file system, so that the move is atomic.
    with tempfile.TemporaryDirectory(prefix=".quaestor-", dir=existing) as temporary:
        study_folder = Path(temporary) / "study"
        yield study_folder
        destination.parent.mkdir(parents=True, exist_ok=True)
        if destination.exists():
            destination.rmdir()
        os.replace(study_folder, destination)


@contextmanager
def _original_name_in_errors(data: Path, folder: Path) -> Iterator[None]:
    """Replaces the study's copy of the data by the original file in error messages."""
    try:
        yield
    except InputError as error:
        copy = rf"{re.escape(str(folder.resolve()))}[/\\][^/\\\s]+{re.escape(data.suffix.lower() or '.csv')}"
        raise InputError(re.sub(copy, lambda match: str(data), str(error))) from None


def _format_summary(audit: Audit) -> str:
    counts = audit.summary()
    verdicts = [f"{number(counts[verdict])} {verdict}" for verdict in _VERDICTS if counts[verdict]]
    checks = f"{number(counts['checks'])} checks among printed figures, {number(counts['checks failed'])} failed"
    known = counts["checks failed"] - counts["checks failed without a note"]
    return f"{number(counts['cells'])} cells: {', '.join(verdicts) or 'none'}; {checks} ({number(known)} noted)"


_VERDICTS = ("match", "rounding", "differs", "not printed", "not computable")


def _show_audit(audit: Audit, every: bool) -> None:
    from rich.table import Table

    screen = console()
    for note in audit.notes:
        screen.print(note, markup=False, soft_wrap=True)
    overview = Table(box=None, pad_edge=False)
    overview.add_column("table")
    for verdict in _VERDICTS:
        overview.add_column(verdict, justify="right")
    for name in dict.fromkeys(cell.table for cell in audit.cells):
        own = [cell.verdict for cell in audit.cells if cell.table == name]
        overview.add_row(name, *(number(own.count(verdict)) if verdict in own else "·" for verdict in _VERDICTS))
    screen.print(overview)
    _show_cells(audit, every, screen.print)
    _show_checks(audit, every, screen.print)
    for placement in audit.placements:
        share = "–" if placement.share is None else f"{placement.share:.1%}"
        screen.print(
            f"table {placement.table}: {share} placed by their words ({number(placement.placed)} of "
            f"{number(placement.items)} posts)",
            markup=False, soft_wrap=True,
        )  # fmt: skip
        for item in placement.unplaced:
            screen.print(f"  not placed: {item.item}  {item.label}: {item.why}", markup=False, soft_wrap=True)
    screen.print(_format_summary(audit), markup=False, soft_wrap=True)
    if audit.open:
        screen.print(f"{number(audit.open)} differences have no note.", style="red", markup=False)
    else:
        unknown = audit.summary()["not computable"]
        rest = f" {number(unknown)} cells could not be computed." if unknown else ""
        screen.print(f"No unexplained differences.{rest}", style="green", markup=False)


def _show_cells(audit: Audit, every: bool, show: Callable[..., None]) -> None:
    shown: dict[str, int] = {}
    last = ("", "")
    for cell in audit.cells:
        if cell.verdict != "differs" and not every:
            continue
        shown[cell.table] = shown.get(cell.table, 0) + 1
        if shown[cell.table] > _SHOWN and not every:
            continue
        computed = f"{cell.computed:.4g}" if isinstance(cell.computed, float) else cell.computed
        line = f"{cell.table}:{cell.row}:{cell.column}  printed {cell.printed or '–'}, computed {computed}"
        line += f" (base {number(cell.base)})" if cell.base is not None else ""
        line += f"  {cell.verdict}" if every else ""
        show(line, markup=False, soft_wrap=True)
        more = (cell.explanation and f"perhaps {cell.explanation}", cell.note and f"noted: {cell.note}")
        for remark in filter(None, more if more != last else ()):
            show(f"    {remark}", style="dim", markup=False, soft_wrap=True)
        last = more
    for table, count in shown.items():
        if count > _SHOWN and not every:
            show(f"table {table}: {number(count - _SHOWN)} more cells differ; list them with --all", markup=False)


def _show_checks(audit: Audit, every: bool, show: Callable[..., None]) -> None:
    chosen = [check for check in audit.checks if every or not check.holds]
    if not chosen:
        return
    show("Consistency of the printed figures:")
    for check, following in zip(chosen, [*chosen[1:], None], strict=True):
        verdict = "holds" if check.holds else "does not hold"
        show(f"  {check.statement}: {verdict}; {check.found}", markup=False, soft_wrap=True)
        if check.note and not check.holds and (following is None or following.note != check.note):
            show(f"    noted: {check.note}", style="dim", markup=False, soft_wrap=True)


def handbook(
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Build the taxonomy as a searchable website in published/handbook.

    Example:

        quaestor handbook
    """
    from quaestor.publication.handbook.make import handbook_folder, make_handbook

    opened = chosen_study(study)
    with errors().status("Building the handbook …") as status:
        book, built = make_handbook(opened, lambda label, done, total: status.update(f"{label}: {done:,} of {total:,}"))
    folder = handbook_folder(opened)
    if json:
        print_json({"folder": str(folder), "pages": built.pages, "origin": book.origin, "note": book.origin_note})
        return
    screen = console()
    screen.print(
        f"{number(built.pages)} pages, {number(built.searchable)} searchable. {book.origin_note}", soft_wrap=True
    )
    screen.print(
        f"Open {folder / 'index.html'}, or run `quaestor serve` for the full search", markup=False, soft_wrap=True
    )


def replicate_answers(name: str, data: Path, folder: Path, keep: bool) -> tuple[SurveyReplication, Audit]:
    """Computes the tables from the public answers and audits them."""
    from quaestor.publication.publication import audit_study, compute_publication, open_computed
    from quaestor.publication.replicate.survey import replicate_survey, write_survey_report

    replication = replicate_survey(name, data, folder, say)
    with open_computed(replication.study, needs_results=False) as computed:
        result = audit_study(compute_publication(computed, lambda message: None))
    if keep:
        write_survey_report(replication, result)
    return replication, result


def print_answers_json(replication: SurveyReplication, audit: dict[str, Any]) -> None:
    """Prints the audit with the imported rows and the tables."""
    done = replication.imported
    unread = [{"row": cell.row, "column": cell.column, "said": cell.said, "why": cell.why} for cell in done.unread]
    more = {
        "survey": replication.survey,
        "file": done.file,
        "rows": done.rows,
        "responses": done.responses,
        "without_consent": list(done.no_consent),
        "empty": list(done.empty),
        "headers": list(done.headers),
        "markers": [{"row": cell.row, "column": cell.column, "question": cell.question} for cell in done.markers],
        "unread": unread,
        "unmapped": list(done.unmapped_columns),
        "tables": [_table_json(table) for table in replication.tables],
    }
    print_json({**audit, **more})


def _table_json(table: Table) -> dict[str, Any]:
    rows = []
    for row in table.rows():
        values = [cell.values[0] for cell in row.cells]
        rows.append({"row": row.key, **dict(zip((column.key for column in table.columns), values, strict=True))})
    return {"table": table.id, "rows": rows}


def show_tables(replication: SurveyReplication) -> None:
    """Prints the tables and the cells that could not be read."""
    from rich.table import Table as ScreenTable

    screen = console()
    for table in replication.tables:
        shown = ScreenTable(box=None, pad_edge=False, title=table.title, title_justify="left")
        shown.add_column("")
        for column in table.columns:
            shown.add_column(column.title, justify="right")
        for group in table.groups:
            if group.title:
                shown.add_row(group.title, style="bold")
            for row in group.rows:
                shown.add_row(row.title, *(cell.parts[0] for cell in row.cells))
        screen.print(shown)
        screen.print("")
    for cell in replication.imported.unread:
        message = f"not read: row {cell.row}, {cell.column}: {cell.said!r} {cell.why}"
        screen.print(message, markup=False, soft_wrap=True)
    unmapped = len(replication.imported.unmapped_columns)
    if unmapped:
        message = (
            f"{number(unmapped)} columns of {replication.imported.file} belong to no question of {replication.survey!r}"
        )
        screen.print(message, markup=False, soft_wrap=True)
