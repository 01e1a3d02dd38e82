"""`quaestor survey open` and `merge`: what becomes of earlier answers when a questionnaire changes."""

from __future__ import annotations

import sys
from dataclasses import asdict
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
    say,
)

if TYPE_CHECKING:
    from quaestor.base.errors import InputError
    from quaestor.surveys.model.version_edits import EditAnswers, ReplacedPart, VersionEdits

SurveyArgument = Annotated[str, typer.Argument(metavar="SURVEY", help="The name of a questionnaire.")]


def add_to(group: typer.Typer) -> None:
    group.command("open")(open_by_name)
    group.command()(merge)


def open_by_name(
    name: SurveyArgument,
    same: Annotated[
        list[str] | None,
        typer.Option(metavar="QUESTION.OLD=NEW", help="An option, step or row that was only reworded; repeatable."),
    ] = None,
    different: Annotated[
        list[str] | None,
        typer.Option(metavar="QUESTION.OLD", help="One that nothing new is the same as; repeatable."),
    ] = None,
    convert: Annotated[
        list[str] | None,
        typer.Option(metavar="QUESTION=FACTOR", help="What numbers in the earlier unit are multiplied by; repeatable."),
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Open a survey, or update an open one to its changed file; respondents who have begun keep their version.

    If people gave answers that the changed file no longer has, you are asked whether a new one is the same, reworded.

    Examples:

        quaestor survey open protocol

        quaestor survey open protocol --same problems.sometimes=now-and-then --convert wait=1/24
    """
    from quaestor.surveys.lifecycle import (
        describe_effects_of_version,
        find_effects_of_edit,
        open_survey,
        open_surveys,
    )
    from quaestor.surveys.status import imported_before

    with open_surveys(chosen_study(study)) as opened:
        imported = imported_before(opened, name)
        edits = find_effects_of_edit(opened, name)
        answers = _read_answers(edits, same or [], different or [], convert or [])
        if not json and sys.stdin.isatty():
            answers = _ask(edits, answers)
        version = open_survey(opened, name, actor, answers)
        questionnaire = opened.questionnaire(name, version.number)
        notes = describe_effects_of_version(opened, name, version.number)
    if json:
        summary = {"survey": name, "status": "open", "version": version.number, "sha256": version.sha256}
        print_json({**summary, "imported": imported})
        return
    for note in notes:
        say(note)
    if answers.same:
        say(f"The earlier codes were written to instruments/{name}.toml")
    if questionnaire.by_invitation:
        links = f"`quaestor survey invite {name} …`"
        say(f"{name} is open in version {version.number}, by invitation: create links with {links}")
    else:
        say(f"{name} is open in version {version.number}: `quaestor serve` shows it at /s/{name}")
    if imported:
        noun = "response" if imported == 1 else "responses"
        say(f"Results will include {number(imported)} imported {noun} as well as new ones")


def merge(
    name: SurveyArgument,
    question: Annotated[str, typer.Argument(metavar="[QUESTION]", help="A question.")] = "",
    old: Annotated[str, typer.Argument(metavar="[OLD]", help="The code of an option, step or row.")] = "",
    new: Annotated[str, typer.Argument(metavar="[NEW]", help="The code that it is counted as.")] = "",
    row: Annotated[bool, typer.Option("--row", help="Merge rows, if a step has the same code.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Count OLD separately again.")] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Count options, steps or rows of two versions together, for example after a typo was corrected; the answers stay.

    Without a question, lists what is merged.

    Examples:

        quaestor survey merge protocol role reserch research

        quaestor survey merge protocol role reserch --undo
    """
    from quaestor.base.errors import InputError
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.surveys.merges import list_merges, merge_parts, undo_merge

    part = "row" if row else ""
    with open_surveys(chosen_study(study)) as surveys:
        if (question and not old) or (old and not new and not undo) or (new and undo):
            raise InputError("name QUESTION, OLD and NEW to merge, or QUESTION and OLD with --undo")
        if question and undo:
            merged = undo_merge(surveys, name, question, old, part, actor)
            words = f"“{merged.label}” and “{merged.into_label}” are counted separately again"
        elif question:
            merged = merge_parts(surveys, name, question, old, new, part, actor)
            words = f"“{merged.label}” is counted as “{merged.into_label}”"
        merges = list_merges(surveys, name)
    if json:
        print_json({"survey": name, "merges": [asdict(each) for each in merges]})
    elif question:
        say(f"{words} in {question}")
    elif not merges:
        say(f"Nothing is merged in {name}")
    else:
        for each in merges:
            console().print(f"{each.question}.{each.code} → {each.into}", markup=False)


def print_edits(edits: VersionEdits, *, has_errors: bool) -> None:
    """Prints what a changed file would do to earlier answers."""
    if edits.replaced or edits.notes:
        console().print("What the changes do to earlier answers:", style="bold")
    for part in edits.replaced:
        console().print(f"? {part.key[0]}: {part.sentence}", markup=False, soft_wrap=True)
    for note in edits.notes:
        console().print(f"- {note}", markup=False, soft_wrap=True)
    if edits.replaced:
        say("`quaestor survey open` asks these questions, or takes --same, --different and --convert")
        if has_errors:
            say("What is the same gets its earlier code: errors that an earlier code does not exist then disappear")


def edits_json(edits: VersionEdits) -> dict[str, Any]:
    return {
        "questions": [
            {
                **dict(zip(("question", "part", "code"), part.key, strict=True)),
                "words": part.sentence,
                "answers": part.answers,
                "new": [code for code, _ in part.candidates],
            }
            for part in edits.replaced
        ],
        "notes": list(edits.notes),
    }


def _read_answers(edits: VersionEdits, same: list[str], different: list[str], convert: list[str]) -> EditAnswers:
    """Returns the answers given as options; refuses one that is about nothing that was replaced."""
    from quaestor.surveys.model.version_edits import UNIT, EditAnswers

    pairs = {}
    for text in same:
        place, _, new = text.partition("=")
        pairs[_find(edits, place, "--same", "QUESTION.OLD=NEW").key] = new
    for text in convert:
        question, _, factor = text.partition("=")
        earlier = [part.key for part in edits.replaced if part.key[:2] == (question, UNIT)]
        if not earlier or not factor:
            raise _refusal(edits, "--convert", text, "QUESTION=FACTOR")
        pairs |= dict.fromkeys(earlier, factor)
    return EditAnswers(pairs, [_find(edits, text, "--different", "QUESTION.OLD").key for text in different])


def _find(edits: VersionEdits, place: str, option: str, form: str) -> ReplacedPart:
    question, _, code = place.partition(".")
    for part in edits.replaced:
        if (part.key[0], part.key[2]) == (question, code):
            return part
    raise _refusal(edits, option, place, form)


def _refusal(edits: VersionEdits, option: str, text: str, form: str) -> InputError:
    from quaestor.base.errors import InputError

    known = ", ".join(f"{part.key[0]}.{part.key[2]}" for part in edits.replaced) or "none"
    return InputError(f"{option} {text}: write {form}; answers that the changed file no longer has: {known}")


def _ask(edits: VersionEdits, answers: EditAnswers) -> EditAnswers:
    """Asks about everything that is not answered yet."""
    from quaestor.surveys.model.version_edits import UNIT, EditAnswers

    same, different = dict(answers.same), list(answers.different)
    for part in edits.replaced:
        if answers.is_answered(part.key):
            continue
        if part.noun == UNIT:
            unit = part.candidates[0][1]
            typed = typer.prompt(f"{part.sentence} 1 {part.label} = ? {unit} (empty: count them separately)", "")
        elif len(part.candidates) == 1:
            typed = part.candidates[0][0] if typer.confirm(part.sentence) else ""
        else:
            codes = ", ".join(code for code, _ in part.candidates)
            typed = typer.prompt(f"{part.sentence} Type its code ({codes}), or nothing for none of them", "")
        if typed.strip():
            same[part.key] = typed.strip()
        else:
            different.append(part.key)
    return EditAnswers(same, different)
