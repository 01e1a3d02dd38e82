"""`quaestor interview items`, `code-agreement`, `in-vivo`, `adopt`: code transcripts and measure agreement."""

from __future__ import annotations

from typing import Annotated

import typer

from quaestor.cli.coding.views import YesOption, confirm_views
from quaestor.cli.output import (
    ActorOption,
    JsonOption,
    StudyOption,
    chosen_study,
    console,
    print_json,
    say,
    tell_of_items,
)

RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="A round that codes transcripts.")]
UnitOption = Annotated[
    str, typer.Option("--unit", help="The unit of agreement: turn, answer to a question of the guide, or passage.")
]


def add_to(group: typer.Typer) -> None:
    group.command()(items)
    group.command()(code_agreement)
    group.command("in-vivo")(in_vivo)
    group.command()(adopt)


def items(actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False) -> None:
    """Turn the participants' turns, with names masked, into items that raters code in rounds.

    Example: quaestor interview items
    """
    from quaestor.interviews.items import STEP, make_items
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        added = make_items(interviews, actor)
    tell_of_items(added, "turn", STEP, json=json)


def code_agreement(
    name: RoundArgument,
    unit: UnitOption = "turn",
    version: Annotated[int | None, typer.Option(help="Interpret the ratings under this codebook version.")] = None,
    yes: YesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Show interrater agreement for each code of the transcripts, with intervals.

    Examples:

        quaestor interview code-agreement main --unit answer

        quaestor interview code-agreement main --unit passage
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.coding.agreement import to_json
    from quaestor.interviews.coding.code_agreement import PASSAGE, compute_agreement_by_code
    from quaestor.interviews.repository import open_interviews

    opened = chosen_study(study)
    confirm_views(opened, [name], actor, yes=yes)
    with open_interviews(opened) as interviews:
        result = compute_agreement_by_code(interviews, name, unit, actor, version)
    if json:
        codes = [{"code": code, "name": title, **to_json(agreement)} for code, title, agreement in result.codes]
        summary = {"round": result.round, "facet": result.facet, "unit": result.unit, "blindness": result.blindness}
        print_json({**summary, "overall": to_json(result.overall), "codes": codes})
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("code")
    for title in result.heading:
        table.add_column(title, justify="right")
    for title, *numbers in result.rows:
        table.add_row(escape(title), *numbers)
    console().print(table)
    if result.unit == PASSAGE:
        say(
            "uα: where passages are and which codes they have; cuα: which codes, where two raters coded the same words."
        )
    if result.blindness:
        say(f"The round {result.round} is {result.blindness}.")


def in_vivo(
    name: RoundArgument,
    yes: YesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List in-vivo codes: the participants' own words used as codes, and the codes they were adopted as.

    Example: quaestor interview in-vivo main
    """
    from rich.table import Table

    from quaestor.interviews.coding.in_vivo import list_in_vivo_passages
    from quaestor.interviews.repository import open_interviews

    opened = chosen_study(study)
    confirm_views(opened, [name], actor, yes=yes)
    with open_interviews(opened) as interviews:
        in_vivo_codes = list_in_vivo_passages(interviews, name, actor)
    if json:
        rows = [
            {
                "item": in_vivo_code.passage.item,
                "start": in_vivo_code.passage.start,
                "end": in_vivo_code.passage.end,
                "words": in_vivo_code.passage.words,
                "participant": in_vivo_code.passage.participant,
                "raters": list(in_vivo_code.passage.raters),
                "code": in_vivo_code.passage.code,
            }
            for in_vivo_code in in_vivo_codes
        ]
        print_json({"round": name, "in_vivo": rows})
        return
    table = Table(box=None, pad_edge=False)
    for title in ("item", "from", "to", "words", "code"):
        table.add_column(title)
    for in_vivo_code in in_vivo_codes:
        place = (in_vivo_code.passage.item, str(in_vivo_code.passage.start), str(in_vivo_code.passage.end))
        table.add_row(*place, in_vivo_code.passage.words, in_vivo_code.name or "not adopted")
    console().print(table) if in_vivo_codes else say(f"{name} has no in-vivo codes")


def adopt(
    name: RoundArgument,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="A turn, such as P1/00012.")],
    start: Annotated[int, typer.Argument(metavar="FROM", help="The start of the passage, as `in-vivo` lists it.")],
    end: Annotated[int, typer.Argument(metavar="TO", help="The end of the passage.")],
    code: Annotated[str, typer.Argument(metavar="CODE", help="A code, or the parent of a new code; '' undoes it.")],
    new: Annotated[str, typer.Option(help="The name of a new code for the passage.")] = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Adopt an in-vivo code as a code of the codebook.

    Example: quaestor interview adopt main P1/00012 4 21 indicators --new "a feeling"
    """
    from quaestor.coding.model.code_proposals import NewCode
    from quaestor.coding.session import open_coding
    from quaestor.interviews.coding.in_vivo import adopt as adopt_words

    with open_coding(chosen_study(study)) as coding:
        adopted = adopt_words(coding, name, item, start, end, NewCode(new, code) if new else code, actor)
    if json:
        print_json({"round": name, "item": item, "start": start, "end": end, "code": adopted})
        return
    say(f"This passage of {item} now has the code {adopted}" if adopted else f"This passage of {item} is in vivo again")
