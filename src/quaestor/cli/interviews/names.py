"""`quaestor interview names`: list known names, find them in transcripts and replace them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.base.names import count_of
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

if TYPE_CHECKING:
    from quaestor.deidentify.name_forms import KnownName
    from quaestor.interviews.names.overview import NameLine

group = typer.Typer(help="Names in transcripts and their replacements.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The replacement of the name, such as 'person 1'.")]
OfName = Annotated[str, typer.Option("--name", help="Only this name, given by its replacement.")]
OfInterview = Annotated[str, typer.Option("--interview", help="Only this transcript, such as P1.")]
PlacesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="PLACES", help="Matches as `names find` lists them, such as P1/00012:4-11."),
]
AllOption = Annotated[
    bool, typer.Option("--all", help="All open matches that are certainly names, within the other options.")
]
DoubtfulOption = Annotated[bool, typer.Option("--doubtful", help="With --all: also matches that may not be names.")]
FormsOption = Annotated[
    list[str] | None, typer.Option("--form", metavar="WORDS", help="A spelling of the name; repeat for several.")
]
EndingOption = Annotated[
    list[str] | None,
    typer.Option("--ending", help="An inflectional ending besides the usual ones; repeat for several."),
]
SHOWN = r"The replacement; default: \[person 1] and so on."
"""The bracket is escaped, because help texts interpret brackets as styles."""


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="names")


@group.callback()
def names() -> None:
    """Find names in transcripts and replace them; only for the lead."""


@group.command("list")
def list_all(actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False) -> None:
    """List every known name with its replacement and the number of open, replaced and refused matches.

    Example: quaestor interview names list
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.interviews.names.overview import list_name_lines
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        lines = list_name_lines(interviews, actor)
    if json:
        print_json({"names": [_line_json(line) for line in lines]})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("shown", "kind", "forms"):
        table.add_column(heading, overflow="fold")
    for heading in ("open", "doubtful", "replaced", "refused"):
        table.add_column(heading, justify="right")
    for line in lines:
        counts = (line.progress.open, line.progress.doubtful, line.progress.confirmed, line.progress.refused)
        table.add_row(escape(line.shown), line.kind, escape("; ".join(line.forms)), *map(number, counts))
    console().print(table)
    if not lines:
        say("No names are known yet: add one with `quaestor interview names add person --form NAME`")


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
    """Add a name; all transcripts are searched for it, its parts, initials and endings.

    Example: quaestor interview names add organisation --form "Obviax GmbH" --form OVX
    """
    from quaestor.interviews.names.known_names import add_name
    from quaestor.interviews.names.matches import count_progress_by_name
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        added = add_name(interviews, kind, form or (), shown, participant, ending or (), actor)
        matches = count_progress_by_name(interviews, actor)[added.id].found
    if json:
        print_json({**_name_json(added), "found": matches})
    else:
        say(f"Replaced by {added.shown}; {number(matches)} {'match' if matches == 1 else 'matches'} found")


@group.command()
def change(
    name: NameArgument,
    form: FormsOption = None,
    shown: Annotated[str | None, typer.Option("--shown", help="The new replacement.", show_default=False)] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="The kind of name.", show_default=False)] = None,
    ending: EndingOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    r"""Change a name; new forms replace the old ones, and a new replacement is used everywhere.

    Example: quaestor interview names change "person 1" --shown "\[their manager]"
    """
    from quaestor.interviews.names.confirmations import change_replacement
    from quaestor.interviews.names.known_names import change_name
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        known = change_name(interviews, name, form, None, kind, ending, actor)
        if shown:
            known = change_replacement(interviews, known.id, shown, actor)
    if json:
        print_json(_name_json(known))
    else:
        say(f"{known.shown} was changed")


@group.command()
def remove(name: NameArgument, actor: ActorOption = None, study: StudyOption = None) -> None:
    """Remove an entry that is not a name; places where it was replaced stay replaced.

    Example: quaestor interview names remove "person 1"
    """
    from quaestor.interviews.names.known_names import remove_name
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        removed = remove_name(interviews, name, actor)
    say(f"Transcripts are no longer searched for {removed.shown}")


@group.command()
def find(
    name: OfName = "",
    interview: OfInterview = "",
    state: Annotated[str, typer.Option("--state", help="open, confirmed or refused.")] = "open",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List certain and possible names in transcripts with their context.

    Example: quaestor interview names find --interview P1
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.interviews.names.matches import list_proposals
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        matches = list_proposals(interviews, interview, name, state, actor)
    if json:
        print_json({"places": [{**asdict(match), "place": match.place} for match in matches]})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("place", "words", "shown", "why"):
        table.add_column(heading, overflow="fold")
    for match in matches:
        context = f"{escape(match.before[-30:])}[bold]{escape(match.words)}[/bold]{escape(match.after[:30])}"
        why = match.why if match.sure else f"{match.why} (?)"
        table.add_row(match.place, " ".join(context.split()), escape(match.shown), why)
    console().print(table)
    if not matches:
        say(f"There are no {state} matches")


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
    """Replace names at these places, or with --all at all matches of a name, of a transcript, or everywhere.

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
    """Mark matches as not being names; they are not proposed again.

    Example: quaestor interview names refuse P1/00014:0-3
    """
    _answer(places, False, every, name, interview, doubtful, actor, study, json)


@group.command("replace-written")
def replace_written(actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False) -> None:
    """Replace known names permanently in notes, added items, roles, memos, fields and comments.

    Example: quaestor interview names replace-written
    """
    from quaestor.interviews.names.rewording import replace_names_in_texts as replaced
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        done = replaced(interviews, actor)
    if json:
        print_json({"changed": done})
    else:
        say(f"{number(done)} {'text' if done == 1 else 'texts'} changed" if done else "No known names in these texts")


@group.command()
def looked(
    names: Annotated[list[str], typer.Argument(metavar="INTERVIEWS", help="Interviews, such as P1.")],
    actor: ActorOption = None,
    study: StudyOption = None,
) -> None:
    """Record that you have read transcripts for names and found no others.

    Example: quaestor interview names looked P1 P2
    """
    from quaestor.interviews.names.confirmations import mark_as_read
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        for name in names:
            mark_as_read(interviews, name, actor)
            say(f"The transcript {name} is marked as reviewed")


@group.command()
def remaining(study: StudyOption = None, json: JsonOption = False) -> None:
    """List where known names remain in transcripts, notes, memos and codes, without the names; exit 1 if there are any.

    Example: quaestor interview names remaining
    """
    from quaestor.interviews.names.remaining import find_remaining_names
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        places = find_remaining_names(interviews)
    if json:
        print_json({"remaining": [asdict(place) for place in places]})
    else:
        for place in places:
            print(f"{place.where}: {place.shown}")
        say(f"Known names remain in {count_of(len(places), 'place')}" if places else "No known names remain")
    if places:
        raise typer.Exit(1)


def _answer(
    places: list[str] | None, confirmed: bool, every: bool, name: str, interview: str, doubtful: bool,
    actor: str | None, study: Any, json: bool,
) -> None:  # fmt: skip
    from quaestor.base.errors import InputError
    from quaestor.interviews.names.confirmations import answer_all_places, answer_places
    from quaestor.interviews.repository import open_interviews

    if bool(places) == every:
        raise InputError("name the matches as `names find` lists them, or use --all")
    with open_interviews(chosen_study(study)) as interviews:
        if places:
            done = answer_places(interviews, places, confirmed, actor)
        else:
            done = answer_all_places(interviews, confirmed, interview, name, doubtful, actor)
    if json:
        print_json({"answered": done, "confirmed": confirmed})
    else:
        say(f"{number(done)} {'match' if done == 1 else 'matches'} {'replaced' if confirmed else 'refused'}")


def _name_json(name: KnownName) -> dict[str, Any]:
    return {
        "id": name.id, "kind": name.kind, "forms": list(name.forms), "shown": name.shown,
        "participant": name.participant, "endings": list(name.endings),
    }  # fmt: skip


def _line_json(line: NameLine) -> dict[str, Any]:
    counts = {key: getattr(line.progress, key) for key in ("open", "doubtful", "confirmed", "refused")}
    return {"id": line.id, "kind": line.kind, "forms": list(line.forms), "shown": line.shown, **counts}
