"""`quaestor survey claims`: pay respondents without linking payments to their answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, number, print_json, say

if TYPE_CHECKING:
    from quaestor.surveys.payment import Payment

claims = typer.Typer(help="Payment of respondents who finished a survey.", no_args_is_help=True)

SurveyArgument = Annotated[str, typer.Argument(metavar="SURVEY", help="The name of a questionnaire.")]


def add_to(group: typer.Typer) -> None:
    group.add_typer(claims, name="claims")


@claims.callback()
def pay() -> None:
    """Show the cost, release claims to the payer, export addresses, and mark cards as paid."""


@claims.command()
def status(study: StudyOption = None, json: JsonOption = False) -> None:
    """Show how many claims are to be paid and their cost; addresses are not shown.

    Example: quaestor survey claims status
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.payment import payments

    with open_surveys(chosen_study(study)) as surveys:
        surveys_paid = payments(surveys)
    if json:
        print_json([_payment_json(payment) for payment in surveys_paid])
        return
    if not surveys_paid:
        say("No opened survey pays its respondents: add [pay] to a questionnaire to pay for responses")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("survey", *surveys_paid[0].counts, "cost", "budget"):
        table.add_column(heading, justify="left" if heading == "survey" else "right", overflow="fold")
    for payment in surveys_paid:
        budget = "–" if payment.pay.budget is None else payment.money(payment.pay.budget)
        counts = [number(count) for count in payment.counts.values()]
        table.add_row(escape(payment.survey), *counts, escape(payment.money(payment.cost)), escape(budget))
    console().print(table)


@claims.command()
def release(
    name: SurveyArgument,
    count: Annotated[
        int | None,
        typer.Option(min=1, help="How many, drawn at random; default: all waiting claims.", show_default=False),
    ] = None,
    study: StudyOption = None,
) -> None:
    """Release waiting claims to the payer, several at once and within the budget.

    Example: quaestor survey claims release protocol
    """
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.payment import release_claims

    with open_surveys(chosen_study(study)) as surveys:
        released = release_claims(surveys, name, count)
    say(f"{number(released)} released: export the addresses with `quaestor survey claims export {name}`")


@claims.command()
def export(
    name: SurveyArgument,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A new file that only you can read.", show_default=False)
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Export again cards that are not marked as paid.")] = False,
    study: StudyOption = None,
) -> None:
    """Export the addresses of released cards as CSV: address, amount, currency; each is exported once.

    Example: quaestor survey claims export protocol --out cards.csv
    """
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.payment import export_cards, write_cards

    with open_surveys(chosen_study(study)) as surveys:
        if out is None:
            print(export_cards(surveys, name, again), end="")
            return
        write_cards(surveys, name, out, again)
    say(f"Written to {out}: delete the file when the cards are sent")


@claims.command()
def paid(
    name: SurveyArgument,
    cards: Annotated[int, typer.Option(min=1, help="How many cards you paid; must equal the number exported.")],
    study: StudyOption = None,
) -> None:
    """Mark the exported cards as paid.

    Example: quaestor survey claims paid protocol --cards 20
    """
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.payment import mark_paid

    with open_surveys(chosen_study(study)) as surveys:
        say(f"{number(mark_paid(surveys, name, cards))} cards marked as paid")


def _payment_json(payment: Payment) -> dict[str, Any]:
    return {
        "survey": payment.survey,
        "amount": payment.pay.amount,
        "currency": payment.pay.currency,
        "budget": payment.pay.budget,
        "cost": payment.cost,
        "affordable": payment.affordable,
        "closed": payment.closed,
        **{stage.value: count for stage, count in payment.counts.items()},
    }
