"""`quaestor survey`: check a questionnaire, walk through it, open it, follow it, close it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.cli.output import (
    ActorOption,
    JsonOption,
    StudyOption,
    chosen_study,
    console,
    number,
    print_json,
    print_problems,
    say,
)
from quaestor.cli.surveys import (
    exchange as survey_files,
)
from quaestor.cli.surveys import (
    flags as survey_flags,
)
from quaestor.cli.surveys import (
    invitations as survey_invitations,
)
from quaestor.cli.surveys import (
    payment as survey_claims,
)
from quaestor.cli.surveys import (
    results as survey_results,
)
from quaestor.cli.surveys import (
    themes as survey_items,
)

if TYPE_CHECKING:
    from rich.tree import Tree

    from quaestor.surveys.paths_in_words import ToldPath

group = typer.Typer(help="Surveys: from the questionnaire file to answers.", no_args_is_help=True)

SurveyArgument = Annotated[str, typer.Argument(metavar="SURVEY", help="A questionnaire of the study, by its name.")]
FileArgument = Annotated[
    str, typer.Argument(metavar="SURVEY", help="A questionnaire of the study by its name, or any .toml file.")
]


def add_to(app: typer.Typer) -> None:
    for part in (survey_invitations, survey_flags, survey_claims, survey_files, survey_results, survey_items):
        part.add_to(group)
    app.add_typer(group, name="survey")


@group.callback()
def surveys() -> None:
    """Check questionnaires, open them, follow them, close them."""


@group.command()
def check(name: FileArgument, study: StudyOption = None, json: JsonOption = False) -> None:
    """Find what is wrong with a questionnaire before anybody answers it; exit 1 where it could not be opened.

    Example: quaestor survey check protocol
    """
    from quaestor.surveys.check_questionnaire import check_survey

    found = check_survey(_file(name, study))
    if json:
        print_json(
            {
                "survey": found.questionnaire.id,
                "file": str(found.file),
                "pages": len(found.questionnaire.pages),
                "questions": len(list(found.questionnaire.questions())),
                "minutes": round(found.minutes, 1),
                "grave": len(found.grave),
                "problems": [asdict(problem) for problem in found.problems],
            }
        )
    else:
        asked = found.questionnaire
        size = f"{len(asked.pages)} pages, {len(list(asked.questions()))} questions, {_minutes(found.minutes)}"
        print_problems(asked.title, size, found.problems, "opened")
    if found.grave:
        raise typer.Exit(1)


@group.command()
def preview(
    name: FileArgument,
    language: Annotated[str, typer.Option(help="In which language; default: the first.")] = "",
    most: Annotated[int, typer.Option(min=1, help="Stop after so many paths.")] = 1_000,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Walk every path through a questionnaire: what is asked, after which answers, and about how long it takes.

    Example: quaestor survey preview protocol
    """
    from quaestor.surveys.paths_in_words import told_paths

    found, whole = told_paths(_file(name, study), language, most)
    if json:
        print_json({"survey": Path(name).stem, "whole": whole, "paths": [_path_json(one) for one in found]})
        return
    screen = console()
    for place, one in enumerate(found, start=1):
        screen.print(_tree(one, f"{place} of {len(found)}"))
    if not whole:
        say(f"There are more paths than these {number(len(found))}: ask for more with --most")


@group.command("open")
def open_one(
    name: SurveyArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False
) -> None:
    """Open a survey, or let an open one go on with its changed file; who has begun keeps the version they had.

    Example: quaestor survey open protocol
    """
    from quaestor.surveys.lifecycle import open_survey, open_surveys
    from quaestor.surveys.status import imported_before

    with open_surveys(chosen_study(study)) as opened:
        imported = imported_before(opened, name)
        version = open_survey(opened, name, actor)
        asked = opened.questionnaire(name, version.number)
    if json:
        made = {"survey": name, "status": "open", "version": version.number, "sha256": version.sha256}
        print_json({**made, "imported": imported})
    elif asked.by_invitation:
        links = f"`quaestor survey invite {name} …`"
        say(f"{name} is open in version {version.number}, by invitation: make links with {links}")
    else:
        say(f"{name} is open in version {version.number}: `quaestor serve` shows it at /s/{name}")
    if imported and not json:
        there = "is 1 imported answer" if imported == 1 else f"are {number(imported)} imported answers"
        say(f"There {there} already: results count what comes in together with {'it' if imported == 1 else 'them'}")


@group.command("close")
def close_one(
    name: SurveyArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False
) -> None:
    """Close a survey: nobody can begin or go on, and what was answered stays.

    Example: quaestor survey close protocol
    """
    from quaestor.surveys.lifecycle import close_survey, open_surveys
    from quaestor.surveys.status import status_of

    with open_surveys(chosen_study(study)) as opened:
        close_survey(opened, name, actor)
        now = status_of(opened, name)
    if json:
        print_json(asdict(now))
    else:
        say(f"{name} is closed: {_counted(now.responses)}")


@group.command()
def status(study: StudyOption = None, json: JsonOption = False) -> None:
    """Say of every survey whether it is open, in which version, and how far its responses have come.

    Example: quaestor survey status
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.surveys.status import survey_status

    found = survey_status(chosen_study(study))
    if json:
        print_json([asdict(one) for one in found])
        return
    if not found:
        say("No questionnaires yet: write instruments/NAME.toml, as docs/reference/questionnaire.md says")
        return
    table = Table(box=None, pad_edge=False)
    standings = list(found[0].responses)
    for heading in ("survey", "status", "version", *standings, "withdrawn"):
        table.add_column(heading, justify="left" if heading in ("survey", "status") else "right", overflow="fold")
    for one in found:
        told = one.status + (", file changed since" if one.changed else "")
        counts = [number(one.responses[standing]) for standing in standings]
        table.add_row(escape(one.survey), told, str(one.version or "–"), *counts, number(one.erased))
    console().print(table)
    for one in found:
        if one.affordable == 0:
            file = f"instruments/{one.survey}.toml"
            say(f"The budget of {one.survey} pays for 0 more: raise pay.budget in {file}, or close the survey")
    for one in found:
        for place in one.quoted:
            say(f"A withdrawn response to {one.survey} is still quoted: {place}")
    for source in (source for one in found for source in one.to_ingest):
        say(f"The evidence of {source} is older than its open answers: `quaestor ingest {source}`, `quaestor funnel`")


def _file(name: str, study: Path | None) -> Path:
    from quaestor.surveys.check_questionnaire import questionnaire_path

    return questionnaire_path(None if name.endswith(".toml") else chosen_study(study), name)


def _minutes(minutes: float) -> str:
    return f"about {max(1, round(minutes))} min"


def _path_json(one: ToldPath) -> dict[str, Any]:
    return {
        "standing": one.standing,
        "ends_early": one.ends_early,
        "minutes": round(one.minutes, 1),
        "pages": [
            {"page": page.page, "questions": [question.question for question in page.questions]} for page in one.pages
        ],
        "answers": {question.question: question.answer for page in one.pages for question in page.questions},
    }


def _tree(path: ToldPath, place: str) -> Tree:
    """A path as a tree of pages; answers stand where they decide what follows."""
    from rich.markup import escape
    from rich.tree import Tree

    asked = sum(len(page.questions) for page in path.pages)
    end = f"[yellow]ends early, {path.standing}[/yellow]" if path.ends_early else "to the end"
    counted = f"{asked} question{'' if asked == 1 else 's'}, {_minutes(path.minutes)}"
    tree = Tree(f"[bold]Path {place}[/bold], {end}: {counted}")
    for page in path.pages:
        branch = tree.add(f"[cyan]{escape(page.page)}[/cyan]")
        for one in page.questions:
            said = f" → {one.said}" if one.decides else ""
            branch.add(escape(f"{one.question}: {one.text}{said}"))
    return tree


def _counted(responses: Mapping[str, int]) -> str:
    return ", ".join(f"{number(count)} {standing}" for standing, count in responses.items())
