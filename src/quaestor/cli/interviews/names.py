"""`quaestor interview names`: whom pseudonyms stand for, where names remain, and what is replaced."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

if TYPE_CHECKING:
    from quaestor.deidentify.name_forms import KnownName
    from quaestor.interviews.names.overview import NameLine

group = typer.Typer(help="Names in transcripts, and what is shown instead.", no_args_is_help=True)

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="By what is shown instead of it, such as 'person 1'.")
]
OfName = Annotated[str, typer.Option("--name", help="Of this name alone, by what is shown instead of it.")]
OfInterview = Annotated[str, typer.Option("--interview", help="Of this transcript alone, such as P1.")]
PlacesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="PLACES", help="As `names find` lists them, such as P1/00012:4-11.")
]
AllOption = Annotated[bool, typer.Option("--all", help="All open places that surely are names, of whatever is named.")]
DoubtfulOption = Annotated[bool, typer.Option("--doubtful", help="With --all: also those that may be none.")]
FormsOption = Annotated[
    list[str] | None, typer.Option("--form", metavar="WORDS", help="A way to write it; once for each.")
]
EndingOption = Annotated[
    list[str] | None, typer.Option("--ending", help="An ending that it may have, beside the usual ones; once for each.")
]
SHOWN = r"What is shown instead; default: \[person 1] and so on."
"""Escaped, since help texts take what stands in brackets for a style."""


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="names")


@group.callback()
def names() -> None:
    """Find the names in transcripts and replace them, for the lead alone."""


@group.command("list")
def list_all(actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False) -> None:
    """List every known name with what is shown instead, and how many places are found and answered.

    Example: quaestor interview names list
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.interviews.names.overview import name_lines
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        found = name_lines(interviews, actor)
    if json:
        print_json({"names": [_line(one) for one in found]})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("shown", "kind", "forms"):
        table.add_column(heading, overflow="fold")
    for heading in ("open", "doubtful", "replaced", "refused"):
        table.add_column(heading, justify="right")
    for one in found:
        counts = (one.progress.open, one.progress.doubtful, one.progress.confirmed, one.progress.refused)
        table.add_row(escape(one.shown), one.kind, escape("; ".join(one.forms)), *map(number, counts))
    console().print(table)
    if not found:
        say("No name is known yet: `quaestor interview names add person --form NAME`")


@group.command()
def add(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="person, organisation, product, place or other.")],
    form: FormsOption = None,
    shown: Annotated[str, typer.Option("--shown", help=SHOWN)] = "",
    participant: Annotated[str, typer.Option("--of", metavar="P1", help="The participant whose name it is.")] = "",
    ending: EndingOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Add a name; it is looked for in all transcripts, with its parts, initials and endings.

    Example: quaestor interview names add organisation --form "Obviax GmbH" --form OVX
    """
    from quaestor.interviews.names.known_names import add_name
    from quaestor.interviews.names.matches import progress_by_name
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        made = add_name(interviews, kind, form or (), shown, participant, ending or (), actor)
        found = progress_by_name(interviews, actor)[made.id].found
    if json:
        print_json({**_name(made), "found": found})
    else:
        say(f"Shown as {made.shown}; found in {number(found)} {'place' if found == 1 else 'places'}")


@group.command()
def change(
    name: NameArgument,
    form: FormsOption = None,
    shown: Annotated[str | None, typer.Option("--shown", help="What is shown instead.", show_default=False)] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Which kind of name it is.", show_default=False)] = None,
    ending: EndingOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    r"""Change a name; forms that are given take the place of the old ones, other words also where it is replaced.

    Example: quaestor interview names change "person 1" --shown "\[their manager]"
    """
    from quaestor.interviews.names.confirmations import show_as
    from quaestor.interviews.names.known_names import change_name
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        made = change_name(interviews, name, form, None, kind, ending, actor)
        if shown:
            made = show_as(interviews, made.id, shown, actor)
    if json:
        print_json(_name(made))
    else:
        say(f"{made.shown} is changed")


@group.command()
def remove(name: NameArgument, actor: ActorOption = None, study: StudyOption = None) -> None:
    """Remove a name that is none; places where it was replaced stay replaced.

    Example: quaestor interview names remove "person 1"
    """
    from quaestor.interviews.names.known_names import remove_name
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        gone = remove_name(interviews, name, actor)
    say(f"{gone.shown} is no longer looked for")


@group.command()
def find(
    name: OfName = "",
    interview: OfInterview = "",
    state: Annotated[str, typer.Option("--state", help="open, confirmed or refused.")] = "open",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List the places in transcripts that are names, or may be, with the words around them.

    Example: quaestor interview names find --interview P1
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.interviews.names.matches import proposals
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        found = proposals(interviews, interview, name, state, actor)
    if json:
        print_json({"places": [{**asdict(one), "place": one.place} for one in found]})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("place", "words", "shown", "why"):
        table.add_column(heading, overflow="fold")
    for one in found:
        around = f"{escape(one.before[-30:])}[bold]{escape(one.words)}[/bold]{escape(one.after[:30])}"
        table.add_row(one.place, " ".join(around.split()), escape(one.shown), one.why if one.sure else f"{one.why} (?)")
    console().print(table)
    if not found:
        say(f"No place is {state}")


@group.command()
def confirm(
    places: PlacesArgument = None,
    every: AllOption = False,
    name: OfName = "",
    interview: OfInterview = "",
    doubtful: DoubtfulOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Replace names at these places, or with --all at all of a name, of a transcript, or everywhere.

    Examples:

        quaestor interview names confirm P1/00012:4-11

        quaestor interview names confirm --all --interview P1
    """
    _answer(places, True, every, name, interview, doubtful, actor, study, json)


@group.command()
def refuse(
    places: PlacesArgument = None,
    every: AllOption = False,
    name: OfName = "",
    interview: OfInterview = "",
    doubtful: DoubtfulOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Say that what stands at these places is no name; it is not proposed again.

    Example: quaestor interview names refuse P1/00014:0-3
    """
    _answer(places, False, every, name, interview, doubtful, actor, study, json)


@group.command("replace-written")
def replace_written(actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False) -> None:
    """Replace known names in what people wrote: notes, added items, roles, memos, fields, comments. It stays so.

    Example: quaestor interview names replace-written
    """
    from quaestor.interviews.names.rewording import replace_written as replaced
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        done = replaced(interviews, actor)
    if json:
        print_json({"changed": done})
    else:
        say(
            f"{number(done)} {'text' if done == 1 else 'texts'} changed"
            if done
            else "No known name is written anywhere"
        )


@group.command()
def looked(
    names: Annotated[list[str], typer.Argument(metavar="INTERVIEWS", help="Interviews, such as P1.")],
    actor: ActorOption = None,
    study: StudyOption = None,
) -> None:
    """Put on record that you have read transcripts for names, and that there are no others in them.

    Example: quaestor interview names looked P1 P2
    """
    from quaestor.interviews.names.confirmations import looked_through
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        for name in names:
            looked_through(interviews, name, actor)
            say(f"The transcript {name} is looked through")


@group.command()
def remaining(study: StudyOption = None, json: JsonOption = False) -> None:
    """Tell where known names remain, and none of them: in transcripts, notes, memos, codes; exit 1 where there are any.

    Example: quaestor interview names remaining
    """
    from quaestor.interviews.names.remaining import remaining as found_in
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        found = found_in(interviews)
    if json:
        print_json({"remaining": [asdict(one) for one in found]})
    else:
        for one in found:
            print(f"{one.where}: {one.shown}")
        say(f"Known names remain in {number(len(found))} places" if found else "No known name remains")
    if found:
        raise typer.Exit(1)


def _answer(
    places: list[str] | None, confirmed: bool, every: bool, name: str, interview: str, doubtful: bool,
    actor: str | None, study: Any, json: bool,
) -> None:  # fmt: skip
    from quaestor.base.errors import InputError
    from quaestor.interviews.names.confirmations import answer, answer_all
    from quaestor.interviews.repository import open_interviews

    if bool(places) == every:
        raise InputError("say which places are meant: name them as `names find` lists them, or say --all")
    with open_interviews(chosen_study(study)) as interviews:
        if places:
            done = answer(interviews, places, confirmed, actor)
        else:
            done = answer_all(interviews, confirmed, interview, name, doubtful, actor)
    if json:
        print_json({"answered": done, "confirmed": confirmed})
    else:
        say(f"{number(done)} {'place' if done == 1 else 'places'} {'replaced' if confirmed else 'refused'}")


def _name(one: KnownName) -> dict[str, Any]:
    told = {"id": one.id, "kind": one.kind, "forms": list(one.forms), "shown": one.shown}
    return {**told, "participant": one.participant, "endings": list(one.endings)}


def _line(one: NameLine) -> dict[str, Any]:
    counts = {key: getattr(one.progress, key) for key in ("open", "doubtful", "confirmed", "refused")}
    return {"id": one.id, "kind": one.kind, "forms": list(one.forms), "shown": one.shown, **counts}
