"""`quaestor survey claims`: pay for those who finished, which nobody can lead back to what they answered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, number, print_json, say

if TYPE_CHECKING:
    from quaestor.surveys.payment import Payment

claims = typer.Typer(help="Pay for those who finished a survey.", no_args_is_help=True)

SurveyArgument = Annotated[str, typer.Argument(metavar="SURVEY", help="A questionnaire of the study, by its name.")]


def add_to(group: typer.Typer) -> None:
    group.add_typer(claims, name="claims")


@claims.callback()
def pay() -> None:
    """See what pay costs, release cards to the payer, write the addresses, mark them paid."""


@claims.command()
def status(study: StudyOption = None, json: JsonOption = False) -> None:
    """Say how many are to be paid and what it costs; no address is shown.

    Example: quaestor survey claims status
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.payment import payments

    with open_surveys(chosen_study(study)) as surveys:
        found = payments(surveys)
    if json:
        print_json([_told(one) for one in found])
        return
    if not found:
        say("No survey that pays has been opened: a questionnaire pays where its file has [pay]")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("survey", *found[0].counts, "cost", "budget"):
        table.add_column(heading, justify="left" if heading == "survey" else "right", overflow="fold")
    for one in found:
        budget = "–" if one.pay.budget is None else one.money(one.pay.budget)
        counts = [number(count) for count in one.counts.values()]
        table.add_row(escape(one.survey), *counts, escape(one.money(one.cost)), escape(budget))
    console().print(table)


@claims.command()
def release(
    name: SurveyArgument,
    most: Annotated[
        int | None, typer.Option(min=1, help="So many, drawn by lot; default: all that wait.", show_default=False)
    ] = None,
    study: StudyOption = None,
) -> None:
    """Hand claims that wait to the payer, several at once and within the budget.

    Example: quaestor survey claims release protocol
    """
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.payment import release as release_claims

    with open_surveys(chosen_study(study)) as surveys:
        released = release_claims(surveys, name, most)
    say(f"{number(released)} released: `quaestor survey claims export {name}` writes where they go")


@claims.command()
def export(
    name: SurveyArgument,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A new file, for your eyes alone.", show_default=False)
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Those exported before and not paid yet.")] = False,
    study: StudyOption = None,
) -> None:
    """Write the addresses of released cards as CSV: address, amount, currency; each is exported once.

    Example: quaestor survey claims export protocol --out cards.csv
    """
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.payment import export_cards, write_cards

    with open_surveys(chosen_study(study)) as surveys:
        if out is None:
            print(export_cards(surveys, name, again), end="")
            return
        write_cards(surveys, name, out, again)
    say(f"{out} is written: delete it when the cards are sent")


@claims.command()
def paid(
    name: SurveyArgument,
    cards: Annotated[int, typer.Option(min=1, help="How many you paid; it must be all that were exported.")],
    study: StudyOption = None,
) -> None:
    """Mark the exported cards as paid.

    Example: quaestor survey claims paid protocol --cards 20
    """
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.payment import mark_paid

    with open_surveys(chosen_study(study)) as surveys:
        say(f"{number(mark_paid(surveys, name, cards))} marked as paid")


def _told(one: Payment) -> dict[str, Any]:
    return {
        "survey": one.survey,
        "amount": one.pay.amount,
        "currency": one.pay.currency,
        "budget": one.pay.budget,
        "cost": one.cost,
        "affordable": one.affordable,
        "closed": one.closed,
        **{stage.value: count for stage, count in one.counts.items()},
    }
