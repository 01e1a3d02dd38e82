"""`quaestor agreement`: interrater agreement of rounds or of a file of ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from quaestor.base.errors import InputError
from quaestor.base.names import count_of
from quaestor.cli.coding.views import YesOption, confirm_views
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json

if TYPE_CHECKING:
    from rich.table import Table

    from quaestor.coding.agreement import Agreement, Estimate
    from quaestor.coding.agreement_access import RoundAgreement


def add_to(app: typer.Typer) -> None:
    app.command()(agreement)


def agreement(
    name: Annotated[
        str | None, typer.Argument(metavar="[ROUND]", help="A round of the study; default: all closed rounds.")
    ] = None,
    round: Annotated[str | None, typer.Option("--round", metavar="ROUND", help="The same.", hidden=True)] = None,
    version: Annotated[int | None, typer.Option(help="Interpret the ratings under this codebook version.")] = None,
    level: Annotated[
        str | None, typer.Option(help="Compare the codes at this level of the codebook, such as phase.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="ROUND", help="For a drift round: compare each rater with this earlier round.")
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    ratings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A CSV, TSV or XLSX with one row for each item and rater.")
    ] = None,
    facet: Annotated[list[str] | None, typer.Option(help="A column of codes; repeat for several.")] = None,
    item_column: Annotated[str, typer.Option(help="The column that names the item.")] = "item",
    rater_column: Annotated[str, typer.Option(help="The column that names the rater.")] = "rater",
    scale: Annotated[
        Literal["nominal", "ordinal", "interval"],
        typer.Option(help="The scale of the codes: nominal (names), ordinal (ordered) or interval (numbers)."),
    ] = "nominal",
    order: Annotated[
        str | None, typer.Option(help="All codes of an ordinal scale, lowest first, separated by commas.")
    ] = None,
    separator: Annotated[
        str | None, typer.Option(help="The separator between codes in a cell, if an item may have several.")
    ] = None,
    cannot_judge: Annotated[
        list[str] | None, typer.Option(help="A code that means the rater could not judge; repeat for several.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the bootstrap for the interval of α.")] = 0,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Measure interrater agreement: percent, κ, AC1 and α with intervals, by code, and the codes most often confused.

    Examples:

        quaestor agreement refinement

        quaestor agreement --ratings ratings.csv --facet cause --facet symptom

        quaestor agreement --ratings ratings.csv --facet severity --scale ordinal --order low,medium,high

        quaestor agreement --ratings ratings.csv --facet topics --separator ";" --json
    """
    from quaestor.coding.agreement import RatingsFile, compute_file_agreement, to_json
    from quaestor.coding.agreement_access import compute_rounds_agreement

    round = round or name
    if ratings is None:
        if against and round is None:
            raise InputError("--against needs a ROUND: name the drift round too")
        opened = chosen_study(study)
        confirm_views(opened, [part for part in (round, against) if part] if round else None, actor, yes=yes)
        rounds = compute_rounds_agreement(
            opened, round, facet or [],
            version=version, level=level or "", against=against or "", actor=actor,
        )  # fmt: skip
        _show_rounds(rounds, json)
        return
    if round is not None:
        raise InputError("a ROUND and --ratings exclude each other: give one of them")
    if separator == "":
        raise InputError('--separator is empty: give the text between the codes in a cell, such as ";"')
    agreements = compute_file_agreement(
        RatingsFile(ratings, item_column, rater_column, separator),
        facet or [],
        scale=scale,
        order=[code.strip() for code in order.split(",")] if order else [],
        cannot_judge=cannot_judge or [],
        seed=seed,
    )
    if json:
        values = [to_json(result) for result in agreements]
        print_json(values[0] if len(values) == 1 else values)
        return
    for index, result in enumerate(agreements):
        if index:
            console().print()
        _show(result)


def _show_rounds(rounds: list[RoundAgreement], json: bool) -> None:
    from quaestor.coding.agreement import to_json

    if json:
        values = [entry.about | to_json(entry.agreement) for entry in rounds]
        print_json(values[0] if len(values) == 1 else values)
        return
    for index, entry in enumerate(rounds):
        if index:
            console().print()
        console().print(f"[bold]{escape(entry.title)}[/bold]")
        _show(entry.agreement)
        if entry.verdict:
            console().print(escape(entry.verdict), soft_wrap=True)


def _show(result: Agreement) -> None:
    from quaestor.measures.agreement.statistics import list_shown_estimates

    screen = console()
    raters = count_of(len(result.raters), "rater") + (
        f" ({', '.join(result.raters)})" if 0 < len(result.raters) <= 6 else ""
    )
    screen.print(f"[bold]{escape(result.facet)}[/bold]: {count_of(result.n, 'item')}, {escape(raters)}", soft_wrap=True)
    reasons = ", ".join(f"{reason} ({number(count)})" for reason, count in result.reasons.items())
    screen.print(f"left out: {reasons or 'none'}", soft_wrap=True)
    screen.print()
    screen.print(_build_measures_table(result))
    for statistic, estimate in list_shown_estimates(result):
        if estimate.undefined:
            screen.print(f"{statistic.label(result)} is {estimate.undefined}", soft_wrap=True)
    if result.n:
        screen.print()
        screen.print(_build_codes_table(result))
    if result.pairs:
        screen.print()
        screen.print(_build_pairs_table(result))
    if result.confused:
        screen.print("\nMost confused" + (" (in pairs of raters)" if len(result.raters) > 2 else ""))
        for pair in result.confused:
            first, second = map(escape, pair.codes)
            screen.print(f"  {first} ↔ {second}  {number(pair.n)} ×", soft_wrap=True)
    for warning in result.warnings:
        screen.print(f"\nNote: {escape(warning)}", soft_wrap=True)


def _build_measures_table(result: Agreement) -> Table:
    from quaestor.measures.agreement.statistics import list_shown_estimates

    table = _build_table("measure", "value", "95 % interval", "standard error")
    table.add_column("Landis–Koch", no_wrap=True)
    for statistic, estimate in list_shown_estimates(result):
        share = statistic.is_share
        values = (
            _format_value(estimate.value, share),
            _format_interval(estimate, share),
            _format_value(estimate.se, share),
        )
        table.add_row(statistic.label(result), *values, result.bands.get(statistic.name, ""))
    return table


def _build_codes_table(result: Agreement) -> Table:
    table = _build_table("code", "used by any", "by all", "agreed", "κ against the rest", "95 % interval")
    for code in result.codes:
        agreed, kappa = _format_value(code.percent, share=True), code.kappa
        counts = (number(code.n_any), number(code.n_all))
        table.add_row(escape(code.code), *counts, agreed, _format_value(kappa.value), _format_interval(kappa))
    return table


def _build_pairs_table(result: Agreement) -> Table:
    table = _build_table("raters", "items", "agreed", "Cohen's κ", "95 % interval")
    for pair in result.pairs:
        agreed, kappa = _format_value(pair.percent.value, share=True), pair.kappa
        raters = escape(f"{pair.first}, {pair.second}")
        table.add_row(raters, number(pair.n), agreed, _format_value(kappa.value), _format_interval(kappa))
    return table


def _build_table(first: str, *others: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column(first, overflow="fold")
    for heading in others:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _format_value(value: float | None, share: bool = False) -> str:
    from quaestor.render.number_format import decimal

    if value is None:
        return "–"
    return f"{value:.1%}" if share else decimal(value, 3)


def _format_interval(estimate: Estimate, share: bool = False) -> str:
    if estimate.low is None:
        return "–"
    return f"{_format_value(estimate.low, share)} to {_format_value(estimate.high, share)}"
