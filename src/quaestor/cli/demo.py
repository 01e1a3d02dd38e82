"""`quaestor demo`: the whole product on synthetic evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quaestor.base.errors import StateError
from quaestor.cli.output import console, number, progress_bar

_STUDY = "dl-implementation-issues"


def add_to(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the demo lives; made anew each time.")] = Path(
        "demo-study"
    ),
    seed: Annotated[int, typer.Option(help="The same seed gives the same demo.")] = 7,
    serve: Annotated[bool, typer.Option("--serve/--no-serve", help="Show it in the browser at the end.")] = True,
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8321,
) -> None:
    """Run everything end to end on synthetic evidence: dump, study, ingest, funnel, page."""
    from quaestor.study.demo import run_demo

    screen = console()
    with progress_bar() as progress:
        outcome = run_demo(folder, seed, lambda words: screen.print(words, soft_wrap=True), progress)
    widest = max(len(step.step) for step in outcome.funnel.steps)
    screen.print(f"{'':{widest}}  {'planted':>9}  {'found':>9}")
    planted_counts = (*outcome.planted, outcome.coded.planted)
    for step, planted in zip(outcome.funnel.steps, planted_counts, strict=True):
        mark = "=" if step.kept == planted else "≠"
        screen.print(f"{step.step:{widest}}  {number(planted):>9}  {number(step.kept):>9} {mark}")
    if not outcome.agrees:
        raise StateError("the funnel did not find what was planted: please report this with the seed")
    screen.print(
        f"The last step is what two simulated raters decided: {number(outcome.coded.right)} of "
        f"{number(outcome.coded.planted)} planted posts are among the {number(outcome.coded.kept)} kept"
    )
    screen.print(f"The funnel and the curves are drawn in {outcome.drawing.parent}", soft_wrap=True)
    if serve:
        from quaestor.cli.web import tell_address
        from quaestor.study.folder import open_study
        from quaestor.web.server import Place, serve_study

        serve_study(folder, Place(port), lambda address: tell_address(open_study(folder), address))
