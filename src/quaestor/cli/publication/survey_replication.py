"""`quaestor replicate` of a study whose public data are the answers to a survey."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from quaestor.cli.output import console, number, print_json, say

if TYPE_CHECKING:
    from quaestor.publication.audit.records import Audit
    from quaestor.publication.replicate.survey import Replicated
    from quaestor.render.table_model import Table


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
