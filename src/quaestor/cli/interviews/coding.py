"""`quaestor interview items`, `code-agreement`, `in-vivo`, `adopt`: transcripts for raters, and what came of it."""

from __future__ import annotations

from typing import Annotated

import typer

from quaestor.cli.output import (
    ActorOption,
    JsonOption,
    StudyOption,
    chosen_study,
    console,
    number,
    print_json,
    say,
    tell_of_items,
)

RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="A round that codes transcripts.")]
UnitOption = Annotated[str, typer.Option("--by", help="Count by turn, or by answer to a question of the guide.")]


def add_to(group: typer.Typer) -> None:
    group.command()(items)
    group.command()(code_agreement)
    group.command("in-vivo")(in_vivo)
    group.command()(adopt)


def items(actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False) -> None:
    """Make items of what participants said, turn by turn and without names, to be coded by raters in rounds.

    Example: quaestor interview items
    """
    from quaestor.interviews.items import STEP, make_items
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        made = make_items(interviews, actor)
    tell_of_items(made, "turns", STEP, json=json)


def code_agreement(
    name: RoundArgument,
    unit: UnitOption = "turn",
    version: Annotated[int | None, typer.Option(help="Read under this version of the codebook.")] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Tell how far raters agree on each code of the transcripts, with its uncertainty.

    Example: quaestor interview code-agreement main --by answer
    """
    from rich.table import Table

    from quaestor.coding.agreement import to_json
    from quaestor.interviews.coding.code_agreement import agreement_by_code, in_words
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        found = agreement_by_code(interviews, name, unit, actor, version)
    if json:
        codes = [{"code": code, "name": words, **to_json(each)} for code, words, each in found.codes]
        told = {"round": found.round, "facet": found.facet, "unit": found.unit, "blindness": found.blindness}
        print_json({**told, "overall": to_json(found.overall), "codes": codes})
        return
    shown = Table(box=None, pad_edge=False)
    shown.add_column("code")
    for title in (f"{found.unit}s", "percent", "kappa", "AC1", "alpha"):
        shown.add_column(title, justify="right")
    for title, each in [("all codes together", found.overall), *((words, each) for _, words, each in found.codes)]:
        shown.add_row(
            title, number(each.n), *(in_words(one) for one in (each.percent, each.kappa, each.ac1, each.alpha))
        )
    console().print(shown)
    if found.blindness:
        say(f"The round {found.round} is {found.blindness}.")


def in_vivo(
    name: RoundArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False
) -> None:
    """List the words that raters took as their own code, and the codes they were adopted as.

    Example: quaestor interview in-vivo main
    """
    from rich.table import Table

    from quaestor.interviews.coding.in_vivo import in_vivo_of
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        found = in_vivo_of(interviews, name, actor)
    if json:
        told = [
            {
                "item": one.stretch.item,
                "start": one.stretch.start,
                "end": one.stretch.end,
                "words": one.stretch.words,
                "participant": one.stretch.participant,
                "raters": list(one.stretch.raters),
                "code": one.stretch.code,
            }
            for one in found
        ]
        print_json({"round": name, "in_vivo": told})
        return
    shown = Table(box=None, pad_edge=False)
    for title in ("item", "from", "to", "words", "counts as"):
        shown.add_column(title)
    for one in found:
        place = (one.stretch.item, str(one.stretch.start), str(one.stretch.end))
        shown.add_row(*place, one.stretch.words, one.name or "nothing yet")
    console().print(shown) if found else say(f"no words stand for themselves in {name}")


def adopt(
    name: RoundArgument,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="A turn, as in P1/00012.")],
    start: Annotated[int, typer.Argument(metavar="FROM", help="Where the words begin, as `in-vivo` lists them.")],
    end: Annotated[int, typer.Argument(metavar="TO", help="Where they end.")],
    code: Annotated[str, typer.Argument(metavar="CODE", help="A code, or the one above a new one; '' takes it back.")],
    new: Annotated[str, typer.Option(help="The name of a new code to adopt them as.")] = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Let words that stood for themselves count as a code of the codebook.

    Example: quaestor interview adopt main P1/00012 4 21 indicators --new "a feeling"
    """
    from quaestor.coding.session import open_coding
    from quaestor.interviews.coding.in_vivo import NewCode
    from quaestor.interviews.coding.in_vivo import adopt as adopt_words

    with open_coding(chosen_study(study)) as coding:
        made = adopt_words(coding, name, item, start, end, NewCode(new, code) if new else code, actor)
    if json:
        print_json({"round": name, "item": item, "start": start, "end": end, "code": made})
        return
    say(f"these words of {item} count as {made} now" if made else f"these words of {item} stand for themselves again")
