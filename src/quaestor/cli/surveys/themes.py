"""`quaestor survey items` and `themes`: code open answers, and count themes by respondent."""

from __future__ import annotations

from typing import Annotated

import typer

from quaestor.cli.coding.views import YesOption, confirm_views
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, print_json, tell_of_items

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
    tell_of_items(added, "open answer", "open answers", json=json)


def themes(
    name: RoundArgument,
    facet: FacetOption = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="QUESTION",
            help="Cross themes by this question, QUESTION.ROW of a matrix, stratum, version or language.",
        ),
    ] = "",
    yes: YesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Count the themes of a settled round over open answers; each respondent counts once per theme.

    Examples:

        quaestor survey themes considerations

        quaestor survey themes considerations --by role
    """
    from quaestor.cli.surveys.results import show_table
    from quaestor.coding.session import open_coding
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.themes import count_themes, themes_table
    from quaestor.surveys.themes_by_group import cross_themes, themes_by_group_table, themes_json

    opened = chosen_study(study)
    confirm_views(opened, [name], actor, yes=yes)
    with open_coding(opened) as coding:
        result = count_themes(coding, name, facet, actor)
    crossed = None
    if by:
        with open_surveys(opened) as surveys:
            crossed = cross_themes(surveys, result, by)
    if json:
        print_json(themes_json(result, crossed))
        return
    show_table(themes_table(result) if crossed is None else themes_by_group_table(crossed))
