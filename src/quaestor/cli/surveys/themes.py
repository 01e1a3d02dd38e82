"""`quaestor survey items` and `themes`: open answers as items for raters, and what they decided, by participants."""

from __future__ import annotations

from typing import Annotated

import typer

from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, print_json, tell_of_items

QuestionArgument = Annotated[str, typer.Argument(metavar="QUESTION", help="A question that is answered in words.")]
RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="A closed round over open answers.")]
FacetOption = Annotated[str | None, typer.Option(help="The facet, where the round asks for several kinds of codes.")]


def add_to(group: typer.Typer) -> None:
    group.command()(items)
    group.command()(themes)


def items(
    name: Annotated[str, typer.Argument(metavar="SURVEY", help="A survey of the study.")],
    question: QuestionArgument,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Make items of what people wrote to a question, "other" texts too, to be coded by raters in rounds.

    Example: quaestor survey items fielded direct-deployment
    """
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.open_answers import make_items

    with open_surveys(chosen_study(study)) as surveys:
        made = make_items(surveys, name, question, actor)
    tell_of_items(made, "open answers", "open answers", json=json)


def themes(
    name: RoundArgument,
    facet: FacetOption = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Count the themes of a settled round over open answers: each participant once for a theme.

    Example: quaestor survey themes considerations
    """
    from rich.table import Table

    from quaestor.coding.session import open_coding
    from quaestor.surveys.themes import themes_of, themes_table

    with open_coding(chosen_study(study)) as coding:
        found = themes_of(coding, name, facet, actor)
    if json:
        counted = [
            {"code": one.code, "name": one.name, "participants": one.participants, "answers": one.items}
            for one in found.themes
        ]
        more: dict[str, object] = {"participants": found.participants, "withdrawn": found.withdrawn}
        more |= {"uncoded": found.uncoded, "simulated": found.simulated, "blindness": list(found.blindness)}
        print_json({"round": found.round, "facet": found.facet, **more, "themes": counted})
        return
    made = themes_table(found)
    shown = Table(box=None, pad_edge=False)
    shown.add_column("theme")
    for column in made.columns:
        shown.add_column(column.title, justify="right")
    for row in made.rows():
        shown.add_row(row.title, *(cell.parts[0] for cell in row.cells))
    screen = console()
    screen.print(shown)
    for note in made.notes:
        screen.print(note, markup=False, soft_wrap=True)
