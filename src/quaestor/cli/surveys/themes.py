"""`quaestor survey items` and `themes`: code open answers, and count themes by respondent."""

from __future__ import annotations

from typing import Annotated

import typer

from quaestor.cli.coding.views import YesOption, confirm_views
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, print_json, tell_of_items

QuestionsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[QUESTION…]", help="Open questions; default: all with text fields.")
]
RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="A closed round over open answers.")]
FacetOption = Annotated[str | None, typer.Option(help="The facet; needed if the round has several.")]


def add_to(group: typer.Typer) -> None:
    group.command()(items)
    group.command()(themes)


def items(
    name: Annotated[str, typer.Argument(metavar="SURVEY", help="The name of a survey.")],
    questions: QuestionsArgument = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Turn the open answers to one or more questions, including "other" texts, into items that raters code in rounds.

    Example: quaestor survey items fielded direct-deployment
    """
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.open_answers import make_items

    with open_surveys(chosen_study(study)) as surveys:
        added = make_items(surveys, name, *(questions or ()), actor=actor)
    tell_of_items(added, "open answers", "open answers", json=json)


def themes(
    name: RoundArgument,
    facet: FacetOption = None,
    yes: YesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Count the themes of a settled round over open answers; each respondent counts once per theme.

    Example: quaestor survey themes considerations
    """
    from rich.table import Table

    from quaestor.coding.session import open_coding
    from quaestor.surveys.themes import count_themes, themes_table

    opened = chosen_study(study)
    confirm_views(opened, [name], actor, yes=yes)
    with open_coding(opened) as coding:
        result = count_themes(coding, name, facet, actor)
    if json:
        counted = [
            {"code": theme.code, "name": theme.name, "participants": theme.participants, "answers": theme.items}
            for theme in result.themes
        ]
        more: dict[str, object] = {"participants": result.participants, "withdrawn": result.withdrawn}
        more["dropped"] = result.dropped
        more |= {"uncoded": result.uncoded, "simulated": result.simulated, "blindness": list(result.blindness)}
        print_json({"round": result.round, "facet": result.facet, **more, "themes": counted})
        return
    table_model = themes_table(result)
    table = Table(box=None, pad_edge=False)
    table.add_column("theme")
    for column in table_model.columns:
        table.add_column(column.title, justify="right")
    for row in table_model.rows():
        table.add_row(row.title, *(cell.parts[0] for cell in row.cells))
    screen = console()
    screen.print(table)
    for note in table_model.notes:
        screen.print(note, markup=False, soft_wrap=True)
