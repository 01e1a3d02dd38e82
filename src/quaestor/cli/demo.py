"""`quaestor demo`: a complete study on synthetic evidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quaestor.base.errors import Interrupted
from quaestor.cli.output import console, progress_bar

if TYPE_CHECKING:
    from concurrent.futures import Future

    from quaestor.demo.folder import JoinLinks
    from quaestor.demo.process import DemoProcess
    from quaestor.web.demo.progress_pages import DemoPages


def add_to(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The demo's folder; rebuilt on every run.")] = Path(
        "demo-study"
    ),
    seed: Annotated[int, typer.Option(help="The same seed gives the same demo.")] = 7,
    serve: Annotated[
        bool, typer.Option("--serve/--no-serve", help="Show it in the browser while it is being built.")
    ] = True,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to serve on; 0 picks a free one.")] = 8321,
) -> None:
    """Build a complete study on synthetic posts, answers and interviews; one round is left for you."""
    if serve:
        _serve(folder, seed, port)
        return
    from quaestor.demo.progress import build_event_printer
    from quaestor.demo.run import build_demo

    with progress_bar() as progress:
        build_demo(folder, seed, build_event_printer(_print_line, progress))


def _print_line(text: str) -> None:
    console().print(text, soft_wrap=True, markup=False)


def _serve(folder: Path, seed: int, port: int) -> None:
    """Serves the demo from the start, while a separate process builds it."""
    from concurrent.futures import ThreadPoolExecutor

    from quaestor.demo.folder import require_free_folder
    from quaestor.demo.process import DemoProcess
    from quaestor.web.server import serve_on_this_machine

    require_free_folder(folder)
    processes: list[DemoProcess] = []
    watching: list[Future[None]] = []

    def begin(address: str, stop: Callable[[], None]) -> DemoPages:
        _print_line(f"Open {address} to watch the study being built  (Ctrl+C to stop)")
        processes.append(DemoProcess(folder, seed))
        from quaestor.web.demo.progress_pages import DemoPages

        page = DemoPages(folder)
        watching.append(pool.submit(_relay_events, processes[0], page, folder, address))
        watching[0].add_done_callback(lambda watched: stop() if watched.exception() else None)
        return page

    with ThreadPoolExecutor(1) as pool:
        try:
            serve_on_this_machine(port, begin)
        except (Interrupted, KeyboardInterrupt):
            if not (watching and watching[0].done()):
                raise
        finally:
            for process in processes:
                process.stop()
        watching[0].result()


def _relay_events(process: DemoProcess, page: DemoPages, folder: Path, address: str) -> None:
    """Passes the events of the building process to the page and the terminal until it finishes or fails."""
    from quaestor.demo.folder import create_join_links, drop_used_links
    from quaestor.demo.progress import DemoFailed, DemoFinished, RoundOpened, SurveyOpened, build_event_printer
    from quaestor.study.folder import open_study
    from quaestor.web.app import make_app

    with progress_bar() as progress:
        print_event = build_event_printer(_print_line, progress)
        for event in process.events():
            print_event(event)
            page.record_event(event)
            if isinstance(event, RoundOpened):
                doors = create_join_links(open_study(folder))
                page.hand_over(make_app(folder), doors)
                _print_join_links(doors, address)
            if isinstance(event, SurveyOpened):
                _print_line(f"   Answer the survey: {address}s/{event.name}")
            if isinstance(event, DemoFailed):
                page.wait_until_failure_is_shown()
                raise event.error
            if isinstance(event, DemoFinished):
                _print_line(f"Serving {folder} at {address}  (Ctrl+C to stop)")
                _print_join_links(drop_used_links(open_study(folder), doors), address)


def _print_join_links(doors: JoinLinks, address: str) -> None:
    for title, token in (("Rate as a visitor", doors.visitor), ("Join as the lead", doors.lead)):
        if token is not None:
            _print_line(f"   {title}: {address}join/{token}  (valid once, for 7 days)")
