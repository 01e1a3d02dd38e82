"""`quaestor demo`: the whole product on synthetic evidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quaestor.base.errors import Interrupted
from quaestor.cli.output import console, progress_bar

if TYPE_CHECKING:
    from concurrent.futures import Future

    from quaestor.demo.folder import Doors
    from quaestor.demo.process import DemoProcess
    from quaestor.web.demo.progress_pages import UnderWay


def add_to(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the demo lives; made anew each time.")] = Path(
        "demo-study"
    ),
    seed: Annotated[int, typer.Option(help="The same seed gives the same demo.")] = 7,
    serve: Annotated[
        bool, typer.Option("--serve/--no-serve", help="Show it in the browser, from the first second.")
    ] = True,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free port.")] = 8321,
) -> None:
    """Run everything end to end on synthetic evidence: dump, ingest, funnel, rounds, report; one round is yours."""
    if serve:
        _serve(folder, seed, port)
        return
    from quaestor.demo.run import run_demo

    with progress_bar() as progress:
        run_demo(folder, seed, _line, progress)


def _line(words: str) -> None:
    console().print(words, soft_wrap=True, markup=False)


def _serve(folder: Path, seed: int, port: int) -> None:
    """The address is there before anything is made; the makers work in a process of their own."""
    from concurrent.futures import ThreadPoolExecutor

    from quaestor.demo.folder import require_room
    from quaestor.demo.process import DemoProcess
    from quaestor.web.server import serve_on_this_machine

    require_room(folder)
    makers: list[DemoProcess] = []
    watching: list[Future[None]] = []

    def begin(address: str, stop: Callable[[], None]) -> UnderWay:
        _line(f"Open {address} and see the study being made  (Ctrl+C ends)")
        makers.append(DemoProcess(folder, seed))
        from quaestor.web.demo.progress_pages import UnderWay

        page = UnderWay(folder)
        watching.append(pool.submit(_watch, makers[0], page, folder, address))
        watching[0].add_done_callback(lambda watched: stop() if watched.exception() else None)
        return page

    with ThreadPoolExecutor(1) as pool:
        try:
            serve_on_this_machine(port, begin)
        except (Interrupted, KeyboardInterrupt):
            if not (watching and watching[0].done()):
                raise
        finally:
            for maker in makers:
                maker.stop()
        watching[0].result()


def _watch(makers: DemoProcess, page: UnderWay, folder: Path, address: str) -> None:
    """Pass on what the makers tell, to the page and to the terminal, until they have finished or failed."""
    from quaestor.demo.folder import doors_left, make_doors
    from quaestor.demo.interviews import FOLDER
    from quaestor.demo.progress import Failed, Finished, InterviewsCoded, RoundOpened, SurveyOpened, in_words
    from quaestor.people.membership import lead_link
    from quaestor.study.folder import open_study
    from quaestor.web.app import make_app
    from quaestor.web.demo.progress_pages import INTERVIEWS

    with progress_bar() as progress:
        tell = in_words(_line, progress)
        for event in makers.events():
            tell(event)
            page.tell(event)
            if isinstance(event, RoundOpened):
                doors = make_doors(open_study(folder))
                page.hand_over(make_app(folder), doors)
                _tell_doors(doors, address)
            if isinstance(event, SurveyOpened):
                _line(f"   Answer the survey: {address}s/{event.name}")
            if isinstance(event, InterviewsCoded):
                door = lead_link(open_study(folder / FOLDER))
                page.hand_over_interviews(make_app(folder / FOLDER), door)
                _line(f"   Come in as the lead of the interviews: {address}{INTERVIEWS[1:]}/join/{door}  (valid once)")
            if isinstance(event, Failed):
                page.wait_until_failure_is_shown()
                raise event.error
            if isinstance(event, Finished):
                _line(f"Serving {folder} at {address}  (Ctrl+C ends)")
                _tell_doors(doors_left(open_study(folder), doors), address)


def _tell_doors(doors: Doors, address: str) -> None:
    for who, token in (("Rate as a visitor", doors.visitor), ("Come in as the lead", doors.lead)):
        if token is not None:
            _line(f"   {who}: {address}join/{token}  (valid once, for 7 days)")
