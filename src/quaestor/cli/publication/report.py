"""`quaestor report`, `audit`, `replicate`, `handbook`: what is published, and whether it holds."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.base.errors import InputError
from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, errors, number, print_json, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from quaestor.publication.audit.records import Audit
    from quaestor.publication.replicate.survey import Replicated
    from quaestor.publication.report.make import ReportOutcome
    from quaestor.render.table_model import Finding, Table


_SHOWN = 12
AllOption = Annotated[bool, typer.Option("--all", help="List every cell, not only those that differ.")]


def add_to(app: typer.Typer) -> None:
    app.command()(report)
    app.command()(audit)
    app.command()(replicate)
    app.command()(handbook)


def report(
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Rebuild every table, figure and finding into published/report; exit 1 where a finding no longer holds.

    Example:

        quaestor report
    """
    from quaestor.publication.report.make import build_report

    opened = chosen_study(study)
    outcome = build_report(opened, say)
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
        "held": outcome.held,
        "failures": list(outcome.failures),
        "missing": outcome.missing,
        "audit": outcome.audit.summary() if outcome.audit is not None else None,
    }


def _show_report(outcome: ReportOutcome) -> None:
    screen = console()
    screen.print(
        f"{outcome.tables} tables, {outcome.figures} figures; {outcome.held} of {outcome.findings} findings hold",
        soft_wrap=True,
    )
    for words in outcome.failures:
        screen.print(f"no longer supported: {words}", style="red", markup=False, soft_wrap=True)
    for table, why in outcome.missing.items():
        screen.print(f"table {table} could not be made: {why}", markup=False, soft_wrap=True)
    if outcome.audit is not None:
        screen.print(f"Audit: {_summed_up(outcome.audit)}", markup=False, soft_wrap=True)
    screen.print(f"Open {outcome.folder / 'index.html'}", markup=False, soft_wrap=True)


def audit(
    every: AllOption = False,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Compare what was computed with what was printed, cell by cell; exit 1 where something differs without a note.

    Examples:

        quaestor audit

        quaestor audit --json > audit.json
    """
    from quaestor.publication.audit.run import audit_json
    from quaestor.publication.publication import audit_study, computed_of, publication_of

    opened = chosen_study(study)
    with computed_of(opened, needs_results=False) as computed:
        found = audit_study(publication_of(computed, lambda words: None))
    if json:
        print_json(audit_json(found))
    else:
        _show_audit(found, every)
    if found.open:
        raise typer.Exit(1)


def replicate(
    name: Annotated[str, typer.Argument(help="A bundled study, such as dl-implementation-issues.")],
    data: Annotated[
        Path,
        typer.Option(metavar="PATH", help="Its public data: labelled items as a file, or a folder with answers."),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the study in this new folder, with report and audit.")
    ] = None,
    every: AllOption = False,
    json: JsonOption = False,
) -> None:
    """Take a bundled study from its public replication data to the audit; exit 1 where something differs.

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
    from quaestor.publication.publication import audit_study, computed_of, publication_of
    from quaestor.publication.replicate.posts import load_labels
    from quaestor.publication.report.make import build_report

    with _folder(out) as folder:
        with _own_name_of(data, folder):
            loaded = load_labels(name, data, folder, say)
        if len(loaded.unread) == loaded.labelled:
            raise InputError(f"no label of {data} could be read, for example: {loaded.unread[0].why}")
        with computed_of(loaded.study) as computed:
            publication = publication_of(computed, say)
            found = audit_study(publication)
        if out is not None:
            build_report(loaded.study, lambda words: None)
    if out is not None:
        say(f"The study is in {out}, its report in {out / 'published' / 'report' / 'index.html'}")
    unread = [{"item": one.item, "label": one.label, "why": one.why} for one in loaded.unread]
    if json:
        findings = [
            {"finding": one.finding, "sentence": one.sentence, "holds": one.holds} for one in publication.findings
        ]
        more = {"posts": loaded.labelled, "rejected": loaded.rejected, "unread": unread, "findings": findings}
        print_json({**audit_json(found), **more})
    else:
        _show_findings(publication.findings, unread)
        _show_audit(found, every)
    if found.open:
        raise typer.Exit(1)


def _show_findings(findings: tuple[Finding, ...], unread: Sequence[Mapping[str, str]]) -> None:
    from quaestor.publication.results.values import failures

    screen = console()
    for one in findings:
        mark = "[green]holds[/green]" if one.holds else "[red]fails[/red]"
        screen.print(f"finding {one.finding:>2} {mark}  ", end="")
        screen.print(one.sentence, markup=False, soft_wrap=True)
    for words in failures(findings):
        screen.print(f"  {words}", style="red", markup=False, soft_wrap=True)
    for item in unread:
        screen.print(f"label not read: {item['item']}, {item['why']}", markup=False, soft_wrap=True)


def _replicate_survey(name: str, data: Path, out: Path | None, every: bool, json: bool) -> None:
    from quaestor.publication.audit.run import audit_json

    with _folder(out) as folder:
        made, found = replicate_answers(name, data, folder, out is not None)
    if out is not None:
        say(f"The study is in {out}, its report in {out / 'published' / 'report' / 'index.html'}")
    if json:
        print_answers_json(made, audit_json(found))
    else:
        show_tables(made)
        _show_audit(found, every)
    if found.open:
        raise typer.Exit(1)


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Where a study is made: aside, and in its place only once all of it is there."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="quaestor-replicate-") as folder:
            yield Path(folder) / "study"
        return
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file: name a new folder")
    if out.exists() and any(out.iterdir()):
        raise InputError(f"{out} is already there and not empty: name a new folder")
    place = out.resolve()
    above = next(folder for folder in place.parents if folder.exists())
    if not above.is_dir():
        raise InputError(f"{above} is a file, so {out} cannot lie in it: name a new folder")
    with tempfile.TemporaryDirectory(prefix=".quaestor-", dir=above) as aside:
        made = Path(aside) / "study"
        yield made
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            place.rmdir()
        os.replace(made, place)


@contextmanager
def _own_name_of(data: Path, folder: Path) -> Iterator[None]:
    """A study reads a copy of its data; whoever gave the file is told of that file."""
    try:
        yield
    except InputError as error:
        copy = rf"{re.escape(str(folder.resolve()))}[/\\][^/\\\s]+{re.escape(data.suffix.lower() or '.csv')}"
        raise InputError(re.sub(copy, lambda found: str(data), str(error))) from None


def _summed_up(found: Audit) -> str:
    counts = found.summary()
    told = [f"{number(counts[verdict])} {verdict}" for verdict in _VERDICTS if counts[verdict]]
    checks = f"{number(counts['checks'])} checks among printed figures, {number(counts['checks failed'])} failed"
    known = counts["checks failed"] - counts["checks failed without a note"]
    return f"{number(counts['cells'])} cells: {', '.join(told) or 'none'}; {checks} ({number(known)} noted)"


_VERDICTS = ("match", "rounding", "differs", "not printed", "not computable")


def _show_audit(found: Audit, every: bool) -> None:
    from rich.table import Table

    screen = console()
    for words in found.notes:
        screen.print(words, markup=False, soft_wrap=True)
    overview = Table(box=None, pad_edge=False)
    overview.add_column("table")
    for verdict in _VERDICTS:
        overview.add_column(verdict, justify="right")
    for name in dict.fromkeys(cell.table for cell in found.cells):
        own = [cell.verdict for cell in found.cells if cell.table == name]
        overview.add_row(name, *(number(own.count(verdict)) if verdict in own else "·" for verdict in _VERDICTS))
    screen.print(overview)
    _show_cells(found, every, screen.print)
    _show_checks(found, every, screen.print)
    for one in found.placements:
        share = "–" if one.share is None else f"{one.share:.1%}"
        screen.print(
            f"table {one.table}: words place {share} ({number(one.placed)} of {number(one.items)} posts)",
            markup=False, soft_wrap=True,
        )  # fmt: skip
        for item in one.unplaced:
            screen.print(f"  not placed: {item.item}  {item.label}: {item.why}", markup=False, soft_wrap=True)
    screen.print(_summed_up(found), markup=False, soft_wrap=True)
    if found.open:
        screen.print(f"{number(found.open)} differences have no note.", style="red", markup=False)
    else:
        unknown = found.summary()["not computable"]
        rest = f" {number(unknown)} cells could not be computed." if unknown else ""
        screen.print(f"Nothing differs without a note.{rest}", style="green", markup=False)


def _show_cells(found: Audit, every: bool, show: Callable[..., None]) -> None:
    shown: dict[str, int] = {}
    last = ("", "")
    for cell in found.cells:
        if cell.verdict != "differs" and not every:
            continue
        shown[cell.table] = shown.get(cell.table, 0) + 1
        if shown[cell.table] > _SHOWN and not every:
            continue
        computed = f"{cell.computed:.4g}" if isinstance(cell.computed, float) else cell.computed
        words = f"{cell.table}:{cell.row}:{cell.column}  printed {cell.printed or '–'}, computed {computed}"
        words += f" (base {number(cell.base)})" if cell.base is not None else ""
        words += f"  {cell.verdict}" if every else ""
        show(words, markup=False, soft_wrap=True)
        more = (cell.explanation and f"perhaps {cell.explanation}", cell.note and f"noted: {cell.note}")
        for line in filter(None, more if more != last else ()):
            show(f"    {line}", style="dim", markup=False, soft_wrap=True)
        last = more
    for table, count in shown.items():
        if count > _SHOWN and not every:
            show(f"table {table}: {number(count - _SHOWN)} more differ; --all lists them", markup=False)


def _show_checks(found: Audit, every: bool, show: Callable[..., None]) -> None:
    chosen = [check for check in found.checks if every or not check.holds]
    if not chosen:
        return
    show("Printed figures against each other:")
    for check, following in zip(chosen, [*chosen[1:], None], strict=True):
        words = "holds" if check.holds else "does not hold"
        show(f"  {check.statement}: {words}; {check.found}", markup=False, soft_wrap=True)
        if check.note and not check.holds and (following is None or following.note != check.note):
            show(f"    noted: {check.note}", style="dim", markup=False, soft_wrap=True)


def handbook(
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Build the taxonomy as a searchable site into published/handbook.

    Example:

        quaestor handbook
    """
    from quaestor.publication.handbook.make import handbook_folder, make_handbook

    opened = chosen_study(study)
    with errors().status("Building the handbook …") as status:
        book, built = make_handbook(opened, lambda what, done, total: status.update(f"{what}: {done:,} of {total:,}"))
    folder = handbook_folder(opened)
    if json:
        print_json({"folder": str(folder), "pages": built.pages, "origin": book.origin, "note": book.origin_note})
        return
    screen = console()
    screen.print(
        f"{number(built.pages)} pages, {number(built.searchable)} searchable. {book.origin_note}", soft_wrap=True
    )
    screen.print(f"Open {folder / 'index.html'}, or `quaestor serve` for the search", markup=False, soft_wrap=True)


def replicate_answers(name: str, data: Path, folder: Path, keep: bool) -> tuple[Replicated, Audit]:
    """From the public file of answers to tables and audit."""
    from quaestor.publication.publication import audit_study, computed_of, publication_of
    from quaestor.publication.replicate.survey import replicate_survey, write_survey_report

    made = replicate_survey(name, data, folder, say)
    with computed_of(made.study, needs_results=False) as computed:
        found = audit_study(publication_of(computed, lambda words: None))
    if keep:
        write_survey_report(made, found)
    return made, found


def print_answers_json(made: Replicated, audit: dict[str, Any]) -> None:
    """The audit as of any study, with what was imported and the tables."""
    done = made.imported
    unread = [{"row": one.row, "column": one.column, "said": one.said, "why": one.why} for one in done.unread]
    more = {
        "survey": made.survey,
        "file": done.file,
        "rows": done.rows,
        "responses": done.responses,
        "without_consent": list(done.no_consent),
        "empty": list(done.empty),
        "headers": list(done.headers),
        "markers": [{"row": one.row, "column": one.column, "question": one.question} for one in done.markers],
        "unread": unread,
        "unmapped": list(done.unmapped_columns),
        "tables": [_table(one) for one in made.tables],
    }
    print_json({**audit, **more})


def _table(table: Table) -> dict[str, Any]:
    rows = []
    for row in table.rows():
        values = [cell.values[0] for cell in row.cells]
        rows.append({"row": row.key, **dict(zip((column.key for column in table.columns), values, strict=True))})
    return {"table": table.id, "rows": rows}


def show_tables(made: Replicated) -> None:
    """What was counted, each row with its own base."""
    from rich.table import Table as Shown

    screen = console()
    for table in made.tables:
        shown = Shown(box=None, pad_edge=False, title=table.title, title_justify="left")
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
    for one in made.imported.unread:
        screen.print(f"not read: row {one.row}, {one.column}: {one.said!r} {one.why}", markup=False, soft_wrap=True)
    left = len(made.imported.unmapped_columns)
    if left:
        words = f"{number(left)} columns of {made.imported.file} belong to no question of {made.survey!r}"
        screen.print(words, markup=False, soft_wrap=True)
