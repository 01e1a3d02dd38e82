"""`quaestor funnel`, `items`, `sample`: from all posts to candidates, and what is behind each number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.base.errors import InputError
from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, errors, number, print_json

if TYPE_CHECKING:
    from quaestor.evidence.records import FunnelResult
    from quaestor.study.folder import Study

_BAR, _ROOM_FOR_BARS = 24, 90


def add_to(app: typer.Typer) -> None:
    app.command()(funnel)
    app.command()(items)
    app.command()(sample)
    app.command()(kinds)


def funnel(
    study: StudyOption = None,
    examples: Annotated[bool, typer.Option("--examples", help="Show posts that each step kept and dropped.")] = False,
    json: JsonOption = False,
) -> None:
    """Run the funnel: counts in and out of each step, drawn into published/funnel.svg."""
    from quaestor.evidence.funnel import draw, run_funnel

    opened = chosen_study(study)
    with errors().status("Running the funnel …"):
        result = run_funnel(opened)
        drawn = draw(opened, result)
    if json:
        print_json([{"step": step.step, "in": step.entered, "out": step.kept} for step in result.steps])
        if result.note:
            errors().print(f"Note: {result.note}", soft_wrap=True, markup=False)
        return
    _show(result, examples)
    errors().print(f"Drawn in {drawn}", soft_wrap=True)


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
        share = f"{step.kept / step.entered:.1%}" if step.entered else "–"
        bar = ["█" * max(round(_BAR * step.kept / widest), 1 if step.kept else 0)] if wide else []
        table.add_row(escape(step.step), number(step.entered), number(step.kept), number(step.dropped), share, *bar)
    screen.print(table)
    if result.pending:
        after = f"; after it: {', '.join(result.pending[1:])}" if result.pending[1:] else ""
        words = f"Waits for the round {result.waits_for}: {result.pending[0]}{after}"
        screen.print(escape(words), soft_wrap=True)
    if result.note:
        errors().print(f"Note: {escape(result.note)}", soft_wrap=True)
    for step in result.steps if examples else ():
        screen.print(f"\n[bold]{escape(step.step)}[/bold]", soft_wrap=True)
        for side, chosen in (("kept", step.kept_examples), ("dropped", step.dropped_examples)):
            screen.print(f"  {side}")
            for one in chosen:
                screen.print(f"    {escape(one.item)}  {escape(one.title)}", no_wrap=True, overflow="ellipsis")


def items(
    item: Annotated[str | None, typer.Argument(help="An item id: show its way through the funnel.")] = None,
    cell: Annotated[
        str | None,
        typer.Option(metavar="TABLE:ROW:COLUMN", help="List the items behind a cell of a table of the report."),
    ] = None,
    step: Annotated[str | None, typer.Option(help="List the items that this step kept.")] = None,
    dropped: Annotated[bool, typer.Option("--dropped", help="… or dropped.")] = False,
    search: Annotated[
        str, typer.Option(metavar="WORDS", help='List items with these words; `"in a row"`, `begin*`, `-without`.')
    ] = "",
    tag: Annotated[str, typer.Option(help="… with this tag.")] = "",
    year: Annotated[int | None, typer.Option(min=1, max=9999, help="… of this year.")] = None,
    code: Annotated[str, typer.Option(help="… decided to be this code, or one below it, or this answer.")] = "",
    facet: Annotated[str, typer.Option(help="… decided, or disagreed about, on this facet.")] = "",
    round: Annotated[str, typer.Option(help="… in this round.")] = "",
    disagreement: Annotated[
        str, typer.Option(metavar="WHICH", help="… on which raters differ: any, open or settled.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    out: Annotated[Path | None, typer.Option(help="Write all of them to this CSV or XLSX file.")] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List the items behind a number, or tell the way of one item.

    Examples:

        quaestor items --step "how-to in the title" --dropped

        quaestor items --search '"custom layer" sav* -keras' --year 2017

        quaestor items --code training --disagreement settled --out settled.csv

        quaestor items --cell 3:D1:tensorflow

        quaestor items stackoverflow/question/34454721
    """
    opened = chosen_study(study)
    asked = {"words": search, "tag": tag, "year": year, "code": code, "facet": facet, "round": round}
    asked["disagreement"] = disagreement
    if item is not None:
        _show_way(opened, item, json)
    elif cell is not None:
        _items_of_cell(opened, cell, limit, out, json)
    elif any(asked.values()):
        _items_found(opened, {**asked, "step": step or "", "side": "dropped" if dropped else ""}, limit, out, json)
    elif step is not None:
        _items_of_step(opened, step, dropped, limit, out, json)
    else:
        raise InputError('name an item, a cell, a step or words: quaestor items --step "not closed" [--dropped]')


def _print_items(titles: Iterable[tuple[str, str]]) -> None:
    from rich.markup import escape

    for item, title in titles:
        console().print(f"{escape(item)}  {escape(title)}", soft_wrap=True)


def _items_of_step(opened: Study, step: str, dropped: bool, limit: int, out: Path | None, as_json: bool) -> None:
    from quaestor.evidence.step_items import items_of_step, step_result, write_items

    _, result = step_result(opened, step)
    rows = items_of_step(opened, step, dropped=dropped, limit=None if out else limit)
    if out is not None:
        write_items(rows, out)
        errors().print(f"{number(len(rows))} items written to {out}", soft_wrap=True)
    elif as_json:
        print_json([{**asdict(row), "body": row.body[:200]} for row in rows])
    else:
        _print_items((row.item, row.title) for row in rows)
    total = result.dropped if dropped else result.kept
    if len(rows) < total:
        missing = len(rows) < limit or out is not None
        why = "the others were left out when the dump was read by tag" if missing else "--limit N for more"
        errors().print(f"{number(len(rows))} of {number(total)} shown; {why}", soft_wrap=True)


def _items_found(opened: Study, asked: dict[str, Any], limit: int, out: Path | None, as_json: bool) -> None:
    from quaestor.search.query import Query
    from quaestor.search.results import find_items, open_search, write_found

    query = Query(**asked).checked()
    with errors().status("Searching …"), open_search(opened) as search:
        if out is not None:
            write_found(search, query, out)
        result = find_items(search, query, limit)
    for why in result.unseen:
        errors().print(f"Left out: {why}", soft_wrap=True, markup=False)
    if out is not None:
        errors().print(f"{number(result.total)} items written to {out}", soft_wrap=True)
        return
    if as_json:
        print_json([row.as_json() for row in result.rows])
    else:
        _print_items((row.item, row.plain_title) for row in result.rows)
    if len(result.rows) < result.total:
        errors().print(f"{number(len(result.rows))} of {number(result.total)} shown; --limit N for more")


def _show_way(opened: Study, item: str, as_json: bool) -> None:
    from rich.markup import escape

    from quaestor.evidence.step_items import way_of

    way = way_of(opened, item)
    if as_json:
        print_json(way)
        return
    screen = console()
    for passed in way["passed"]:
        screen.print(f"[green]passed   [/green] {escape(passed)}", soft_wrap=True)
    if way["fell_at"]:
        screen.print(f"[red]fell out [/red] {escape(way['fell_at'])}", soft_wrap=True)
    else:
        screen.print(f"still in, waits for {escape(way['waits_for'])}" if way["waits_for"] else "still in")
    screen.print(f"from {escape(', '.join(way['inputs']))}  {escape(way['link'])}", soft_wrap=True)


def _items_of_cell(opened: Study, cell: str, limit: int, out: Path | None, as_json: bool) -> None:
    from quaestor.evidence.step_items import write_items
    from quaestor.publication.items_behind_cell import items_behind

    rows, words = items_behind(opened, cell)
    if out is not None:
        write_items(rows, out)
        errors().print(f"{number(len(rows))} items written to {out}", soft_wrap=True)
        return
    if as_json:
        print_json([asdict(row) for row in rows[:limit]])
        return
    _print_items((row.item, row.title) for row in rows[:limit])
    shown = f"{number(min(limit, len(rows)))} of {number(len(rows))} shown" if len(rows) > limit else number(len(rows))
    errors().print(f"{shown} items behind {cell}: {words}", soft_wrap=True, markup=False)


def sample(
    name: Annotated[str | None, typer.Argument(help="A sample of study.toml; none: described by the options.")] = None,
    after: Annotated[str | None, typer.Option(help="The step of the funnel to sample from; default: the last.")] = None,
    size: Annotated[
        int | None, typer.Option(min=1, help="How many; default: what confidence and margin ask for.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the estimate.")] = 0.95,
    margin: Annotated[float, typer.Option(help="Margin of error.")] = 0.05,
    by: Annotated[str | None, typer.Option(help="Stratify by `year` or `family`.")] = None,
    seed: Annotated[int | None, typer.Option(help="Default: the study's seed.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the items to this CSV or XLSX file.")] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Draw a seeded sample of candidates, simple or stratified; says how large it must be.

    Example: quaestor sample --confidence 0.95 --margin 0.05 --by year --out sample.csv
    """
    from quaestor.evidence.samples import describe_sample, draw_sample, write_sample

    described = None
    if name is None:
        described = describe_sample(after=after, size=size, confidence=confidence, margin=margin, by=by, seed=seed)
    drawn = draw_sample(chosen_study(study), name, described)
    if out is not None:
        write_sample(drawn, out)
    if json:
        print_json({**asdict(drawn), "size": drawn.size})
        return
    from rich.markup import escape

    words = errors()
    words.print(
        f"{number(drawn.size)} of {number(drawn.population)} items, seed {drawn.seed}; "
        f"±{drawn.margin:.0%} at {drawn.confidence:.0%} confidence asks for {number(drawn.needed)}"
    )
    for stratum, chosen in drawn.strata.items():
        if stratum != "all":
            words.print(f"{escape(stratum)}: {number(len(chosen))}")
    if out is not None:
        words.print(f"Written to {out}", soft_wrap=True)
    else:
        for chosen in drawn.strata.values():
            print("\n".join(chosen))


def kinds(
    labelled: Annotated[
        Path | None, typer.Option(help="A CSV of title, body, kinds (separated by ;) to measure the kinds on.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the bundled question kinds, or measure how well they are found.

    Example: quaestor kinds --labelled tests/corpus/question_kinds_heldout.csv
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.evidence.question_kinds import measure_kinds
    from quaestor.study.settings.evidence import bundled_kinds

    table = Table(box=None, pad_edge=False)
    table.add_column("kind", no_wrap=True)
    if labelled is None:
        described = {name: kind.description for name, kind in bundled_kinds().items()}
        if json:
            print_json(described)
            return
        table.add_column("what it asks")
        for name, description in described.items():
            table.add_row(name, escape(description))
    else:
        measured = measure_kinds(labelled)
        if json:
            print_json(
                {
                    name: {**asdict(one), "precision": one.precision, "recall": one.recall}
                    for name, one in measured.items()
                }
            )
            return
        for heading in ("labelled", "found", "right", "precision", "recall"):
            table.add_column(heading, justify="right")
        for name, one in measured.items():
            counts = (number(one.labelled), number(one.found), number(one.right))
            table.add_row(name, *counts, f"{one.precision:.2f}", f"{one.recall:.2f}")
    console().print(table)
