"""`quaestor decisions`: disagreements, what is said about them, and how they are settled."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quaestor.cli.coding.ratings import write_out
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

group = typer.Typer(help="Disagreements and decisions, on the record.", no_args_is_help=True)

RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="A closed round.")]
ItemArgument = Annotated[str, typer.Argument(help="The item's id.")]
FacetOption = Annotated[str | None, typer.Option(help="The facet, where the round asks several.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="decisions")


@group.callback()
def decisions() -> None:
    """See where raters differ, discuss it and settle it; no rating changes."""


@group.command("list")
def list_disagreements(
    name: RoundArgument,
    open_only: Annotated[bool, typer.Option("--open", help="Only what is not settled.")] = False,
    item: Annotated[str | None, typer.Option(help="Only this item.")] = None,
    answer: Annotated[str | None, typer.Option(help="Only where somebody said this.")] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List the disagreements of a closed round; a tie-breaker sees what was said, and not by whom.

    Example: quaestor decisions list refinement --open
    """
    from rich.markup import escape

    from quaestor.coding.disagreements import disagreements_of

    found = disagreements_of(chosen_study(study), name, actor, open_only=open_only, item=item, answer=answer)
    if json:
        print_json(found)
        return
    screen = console()
    for one in found:
        said = "; ".join(f"{who}: {what}" if who else what for who, what in one["answers"])
        end = f"  → {one['decision']} ({one['how']})" if one["decision"] else ""
        screen.print(f"{escape(one['item'])}  {one['facet']}  {escape(said)}{escape(end)}", soft_wrap=True)
        if one["tie_comment"]:
            screen.print(f"    tie-breaker: {escape(one['tie_comment'])}  {escape(one['tie_text'])}", soft_wrap=True)
        for comment in one["comments"]:
            screen.print(f"    {escape(comment['actor'])}: {escape(comment['text'])}", soft_wrap=True)
    settled = sum(bool(one["decision"]) for one in found)
    noun = "disagreement" if len(found) == 1 else "disagreements"
    raters = " of simulated raters" if any(one["simulated"] for one in found) else ""
    say(f"{number(len(found))} {noun}{raters}, {number(settled)} settled")


@group.command()
def agree(name: RoundArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False) -> None:
    """Put on record what needs no discussion: the items on which all raters say the same.

    Example: quaestor decisions agree refinement
    """
    from quaestor.coding.disagreements import settle_agreed

    made = settle_agreed(chosen_study(study), name, actor)
    if json:
        print_json({"decided": made})
    else:
        say(f"{number(made)} decisions by agreement")


@group.command()
def comment(
    name: RoundArgument,
    item: ItemArgument,
    text: Annotated[str, typer.Argument(help="What you have to say.")],
    actor: Annotated[str, typer.Option("--as", metavar="NAME", help="Who says it.")],
    facet: FacetOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Say something about a disagreement.

    Example: quaestor decisions comment refinement ITEM "the answer only fixes an error" --as rater-1
    """
    from quaestor.coding.disagreements import comment_on_item

    comment_on_item(chosen_study(study), name, actor, item, facet, text)
    _say_recorded(json)


@group.command()
def tie(
    name: RoundArgument,
    item: ItemArgument,
    answer: Annotated[str, typer.Argument(help="The tie-breaker's own answer.")],
    actor: Annotated[str, typer.Option("--as", metavar="NAME", help="The tie-breaker.")],
    text: Annotated[str, typer.Option(help="Why.")] = "",
    facet: FacetOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Record the tie-breaker's independent comment, given without knowing who said what.

    Example: quaestor decisions tie refinement ITEM keep --as tie-breaker
    """
    from quaestor.coding.disagreements import break_tie

    break_tie(chosen_study(study), name, actor, item, facet, answer, text)
    _say_recorded(json)


@group.command()
def settle(
    name: RoundArgument,
    item: ItemArgument,
    answer: Annotated[str, typer.Argument(help="The final answer.")],
    how: Annotated[
        str, typer.Option(help="discussion, tie-breaker (alone) or together (after the tie-breaker's comment).")
    ],
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    facet: FacetOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Settle a disagreement.

    Example: quaestor decisions settle refinement ITEM "exclude: program crash" --how discussion --as rater-1
    """
    from quaestor.coding.disagreements import settle_item

    settle_item(chosen_study(study), name, actor, item, facet, answer, how, reason)
    _say_recorded(json)


@group.command("export")
def export_file(
    name: RoundArgument,
    out: Annotated[Path | None, typer.Option(help="A CSV or XLSX file; default: CSV on standard output.")] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Write every decision of a round: what, how, by whom, when.

    Example: quaestor decisions export refinement --out decisions.csv
    """
    from quaestor.coding.rating_files import decisions_of

    write_out("decisions", decisions_of(chosen_study(study), name, actor), out, json)


@group.command("import")
def import_file(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for these decisions.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV or XLSX: item and a column for each facet.")],
    source: Annotated[str, typer.Option(help="Where they were published.")] = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Take in decisions that were published without their raters; they are marked as such.

    Example: quaestor decisions import labels labels.csv --source "replication package"
    """
    from quaestor.coding.rating_files import import_decisions
    from quaestor.coding.session import open_coding

    with open_coding(chosen_study(study)) as coding:
        made = import_decisions(coding, name, file, actor or coding.lead, source)
    if json:
        print_json({"decisions": made})
    else:
        say(f"{number(made)} published decisions are on record as {name}")


def _say_recorded(json: bool) -> None:
    """Without the number of the act, from which a rater could count what others do."""
    if json:
        print_json({"recorded": True})
    else:
        say("On record")
