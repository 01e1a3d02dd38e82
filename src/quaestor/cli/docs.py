"""`quaestor docs`: the documentation in the terminal."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated

import typer

from quaestor.cli.output import JsonOption, console, print_json


def docs(
    topic: Annotated[
        str | None, typer.Argument(metavar="[TOPIC]", show_default=False, help="The page to read.")
    ] = None,
    search: Annotated[
        str, typer.Option("--search", metavar="WORDS", help="List the pages that contain these words.")
    ] = "",
    json: JsonOption = False,
) -> None:
    """Read the documentation.

    Without a topic, list all of them.

    Examples:

    quaestor docs

    quaestor docs invite-raters

    quaestor docs --search "kappa interval"
    """
    from rich.markdown import Markdown

    from quaestor.study.documentation import find_topic, list_topics, search_topics

    if topic:
        page = find_topic(topic)
        if json:
            print_json({"topic": page.name, "title": page.title, "section": page.section, "markdown": page.text})
        elif console().is_terminal:
            with console().pager(styles=True):
                console().print(Markdown(page.text))
        else:
            print(page.text, end="")
        return
    if search:
        matches = search_topics(search)
        if json:
            print_json(
                [{"topic": match.topic.name, "heading": match.heading, "line": match.excerpt} for match in matches]
            )
        for match in () if json else matches:
            console().print(f"[bold]{match.topic.name}[/bold]  {match.topic.title}", soft_wrap=True)
            console().print(f"    {match.heading}: {match.excerpt}", markup=False, soft_wrap=True)
        if not matches:
            raise typer.Exit(1)
        return
    if json:
        print_json([{"topic": page.name, "title": page.title, "section": page.section} for page in list_topics()])
        return
    for section, pages in groupby(list_topics(), lambda page: page.section):
        console().print(f"\n[bold]{section}[/bold]")
        for page in pages:
            console().print(f"  {page.name:<46} {page.title}", markup=False, soft_wrap=True)


def add_to(app: typer.Typer) -> None:
    app.command("docs")(docs)
