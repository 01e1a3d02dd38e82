"""`quaestor ratings`: the next item, a rating, whole files of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, named_values, number, print_json, say

group = typer.Typer(
    help="Ratings: one rater's independent answers, never changed, only superseded.", no_args_is_help=True
)

RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="An open round.")]
RaterOption = Annotated[str, typer.Option("--as", metavar="NAME", help="The rater.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="ratings")


@group.callback()
def ratings() -> None:
    """Rate items, and carry ratings in and out."""


@group.command("next")
def next_item(name: RoundArgument, actor: RaterOption, study: StudyOption = None, json: JsonOption = False) -> None:
    """Show a rater the next item, what is asked and what may be answered.

    Example: quaestor ratings next pilot --as rater-1
    """
    from rich.markup import escape

    from quaestor.coding.rating import next_for

    shown = next_for(chosen_study(study), name, actor)
    if json:
        print_json(shown)
        return
    screen = console()
    if shown["item"] is None:
        say(f"Nothing is left for {actor} in {name}")
        return
    if shown["instructions"] and not shown["done"]:
        screen.print(escape(shown["instructions"]) + "\n")
    if shown["practice"]:
        command = f"quaestor ratings practise {name} {shown['item']} … --as {actor}"
        screen.print(f"[dim]To practise on, it counts for nothing: {escape(command)}[/dim]\n")
    screen.print(f"[bold]{escape(shown['title'])}[/bold]")
    screen.print(f"{escape(shown['item'])}  {escape(shown['link'])}\n[dim]{escape(' '.join(shown['tags']))}[/dim]\n")
    screen.print(escape(shown["text"]))
    if shown["answer"]:
        screen.print(f"\n[bold]Accepted answer[/bold]\n{escape(shown['answer'])}")
    for asked in shown["facets"]:
        screen.print(f"\n[bold]{escape(asked['facet'])}[/bold]  {escape(asked['question'])}")
        for line in asked["proposed"]:
            screen.print(f"  proposed: {escape(line)}")
        screen.print(f"  {escape(asked['allowed'])}", soft_wrap=True)
    say(f"\n{number(shown['done'])} of {number(shown['items'])} rated")


@group.command()
def give(
    name: RoundArgument,
    item: Annotated[str, typer.Argument(help="The item's id.")],
    answer: Annotated[list[str], typer.Argument(help="FACET=ANSWER for each facet; `cannot judge` is an answer.")],
    actor: RaterOption,
    unsure: Annotated[list[str] | None, typer.Option(help="A facet you are unsure of.")] = None,
    memo: Annotated[str, typer.Option(help="A note of your own.")] = "",
    seconds: Annotated[float, typer.Option(help="How long it took.")] = 0.0,
    key: Annotated[str, typer.Option(help="Sent twice with the same key, a rating counts once.")] = "",
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Rate one item; rating it again while the round is open supersedes the first answer, and both are kept.

    Example: quaestor ratings give pilot stackoverflow/question/34454721 relevance=keep --as rater-1
    """
    from quaestor.coding.rating import give_one

    done = give_one(
        chosen_study(study), name, actor, item, named_values(answer, "FACET=ANSWER"),
        unsure=tuple(unsure or ()), memo=memo, seconds=seconds, key=key,
    )  # fmt: skip
    if json:
        print_json(done)
        return
    say(f"On record; {number(done['left'])} left")
    if done["proposal"]:
        say(f"A machine would say: {done['proposal']}")


@group.command()
def practise(
    name: RoundArgument,
    item: Annotated[str, typer.Argument(help="A practice item's id.")],
    answer: Annotated[list[str], typer.Argument(help="FACET=ANSWER for each facet.")],
    actor: RaterOption,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Try a practice item and hear what would have been right; it counts for nothing.

    Example: quaestor ratings practise pilot stackoverflow/question/34454721 relevance=keep --as rater-1
    """
    from quaestor.coding.rating import try_one

    done = try_one(chosen_study(study), name, actor, item, named_values(answer, "FACET=ANSWER"))
    if json:
        print_json(done)
        return
    for facet, right in done["right"].items():
        say(f"{facet}: {'right' if right else 'expected ' + done['answers'][facet]}")
    if done["feedback"]:
        say(done["feedback"])
    say(f"{done['left']} to practise on" if done["left"] else f"Now {name} counts")


@group.command("import")
def import_file(
    name: RoundArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV or XLSX: item, rater, a column a facet.")],
    rater: Annotated[str | None, typer.Option(help="Whose ratings they are, where no column says it.")] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Take in a file of ratings, whole or not at all; the same file twice counts once.

    Example: quaestor ratings import pilot ratings.xlsx
    """
    from quaestor.coding.rating_files import import_ratings
    from quaestor.coding.session import open_coding

    with open_coding(chosen_study(study)) as coding:
        done = import_ratings(coding, name, file, rater)
    if json:
        print_json({"given": done.given, "known": done.known})
    else:
        say(f"{number(done.given)} ratings taken in, {number(done.known)} were there already")


@group.command("export")
def export_file(
    name: RoundArgument,
    out: Annotated[Path | None, typer.Option(help="A CSV or XLSX file; default: CSV on standard output.")] = None,
    superseded: Annotated[bool, typer.Option("--superseded", help="With the answers that were superseded.")] = False,
    actor: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="A rater sees their own while the round is open.")
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Write the ratings you may see: who, when, what, under which codebook version.

    Example: quaestor ratings export pilot --out pilot.xlsx
    """
    from quaestor.coding.rating_files import export_ratings
    from quaestor.coding.session import open_coding

    with open_coding(chosen_study(study)) as coding:
        rows = export_ratings(coding, name, actor or coding.lead, superseded=superseded)
    write_out("ratings", rows, out, json)


def write_out(what: str, rows: list[dict[str, str]], out: Path | None, json: bool) -> None:
    """Rows to a file, as JSON, or as CSV on standard output."""
    from quaestor.base.table_files import Table, csv_text, write_table

    if json:
        print_json(rows)
    elif out is not None:
        write_table(Table.of(what, rows), out, private=True)
        say(f"{number(len(rows))} rows written to {out}")
    elif rows:
        print(csv_text([list(rows[0]), *(list(row.values()) for row in rows)]), end="")
