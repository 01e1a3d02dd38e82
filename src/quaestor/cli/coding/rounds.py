"""`quaestor round`: add a round to study.toml, open it, follow it, close it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from quaestor.base.names import listed
from quaestor.cli.output import (
    ActorOption,
    JsonOption,
    StudyOption,
    chosen_study,
    console,
    named_values,
    number,
    print_json,
    say,
)
from quaestor.measures.agreement.statistics import reported_statistics

group = typer.Typer(help="Rounds: items × raters × facets under one frozen codebook version.", no_args_is_help=True)

RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="A round of study.toml.")]
ReasonOption = Annotated[str, typer.Option(help="Why; it goes on the record.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="round")


@group.callback()
def rounds() -> None:
    """Add rounds, open them, follow them, close them."""


@group.command("list")
def list_rounds(study: StudyOption = None, json: JsonOption = False) -> None:
    """List the rounds of the study and where each stands."""
    from rich.markup import escape
    from rich.table import Table

    from quaestor.coding.round_acts import all_rounds

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
    from quaestor.coding.round_acts import open_by_name

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
    from quaestor.coding.round_acts import close_by_name

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
    from quaestor.coding.round_acts import reopen_by_name

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
    from quaestor.coding.round_acts import waive_by_name

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
    from quaestor.coding.round_acts import replace_by_name

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
    from quaestor.coding.round_acts import deadline_by_name

    _tell(deadline_by_name(chosen_study(study), name, actor, until), f"open until {until}", json)


@group.command("next-set")
def next_set(
    name: RoundArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False
) -> None:
    """Go on to the next set when all have rated this one and its words are unified.

    Example: quaestor round next-set phrases
    """
    from quaestor.coding.round_acts import next_set_by_name

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
    from quaestor.coding.round_acts import items_for

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


@group.command("add")
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for the round.")],
    items: Annotated[
        str, typer.Option(metavar="PLACE=NAME", help="after=STEP, sample=NAME, kept_by=ROUND or again=ROUND.")
    ],
    facet: Annotated[list[str], typer.Option(help="What is asked of each item; may be given several times.")],
    rater: Annotated[list[str], typer.Option(help="Who rates; may be given several times.")],
    kind: Annotated[str, typer.Option(help="pilot, main or drift.")] = "main",
    size: Annotated[int | None, typer.Option(help="How many, of items rated again.")] = None,
    without: Annotated[list[str] | None, typer.Option(help="Leave out the items of this round.")] = None,
    set_size: Annotated[int | None, typer.Option(help="Items in a set, where the round goes set by set.")] = None,
    overlap: Annotated[float, typer.Option(help="The share of items that all raters get.")] = 1.0,
    blind: Annotated[bool, typer.Option(help="Nobody sees what others say before it is closed.")] = True,
    seed: Annotated[int | None, typer.Option(help="Of order and assignment; default: the study's.")] = None,
    statistic: Annotated[str, typer.Option(help=f"{listed(reported_statistics())}.")] = "kappa",
    measured: Annotated[str | None, typer.Option(help="The facet it is computed of; default: the first.")] = None,
    threshold: Annotated[float | None, typer.Option(help="What it must reach for later rounds to open.")] = None,
    after: Annotated[str | None, typer.Option(help="Opens only after this round.")] = None,
    tie_breaker: Annotated[str | None, typer.Option(help="Who breaks ties.")] = None,
    settle: Annotated[str, typer.Option(help="agreement, discussion, tie-breaker or two-step.")] = "discussion",
    instructions: Annotated[str, typer.Option(help="What raters read first.")] = "",
    deadline: Annotated[str | None, typer.Option(help="As in 2027-03-01 or 2027-03-01T18:00+01:00.")] = None,
    confirms: Annotated[list[str] | None, typer.Option(help="Proposes what this round decided.")] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Append a round to study.toml, checked before it is written, and look at what it would be if it opened now.

    Example: quaestor round add second-pilot --kind pilot --items sample=pilot --facet relevance --rater rater-1
    """
    from dataclasses import asdict
    from datetime import datetime

    from quaestor.base.clock import in_utc
    from quaestor.coding.round_setup import add_round, preview_of_study
    from quaestor.study.folder import open_study

    told: dict[str, Any] = {
        "size": size, "set_size": set_size, "without": without, **named_values([items], "PLACE=NAME")
    }  # fmt: skip
    wanted: dict[str, Any] = {
        "round": name, "kind": kind, "facets": facet, "raters": rater, "overlap": overlap, "blind": blind, "seed": seed,
        "statistic": statistic, "measured": measured, "threshold": threshold, "after": after,
        "tie_breaker": tie_breaker, "settle": settle, "instructions": instructions, "confirms": confirms,
        "deadline": datetime.fromisoformat(in_utc(deadline)) if deadline else None,
        "items": {key: value for key, value in told.items() if value is not None},
    }  # fmt: skip
    opened = chosen_study(study)
    one = add_round(opened, {key: value for key, value in wanted.items() if value is not None}, actor)
    found = preview_of_study(open_study(opened.root), one.round)
    if json:
        print_json({"round": one.round, **asdict(found)})
        return
    shares = ", ".join(f"{share.rater} {number(share.items)}" for share in found.shares)
    say(f"{one.round} is in study.toml" + (f": {number(found.items)} items, {shares}" if shares else ""))
    say(f"It cannot open yet: {found.hindrance}" if found.hindrance else f"Next: quaestor round open {one.round}")


@group.command("remove")
def remove(
    name: Annotated[str, typer.Argument(metavar="ROUND", help="A round that was added and has not opened.")],
    actor: ActorOption = None,
    study: StudyOption = None,
) -> None:
    """Take a round that `round add` or the desk wrote, and that has not opened, out of study.toml.

    Example: quaestor round remove second-pilot
    """
    from quaestor.coding.round_setup import remove_round

    remove_round(chosen_study(study), name, actor)
    say(f"{name} is no longer in study.toml")
