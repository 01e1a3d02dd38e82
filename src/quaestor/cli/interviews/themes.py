"""`quaestor interview themes`, `quotations`, `saturation`: interview results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quaestor.cli.coding.views import YesOption, confirm_views
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

if TYPE_CHECKING:
    from quaestor.render.table_model import Table
    from quaestor.study.folder import Study

RoundOption = Annotated[
    list[str] | None, typer.Option("--round", help="A closed round; repeat for several. Default: all closed rounds.")
]


def add_to(group: typer.Typer) -> None:
    group.command()(themes)
    group.command()(quotations)
    group.command()(saturation)


def _confirm_rounds(study: Study, rounds: list[str] | None, actor: str | None, *, yes: bool) -> None:
    """Asks before the first view of the named rounds, by default of all closed rounds on transcripts."""
    from quaestor.coding.session import open_coding
    from quaestor.interviews.coding.decided_passages import list_coded_rounds
    from quaestor.study.folder import has_journal

    if yes or not has_journal(study):
        return
    with open_coding(study) as coding:
        names = rounds or list_coded_rounds(coding.state)
    confirm_views(study, names, actor, yes=yes)


def themes(
    round: RoundOption = None,
    by: Annotated[
        str, typer.Option(metavar="ATTRIBUTE", help="Compare by role, years, field or an attribute of the study.")
    ] = "",
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write every table and figure here.")] = None,
    yes: YesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Count the participants who mention each theme and code, with intervals for the shares.

    Examples:

        quaestor interview themes

        quaestor interview themes --by role

        quaestor interview themes --out themes
    """
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.themes.files import themes_json, write_themes
    from quaestor.interviews.themes.participant_groups import build_attribute_tables, groups_json
    from quaestor.interviews.themes.quotations import read_themes
    from quaestor.interviews.themes.tables import themes_table

    opened = chosen_study(study)
    _confirm_rounds(opened, round, actor, yes=yes)
    with open_interviews(opened) as interviews:
        results = read_themes(interviews, round or (), actor)
        tables = build_attribute_tables(results, [by]) if by else [themes_table(results)]
        written = write_themes(interviews, results, out, by) if out is not None else []
    if out is not None:
        say(f"{number(len(written))} files written to {out}")
    if json:
        print_json({**themes_json(results), **({"by": groups_json(results, by)} if by else {})})
        return
    for table in tables:
        _print_table(table)


def _print_table(table: Table, columns: int | None = None) -> None:
    """Prints the first columns of a table, by default all, and its notes."""
    from rich.table import Table as ScreenTable

    screen_table = ScreenTable(box=None, pad_edge=False)
    screen_table.add_column(table.stub)
    for column in table.columns[:columns]:
        screen_table.add_column(column.title, justify="right")
    for group in table.groups:
        if group.title:
            screen_table.add_row(group.title, style="bold")
        for row in group.rows:
            title = f"  {row.title}" if group.title else row.title
            screen_table.add_row(title, *(" ".join(cell.parts) for cell in row.cells[:columns]))
    console().print(screen_table)
    for note in table.notes:
        console().print(note, markup=False, soft_wrap=True)


def quotations(
    code: Annotated[str, typer.Argument(metavar="CODE", help="A code, or a theme including all of its codes.")],
    round: RoundOption = None,
    yes: YesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List the quotations for a code, each with its context.

    Example: quaestor interview quotations indicator
    """
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.themes.files import find_quotations, quotation_json
    from quaestor.interviews.themes.quotations import read_themes
    from quaestor.interviews.themes.tables import base_notes, with_surroundings

    opened = chosen_study(study)
    _confirm_rounds(opened, round, actor, yes=yes)
    with open_interviews(opened) as interviews:
        results = read_themes(interviews, round or (), actor)
        name, matches = find_quotations(results, code)
    if json:
        print_json({"code": code, "name": name, "quotations": [quotation_json(quotation) for quotation in matches]})
        return
    screen = console()
    for quotation in matches:
        screen.print(
            f"{quotation.participant}  {quotation.question_text or 'no question of the guide'}",
            style="bold",
            markup=False,
        )
        screen.print(f"  {with_surroundings(quotation)}", markup=False, soft_wrap=True)
        for field, words in quotation.fields.items():
            screen.print(f"  {field}: {words}", markup=False, soft_wrap=True)
        if quotation.memo:
            screen.print(f"  memo: {quotation.memo}", markup=False, soft_wrap=True)
    noun = "quotation" if len(matches) == 1 else "quotations"
    people = len({quotation.participant for quotation in matches})
    say(f"{number(len(matches))} {noun} from {number(people)} participant{'' if people == 1 else 's'}: {name}")
    for note in base_notes(results)[1:]:
        say(note)


def saturation(
    round: RoundOption = None,
    yes: YesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Show how many new codes each interview added, and when common stopping rules consider it saturated.

    Example: quaestor interview saturation --json
    """
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.themes.co_occurrence import build_saturation_table
    from quaestor.interviews.themes.files import saturation_json
    from quaestor.interviews.themes.quotations import read_themes

    opened = chosen_study(study)
    _confirm_rounds(opened, round, actor, yes=yes)
    with open_interviews(opened) as interviews:
        results = read_themes(interviews, round or (), actor)
    if json:
        print_json(saturation_json(results))
        return
    _print_table(build_saturation_table(results), columns=-1)
