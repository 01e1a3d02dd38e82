"""`quaestor serve`: the study in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from quaestor.cli.output import StudyOption, chosen_study, console

if TYPE_CHECKING:
    from quaestor.study.folder import Study


def add_to(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    study: StudyOption = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free port.")] = 8321,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="The address to listen at; others than this machine need --allow-host."),
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name under which browsers may reach the desk; again for more."),
    ] = None,
    root_path: Annotated[
        str, typer.Option(metavar="PATH", help="The path of the desk on the site of a proxy, such as /desk.")
    ] = "",
) -> None:
    """Show the study in the browser, on this machine only unless told otherwise.

    Examples:
      quaestor serve
      quaestor serve --root-path /desk --allow-host study.example.org
    """
    from quaestor.web.server import ServerAddress, serve_study

    opened = chosen_study(study)
    address = ServerAddress(port, host, tuple(allow_host or ()), root_path)
    serve_study(opened.root, address, lambda link: tell_address(opened, link))


def tell_address(study: Study, address: str) -> None:
    """Where the desk is, and the lead's way in where the lead has none yet."""
    from quaestor.people.membership import create_lead_token

    screen, token = console(), create_lead_token(study)  # first the link: where it cannot be saved, nothing is served
    screen.print(f"Serving {study.root} at {address}  (Ctrl+C ends)", soft_wrap=True, markup=False)
    if token is not None:
        link = f"Open {address}join/{token}  (the lead's link, valid once, for 7 days)"
        screen.print(link, soft_wrap=True, markup=False)
