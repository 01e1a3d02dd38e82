"""`quaestor round add` and `quaestor round remove`: rounds into study.toml and out of it again."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from quaestor.cli.output import (
    ActorOption,
    JsonOption,
    StudyOption,
    chosen_study,
    named_values,
    number,
    print_json,
    say,
)


def add_to(group: typer.Typer) -> None:
    group.command("add")(add)
    group.command("remove")(remove)


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
    statistic: Annotated[str, typer.Option(help="kappa, alpha, ac1 or percent.")] = "kappa",
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

    from quaestor.study.folder import open_study
    from quaestor.study.moments import in_utc
    from quaestor.study.round_preview import preview_of_study
    from quaestor.study.round_setup import add_round

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


def remove(
    name: Annotated[str, typer.Argument(metavar="ROUND", help="A round that was added and has not opened.")],
    actor: ActorOption = None,
    study: StudyOption = None,
) -> None:
    """Take a round that `round add` or the desk wrote, and that has not opened, out of study.toml.

    Example: quaestor round remove second-pilot
    """
    from quaestor.study.round_setup import remove_round

    remove_round(chosen_study(study), name, actor)
    say(f"{name} is no longer in study.toml")
