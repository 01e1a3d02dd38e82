"""`quaestor survey`: check, preview, open, follow and close surveys; the other modules add their commands here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.base.names import count_of
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
    mailing as survey_mailing,
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
from quaestor.cli.surveys import (
    versions as survey_versions,
)

if TYPE_CHECKING:
    from rich.tree import Tree

    from quaestor.surveys.check_questionnaire import PathDescription
    from quaestor.surveys.model.version_edits import VersionEdits

group = typer.Typer(help="Surveys: from the questionnaire to results.", no_args_is_help=True)

SurveyArgument = Annotated[str, typer.Argument(metavar="SURVEY", help="The name of a questionnaire.")]
FileArgument = Annotated[str, typer.Argument(metavar="SURVEY", help="The name of a questionnaire, or any .toml file.")]


def add_to(app: typer.Typer) -> None:
    parts = (
        survey_versions,
        survey_invitations,
        survey_mailing,
        survey_flags,
        survey_claims,
        survey_files,
        survey_results,
        survey_items,
    )
    for part in parts:
        part.add_to(group)
    app.add_typer(group, name="survey")


@group.callback()
def surveys() -> None:
    """Check, preview, open, follow and close surveys; invite people, export and analyse responses."""


@group.command()
def check(name: FileArgument, study: StudyOption = None, json: JsonOption = False) -> None:
    """Check a questionnaire before it is opened, and show what changes do to earlier answers; exit 1 if it has errors.

    Example: quaestor survey check protocol
    """
    from quaestor.surveys.check_questionnaire import check_survey

    checked = check_survey(_find_file(name, study))
    edits = _find_edits(name, study)
    if json:
        print_json(
            {
                "survey": checked.questionnaire.id,
                "file": str(checked.file),
                "pages": len(checked.questionnaire.pages),
                "questions": len(list(checked.questionnaire.questions())),
                "minutes": round(checked.minutes, 1),
                "grave": len(checked.grave),
                "problems": [asdict(problem) for problem in checked.problems],
                "edits": survey_versions.edits_json(edits),
            }
        )
    else:
        questionnaire, minutes = checked.questionnaire, _format_minutes(checked.minutes)
        questions = count_of(len(list(questionnaire.questions())), "question")
        size = f"{count_of(len(questionnaire.pages), 'page')}, {questions}, {minutes}"
        print_problems(questionnaire.title, size, checked.problems, "opened")
        survey_versions.print_edits(edits, has_errors=bool(checked.grave))
    if checked.grave:
        raise typer.Exit(1)


@group.command()
def preview(
    name: FileArgument,
    language: Annotated[str, typer.Option(help="The language; default: the first.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="Stop after this many paths.")] = 1_000,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List every path through a questionnaire: its questions, the answers that lead to it, and the estimated time.

    Example: quaestor survey preview protocol
    """
    from quaestor.surveys.check_questionnaire import describe_paths

    paths, whole = describe_paths(_find_file(name, study), language, limit)
    if json:
        print_json({"survey": Path(name).stem, "whole": whole, "paths": [_path_json(path) for path in paths]})
        return
    screen = console()
    for index, path in enumerate(paths, start=1):
        screen.print(_build_tree(path, f"{index} of {len(paths)}"))
    if not whole:
        say(f"Only the first {number(len(paths))} paths are shown: see more with --limit")


@group.command("close")
def close_by_name(
    name: SurveyArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False
) -> None:
    """Close a survey: nobody can begin or continue, and all responses are kept.

    Example: quaestor survey close protocol
    """
    from quaestor.surveys.lifecycle import close_survey, open_surveys
    from quaestor.surveys.status import read_status

    with open_surveys(chosen_study(study)) as opened:
        close_survey(opened, name, actor)
        now = read_status(opened, name)
    if json:
        print_json(asdict(now))
    else:
        say(f"{name} is closed: {_format_counts(now.responses)}")


@group.command()
def status(study: StudyOption = None, json: JsonOption = False) -> None:
    """Show the status, version and response counts of every survey.

    Example: quaestor survey status
    """
    from rich.markup import escape
    from rich.table import Table

    from quaestor.surveys.status import survey_status

    surveys = survey_status(chosen_study(study))
    if json:
        print_json([asdict(survey) for survey in surveys])
        return
    if not surveys:
        say("No questionnaires yet: write instruments/NAME.toml, see `quaestor docs questionnaire`")
        return
    table = Table(box=None, pad_edge=False)
    statuses = list(surveys[0].responses)
    for heading in ("survey", "status", "version", *statuses, "withdrawn"):
        table.add_column(heading, justify="left" if heading in ("survey", "status") else "right", overflow="fold")
    for survey in surveys:
        state = survey.status + (", file changed since" if survey.changed else "")
        counts = [number(survey.responses[status_name]) for status_name in statuses]
        table.add_row(escape(survey.survey), state, str(survey.version or "–"), *counts, number(survey.erased))
    console().print(table)
    for survey in surveys:
        if survey.affordable == 0:
            file = f"instruments/{survey.survey}.toml"
            say(f"The budget of {survey.survey} is used up: raise pay.budget in {file}, or close the survey")
    for survey in surveys:
        for quotation in survey.quoted:
            say(f"The journal still quotes a withdrawn response to {survey.survey}: {quotation}")


def _find_file(name: str, study: Path | None) -> Path:
    from quaestor.surveys.check_questionnaire import questionnaire_path

    return questionnaire_path(None if name.endswith(".toml") else chosen_study(study), name)


def _find_edits(name: str, study: Path | None) -> VersionEdits:
    """Returns what the changes of a study's questionnaire do to earlier answers; nothing for any other file."""
    from quaestor.coding.session import find_study
    from quaestor.surveys.lifecycle import answers_path, find_effects_of_edit, open_surveys
    from quaestor.surveys.model.version_edits import VersionEdits

    if name.endswith(".toml") or not answers_path(find_study(chosen_study(study))).exists():
        return VersionEdits()
    with open_surveys(chosen_study(study)) as surveys:
        return find_effects_of_edit(surveys, name)


def _format_minutes(minutes: float) -> str:
    return f"about {max(1, round(minutes))} min"


def _path_json(path: PathDescription) -> dict[str, Any]:
    return {
        "standing": path.standing,
        "ends_early": path.ends_early,
        "minutes": round(path.minutes, 1),
        "pages": [
            {"page": page.page, "questions": [question.question for question in page.questions]} for page in path.pages
        ],
        "answers": {question.question: question.answer for page in path.pages for question in page.questions},
    }


def _build_tree(path: PathDescription, position: str) -> Tree:
    """Builds the tree of a path's pages, with the answers that decide what follows."""
    from rich.markup import escape
    from rich.tree import Tree

    questions = sum(len(page.questions) for page in path.pages)
    end = f"[yellow]ends early, {path.standing}[/yellow]" if path.ends_early else "to the end"
    counted = f"{questions} question{'' if questions == 1 else 's'}, {_format_minutes(path.minutes)}"
    tree = Tree(f"[bold]Path {position}[/bold], {end}: {counted}")
    for page in path.pages:
        branch = tree.add(f"[cyan]{escape(page.page)}[/cyan]{', in random order' if page.shuffle else ''}")
        for question in page.questions:
            answer = f" → {question.said}" if question.decides else ""
            branch.add(escape(f"{question.question}: {question.text}{answer}"))
    return tree


def _format_counts(responses: Mapping[str, int]) -> str:
    return ", ".join(f"{number(count)} {status}" for status, count in responses.items())
