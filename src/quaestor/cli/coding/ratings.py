"""`quaestor ratings`: show the next item, rate it, import and export ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quaestor.base.names import count_of
from quaestor.cli.coding.views import YesOption, confirm_views
from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, named_values, number, print_json, say

group = typer.Typer(
    help="Ratings: the independent answers of each rater; never changed, only superseded.", no_args_is_help=True
)

RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="An open round.")]
RaterOption = Annotated[str, typer.Option("--as", metavar="NAME", help="The rater.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="ratings")


@group.callback()
def ratings() -> None:
    """Rate items; import and export ratings."""


@group.command("next")
def next_item(name: RoundArgument, actor: RaterOption, study: StudyOption = None, json: JsonOption = False) -> None:
    """Show a rater's next item with its questions and possible answers.

    Example: quaestor ratings next pilot --as rater-1
    """
    from rich.markup import escape

    from quaestor.coding.rating import build_next_item

    shown = build_next_item(chosen_study(study), name, actor)
    if json:
        print_json(shown)
        return
    screen = console()
    if shown["item"] is None:
        say(f"{actor} has rated all items of {name}")
        return
    if shown["instructions"] and not shown["done"]:
        screen.print(escape(shown["instructions"]) + "\n")
    if shown["practice"]:
        command = f"quaestor ratings practise {name} {shown['item']} … --as {actor}"
        screen.print(f"[dim]A practice item, which does not count: {escape(command)}[/dim]\n")
    screen.print(f"[bold]{escape(shown['title'])}[/bold]")
    screen.print(f"{escape(shown['item'])}  {escape(shown['link'])}\n[dim]{escape(' '.join(shown['tags']))}[/dim]\n")
    screen.print(escape(shown["text"]))
    if shown["answer"]:
        screen.print(f"\n[bold]Accepted answer[/bold]\n{escape(shown['answer'])}")
    for facet in shown["facets"]:
        screen.print(f"\n[bold]{escape(facet['facet'])}[/bold]  {escape(facet['question'])}")
        if facet["ask_if"]:
            screen.print(f"  only if {escape(facet['ask_if'])}")
        for line in facet["proposed"]:
            screen.print(f"  proposed: {escape(line)}")
        screen.print(f"  {escape(facet['allowed'])}", soft_wrap=True)
    say(f"\n{number(shown['done'])} of {number(shown['items'])} rated")
    if not shown["practice"]:
        say(f"Rate it with `quaestor ratings give {name} {shown['item']} FACET=ANSWER --as {actor}`,")
        say(f"at the desk (`quaestor serve`) or in a spreadsheet (`quaestor ratings sheet {name} --as {actor}`)")


@group.command()
def give(
    name: RoundArgument,
    item: Annotated[str, typer.Argument(help="The item's id.")],
    answer: Annotated[list[str], typer.Argument(help="FACET=ANSWER for each facet; `cannot judge` is possible.")],
    actor: RaterOption,
    unsure: Annotated[list[str] | None, typer.Option(help="A facet you are unsure about.")] = None,
    memo: Annotated[str, typer.Option(help="A memo on the item.")] = "",
    seconds: Annotated[float, typer.Option(help="How long it took.")] = 0.0,
    rating_id: Annotated[str, typer.Option(help="An id of this rating: sent twice, it counts once.")] = "",
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Rate an item; a second rating while the round is open supersedes the first, and both are kept.

    Example: quaestor ratings give pilot stackoverflow/question/34454721 relevance=keep --as rater-1
    """
    from quaestor.coding.rating import record_rating

    done = record_rating(
        chosen_study(study), name, actor, item, named_values(answer, "FACET=ANSWER"),
        unsure=tuple(unsure or ()), memo=memo, seconds=seconds, key=rating_id,
    )  # fmt: skip
    if json:
        print_json(done)
        return
    say(f"Recorded; {count_of(done['left'], 'item')} left")
    if done["proposal"]:
        say(f"The machine's proposal: {done['proposal']}")


@group.command()
def practise(
    name: RoundArgument,
    item: Annotated[str, typer.Argument(help="A practice item's id.")],
    answer: Annotated[list[str], typer.Argument(help="FACET=ANSWER for each facet.")],
    actor: RaterOption,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Rate a practice item and see the right answer; it does not count.

    Example: quaestor ratings practise pilot stackoverflow/question/34454721 relevance=keep --as rater-1
    """
    from quaestor.coding.rating import try_practice

    done = try_practice(chosen_study(study), name, actor, item, named_values(answer, "FACET=ANSWER"))
    if json:
        print_json(done)
        return
    for explained in done["explained"]:
        facet, answered, expected = explained["facet"], explained["given"] or "nothing", explained["expected"]
        is_right = done["right"].get(facet)
        own_answer = f"you answered {answered}" if facet in done["right"] else "you were not asked"
        say(f"{facet}: {'right' if is_right else f'{own_answer}; the right answer is {expected}'}")
        for code, definition in () if is_right else explained["definitions"].items():
            say(f"    {code}: {definition}")
    if done["feedback"]:
        say(done["feedback"])
    say(
        f"{count_of(done['left'], 'practice item')} left"
        if done["left"]
        else f"Practice is finished: ratings of {name} count now"
    )


@group.command("sheet")
def write_sheet(
    name: RoundArgument,
    actor: Annotated[str, typer.Option("--as", metavar="NAME", help="The rater.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An XLSX file; default: ROUND-NAME.xlsx in this folder.")
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Write a spreadsheet in which a rater can rate: items, drop-down lists, the codebook, the ratings so far.

    Import it with `quaestor ratings import`, as often as you like.

    Example: quaestor ratings sheet pilot --as rater-1
    """
    from quaestor.coding.rating_spreadsheet import write_rating_spreadsheet
    from quaestor.coding.session import open_coding

    with open_coding(chosen_study(study)) as coding:
        written = write_rating_spreadsheet(coding, name, actor, out)
    if json:
        print_json({"file": str(written.path), "items": written.items, "rated": written.rated})
        return
    say(f"{count_of(written.items, 'item')}, {number(written.rated)} of them rated, written to {written.path}")
    say(f"Import it with `quaestor ratings import {name} {written.path}`")


@group.command("import")
def import_file(
    name: RoundArgument,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A rater's spreadsheet, or CSV, TSV or XLSX: item, rater, one column per facet."
        ),
    ],
    actor: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="The rater, if the file has no rater column.")
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Import a file of ratings; if a cell is invalid, nothing is imported. Importing it twice changes nothing.

    Example: quaestor ratings import pilot ratings.xlsx
    """
    from quaestor.coding.rating_files import import_ratings
    from quaestor.coding.session import open_coding

    with open_coding(chosen_study(study)) as coding:
        done = import_ratings(coding, name, file, actor)
    if json:
        rows = {"unfinished": done.unfinished, "notes": done.notes}
        cells = {kind: [{"where": row.where, "words": row.words} for row in listed] for kind, listed in rows.items()}
        print_json(
            {"given": done.added, "known": done.known, "empty": done.empty, **cells, "ignored": list(done.ignored)}
        )
        return
    say(f"{count_of(done.added, 'rating')} imported, {number(done.known)} were known already")
    if done.empty:
        say(f"{count_of(done.empty, 'row')} without an answer")
    if done.unfinished:
        say(f"{count_of(done.unfinished_rows, 'unfinished row')}, not imported:")
    for row in (*done.unfinished, *done.notes):
        say(f"  {row.where}: {row.words}")
    if done.ignored:
        say(f"Ignored columns: {', '.join(done.ignored)}")


@group.command("export")
def export_file(
    name: RoundArgument,
    out: Annotated[Path | None, typer.Option(help="A CSV or XLSX file; default: CSV on standard output.")] = None,
    superseded: Annotated[bool, typer.Option("--superseded", help="Include superseded ratings.")] = False,
    yes: YesOption = False,
    actor: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="NAME", help="Export as this person; raters see only their own while a round is open."
        ),
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Export the ratings you may see: rater, time, answer and codebook version.

    Example: quaestor ratings export pilot --out pilot.xlsx
    """
    from quaestor.coding.rating_files import export_ratings
    from quaestor.coding.session import open_coding

    opened = chosen_study(study)
    confirm_views(opened, [name], actor, yes=yes)
    with open_coding(opened) as coding:
        rows = export_ratings(coding, name, actor or coding.lead, superseded=superseded)
    write_rows("ratings", rows, out, json)


def write_rows(title: str, rows: list[dict[str, str]], out: Path | None, json: bool) -> None:
    """Writes rows to a file, or as JSON or CSV to standard output."""
    from quaestor.base.table_files import ExportTable, format_csv, write_table

    if json:
        print_json(rows)
    elif out is not None:
        write_table(ExportTable.from_mappings(title, rows), out, private=True)
        say(f"{count_of(len(rows), 'row')} written to {out}")
    elif rows:
        print(format_csv([list(rows[0]), *(list(row.values()) for row in rows)]), end="")
