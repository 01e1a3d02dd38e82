"""`quaestor codebook`: show the codebook, change it, undo changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.base.errors import InputError
from quaestor.base.names import count_of
from quaestor.cli.coding import code_proposals
from quaestor.cli.output import (
    ActorOption,
    JsonOption,
    StudyOption,
    chosen_study,
    console,
    named_values,
    print_json,
    say,
)

if TYPE_CHECKING:
    from quaestor.coding.model.records import Difference

group = typer.Typer(help="The codebook; every change is recorded and can be undone.", no_args_is_help=True)

CodeArgument = Annotated[str, typer.Argument(help="The id of a code, as in model-training/loss.")]


def add_to(app: typer.Typer) -> None:
    code_proposals.add_to(group)
    app.add_typer(group, name="codebook")


@group.callback()
def codebook() -> None:
    """Show and change the codebook; no change loses a rating."""


@group.command("import")
def import_file(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Default: codebook.toml in the study folder.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Record the changes without asking.")] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Import the codebook from a TOML file.

    Until the first round opens, the file replaces the codebook. Later, the differences are listed and, if you
    confirm, recorded as changes.

    Example: quaestor codebook import codebook.toml
    """
    import sys

    from quaestor.coding.codebook import import_codebook, preview_import

    opened = chosen_study(study)
    planned = preview_import(opened, file)
    acts = planned.describe_acts()
    if planned.is_in_use and acts and not yes:
        if json or not sys.stdin.isatty():
            raise InputError(f"nothing was imported: add --yes to record {', '.join(acts)}")
        for description in acts:
            print(description)
        if not typer.confirm(f"Record {count_of(len(acts), 'change')}?", err=True):
            say("Nothing was recorded")
            raise typer.Exit(1)
    book = import_codebook(opened, file, actor, planned.stamp)
    codes = sum(code.active for code in book.codes.values())
    if json:
        changes = acts if planned.is_in_use else []
        print_json({"version": book.version, "codes": codes, "facets": list(book.facets), "changes": changes})
        return
    if planned.is_in_use and yes:
        for description in acts:
            print(description)
    elif planned.before.version and not planned.is_in_use:
        _print_differences(planned.differences)
    if not acts:
        say("The file has the same codebook as the study: nothing was imported")
        return
    replaced = (
        f", replaces version {planned.before.version}" if planned.before.version and not planned.is_in_use else ""
    )
    say(f"Version {book.version}{replaced}: {count_of(codes, 'code')} in {count_of(len(book.facets), 'facet')}")


@group.command()
def show(
    version: Annotated[int | None, typer.Option(help="An earlier version; default: the newest.")] = None,
    facet: Annotated[str | None, typer.Option(help="Only this facet.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write it as TOML to this file.")] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Show the codebook as a tree, or write it as a file.

    Example: quaestor codebook show --version 3 --out codebook.toml
    """
    from rich.markup import escape
    from rich.tree import Tree

    from quaestor.coding.codebook import codebook_to_json, read_codebook_version, save_codebook

    book = read_codebook_version(chosen_study(study), version)
    if out is not None:
        save_codebook(book, out)
        say(f"Version {book.version} written to {out}")
        return
    if json:
        print_json(codebook_to_json(book))
        return
    if facet is not None and facet not in book.facets:
        raise InputError(f"there is no facet {facet!r}; choose from: {', '.join(book.facets) or 'none yet'}")
    for shown in book.facets.values():
        if facet not in (None, shown.id):
            continue
        title, levels = escape(shown.title or shown.id), " → ".join(shown.levels)
        tree = Tree(f"[bold]{title}[/bold] ({levels}), version {book.version}")

        def add_children(branch: Any, parent: str, facet_id: str = shown.id) -> None:
            for code in book.children(parent, facet_id):
                key = f"[dim]{escape(code.key)}[/dim] " if code.key else ""
                add_children(branch.add(f"{key}{escape(code.name)}  [dim]{escape(code.id)}[/dim]"), code.id)

        add_children(tree, "")
        console().print(tree)


@group.command()
def log(study: StudyOption = None, json: JsonOption = False) -> None:
    """List every change with its number, author and time."""
    from rich.markup import escape

    from quaestor.coding.codebook import list_changes

    entries = list_changes(chosen_study(study))
    if json:
        print_json(entries)
        return
    for entry in entries:
        undone = " [dim](undone)[/dim]" if entry["undone"] else ""
        console().print(
            f"{entry['version']:>4}  {entry['time'][:16].replace('T', ' ')}  {escape(entry['actor'])}  "
            f"{escape(entry['change'])}{undone}",
            soft_wrap=True,
        )


@group.command()
def diff(
    before: Annotated[int, typer.Argument(help="The older version.")],
    after: Annotated[int | None, typer.Argument(help="The newer version; default: the newest.")] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Show the differences between two versions.

    Example: quaestor codebook diff 1 7
    """
    from dataclasses import asdict

    from quaestor.coding.codebook import compare_codebook_versions

    differences = compare_codebook_versions(chosen_study(study), before, after)
    if json:
        print_json([asdict(difference) for difference in differences])
        return
    _print_differences(differences)
    if not differences:
        say("The two versions are the same")


def _print_differences(differences: list[Difference]) -> None:
    from rich.markup import escape

    for difference in differences:
        sides = " → ".join(part for part in (difference.before, difference.after) if part)
        console().print(f"{difference.what:10} {escape(difference.code)}  {escape(sides)}", soft_wrap=True)


def _change(study: Path | None, actor: str | None, kind: str, payload: dict[str, Any], json: bool) -> None:
    from quaestor.coding.codebook import change_codebook

    version = change_codebook(chosen_study(study), kind, payload, actor)
    if json:
        print_json({"version": version})
    else:
        say(f"The codebook is now at version {version}; undo this change with `quaestor codebook undo {version}`")


@group.command()
def facet(
    name: Annotated[str, typer.Argument(help="The id of the new facet.")],
    levels: Annotated[str, typer.Option(help="Its levels from the top, separated by commas.")] = "code",
    title: Annotated[str, typer.Option(help="The question it asks.")] = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Add a facet: a tree of codes.

    Example: quaestor codebook facet symptom --levels symptom,detail
    """
    payload = {"id": name, "title": title, "levels": [level.strip() for level in levels.split(",")]}
    _change(study, actor, "codebook.facet", payload, json)


@group.command()
def add(
    code: CodeArgument,
    name: Annotated[str, typer.Option(help="The name of the code.")],
    facet: Annotated[str, typer.Option(help="The facet it belongs to.")],
    parent: Annotated[str, typer.Option(help="Its parent code.")] = "",
    definition: Annotated[str, typer.Option(help="What it means.")] = "",
    use: Annotated[str, typer.Option(help="When to use it.")] = "",
    unless: Annotated[str, typer.Option("--not", help="When not to use it.")] = "",
    example: Annotated[list[str] | None, typer.Option(help="An example; repeat for several.")] = None,
    colour: Annotated[str, typer.Option(help="Its colour, such as #4269d0.")] = "",
    key: Annotated[str, typer.Option(help="Its keyboard shortcut: one key.")] = "",
    across: Annotated[
        list[str] | None, typer.Option(help="A related code in another facet, as FACET=CODE; repeat for several.")
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Add a code.

    Example: quaestor codebook add model-training/seed --facet issue --parent model-training --name seed
    """
    payload = {
        "id": code, "facet": facet, "parent": parent, "name": name, "definition": definition, "use": use,
        "not": unless, "examples": example or [], "colour": colour, "key": key,
        "across": named_values(across or [], "FACET=CODE"),
    }  # fmt: skip
    _change(study, actor, "codebook.add", {name: value for name, value in payload.items() if value}, json)


@group.command()
def rename(
    code: CodeArgument,
    name: Annotated[str, typer.Argument(help="The new name.")],
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Rename a code.

    Example: quaestor codebook rename model-training/loss "loss function"
    """
    _change(study, actor, "codebook.rename", {"code": code, "name": name}, json)


@group.command()
def redefine(
    code: CodeArgument,
    definition: Annotated[str | None, typer.Option(help="What it means.")] = None,
    use: Annotated[str | None, typer.Option(help="When to use it.")] = None,
    unless: Annotated[str | None, typer.Option("--not", help="When not to use it.")] = None,
    example: Annotated[list[str] | None, typer.Option(help="An example; repeat for several.")] = None,
    colour: Annotated[str | None, typer.Option(help="Its colour, such as #4269d0.")] = None,
    key: Annotated[str | None, typer.Option(help="Its keyboard shortcut: one key.")] = None,
    across: Annotated[
        list[str] | None, typer.Option(help="A related code in another facet, as FACET=CODE; repeat for several.")
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Change the definition or other details of a code; options that you leave out stay unchanged.

    Example: quaestor codebook redefine model-training/loss --use "The question is about the loss itself."
    """
    options = {
        "definition": definition, "use": use, "not": unless, "examples": example, "colour": colour, "key": key,
        "across": None if across is None else named_values(across, "FACET=CODE"),
    }  # fmt: skip
    changes = {name: value for name, value in options.items() if value is not None}
    if not changes:
        raise InputError("nothing to change: give at least one option, such as --definition")
    _change(study, actor, "codebook.redefine", {"code": code, **changes}, json)


@group.command()
def merge(
    codes: Annotated[list[str], typer.Argument(help="The codes to merge; they are removed.")],
    into: Annotated[str, typer.Option(help="The code that replaces them.")],
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Merge codes into another one; their ratings count for that code from now on.

    Example: quaestor codebook merge model-setting/loss --into model-training/loss
    """
    _change(study, actor, "codebook.merge", {"codes": codes, "into": into}, json)


@group.command()
def split(
    code: CodeArgument,
    part: Annotated[list[str], typer.Option(help="A new code as ID=name; give at least two.")],
    otherwise: Annotated[str, typer.Option(help="The part for ratings that no rule and no list covers.")],
    rule: Annotated[
        list[str] | None, typer.Option(help="FACET=ANSWER=PART: ratings with this answer go to this part.")
    ] = None,
    items_file: Annotated[
        Path | None, typer.Option(help="A CSV with the columns item and part: the part for each item's ratings.")
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Split a code; a list of items, rules and a default decide where each earlier rating goes.

    Example: quaestor codebook split model-training/loss --part a="custom loss" --part b="plain loss" --otherwise b
    """
    from quaestor.coding.codebook import read_split_items

    parts = [{"id": code, "name": name} for code, name in named_values(part, "ID=name").items()]
    rules = []
    for text in rule or []:
        pieces = text.split("=")
        if len(pieces) != 3:
            raise InputError(f"--rule is {text!r}: write it as FACET=ANSWER=PART")
        rules.append(dict(zip(("facet", "answer", "part"), (piece.strip() for piece in pieces), strict=True)))
    payload = {
        "code": code, "parts": parts, "rules": rules, "otherwise": otherwise,
        "items": read_split_items(items_file) if items_file else {},
    }  # fmt: skip
    _change(study, actor, "codebook.split", payload, json)


@group.command()
def move(
    code: CodeArgument,
    parent: Annotated[str, typer.Option(help="The new parent; '' for none.")],
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Move a code and everything below it to another parent.

    Example: quaestor codebook move model-setting/optimizer --parent model-training
    """
    _change(study, actor, "codebook.move", {"code": code, "parent": parent}, json)


@group.command()
def retire(code: CodeArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False) -> None:
    """Retire a code: raters can no longer choose it, and existing ratings keep it.

    Example: quaestor codebook retire model-setting/summary
    """
    _change(study, actor, "codebook.retire", {"code": code}, json)


@group.command()
def undo(
    version: Annotated[int, typer.Argument(help="The number of the change, as `quaestor codebook log` lists it.")],
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Undo a change; an undo is itself a change and can be undone.

    Example: quaestor codebook undo 7
    """
    _change(study, actor, "codebook.undo", {"version": version}, json)
