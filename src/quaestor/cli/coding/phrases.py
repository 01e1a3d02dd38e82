"""`quaestor phrases`: words unified set by set, the two curves, and the objects they lead to."""

from __future__ import annotations

from typing import Annotated

import typer

from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

group = typer.Typer(help="Constant comparison of verb phrases, set by set.", no_args_is_help=True)

RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="A round that asks for phrases.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="phrases")


@group.callback()
def phrases() -> None:
    """Unify the words of phrases, and see how the sets come to agree."""


@group.command()
def words(
    name: RoundArgument,
    part: Annotated[str, typer.Option(help="verb or object.")] = "object",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List the words of a set that all have rated, how often each was given, and what stands for it.

    Example: quaestor phrases words phrases --part verb
    """
    from rich.markup import escape

    from quaestor.coding.phrases import words_of

    found = words_of(chosen_study(study), name, part, actor)
    if json:
        print_json(found)
        return
    for one in found:
        to = f" → {one['to']}" if one["to"] != one["word"] else ""
        console().print(f"{number(one['count']):>6}  {escape(one['word'] + to)}")
    if any(one["simulated"] for one in found):
        say("given by simulated raters")


@group.command()
def unify(
    name: RoundArgument,
    words: Annotated[list[str], typer.Argument(help="The words to replace.")],
    to: Annotated[str, typer.Option(help="The word that stands for them.")],
    part: Annotated[str, typer.Option(help="verb or object.")] = "object",
    rule: Annotated[str, typer.Option(help="`same meaning` (the more frequent stays) or `hypernym`.")] = "same meaning",
    reason: Annotated[str, typer.Option(help="Why, where the less frequent word shall stay.")] = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Make words one, from the next set on.

    Example: quaestor phrases unify phrases restore read --to load --part verb
    """
    from quaestor.coding.phrases import unify_words

    unify_words(chosen_study(study), name, actor, part, words, to, rule, reason)
    if json:
        print_json({"recorded": True})
    else:
        say(f"On record: {', '.join(words)} → {to}")


@group.command()
def reread(
    name: RoundArgument,
    item: Annotated[str, typer.Argument(help="The item whose phrase is unclear.")],
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Ask both raters to read a post again and say its phrase anew.

    Example: quaestor phrases reread phrases stackoverflow/question/34454721
    """
    from quaestor.coding.phrases import ask_reread

    ask_reread(chosen_study(study), name, actor, item)
    if json:
        print_json({"recorded": True})
    else:
        say("On record")


@group.command()
def curves(name: RoundArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False) -> None:
    """Show how far raters differ in each set, and how far each set fits those before it; also drawn in published/.

    Example: quaestor phrases curves phrases
    """
    from dataclasses import asdict

    from quaestor.coding.phrases import curves_of

    found, drawing = curves_of(chosen_study(study), name, actor)
    if json:
        print_json([asdict(one) for one in found])
        return
    screen = console()
    screen.print("  set  items  raters differ          does not fit earlier sets")
    for one in found:
        bars = (f"{share:4.0%} {'█' * round(share * 15):15}" for share in (one.discrepancy, one.incompatibility))
        screen.print(f"{one.set:>5}  {one.items:>5}  {'  '.join(bars)}")
    say(f"Drawn in {drawing}")


@group.command()
def objects(
    name: RoundArgument,
    phases: Annotated[str, typer.Option(help="The round that decided the phase of each item.")],
    at_least: Annotated[int, typer.Option(min=1, help="Leave out objects with fewer phrases.")] = 1,
    adopt: Annotated[
        list[str] | None, typer.Option(help="PHASE=OBJECT: add it to the codebook; may be given several times.")
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Propose the core objects of each phase from the unified phrases, and adopt some.

    Example: quaestor phrases objects phrases --phases phases --at-least 3 --adopt model-training=loss
    """
    from dataclasses import asdict

    from rich.markup import escape

    from quaestor.coding.phrases import adopt_objects, proposed_objects

    opened = chosen_study(study)
    if adopt:
        version = adopt_objects(opened, name, phases, adopt, actor)
        if json:
            print_json({"version": version})
        else:
            say(f"The codebook is now at version {version}")
        return
    found = proposed_objects(opened, name, phases, at_least, actor)
    if json:
        print_json([asdict(one) for one in found])
        return
    for one in found:
        mark = "in the codebook" if one.known else "new"
        console().print(f"{number(one.count):>6}  {escape(one.phase)}  {escape(one.object)}  [dim]{mark}[/dim]")
    if any(one.simulated for one in found):
        say("from phrases of simulated raters")
