"""`quaestor phrases`: unify the words of phrases set by set, show how sets converge, and propose core objects."""

from __future__ import annotations

from typing import Annotated

import typer

from quaestor.cli.coding.views import YesOption, confirm_views
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

group = typer.Typer(help="Constant comparison of verb phrases, set by set.", no_args_is_help=True)

RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="A round with a phrase facet.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="phrases")


@group.callback()
def phrases() -> None:
    """Unify the words of phrases, and see how the sets converge."""


@group.command()
def words(
    name: RoundArgument,
    kind: Annotated[str, typer.Option(help="The kind of word: verb or object.")] = "object",
    yes: YesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List the words of a set that all raters have finished, their frequency, and the word each was unified to.

    Example: quaestor phrases words phrases --kind verb
    """
    from rich.markup import escape

    from quaestor.coding.phrases import list_words

    opened = chosen_study(study)
    confirm_views(opened, [name], actor, yes=yes)
    word_rows = list_words(opened, name, kind, actor)
    if json:
        print_json(word_rows)
        return
    for row in word_rows:
        unified = f" → {row['to']}" if row["to"] != row["word"] else ""
        console().print(f"{number(row['count']):>6}  {escape(row['word'] + unified)}")
    if any(row["simulated"] for row in word_rows):
        say("The raters are simulated")


@group.command()
def unify(
    name: RoundArgument,
    words: Annotated[list[str], typer.Argument(help="The words to replace.")],
    into: Annotated[str, typer.Option(help="The word that replaces them.")],
    kind: Annotated[str, typer.Option(help="The kind of word: verb or object.")] = "object",
    relation: Annotated[
        str, typer.Option(help="`same meaning` (the most frequent word is kept) or `hypernym`.")
    ] = "same meaning",
    reason: Annotated[str, typer.Option(help="The reason, if the less frequent word is kept.")] = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Replace words by one word, from the next set on.

    Example: quaestor phrases unify phrases restore read --into load --kind verb
    """
    from quaestor.coding.phrases import unify_words

    unify_words(chosen_study(study), name, actor, kind, words, into, relation, reason)
    if json:
        print_json({"recorded": True})
    else:
        say(f"Recorded: {', '.join(words)} → {into}")


@group.command()
def reread(
    name: RoundArgument,
    item: Annotated[str, typer.Argument(help="The item whose phrase is unclear.")],
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Ask both raters to read a post again and give its phrase again.

    Example: quaestor phrases reread phrases stackoverflow/question/34454721
    """
    from quaestor.coding.phrases import request_reread

    request_reread(chosen_study(study), name, actor, item)
    if json:
        print_json({"recorded": True})
    else:
        say("Recorded")


@group.command()
def curves(
    name: RoundArgument,
    yes: YesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Show how much raters differ in each set and how well each set fits the earlier ones; draw both curves.

    Example: quaestor phrases curves phrases
    """
    from dataclasses import asdict

    from quaestor.coding.phrases import draw_curves

    opened = chosen_study(study)
    confirm_views(opened, [name], actor, yes=yes)
    points, drawing = draw_curves(opened, name, actor)
    if json:
        print_json([asdict(point) for point in points])
        return
    screen = console()
    screen.print("  set  items  raters differ          does not fit earlier sets")
    for point in points:
        bars = (f"{share:4.0%} {'█' * round(share * 15):15}" for share in (point.discrepancy, point.incompatibility))
        screen.print(f"{point.set:>5}  {point.items:>5}  {'  '.join(bars)}")
    say(f"Drawn in {drawing}")


@group.command()
def objects(
    name: RoundArgument,
    phases: Annotated[str, typer.Option(help="The round that decided the phase of each item.")],
    at_least: Annotated[int, typer.Option(min=1, help="Leave out objects with fewer phrases.")] = 1,
    adopt: Annotated[
        list[str] | None, typer.Option(help="Add PHASE=OBJECT to the codebook; repeat for several.")
    ] = None,
    yes: YesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Propose the core objects of each phase from the unified phrases, or adopt some of them.

    Example: quaestor phrases objects phrases --phases phases --at-least 3 --adopt model-training=loss
    """
    from dataclasses import asdict

    from rich.markup import escape

    from quaestor.coding.phrases import adopt_objects, list_proposed_objects

    opened = chosen_study(study)
    if adopt:
        version = adopt_objects(opened, name, phases, adopt, actor)
        if json:
            print_json({"version": version})
        else:
            say(f"The codebook is now at version {version}")
        return
    confirm_views(opened, [name, phases], actor, yes=yes)
    proposals = list_proposed_objects(opened, name, phases, at_least, actor)
    if json:
        print_json([asdict(proposal) for proposal in proposals])
        return
    for proposal in proposals:
        label = "in the codebook" if proposal.known else "new"
        console().print(
            f"{number(proposal.count):>6}  {escape(proposal.phase)}  {escape(proposal.object)}  [dim]{label}[/dim]"
        )
    if any(proposal.simulated for proposal in proposals):
        say("The raters are simulated")
