"""`quaestor interview themes`, `quotations`, `saturation`: what the interviews of a study come to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

RoundOption = Annotated[
    list[str] | None, typer.Option("--round", help="Count this closed round alone; may be given again. Default: all.")
]


def add_to(group: typer.Typer) -> None:
    group.command()(themes)
    group.command()(quotations)
    group.command()(saturation)


def themes(
    rounds: RoundOption = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write every table and figure here.")] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Tell how many participants speak of each theme and code, with the share's uncertainty.

    Examples:

        quaestor interview themes

        quaestor interview themes --out themes
    """
    from rich.table import Table

    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.themes.files import themes_json, write_themes
    from quaestor.interviews.themes.quotations import themes_of
    from quaestor.interviews.themes.tables import themes_table

    with open_interviews(chosen_study(study)) as interviews:
        found = themes_of(interviews, rounds or (), actor)
        written = write_themes(interviews, found, out) if out is not None else []
    if out is not None:
        say(f"{number(len(written))} files written to {out}")
    if json:
        print_json(themes_json(found))
        return
    table = themes_table(found)
    shown = Table(box=None, pad_edge=False)
    shown.add_column("code")
    for column in table.columns:
        shown.add_column(column.title, justify="right")
    for group in table.groups:
        shown.add_row(group.title, style="bold")
        for row in group.rows:
            shown.add_row(f"  {row.title}", *(" ".join(cell.parts) for cell in row.cells))
    console().print(shown)
    for note in table.notes:
        console().print(note, markup=False, soft_wrap=True)


def quotations(
    code: Annotated[str, typer.Argument(metavar="CODE", help="A code, or a theme with all of its codes.")],
    rounds: RoundOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List what participants said that counts as a code, each with what stands around it.

    Example: quaestor interview quotations indicator
    """
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.themes.files import quotation_json, quotations_of
    from quaestor.interviews.themes.quotations import themes_of
    from quaestor.interviews.themes.tables import with_surroundings

    with open_interviews(chosen_study(study)) as interviews:
        name, found = quotations_of(themes_of(interviews, rounds or (), actor), code)
    if json:
        print_json({"code": code, "name": name, "quotations": [quotation_json(one) for one in found]})
        return
    screen = console()
    for one in found:
        screen.print(f"{one.participant}  {one.asked or 'before the first question'}", style="bold", markup=False)
        screen.print(f"  {with_surroundings(one)}", markup=False, soft_wrap=True)
        for field, words in one.fields.items():
            screen.print(f"  {field}: {words}", markup=False, soft_wrap=True)
        if one.memo:
            screen.print(f"  memo: {one.memo}", markup=False, soft_wrap=True)
    said = "quotation" if len(found) == 1 else "quotations"
    people = len({one.participant for one in found})
    say(f"{number(len(found))} {said} of {number(people)} participant{'' if people == 1 else 's'}: {name}")


def saturation(
    rounds: RoundOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Tell how many new codes each interview brought, and what the usual rules say about stopping.

    Example: quaestor interview saturation --json
    """
    from rich.table import Table

    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.themes.co_occurrence import saturation_of, saturation_table, stop_in_words
    from quaestor.interviews.themes.files import saturation_json
    from quaestor.interviews.themes.quotations import themes_of

    with open_interviews(chosen_study(study)) as interviews:
        found = themes_of(interviews, rounds or (), actor)
    if json:
        print_json(saturation_json(found))
        return
    table = saturation_table(found)
    shown = Table(box=None, pad_edge=False)
    shown.add_column("interview")
    for column in table.columns[:-1]:
        shown.add_column(column.title, justify="right")
    for row in table.rows():
        shown.add_row(row.title, *(" ".join(cell.parts) for cell in row.cells[:-1]))
    console().print(shown)
    for one in saturation_of(found).stops:
        console().print(stop_in_words(one), markup=False, soft_wrap=True)
