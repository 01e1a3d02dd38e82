"""`quaestor codebook propose`, `proposals` and `decide`: codes that raters propose while rating."""

from __future__ import annotations

from typing import Annotated

import typer

from quaestor.base.errors import InputError
from quaestor.base.names import count_of
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, print_json, say


def add_to(group: typer.Typer) -> None:
    group.command()(propose)
    group.command()(proposals)
    group.command()(decide)


def propose(
    round_name: Annotated[str, typer.Argument(metavar="ROUND", help="An open round.")],
    item: Annotated[str, typer.Argument(help="The item that no code fits.")],
    name: Annotated[str, typer.Argument(help="The name of the new code.")],
    actor: Annotated[str, typer.Option("--as", metavar="NAME", help="The rater who proposes it.")],
    definition: Annotated[str, typer.Option(help="Its definition, in a sentence.")] = "",
    parent: Annotated[str, typer.Option(help="The code that it is below; default: none.")] = "",
    facet: Annotated[str, typer.Option(help="The facet; needed if several facets of the round have codes.")] = "",
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Propose a code for an item; rate the item with the closest code.

    The lead decides about the proposal. It counts nowhere, and no decision changes a rating.

    Example: quaestor codebook propose main ITEM "cost of labels" --parent data --as rater-1
    """
    from quaestor.coding.code_proposals import propose_code
    from quaestor.coding.model.code_proposals import NewCode

    propose_code(chosen_study(study), round_name, actor, item, NewCode(name, parent, definition, facet))
    if json:
        print_json({"recorded": True})
    else:
        say(f"Proposed: rate {item} with the closest code, as the proposal counts nowhere until the lead decides")


def proposals(actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False) -> None:
    """List the codes that raters proposed, without the raters' names; items appear once their round is closed.

    Example: quaestor codebook proposals
    """
    from rich.markup import escape

    from quaestor.coding.code_proposals import read_proposed_codes

    proposed_codes = read_proposed_codes(chosen_study(study), actor)
    rows = [
        {
            "number": proposed.first.number,
            "round": proposed.round,
            "facet": proposed.facet,
            "name": proposed.first.name,
            "definition": proposed.first.definition,
            "parent": proposed.first.parent,
            "count": len(proposed.items),
            "items": list(proposed.items) if proposed.may_show_items else [],
            "outcome": proposed.first.outcome,
            "code": proposed.first.code,
            "reason": proposed.first.reason,
        }
        for proposed in proposed_codes
    ]
    if json:
        print_json(rows)
        return
    for proposed in proposed_codes:
        first = proposed.first
        became = f" as {first.code}" if first.code else f": {first.reason}" if first.reason else ""
        below = f" below {first.parent}" if first.parent else ""
        line = f"{first.number}  {first.name}{below}, {proposed.round}, {count_of(len(proposed.items), 'item')}"
        console().print(escape(f"{line}: {first.outcome or 'not decided yet'}{became}"), soft_wrap=True)
        if first.definition:
            console().print(escape(f"    {first.definition}"), soft_wrap=True)
    if not rows:
        say("Nobody has proposed a code")


def decide(
    number: Annotated[int, typer.Argument(help="The number of a proposed code, as `proposals` lists it.")],
    accept: Annotated[bool, typer.Option("--accept", help="Add it to the codebook.")] = False,
    merge: Annotated[str, typer.Option(metavar="CODE", help="It means this existing code.")] = "",
    decline: Annotated[str, typer.Option(metavar="REASON", help="Decline it, for this reason.")] = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Accept a proposed code, merge it into an existing one, or decline it; ratings keep their codes.

    Examples:
      quaestor codebook decide 41 --accept
      quaestor codebook decide 41 --merge data/labels
      quaestor codebook decide 41 --decline "two items only"
    """
    from quaestor.coding.code_proposals import settle_proposed_code
    from quaestor.coding.model.records import ACCEPTED, DECLINED, MERGED

    if accept + bool(merge) + bool(decline) != 1:
        raise InputError("choose one of --accept, --merge and --decline")
    outcome = ACCEPTED if accept else MERGED if merge else DECLINED
    code = settle_proposed_code(chosen_study(study), number, outcome, actor, code=merge, reason=decline)
    if json:
        print_json({"number": number, "outcome": outcome, "code": code})
    else:
        say(f"The proposed code {number} is {outcome}{f' as {code}' if code else ''}")
