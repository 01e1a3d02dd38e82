"""`quaestor serve`: the study in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from quaestor.cli.output import StudyOption, chosen_study, console


def add_to(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    study: StudyOption = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free port.")] = 8321,
) -> None:
    """Show the study in the browser, on this machine only."""
    from quaestor.web.server import serve_study

    opened = chosen_study(study)
    serve_study(
        opened.root,
        port,
        lambda address: console().print(f"Serving {opened.root} at {address}  (Ctrl+C ends)", soft_wrap=True),
    )
