"""`quaestor funnel`, `items`, `sample`, `kinds`: select candidates, list the items behind a number, draw samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.base.errors import InputError
from quaestor.base.names import count_of
from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, errors, number, print_json

if TYPE_CHECKING:
    from quaestor.evidence.records import FunnelResult
    from quaestor.study.folder import Study

_BAR, _ROOM_FOR_BARS = 24, 90
StrandOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Only this strand of the study; default: all, or the first.")
]


def add_to(app: typer.Typer) -> None:
    app.command()(funnel)
    app.command()(items)
    app.command()(sample)
    app.command()(kinds)


def funnel(
    study: StudyOption = None,
    examples: Annotated[
        bool, typer.Option("--examples", help="Show examples of items that each step kept and dropped.")
    ] = False,
    strand: StrandOption = None,
    json: JsonOption = False,
) -> None:
    """Run the funnel of each strand, print how many items each step keeps, and draw published/funnel.svg."""
    from quaestor.evidence.funnel import run_funnel, write_funnel_svg
    from quaestor.evidence.live_items import explain_no_evidence, read_source_manifest

    opened = chosen_study(study)
    strands = opened.in_each_strand() if strand is None else [opened.in_strand(strand)]
    lines: list[dict[str, Any]] = []
    waiting = 0
    for chosen in strands:
        missing = [source for source in chosen.funnel_sources() if read_source_manifest(chosen, source) is None]
        if len(strands) > 1 and missing:
            waiting += 1
            reason = explain_no_evidence(chosen, missing[0])
            if waiting == len(strands):
                raise reason
            errors().print(f"{chosen.strand_title} is skipped: {reason}", soft_wrap=True, markup=False)
            continue
        with errors().status(f"Running the funnel of {chosen.strand_title} …"):
            result = run_funnel(chosen)
            figure = write_funnel_svg(chosen, result) if chosen.funnel.steps else None
        if json:
            lines += _funnel_lines(result, chosen.strand if opened.settings.strands else None)
            if result.note:
                errors().print(f"Note: {result.note}", soft_wrap=True, markup=False)
            continue
        if len(strands) > 1 or figure is None:
            kept = "" if figure else ", all kept"
            heading = f"\n{chosen.strand_title}: {count_of(result.entered, 'item')}{kept}"
            console().print(heading, soft_wrap=True, markup=False)
        if figure:
            _show(result, examples)
            errors().print(f"Figure written to {figure}", soft_wrap=True)
    if json:
        print_json(lines)


def _funnel_lines(result: FunnelResult, strand: str | None) -> list[dict[str, Any]]:
    """Returns the steps as JSON; with their strand if the study has several, which has one line if it has no steps."""
    named = {} if strand is None else {"strand": strand}
    if not result.steps and not result.pending:
        return [named | {"step": None, "in": result.entered, "out": result.entered}]
    return [
        named
        | {"step": step.step, "in": step.entered, "out": step.kept}
        | ({"sampled": asdict(step.sampled)} if step.sampled else {})
        for step in result.steps
    ]


def _show(result: FunnelResult, examples: bool) -> None:
    from rich.markup import escape
    from rich.table import Table

    screen = console()
    table = Table(box=None, pad_edge=False)
    table.add_column("step", overflow="fold")
    for heading in ("in", "out", "dropped", "kept"):
        table.add_column(heading, justify="right", no_wrap=True, overflow="fold", min_width=7)
    wide = screen.width >= _ROOM_FOR_BARS
    if wide:
        table.add_column("", no_wrap=True)
    widest = max((step.entered for step in result.steps), default=1) or 1
    for step in result.steps:
        share = f"{step.kept / step.entered:.1%}" if step.entered and not step.sampled else "–"
        bar = ["█" * max(round(_BAR * step.kept / widest), 1 if step.kept else 0)] if wide else []
        table.add_row(escape(step.step), number(step.entered), number(step.kept), number(step.dropped), share, *bar)
    screen.print(table)
    for step in result.steps:
        if step.sampled:
            screen.print(escape(f"{step.step}: {step.describe_sample()}"), soft_wrap=True)
    if result.pending:
        after = f"; after it: {', '.join(result.pending[1:])}" if result.pending[1:] else ""
        message = f"Waiting for the round {result.waits_for}: {result.pending[0]}{after}"
        screen.print(escape(message), soft_wrap=True)
    if result.note:
        errors().print(f"Note: {escape(result.note)}", soft_wrap=True)
    for step in result.steps if examples else ():
        screen.print(f"\n[bold]{escape(step.step)}[/bold]", soft_wrap=True)
        for side, chosen in (("kept", step.kept_examples), ("dropped", step.dropped_examples)):
            screen.print(f"  {side}")
            for example in chosen:
                screen.print(f"    {escape(example.item)}  {escape(example.title)}", no_wrap=True, overflow="ellipsis")


def items(
    item: Annotated[str | None, typer.Argument(help="An item id: show its path through the funnel.")] = None,
    cell: Annotated[
        str | None,
        typer.Option(metavar="TABLE:ROW:COLUMN", help="List the items behind a cell of a table in the report."),
    ] = None,
    step: Annotated[str | None, typer.Option(help="List the items that this step kept.")] = None,
    dropped: Annotated[bool, typer.Option("--dropped", help="… or dropped.")] = False,
    search: Annotated[
        str,
        typer.Option(
            metavar="WORDS", help='List items with these words; also `"exact phrase"`, `prefix*`, `-excluded`.'
        ),
    ] = "",
    tag: Annotated[str, typer.Option(help="… with this tag.")] = "",
    year: Annotated[int | None, typer.Option(min=1, max=9999, help="… from this year.")] = None,
    code: Annotated[str, typer.Option(help="… decided as this code, a code below it, or this answer.")] = "",
    facet: Annotated[str, typer.Option(help="… with a decision or disagreement on this facet.")] = "",
    round: Annotated[str, typer.Option(help="… in this round.")] = "",
    disagreement: Annotated[
        str, typer.Option(metavar="WHICH", help="… on which raters disagree: any, open or settled.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, help="List at most this many.")] = 50,
    out: Annotated[Path | None, typer.Option(help="Write all of them to this CSV or XLSX file.")] = None,
    strand: StrandOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List the items behind a number, or show the path of an item through the funnel.

    Examples:

        quaestor items --step "how-to in the title" --dropped

        quaestor items --search '"custom layer" sav* -keras' --year 2017

        quaestor items --code training --disagreement settled --out settled.csv

        quaestor items --cell 3:D1:tensorflow

        quaestor items stackoverflow/question/34454721
    """
    opened = chosen_study(study)
    if strand is not None:
        opened = opened.in_strand(strand)
    filters = {"words": search, "tag": tag, "year": year, "code": code, "facet": facet, "round": round}
    filters["disagreement"] = disagreement
    if item is not None:
        _show_path(opened, item, json)
    elif cell is not None:
        _list_cell_items(opened, cell, limit, out, json)
    elif any(filters.values()):
        _list_matching_items(
            opened, {**filters, "step": step or "", "side": "dropped" if dropped else ""}, limit, out, json
        )
    elif step is not None:
        _list_step_items(opened, step, dropped, limit, out, json)
    else:
        raise InputError('name an item, a cell, a step or words: quaestor items --step "not closed" [--dropped]')


def _print_items(titles: Iterable[tuple[str, str]]) -> None:
    from rich.markup import escape

    for item, title in titles:
        console().print(f"{escape(item)}  {escape(title)}", soft_wrap=True)


def _list_step_items(opened: Study, step: str, dropped: bool, limit: int, out: Path | None, as_json: bool) -> None:
    from quaestor.evidence.step_items import find_step_result, list_step_items, write_item_table

    _, result = find_step_result(opened, step)
    rows = list_step_items(opened, step, dropped=dropped, limit=None if out else limit)
    if out is not None:
        write_item_table(rows, out)
        errors().print(f"{number(len(rows))} items written to {out}", soft_wrap=True)
    elif as_json:
        print_json([{**asdict(row), "body": row.body[:200]} for row in rows])
    else:
        _print_items((row.item, row.title) for row in rows)
    total = result.dropped if dropped else result.kept
    if len(rows) < total:
        missing = len(rows) < limit or out is not None
        hint = "the others were left out by tag when the dump was ingested" if missing else "use --limit N for more"
        errors().print(f"{number(len(rows))} of {number(total)} shown; {hint}", soft_wrap=True)


def _list_matching_items(opened: Study, filters: dict[str, Any], limit: int, out: Path | None, as_json: bool) -> None:
    from quaestor.search.query import Query
    from quaestor.search.results import find_items, open_search, write_results

    query = Query(**filters).validated()
    with errors().status("Searching …"), open_search(opened, query) as search:
        if out is not None:
            write_results(search, query, out)
        result = find_items(search, query, limit)
    for reason in result.hidden_rounds:
        errors().print(f"Left out: {reason}", soft_wrap=True, markup=False)
    if out is not None:
        errors().print(f"{number(result.total)} items written to {out}", soft_wrap=True)
        return
    if as_json:
        print_json([row.as_json() for row in result.rows])
    else:
        _print_items((row.item, row.plain_title) for row in result.rows)
    if len(result.rows) < result.total:
        errors().print(f"{number(len(result.rows))} of {number(result.total)} shown; use --limit N for more")


def _show_path(opened: Study, item: str, as_json: bool) -> None:
    from rich.markup import escape

    from quaestor.evidence.step_items import trace_item

    path = trace_item(opened, item)
    if as_json:
        print_json(path)
        return
    screen = console()
    for passed in path["passed"]:
        screen.print(f"[green]passed   [/green] {escape(passed)}", soft_wrap=True)
    if path["fell_at"]:
        screen.print(f"[red]dropped  [/red] {escape(path['fell_at'])}", soft_wrap=True)
    elif path["not_drawn_at"]:
        screen.print(f"not drawn for {escape(path['not_drawn_at'])}, or not rated there", soft_wrap=True)
    else:
        screen.print(f"kept, waiting for {escape(path['waits_for'])}" if path["waits_for"] else "kept")
    screen.print(f"from {escape(', '.join(path['inputs']))}  {escape(path['link'])}", soft_wrap=True)


def _list_cell_items(opened: Study, cell: str, limit: int, out: Path | None, as_json: bool) -> None:
    from quaestor.evidence.step_items import write_item_table
    from quaestor.publication.items_behind_cell import items_behind

    rows, description = items_behind(opened, cell)
    if out is not None:
        write_item_table(rows, out)
        errors().print(f"{number(len(rows))} items written to {out}", soft_wrap=True)
        return
    if as_json:
        print_json([asdict(row) for row in rows[:limit]])
        return
    _print_items((row.item, row.title) for row in rows[:limit])
    shown = f"{number(min(limit, len(rows)))} of {number(len(rows))} shown" if len(rows) > limit else number(len(rows))
    errors().print(f"{shown} items behind {cell}: {description}", soft_wrap=True, markup=False)


def sample(
    name: Annotated[
        str | None, typer.Argument(help="A sample from study.toml; without it, the options describe one.")
    ] = None,
    step: Annotated[str | None, typer.Option(help="Sample from what this step kept; default: the last step.")] = None,
    size: Annotated[
        int | None, typer.Option(min=1, help="The sample size; default: what confidence and margin require.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="The confidence level.")] = 0.95,
    margin: Annotated[float, typer.Option(help="The margin of error.")] = 0.05,
    by: Annotated[str | None, typer.Option(help="Stratify by `year` or `family`.")] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Leave out the items of this round; repeat for several.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Default: the study's seed.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the items to this CSV or XLSX file.")] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Draw a simple or stratified random sample of candidates, and print the sample size needed.

    Example: quaestor sample --confidence 0.95 --margin 0.05 --by year --out sample.csv
    """
    from quaestor.evidence.samples import build_sample_settings, draw_sample, write_sample

    described = None
    if name is None:
        described = build_sample_settings(
            after=step, size=size, confidence=confidence, margin=margin, by=by, seed=seed, without=without or ()
        )
    drawn = draw_sample(chosen_study(study), name, described)
    if out is not None:
        write_sample(drawn, out)
    if json:
        print_json({**asdict(drawn), "size": drawn.size})
        return
    from rich.markup import escape

    messages = errors()
    messages.print(
        f"{number(drawn.size)} of {number(drawn.population)} items, seed {drawn.seed}; "
        f"±{drawn.margin:.0%} at {drawn.confidence:.0%} confidence needs {number(drawn.needed)}"
    )
    for stratum, chosen in drawn.strata.items():
        if stratum != "all":
            messages.print(f"{escape(stratum)}: {number(len(chosen))}")
    if out is not None:
        messages.print(f"Written to {out}", soft_wrap=True)
    else:
        for chosen in drawn.strata.values():
            print("\n".join(chosen))


def kinds(
    labelled: Annotated[
        Path | None, typer.Option(help="A CSV with title, body and kinds (separated by ;) to evaluate the rules on.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the bundled question kinds, or measure how well the rules recognise them.

    Example: quaestor kinds --labelled tests/corpus/question_kinds_heldout.csv
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.evidence.funnel_expression import measure_kinds
    from quaestor.study.settings.evidence import bundled_kinds

    table = Table(box=None, pad_edge=False)
    table.add_column("kind", no_wrap=True)
    if labelled is None:
        described = {name: kind.description for name, kind in bundled_kinds().items()}
        if json:
            print_json(described)
            return
        table.add_column("description")
        for name, description in described.items():
            table.add_row(name, escape(description))
    else:
        measured = measure_kinds(labelled)
        if json:
            print_json({name: score.as_json() for name, score in measured.items()})
            return
        for heading in ("labelled", "found", "right", "precision", "recall"):
            table.add_column(heading, justify="right")
        for name, score in measured.items():
            counts = (number(score.labelled), number(score.matched), number(score.correct))
            table.add_row(name, *counts, f"{score.precision:.2f}", f"{score.recall:.2f}")
    console().print(table)
