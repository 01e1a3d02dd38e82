"""`quaestor interview protocol`: what was asked, noted and ticked in a conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quaestor.cli.output import JsonOption, StudyOption, chosen_study, print_json, say

OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write it here, readable by you alone.", show_default=False)
]


def add_to(group: typer.Typer) -> None:
    group.command()(protocol)


def protocol(
    name: Annotated[str, typer.Argument(metavar="NAME", help="An interview, as in P1.")],
    out: OutOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Print the protocol of an interview as Markdown: times, questions asked, skipped and added, notes, ticks.

    Example: quaestor interview protocol P1 --out protocol-P1.md
    """
    from quaestor.interviews.conduct.protocol import protocol as protocol_of
    from quaestor.interviews.conduct.protocol import protocol_json, protocol_markdown, write_protocol
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        found = protocol_of(interviews, name)
    if out is not None:
        write_protocol(found, out)
        say(f"the protocol of {name} is in {out}: it holds what was said, keep it as you keep the interviews")
    if json:
        print_json(protocol_json(found))
    elif out is None:
        print(protocol_markdown(found), end="")
