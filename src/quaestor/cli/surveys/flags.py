"""`quaestor survey flags`, `decide` and `erase`: responses that look odd, and what the lead makes of them."""

from __future__ import annotations

from typing import Annotated

import typer

from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

SurveyArgument = Annotated[str, typer.Argument(metavar="SURVEY", help="A questionnaire of the study, by its name.")]


def add_to(group: typer.Typer) -> None:
    group.command()(flags)
    group.command()(decide)
    group.command()(erase)


def flags(name: SurveyArgument, study: StudyOption = None, json: JsonOption = False) -> None:
    """List finished responses with something odd, and why; a flag changes nothing by itself.

    Example: quaestor survey flags protocol
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.surveys.flags import flags as flagged
    from quaestor.surveys.lifecycle import open_surveys

    with open_surveys(chosen_study(study)) as surveys:
        found = flagged(surveys, name)
    if json:
        told = [
            {
                "response": one.response,
                "reasons": [{"sign": reason.sign.value, "words": reason.words} for reason in one.reasons],
                "keep": one.decision.keep if one.decision else None,
                "why": one.decision.why if one.decision else "",
            }
            for one in found
        ]
        print_json(told)
        return
    if not found:
        say("Nothing is flagged")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("response", "decided", "reasons"):
        table.add_column(heading, overflow="fold")
    for one in found:
        decided = "–" if one.decision is None else "kept" if one.decision.keep else "dropped"
        table.add_row(one.response, decided, escape(" ".join(reason.words for reason in one.reasons)))
    console().print(table)
    waiting = sum(one.decision is None for one in found)
    if waiting:
        say(f"{number(waiting)} to decide: `quaestor survey decide {name} RESPONSE --keep --why TEXT`, or --drop")
    else:
        say(f"{number(len(found))} flagged, all decided")


def decide(
    name: SurveyArgument,
    response: Annotated[str, typer.Argument(metavar="RESPONSE", help="The id of a response.")],
    why: Annotated[str, typer.Option(metavar="TEXT", help="The reason, which goes on record.")],
    keep: Annotated[bool, typer.Option("--keep/--drop", help="Keep it, or leave it out of the results.")],
    actor: ActorOption = None,
    study: StudyOption = None,
) -> None:
    """Keep a response or leave it out of the results; what was answered stays, and the last decision counts.

    Example: quaestor survey decide protocol 3f9c2a1b7d604e58 --drop --why "the same answers as another, word by word"
    """
    from quaestor.surveys.lifecycle import decide as decide_about
    from quaestor.surveys.lifecycle import open_surveys

    with open_surveys(chosen_study(study)) as surveys:
        decide_about(surveys, name, response, keep, why, actor)
    say(f"{response} is {'kept' if keep else 'left out of the results'}")


def erase(
    name: SurveyArgument,
    response: Annotated[str, typer.Argument(metavar="RESPONSE", help="The id of a response.")],
    why: Annotated[str, typer.Option(metavar="TEXT", help="The reason, which goes on record; not who it was.")],
    sure: Annotated[bool, typer.Option("--yes", help="You are sure; without it nothing is erased.")] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
) -> None:
    """Erase a response for good, such as an imported one, which nobody can withdraw with a link of their own.

    Example: quaestor survey erase protocol 3f9c2a1b7d604e58 --why "asked to by letter" --yes
    """
    from quaestor.base.errors import InputError
    from quaestor.store.erasure import describe_pending_erasures
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.open_answers import erase_response

    if not sure:
        raise InputError(f"nothing was erased, and nobody could bring it back: say --yes to erase {response}")
    chosen = chosen_study(study)
    with open_surveys(chosen) as surveys:
        quoted = erase_response(surveys, name, response, why, actor)
    pending = describe_pending_erasures(chosen.root)
    if pending:
        say(f"{response} is no longer part of the study, but not fully erased yet. {pending}")
    else:
        say(f"{response} is erased, and so is all that was made of it here")
    for place in quoted:
        say(f"It is still quoted, and the journal keeps that: {place}")
    if pending:
        raise typer.Exit(1)
