"""`quaestor survey flags`, `decide` and `erase`: review suspicious responses and erase responses."""

from __future__ import annotations

from typing import Annotated

import typer

from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

SurveyArgument = Annotated[str, typer.Argument(metavar="SURVEY", help="The name of a questionnaire.")]


def add_to(group: typer.Typer) -> None:
    group.command()(flags)
    group.command()(decide)
    group.command()(erase)


def flags(name: SurveyArgument, study: StudyOption = None, json: JsonOption = False) -> None:
    """List finished responses that look suspicious, with reasons; a flag alone does not exclude a response.

    Example: quaestor survey flags protocol
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.surveys.flags import flag_responses as flagged
    from quaestor.surveys.lifecycle import open_surveys

    with open_surveys(chosen_study(study)) as surveys:
        flagged_responses = flagged(surveys, name)
    if json:
        rows = [
            {
                "response": flagged_response.response,
                "reasons": [{"sign": reason.sign.value, "words": reason.words} for reason in flagged_response.reasons],
                "keep": flagged_response.decision.keep if flagged_response.decision else None,
                "why": flagged_response.decision.why if flagged_response.decision else "",
            }
            for flagged_response in flagged_responses
        ]
        print_json(rows)
        return
    if not flagged_responses:
        say("No responses are flagged")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("response", "decided", "reasons"):
        table.add_column(heading, overflow="fold")
    for flagged_response in flagged_responses:
        decided = "–" if flagged_response.decision is None else "kept" if flagged_response.decision.keep else "dropped"
        table.add_row(
            flagged_response.response, decided, escape(" ".join(reason.words for reason in flagged_response.reasons))
        )
    console().print(table)
    waiting = sum(flagged_response.decision is None for flagged_response in flagged_responses)
    if waiting:
        say(f"{number(waiting)} to review: `quaestor survey decide {name} RESPONSE --keep --reason TEXT`, or --drop")
    else:
        say(f"{number(len(flagged_responses))} flagged, all reviewed")


def decide(
    name: SurveyArgument,
    response: Annotated[str, typer.Argument(metavar="RESPONSE", help="The id of a response.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="The reason, which is recorded.")],
    keep: Annotated[bool, typer.Option("--keep/--drop", help="Keep it, or exclude it from the results.")],
    actor: ActorOption = None,
    study: StudyOption = None,
) -> None:
    """Keep a response or exclude it from the results; its answers are kept, and the last decision counts.

    Example: quaestor survey decide protocol 3f9c2a1b7d604e58 --drop --reason "identical to another response"
    """
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.lifecycle import review_response as decide_about

    with open_surveys(chosen_study(study)) as surveys:
        decide_about(surveys, name, response, keep, reason, actor)
    say(f"{response} is {'kept' if keep else 'excluded from the results'}")


def erase(
    name: SurveyArgument,
    response: Annotated[str, typer.Argument(metavar="RESPONSE", help="The id of a response.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="The reason, which is recorded; do not name the person.")],
    yes: Annotated[bool, typer.Option("--yes", help="Confirm; without it nothing is erased.")] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
) -> None:
    """Erase a response permanently, such as an imported one, whose respondent has no link to withdraw it.

    Example: quaestor survey erase protocol 3f9c2a1b7d604e58 --reason "requested by letter" --yes
    """
    from quaestor.base.errors import InputError
    from quaestor.store.erasure import describe_pending_erasures
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.open_answers import erase_response

    if not yes:
        raise InputError(f"nothing was erased: this cannot be undone, so add --yes to erase {response}")
    chosen = chosen_study(study)
    with open_surveys(chosen) as surveys:
        quoted = erase_response(surveys, name, response, reason, actor)
    pending = describe_pending_erasures(chosen.root)
    if pending:
        say(f"{response} is no longer part of the study, but not fully erased yet. {pending}")
    else:
        say(f"{response} is erased, together with everything derived from it in this folder")
    for quotation in quoted:
        say(f"The journal still quotes it: {quotation}")
    if pending:
        raise typer.Exit(1)
