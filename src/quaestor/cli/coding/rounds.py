"""`quaestor round`: open a round, follow it, close it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from quaestor.cli import round_setup
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

group = typer.Typer(help="Rounds: items × raters × facets under one frozen codebook version.", no_args_is_help=True)

RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="A round of study.toml.")]
ReasonOption = Annotated[str, typer.Option(help="Why; it goes on the record.")]


def add_to(app: typer.Typer) -> None:
    round_setup.add_to(group)
    app.add_typer(group, name="round")


@group.callback()
def rounds() -> None:
    """Add rounds, open them, follow them, close them."""


@group.command("list")
def list_rounds(study: StudyOption = None, json: JsonOption = False) -> None:
    """List the rounds of the study and where each stands."""
    from rich.markup import escape
    from rich.table import Table

    from quaestor.study.round_acts import all_rounds

    found = all_rounds(chosen_study(study))
    if json:
        print_json(found)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("round", "kind", "status", "items", "missing", "raters"):
        table.add_column(heading, justify="right" if heading in ("items", "missing") else "left", overflow="fold")
    for one in found:
        raters = ", ".join(one["raters"]) + (" (simulated)" if one["simulated"] else "")
        status = one["status"] + (f", set {one['set']} of {one['sets']}" if one["sets"] > 1 else "")
        status += (", final" if one["final"] else "") + (f", {one['blindness']}" if one["blindness"] else "")
        table.add_row(
            escape(one["round"]), one["kind"], status, number(one["items"]), number(one["missing"]), escape(raters)
        )
    console().print(table)
    if not found:
        say("No rounds yet: add [[rounds]] to study.toml")


@group.command("open")
def open_one(
    name: RoundArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False
) -> None:
    """Freeze the plan of a round (items, facets, raters, codebook version, statistic and threshold) and open it.

    Example: quaestor round open pilot
    """
    from quaestor.study.round_acts import open_by_name

    _tell(open_by_name(chosen_study(study), name, actor), "open", json)


@group.command("close")
def close_one(
    name: RoundArgument,
    incomplete: Annotated[str, typer.Option(help="Close it although ratings are missing, for this reason.")] = "",
    final: Annotated[bool, typer.Option("--final", help="It is never reopened; missing ratings stay missing.")] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Close a round: its ratings are fixed, its agreement and disagreements can be seen.

    A round with missing ratings counts as settled only once it is final. One that is closed already can be made final.

    Example: quaestor round close pilot
    """
    from quaestor.study.round_acts import close_by_name

    done = close_by_name(chosen_study(study), name, actor, incomplete, final=final)
    _tell(done, "closed as final" if done["final"] else "closed", json)


@group.command()
def reopen(
    name: RoundArgument,
    reason: ReasonOption,
    not_blind: Annotated[
        bool, typer.Option("--not-blind", help="Reopen it although somebody has seen ratings; its results say so.")
    ] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Open a closed round again, as long as nobody has seen another person's ratings.

    Example: quaestor round reopen pilot --reason "one item was missing"
    """
    from quaestor.study.round_acts import reopen_by_name

    done = reopen_by_name(chosen_study(study), name, actor, reason, not_blind=not_blind)
    _tell(done, f"open again, {done['blindness']}" if done["blindness"] else "open again", json)


@group.command()
def waive(
    name: RoundArgument,
    reason: ReasonOption,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Let later rounds open although this one missed its threshold.

    Example: quaestor round waive pilot --reason "a small sample; the codebook was mended since"
    """
    from quaestor.study.round_acts import waive_by_name

    _tell(waive_by_name(chosen_study(study), name, actor, reason), "waived", json)


@group.command()
def replace(
    name: RoundArgument,
    rater: Annotated[str, typer.Option(help="Who goes.")],
    by: Annotated[str, typer.Option(help="Who takes over the items that are left.")],
    reason: ReasonOption = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Give the rest of a rater's items to somebody else.

    Example: quaestor round replace refinement --rater rater-2 --by rater-3
    """
    from quaestor.study.round_acts import replace_by_name

    _tell(replace_by_name(chosen_study(study), name, actor, rater, by, reason), "changed", json)


@group.command()
def deadline(
    name: RoundArgument,
    until: Annotated[str, typer.Argument(help="As in 2027-03-01 or 2027-03-01T18:00+01:00.")],
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Set until when ratings are accepted.

    Example: quaestor round deadline refinement 2027-03-01
    """
    from quaestor.study.round_acts import deadline_by_name

    _tell(deadline_by_name(chosen_study(study), name, actor, until), f"open until {until}", json)


@group.command("next-set")
def next_set(
    name: RoundArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False
) -> None:
    """Go on to the next set when all have rated this one and its words are unified.

    Example: quaestor round next-set phrases
    """
    from quaestor.study.round_acts import next_set_by_name

    _tell(next_set_by_name(chosen_study(study), name, actor), "on to the next set", json)


@group.command()
def items(
    name: RoundArgument,
    actor: Annotated[str, typer.Option("--as", metavar="NAME", help="The rater.")],
    left: Annotated[bool, typer.Option("--left", help="Only those not rated yet.")] = False,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List a rater's own items in the rater's own order.

    Example: quaestor round items pilot --as rater-1 --left
    """
    from quaestor.study.round_acts import items_for

    found = items_for(chosen_study(study), name, actor, left_only=left)
    if json:
        print_json(found)
        return
    for one in found:
        print(one["item"], "" if one["rated"] else "(not rated)")


def _tell(summary: dict[str, Any], what: str, json: bool) -> None:
    if json:
        print_json(summary)
        return
    sets = f", set {summary['set']} of {summary['sets']}" if summary["sets"] > 1 else ""
    say(
        f"{summary['round']} is {what}{sets}: {number(summary['items'])} items, raters {', '.join(summary['raters'])}, "
        f"codebook version {summary['codebook']}, {number(summary['missing'])} ratings missing",
    )
