"""`quaestor agreement`: how far raters agree, with everything needed to judge it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from quaestor.base.errors import InputError
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json

if TYPE_CHECKING:
    from rich.table import Table

    from quaestor.coding.agreement import Agreement, Estimate
    from quaestor.coding.agreement_access import RoundAgreement


def add_to(app: typer.Typer) -> None:
    app.command()(agreement)


def agreement(
    round_: Annotated[
        str | None, typer.Option("--round", metavar="ROUND", help="A round of the study; default: all closed ones.")
    ] = None,
    version: Annotated[int | None, typer.Option(help="Read a round's ratings under this codebook version.")] = None,
    level: Annotated[str | None, typer.Option(help="Read them at this level of the codebook, such as phase.")] = None,
    against: Annotated[
        str | None, typer.Option(metavar="ROUND", help="Of a drift round: compare each rater with this earlier one.")
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    ratings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A CSV, TSV or XLSX with one row for each item and rater.")
    ] = None,
    facet: Annotated[list[str] | None, typer.Option(help="A column of codes; may be given several times.")] = None,
    item: Annotated[str, typer.Option(help="The column that names the item.")] = "item",
    rater: Annotated[str, typer.Option(help="The column that names the rater.")] = "rater",
    scale: Annotated[
        Literal["nominal", "ordinal", "interval"],
        typer.Option(help="What the codes are: mere names, ordered, or numbers (nominal, ordinal, interval)."),
    ] = "nominal",
    order: Annotated[
        str | None, typer.Option(help="All codes of an ordinal scale, lowest first, separated by commas.")
    ] = None,
    separator: Annotated[
        str | None, typer.Option(help="Parts the codes in a cell, where an item may have several.")
    ] = None,
    cannot_judge: Annotated[
        list[str] | None, typer.Option(help="A code that says a rater could not judge; may be given several times.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap behind the interval of α.")] = 0,
    json: JsonOption = False,
) -> None:
    """Say how far raters agree: percent, κ, AC1 and α with their intervals, by code, and what is confused.

    Examples:

        quaestor agreement --round refinement

        quaestor agreement --ratings ratings.csv --facet cause --facet symptom

        quaestor agreement --ratings ratings.csv --facet severity --scale ordinal --order low,medium,high

        quaestor agreement --ratings ratings.csv --facet topics --separator ";" --json
    """
    from quaestor.coding.agreement import RatingsFile, agreement_of_file, to_json
    from quaestor.coding.agreement_access import agreement_of_rounds

    if ratings is None:
        if against and round_ is None:
            raise InputError("--against goes with --round: name the drift round too")
        found_rounds = agreement_of_rounds(
            chosen_study(study), round_, facet or [],
            version=version, level=level or "", against=against or "", actor=actor,
        )  # fmt: skip
        _show_rounds(found_rounds, json)
        return
    if round_ is not None:
        raise InputError("--round and --ratings are two places to look: give one of them")
    if separator == "":
        raise InputError('--separator is empty: give what parts the codes in a cell, such as ";"')
    found = agreement_of_file(
        RatingsFile(ratings, item, rater, separator),
        facet or [],
        scale=scale,
        order=[code.strip() for code in order.split(",")] if order else [],
        cannot_judge=cannot_judge or [],
        seed=seed,
    )
    if json:
        values = [to_json(one) for one in found]
        print_json(values[0] if len(values) == 1 else values)
        return
    for place, one in enumerate(found):
        if place:
            console().print()
        _show(one)


def _show_rounds(found: list[RoundAgreement], json: bool) -> None:
    from quaestor.coding.agreement import to_json

    if json:
        values = [one.about | to_json(one.agreement) for one in found]
        print_json(values[0] if len(values) == 1 else values)
        return
    for place, one in enumerate(found):
        if place:
            console().print()
        console().print(f"[bold]{escape(one.title)}[/bold]")
        _show(one.agreement)
        if one.verdict:
            console().print(escape(one.verdict), soft_wrap=True)


def _show(found: Agreement) -> None:
    from quaestor.measures.agreement.statistics import shown_estimates

    screen = console()
    who = f"{len(found.raters)} raters" + (f" ({', '.join(found.raters)})" if 0 < len(found.raters) <= 6 else "")
    screen.print(f"[bold]{escape(found.facet)}[/bold]: {number(found.n)} items, {escape(who)}", soft_wrap=True)
    why = ", ".join(f"{reason} ({number(count)})" for reason, count in found.reasons.items())
    screen.print(f"left out: {why or 'none'}", soft_wrap=True)
    screen.print()
    screen.print(_measures(found))
    for statistic, estimate in shown_estimates(found):
        if estimate.undefined:
            screen.print(f"{statistic.label(found)} is {estimate.undefined}", soft_wrap=True)
    if found.n:
        screen.print()
        screen.print(_codes(found))
    if found.pairs:
        screen.print()
        screen.print(_pairs(found))
    if found.confused:
        screen.print("\nMost confused" + (" (in pairs of raters)" if len(found.raters) > 2 else ""))
        for pair in found.confused:
            first, second = map(escape, pair.codes)
            screen.print(f"  {first} ↔ {second}  {number(pair.n)} ×", soft_wrap=True)
    for warning in found.warnings:
        screen.print(f"\nNote: {escape(warning)}", soft_wrap=True)


def _measures(found: Agreement) -> Table:
    from quaestor.measures.agreement.statistics import shown_estimates

    table = _columns("measure", "value", "95 % interval", "standard error")
    table.add_column("Landis–Koch", no_wrap=True)
    for statistic, estimate in shown_estimates(found):
        share = statistic.is_share
        values = _value(estimate.value, share), _interval(estimate, share), _value(estimate.se, share)
        table.add_row(statistic.label(found), *values, found.bands.get(statistic.name, ""))
    return table


def _codes(found: Agreement) -> Table:
    table = _columns("code", "used by any", "by all", "agreed", "κ against the rest", "95 % interval")
    for code in found.codes:
        agreed, kappa = _value(code.percent, share=True), code.kappa
        counts = (number(code.n_any), number(code.n_all))
        table.add_row(escape(code.code), *counts, agreed, _value(kappa.value), _interval(kappa))
    return table


def _pairs(found: Agreement) -> Table:
    table = _columns("raters", "items", "agreed", "Cohen's κ", "95 % interval")
    for pair in found.pairs:
        agreed, kappa = _value(pair.percent.value, share=True), pair.kappa
        who = escape(f"{pair.first}, {pair.second}")
        table.add_row(who, number(pair.n), agreed, _value(kappa.value), _interval(kappa))
    return table


def _columns(first: str, *others: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column(first, overflow="fold")
    for heading in others:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _value(value: float | None, share: bool = False) -> str:
    from quaestor.render.number_format import decimal

    if value is None:
        return "–"
    return f"{value:.1%}" if share else decimal(value, 3)


def _interval(estimate: Estimate, share: bool = False) -> str:
    if estimate.low is None:
        return "–"
    return f"{_value(estimate.low, share)} to {_value(estimate.high, share)}"
