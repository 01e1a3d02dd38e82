"""`quaestor round`: add, open, follow and close rounds."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from quaestor.base.names import count_of, join_with_or
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
from quaestor.measures.agreement.statistics import list_reportable

group = typer.Typer(
    help="Coding rounds: items, raters and facets under one frozen codebook version.", no_args_is_help=True
)

RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="A round from study.toml.")]
ReasonOption = Annotated[str, typer.Option(help="The reason, which is recorded.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="round")


@group.callback()
def rounds() -> None:
    """Add, open, follow and close rounds."""


@group.command("list")
def list_rounds(study: StudyOption = None, json: JsonOption = False) -> None:
    """List the rounds of the study and their status."""
    from rich.markup import escape
    from rich.table import Table

    from quaestor.coding.round_acts import list_rounds

    summaries = list_rounds(chosen_study(study))
    if json:
        print_json(summaries)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("round", "kind", "status", "items", "missing", "raters"):
        table.add_column(heading, justify="right" if heading in ("items", "missing") else "left", overflow="fold")
    for summary in summaries:
        raters = ", ".join(summary["raters"]) + (" (simulated)" if summary["simulated"] else "")
        status = summary["status"] + (f", set {summary['set']} of {summary['sets']}" if summary["sets"] > 1 else "")
        status += (", final" if summary["final"] else "") + (
            f", {summary['blindness']}" if summary["blindness"] else ""
        )
        table.add_row(
            escape(summary["round"]),
            summary["kind"],
            status,
            number(summary["items"]),
            number(summary["missing"]),
            escape(raters),
        )
    console().print(table)
    if not summaries:
        say("No rounds yet: add one with `quaestor round add`")


@group.command("open")
def open_round(
    name: RoundArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False
) -> None:
    """Open a round and freeze its plan: items, facets, raters, codebook version, statistic and threshold.

    Example: quaestor round open pilot
    """
    from quaestor.coding.round_acts import open_by_name

    _print_round(open_by_name(chosen_study(study), name, actor), "open", json)


@group.command("close")
def close_round(
    name: RoundArgument,
    incomplete: Annotated[str, typer.Option(help="Close it although ratings are missing; the reason.")] = "",
    final: Annotated[bool, typer.Option("--final", help="Close it for good; missing ratings stay missing.")] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Close a round: its ratings can no longer change, and its agreement and disagreements become visible.

    A round with missing ratings counts as settled only once it is final. A closed round can be made final later.

    Example: quaestor round close pilot
    """
    from quaestor.coding.round_acts import close_by_name

    done = close_by_name(chosen_study(study), name, actor, incomplete, final=final)
    _print_round(done, "closed as final" if done["final"] else "closed", json)


@group.command()
def reopen(
    name: RoundArgument,
    reason: ReasonOption,
    not_blind: Annotated[
        bool, typer.Option("--not-blind", help="Reopen it although somebody has seen ratings; results will say so.")
    ] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Reopen a closed round, as long as nobody has seen another person's ratings.

    Example: quaestor round reopen pilot --reason "one item was missing"
    """
    from quaestor.coding.round_acts import reopen_by_name

    done = reopen_by_name(chosen_study(study), name, actor, reason, not_blind=not_blind)
    _print_round(done, f"reopened, {done['blindness']}" if done["blindness"] else "reopened", json)


@group.command()
def waive(
    name: RoundArgument,
    reason: ReasonOption,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Allow later rounds to open although this one missed its threshold.

    Example: quaestor round waive pilot --reason "small sample; the codebook was improved since"
    """
    from quaestor.coding.round_acts import waive_by_name

    _print_round(waive_by_name(chosen_study(study), name, actor, reason), "waived", json)


@group.command()
def replace(
    name: RoundArgument,
    rater: Annotated[str, typer.Option(help="The rater who leaves.")],
    replacement: Annotated[str, typer.Option(help="The rater who takes over the remaining items.")],
    reason: ReasonOption = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Give a rater's remaining items to another rater.

    Example: quaestor round replace refinement --rater rater-2 --replacement rater-3
    """
    from quaestor.coding.round_acts import replace_by_name

    _print_round(replace_by_name(chosen_study(study), name, actor, rater, replacement, reason), "changed", json)


@group.command()
def deadline(
    name: RoundArgument,
    until: Annotated[str, typer.Argument(help="Such as 2027-03-01 or 2027-03-01T18:00+01:00.")],
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Set the time until which ratings are accepted.

    Example: quaestor round deadline refinement 2027-03-01
    """
    from quaestor.coding.round_acts import deadline_by_name

    _print_round(deadline_by_name(chosen_study(study), name, actor, until), f"open until {until}", json)


@group.command("next-set")
def next_set(
    name: RoundArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False
) -> None:
    """Start the next set, once all raters have finished this one and its words are unified.

    Example: quaestor round next-set phrases
    """
    from quaestor.coding.round_acts import next_set_by_name

    _print_round(next_set_by_name(chosen_study(study), name, actor), "at the next set", json)


@group.command()
def items(
    name: RoundArgument,
    actor: Annotated[str, typer.Option("--as", metavar="NAME", help="The rater.")],
    left: Annotated[bool, typer.Option("--left", help="Only items not rated yet.")] = False,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List a rater's items in that rater's order.

    Example: quaestor round items pilot --as rater-1 --left
    """
    from quaestor.coding.round_acts import list_rater_items

    rater_items = list_rater_items(chosen_study(study), name, actor, left_only=left)
    if json:
        print_json(rater_items)
        return
    for entry in rater_items:
        print(entry["item"], "" if entry["rated"] else "(not rated)")


def _print_round(summary: dict[str, Any], status: str, json: bool) -> None:
    if json:
        print_json(summary)
        return
    sets = f", set {summary['set']} of {summary['sets']}" if summary["sets"] > 1 else ""
    raters = ", ".join(summary["raters"])
    say(
        f"{summary['round']} is {status}{sets}: {count_of(summary['items'], 'item')}, raters {raters}, "
        f"codebook version {summary['codebook']}, {count_of(summary['missing'], 'rating')} missing",
    )


@group.command("add")
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for the round.")],
    items: Annotated[
        str,
        typer.Option(
            metavar="PLACE=NAME",
            help="Where items come from: after=STEP, strand=NAME, sample=NAME, kept_by=ROUND or again=ROUND.",
        ),
    ],
    facet: Annotated[list[str], typer.Option(help="A facet to rate; repeat for several.")],
    rater: Annotated[list[str], typer.Option(help="A rater; repeat for several.")],
    kind: Annotated[str, typer.Option(help="pilot, main or drift.")] = "main",
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Only items with this code (CODE or FACET:CODE), disagreement (any, open or settled), round, year, "
            "tag, family or attribute of the study; repeat for several.",
        ),
    ] = None,
    size: Annotated[int | None, typer.Option(help="Draw this number of items at random; default: all.")] = None,
    without: Annotated[list[str] | None, typer.Option(help="Leave out the items of this round.")] = None,
    set_size: Annotated[int | None, typer.Option(help="Items per set, if the round proceeds in sets.")] = None,
    overlap: Annotated[float, typer.Option(help="The share of items that all raters get.")] = 1.0,
    blind: Annotated[bool, typer.Option(help="Raters see no other ratings before it is closed.")] = True,
    seed: Annotated[
        int | None, typer.Option(help="The seed of order and assignment; default: the study's seed.")
    ] = None,
    statistic: Annotated[
        str, typer.Option(help=f"The agreement statistic: {join_with_or(list_reportable())}.")
    ] = "kappa",
    measured: Annotated[str | None, typer.Option(help="The facet it is computed for; default: the first.")] = None,
    threshold: Annotated[
        float | None, typer.Option(help="The value it must reach before later rounds can open.")
    ] = None,
    after: Annotated[str | None, typer.Option(help="The round that must be closed first.")] = None,
    tie_breaker: Annotated[
        str | None, typer.Option(help="The person who comments on disagreements or decides them.")
    ] = None,
    settle: Annotated[
        str, typer.Option(help="How disagreements are settled: agreement, discussion, tie-breaker or two-step.")
    ] = "discussion",
    instructions: Annotated[str, typer.Option(help="Instructions that raters read first.")] = "",
    deadline: Annotated[str | None, typer.Option(help="Such as 2027-03-01 or 2027-03-01T18:00+01:00.")] = None,
    confirms: Annotated[list[str] | None, typer.Option(help="Propose the decisions of this round to raters.")] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Check a round, append it to study.toml, and preview its items and assignment.

    Example: quaestor round add main --items after=candidates --without pilot --size 60 --facet topic --rater rater-1
    """
    from datetime import datetime

    from quaestor.base.clock import parse_utc
    from quaestor.coding.round_setup import add_round, preview_planned_round
    from quaestor.study.folder import open_study
    from quaestor.study.settings.coding import ItemConditions

    conditions: dict[str, Any] = dict(named_values(where or [], "KEY=VALUE"))
    attributes = {key: conditions.pop(key) for key in list(conditions) if key not in ItemConditions.model_fields}
    conditions |= {"attributes": attributes} if attributes else {}
    item_source: dict[str, Any] = {
        "where": conditions or None,
        "size": size, "set_size": set_size, "without": without, **named_values([items], "PLACE=NAME")
    }  # fmt: skip
    settings: dict[str, Any] = {
        "round": name, "kind": kind, "facets": facet, "raters": rater, "overlap": overlap, "blind": blind, "seed": seed,
        "statistic": statistic, "measured": measured, "threshold": threshold, "after": after,
        "tie_breaker": tie_breaker, "settle": settle, "instructions": instructions, "confirms": confirms,
        "deadline": datetime.fromisoformat(parse_utc(deadline)) if deadline else None,
        "items": {key: value for key, value in item_source.items() if value is not None},
    }  # fmt: skip
    opened = chosen_study(study)
    round_settings = add_round(opened, {key: value for key, value in settings.items() if value is not None}, actor)
    preview = preview_planned_round(open_study(opened.root), round_settings.round)
    if json:
        print_json({"round": round_settings.round, **preview.as_json()})
        return
    shares = ", ".join(f"{share.rater} {number(share.items)}" for share in preview.shares)
    say(f"{round_settings.round} is in study.toml" + (f": {preview.selection}; {shares}" if shares else ""))
    say(
        f"It cannot be opened yet: {preview.obstacle}"
        if preview.obstacle
        else f"Next: quaestor round open {round_settings.round}"
    )


@group.command("remove")
def remove(
    name: Annotated[str, typer.Argument(metavar="ROUND", help="A round that has not been opened.")],
    actor: ActorOption = None,
    study: StudyOption = None,
) -> None:
    """Remove a round from study.toml that `round add` or the desk added and that has not been opened.

    Example: quaestor round remove second-pilot
    """
    from quaestor.coding.round_setup import remove_round

    remove_round(chosen_study(study), name, actor)
    say(f"{name} is no longer in study.toml")
