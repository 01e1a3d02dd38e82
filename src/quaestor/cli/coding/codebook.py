"""`quaestor codebook`: look at the codebook, change it, take a change back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from quaestor.base.errors import InputError
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

group = typer.Typer(help="The codebook: every change is an act that can be undone.", no_args_is_help=True)

CodeArgument = Annotated[str, typer.Argument(help="The id of a code, as in model-training/loss.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="codebook")


@group.callback()
def codebook() -> None:
    """Look at the codebook and change it; no change loses a rating."""


@group.command("import")
def import_file(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Default: codebook.toml in the study folder.")
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Begin the study's codebook with a TOML file.

    Example: quaestor codebook import codebook.toml
    """
    from quaestor.coding.codebook import import_codebook

    book = import_codebook(chosen_study(study), file, actor)
    if json:
        print_json({"version": book.version, "codes": len(book.codes), "facets": list(book.facets)})
        return
    say(f"Version {book.version}: {len(book.codes)} codes in {len(book.facets)} facets")


@group.command()
def show(
    version: Annotated[int | None, typer.Option(help="An earlier version; default: the newest.")] = None,
    facet: Annotated[str | None, typer.Option(help="Only this tree.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write it as TOML to this file.")] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Show the codebook as a tree, or write it as a file.

    Example: quaestor codebook show --version 3 --out codebook.toml
    """
    from rich.markup import escape
    from rich.tree import Tree

    from quaestor.coding.codebook import codebook_at, codes_json, save_codebook

    book = codebook_at(chosen_study(study), version)
    if out is not None:
        save_codebook(book, out)
        say(f"Version {book.version} written to {out}")
        return
    if json:
        print_json(codes_json(book))
        return
    if facet is not None and facet not in book.facets:
        raise InputError(f"there is no facet {facet!r}, allowed: {', '.join(book.facets) or 'none yet'}")
    for one in book.facets.values():
        if facet not in (None, one.id):
            continue
        tree = Tree(f"[bold]{escape(one.title or one.id)}[/bold] ({' → '.join(one.levels)}), version {book.version}")

        def grow(branch: Any, parent: str, facet_id: str = one.id) -> None:
            for code in book.children(parent, facet_id):
                key = f"[dim]{escape(code.key)}[/dim] " if code.key else ""
                grow(branch.add(f"{key}{escape(code.name)}  [dim]{escape(code.id)}[/dim]"), code.id)

        grow(tree, "")
        console().print(tree)


@group.command()
def log(study: StudyOption = None, json: JsonOption = False) -> None:
    """List every change, with its number, who made it and when."""
    from rich.markup import escape

    from quaestor.coding.codebook import changes

    found = changes(chosen_study(study))
    if json:
        print_json(found)
        return
    for one in found:
        undone = " [dim](undone)[/dim]" if one["undone"] else ""
        console().print(
            f"{one['version']:>4}  {one['time'][:16].replace('T', ' ')}  {escape(one['actor'])}  "
            f"{escape(one['change'])}{undone}",
            soft_wrap=True,
        )


@group.command()
def diff(
    before: Annotated[int, typer.Argument(help="A version.")],
    after: Annotated[int | None, typer.Argument(help="Another one; default: the newest.")] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Say what differs between two versions.

    Example: quaestor codebook diff 1 7
    """
    from dataclasses import asdict

    from rich.markup import escape

    from quaestor.coding.codebook import codebook_differences

    found = codebook_differences(chosen_study(study), before, after)
    if json:
        print_json([asdict(one) for one in found])
        return
    for one in found:
        sides = " → ".join(part for part in (one.before, one.after) if part)
        console().print(f"{one.what:10} {escape(one.code)}  {escape(sides)}", soft_wrap=True)
    if not found:
        say("The two versions do not differ")


def _change(study: Path | None, actor: str | None, kind: str, payload: dict[str, Any], json: bool) -> None:
    from quaestor.coding.codebook import change_codebook

    version = change_codebook(chosen_study(study), kind, payload, actor)
    if json:
        print_json({"version": version})
    else:
        say(f"The codebook is now at version {version}; `quaestor codebook undo {version}` takes it back")


@group.command()
def facet(
    name: Annotated[str, typer.Argument(help="The id of the new tree.")],
    levels: Annotated[str, typer.Option(help="Its levels from the top, separated by commas.")] = "code",
    title: Annotated[str, typer.Option(help="What it asks.")] = "",
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Add a tree of codes.

    Example: quaestor codebook facet symptom --levels symptom,detail
    """
    payload = {"id": name, "title": title, "levels": [level.strip() for level in levels.split(",")]}
    _change(study, actor, "codebook.facet", payload, json)


@group.command()
def add(
    code: CodeArgument,
    name: Annotated[str, typer.Option(help="What it is called.")],
    facet: Annotated[str, typer.Option(help="The tree it belongs to.")],
    parent: Annotated[str, typer.Option(help="The code it stands below.")] = "",
    definition: Annotated[str, typer.Option(help="What it means.")] = "",
    use: Annotated[str, typer.Option(help="When to use it.")] = "",
    unless: Annotated[str, typer.Option("--not", help="When not to use it.")] = "",
    example: Annotated[list[str] | None, typer.Option(help="An example; may be given several times.")] = None,
    colour: Annotated[str, typer.Option(help="As in #4269d0.")] = "",
    key: Annotated[str, typer.Option(help="One key of the keyboard.")] = "",
    across: Annotated[
        list[str] | None, typer.Option(help="FACET=CODE of another tree; may be given several times.")
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
    """Give a code another name.

    Example: quaestor codebook rename model-training/loss "loss function"
    """
    _change(study, actor, "codebook.rename", {"code": code, "name": name}, json)


@group.command()
def redefine(
    code: CodeArgument,
    definition: Annotated[str | None, typer.Option(help="What it means.")] = None,
    use: Annotated[str | None, typer.Option(help="When to use it.")] = None,
    unless: Annotated[str | None, typer.Option("--not", help="When not to use it.")] = None,
    example: Annotated[list[str] | None, typer.Option(help="An example; may be given several times.")] = None,
    colour: Annotated[str | None, typer.Option(help="As in #4269d0.")] = None,
    key: Annotated[str | None, typer.Option(help="One key of the keyboard.")] = None,
    across: Annotated[
        list[str] | None, typer.Option(help="FACET=CODE of another tree; may be given several times.")
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Say anew what a code means; what is not named stays.

    Example: quaestor codebook redefine model-training/loss --use "The question is about the loss itself."
    """
    given = {
        "definition": definition, "use": use, "not": unless, "examples": example, "colour": colour, "key": key,
        "across": None if across is None else named_values(across, "FACET=CODE"),
    }  # fmt: skip
    wanted = {name: value for name, value in given.items() if value is not None}
    if not wanted:
        raise InputError("say what is new, for example with --definition")
    _change(study, actor, "codebook.redefine", {"code": code, **wanted}, json)


@group.command()
def merge(
    codes: Annotated[list[str], typer.Argument(help="The codes that go.")],
    into: Annotated[str, typer.Option(help="The code that takes their place.")],
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Merge codes into one; their ratings are read as that one from now on.

    Example: quaestor codebook merge model-setting/loss --into model-training/loss
    """
    _change(study, actor, "codebook.merge", {"codes": codes, "into": into}, json)


@group.command()
def split(
    code: CodeArgument,
    part: Annotated[list[str], typer.Option(help="ID=name of a part; give at least two.")],
    otherwise: Annotated[str, typer.Option(help="The part that takes what no rule names.")],
    rule: Annotated[
        list[str] | None, typer.Option(help="FACET=ANSWER=PART: ratings that also say this go there.")
    ] = None,
    items: Annotated[
        Path | None, typer.Option(help="A CSV of item and part: where the ratings of these items go.")
    ] = None,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Split a code; a list, a rule, or the rest says where each earlier rating goes.

    Example: quaestor codebook split model-training/loss --part a="custom loss" --part b="plain loss" --otherwise b
    """
    from quaestor.coding.codebook import split_items

    parts = [{"id": code, "name": name} for code, name in named_values(part, "ID=name").items()]
    rules = []
    for one in rule or []:
        pieces = one.split("=")
        if len(pieces) != 3:
            raise InputError(f"--rule is {one!r}: write it as FACET=ANSWER=PART")
        rules.append(dict(zip(("facet", "answer", "part"), (piece.strip() for piece in pieces), strict=True)))
    payload = {
        "code": code, "parts": parts, "rules": rules, "otherwise": otherwise,
        "items": split_items(items) if items else {},
    }  # fmt: skip
    _change(study, actor, "codebook.split", payload, json)


@group.command()
def move(
    code: CodeArgument,
    to: Annotated[str, typer.Option(help="The new parent.")],
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Move a code, with what stands below it, to another parent.

    Example: quaestor codebook move model-setting/optimizer --to model-training
    """
    _change(study, actor, "codebook.move", {"code": code, "parent": to}, json)


@group.command()
def retire(code: CodeArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False) -> None:
    """Offer a code no longer; ratings that have it keep it.

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
    """Take a change back; that too is a change, and can be taken back.

    Example: quaestor codebook undo 7
    """
    _change(study, actor, "codebook.undo", {"version": version}, json)
