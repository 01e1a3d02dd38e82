"""`quaestor decisions`: list disagreements, discuss them and settle them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quaestor.base.errors import InputError
from quaestor.base.names import count_of
from quaestor.cli.coding.ratings import write_rows
from quaestor.cli.coding.views import YesOption, confirm_views
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

if TYPE_CHECKING:
    from quaestor.coding.model.passage_choices import PassageChoice

group = typer.Typer(help="Disagreements between raters, and decisions about them.", no_args_is_help=True)

RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="A closed round.")]
ItemArgument = Annotated[str, typer.Argument(help="The item's id.")]
FacetOption = Annotated[str | None, typer.Option(help="The facet; needed if the round has several.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="decisions")


@group.callback()
def decisions() -> None:
    """List disagreements, discuss them and settle them; ratings never change."""


@group.command("list")
def list_disagreements(
    name: RoundArgument,
    open_only: Annotated[bool, typer.Option("--open", help="Only unsettled disagreements.")] = False,
    item: Annotated[str | None, typer.Option(help="Only this item.")] = None,
    answer: Annotated[str | None, typer.Option(help="Only where a rater gave this answer.")] = None,
    yes: YesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List the disagreements of a closed round; a tie-breaker sees the answers without the raters' names.

    Example: quaestor decisions list refinement --open
    """
    from rich.markup import escape

    from quaestor.coding.disagreements import list_disagreement_rows

    opened = chosen_study(study)
    confirm_views(opened, [name], actor, yes=yes)
    disagreements = list_disagreement_rows(opened, name, actor, open_only=open_only, item=item, answer=answer)
    if json:
        print_json(disagreements)
        return
    screen = console()
    for disagreement in disagreements:
        entries = [*disagreement["answers"], *((rater, "not asked") for rater in disagreement["not_asked"])]
        answers = "; ".join(f"{rater}: {text}" if rater else text for rater, text in entries) or "nobody was asked"
        end = f"  → {disagreement['decision']} ({disagreement['how']})" if disagreement["decision"] else ""
        screen.print(
            f"{escape(disagreement['item'])}  {disagreement['facet']}  {escape(answers)}{escape(end)}", soft_wrap=True
        )
        if disagreement["proposal"]:
            assents = ", ".join(disagreement["assents"])
            screen.print(
                f"    proposed: {escape(disagreement['proposal'])}  (assents: {escape(assents)})", soft_wrap=True
            )
        if disagreement["tie_comment"]:
            screen.print(
                f"    tie-breaker: {escape(disagreement['tie_comment'])}  {escape(disagreement['tie_text'])}",
                soft_wrap=True,
            )
        for comment in disagreement["comments"]:
            screen.print(f"    {escape(comment['actor'])}: {escape(comment['text'])}", soft_wrap=True)
    settled = sum(bool(disagreement["decision"]) for disagreement in disagreements)
    noun = "case" if len(disagreements) == 1 else "cases"
    raters = " of simulated raters" if any(disagreement["simulated"] for disagreement in disagreements) else ""
    say(f"{number(len(disagreements))} {noun}{raters}, {number(settled)} settled")


@group.command()
def agree(
    name: RoundArgument,
    incomplete: Annotated[
        str,
        typer.Option(
            metavar="REASON",
            help="Also decide answers that fewer raters gave than planned, recorded as single ratings; the reason.",
        ),
    ] = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Record the answers that all raters of an item agree on, if they are not decided yet.

    Closing a round records them. This is for rounds closed by an older version, or items that count again since.

    Example: quaestor decisions agree refinement
    """
    from quaestor.coding.disagreements import settle_agreed

    count = settle_agreed(chosen_study(study), name, actor, incomplete)
    if json:
        print_json({"decided": count})
    else:
        say(f"{count_of(count, 'decision')} recorded")


@group.command()
def comment(
    name: RoundArgument,
    item: ItemArgument,
    text: Annotated[str, typer.Argument(help="The comment.")],
    actor: Annotated[str, typer.Option("--as", metavar="NAME", help="The author of the comment.")],
    facet: FacetOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Comment on a disagreement.

    Example: quaestor decisions comment refinement ITEM "the answer only fixes an error" --as rater-1
    """
    from quaestor.coding.disagreements import comment_on_item

    comment_on_item(chosen_study(study), name, actor, item, facet, text)
    _confirm(json)


@group.command()
def tie(
    name: RoundArgument,
    item: ItemArgument,
    answer: Annotated[str, typer.Argument(help="The tie-breaker's own answer.")],
    actor: Annotated[str, typer.Option("--as", metavar="NAME", help="The tie-breaker.")],
    reason: Annotated[str, typer.Option(help="The reason.")] = "",
    facet: FacetOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Record the tie-breaker's independent comment, given without knowing the raters' names.

    Example: quaestor decisions tie refinement ITEM keep --as tie-breaker
    """
    from quaestor.coding.disagreements import break_tie

    break_tie(chosen_study(study), name, actor, item, facet, answer, reason)
    _confirm(json)


@group.command()
def passages(
    name: RoundArgument,
    item: ItemArgument,
    facet: FacetOption = None,
    yes: YesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Show the coded passages of a disputed turn next to each other, numbered for `settle --passage`.

    Example: quaestor decisions passages themes P1/00012
    """
    from rich.markup import escape

    from quaestor.coding.disagreements import list_aligned_passages

    opened = chosen_study(study)
    confirm_views(opened, [name], actor, yes=yes)
    rows = list_aligned_passages(opened, name, actor, item, facet)
    if json:
        print_json(rows)
        return
    screen = console()
    for row in rows:
        screen.print(f"passage {row['passage']}{', coded alike by all' if row['agreed'] else ''}")
        for version in row["versions"]:
            raters = f"  ({', '.join(version['raters'])})" if version["raters"] else ""
            words = version["words"] or f"characters {version['start']} to {version['end']}"
            line = f"  {version['version']}  {version.get('code') or 'in vivo'}: {words}{raters}"
            screen.print(escape(line), soft_wrap=True)


@group.command()
def settle(
    name: RoundArgument,
    item: ItemArgument,
    answer: Annotated[str, typer.Argument(help="The final answer; leave it out with --passage.")] = "",
    *,
    how: Annotated[
        str,
        typer.Option(
            help="discussion (counts once every rater of the item assents), one-person (with a reason), tie-breaker "
            "(alone) or together (after the tie-breaker's comment, with the assent of all)."
        ),
    ],
    reason: Annotated[str, typer.Option(help="The reason.")] = "",
    passage: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER=CHOICE",
            help="What to do with a passage of `quaestor decisions passages`, once for each: a letter, both, neither, "
            "or a code and its words, as in '2=topic: the words'.",
        ),
    ] = None,
    facet: FacetOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Settle a disagreement, or propose how: a decision by discussion needs the assent of each rater of the item.

    A decision that overrules most raters or the tie-breaker needs a reason.

    Example: quaestor decisions settle refinement ITEM "exclude: program crash" --how discussion --as rater-1
    """
    from quaestor.coding.disagreements import build_answer_by_passage, is_proposed, settle_item
    from quaestor.coding.session import open_coding

    choices = _read_choices(passage or [])
    if bool(answer) == bool(choices):
        raise InputError("give either an answer or --passage for each coded passage")
    with open_coding(chosen_study(study)) as coding:
        final = build_answer_by_passage(coding, name, actor, item, facet, choices) if choices else answer
        settle_item(coding, name, actor, item, facet, final, how, reason)
        proposed = is_proposed(coding, name, item, facet)
    _confirm(json, waits=proposed)


@group.command()
def assent(
    name: RoundArgument,
    item: ItemArgument,
    actor: Annotated[str, typer.Option("--as", metavar="NAME", help="The person who assents.")],
    facet: FacetOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Assent to a decision that another rater proposed; it counts once everybody involved has assented.

    Example: quaestor decisions assent refinement ITEM --as rater-2
    """
    from quaestor.coding.disagreements import assent_to_proposal

    _confirm(json, waits=not assent_to_proposal(chosen_study(study), name, actor, item, facet))


@group.command("export")
def export_file(
    name: RoundArgument,
    out: Annotated[Path | None, typer.Option(help="A CSV or XLSX file; default: CSV on standard output.")] = None,
    yes: YesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Export every decision of a round: answer, method, author and time.

    Example: quaestor decisions export refinement --out decisions.csv
    """
    from quaestor.coding.rating_files import read_decisions

    opened = chosen_study(study)
    confirm_views(opened, [name], actor, yes=yes)
    write_rows("decisions", read_decisions(opened, name, actor), out, json)


@group.command("import")
def import_file(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for these decisions.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV or XLSX: item and a column for each facet.")],
    source: Annotated[str, typer.Option(help="Where they were published.")] = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Import decisions that were made elsewhere, without ratings; they are recorded as decided outside Quaestor.

    Example: quaestor decisions import labels labels.csv --source "replication package"
    """
    from quaestor.coding.rating_files import import_decisions
    from quaestor.coding.session import open_coding

    with open_coding(chosen_study(study)) as coding:
        count = import_decisions(coding, name, file, actor or coding.lead, source)
    if json:
        print_json({"decisions": count})
    else:
        say(f"{count_of(count, 'decision')} imported as {name}, recorded as decided outside Quaestor")


def _read_choices(texts: list[str]) -> dict[int, PassageChoice]:
    from quaestor.coding.model.passage_choices import read_choice

    choices = {}
    for text in texts:
        number, equals, choice = text.partition("=")
        if not equals or not number.strip().isdecimal():
            raise InputError(f"--passage is {text!r}: write the number of a passage, =, and a choice, as in 2=A")
        if int(number) in choices:
            raise InputError(f"--passage names passage {int(number)} twice: keep one of the two")
        choices[int(number)] = read_choice(choice)
    return choices


def _confirm(json: bool, *, waits: bool | None = None) -> None:
    """Confirms without the number of the act, from which a rater could count the acts of others."""
    if json:
        print_json({"recorded": True} | ({} if waits is None else {"settled": not waits}))
    elif waits:
        say("Recorded as a proposal: it counts once the others assent with `quaestor decisions assent`")
    else:
        say("Recorded")
