"""`quaestor new`, `status`, `doctor`, `serve`: a study folder, the machine it is on, and the desk."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, print_json
from quaestor.evidence.sources.stackexchange.workers import default_worker_count
from quaestor.store.erasure import describe_pending_erasures, finish_erasures

if TYPE_CHECKING:
    from quaestor.study.folder import Study


_LEAST_FREE = 5 * 10**9


@dataclass(frozen=True)
class Check:
    """One thing looked at; `needed` when Quaestor cannot work without it."""

    name: str
    found: bool
    detail: str
    remedy: str = ""
    needed: bool = False


def examine(folder: Path) -> list[Check]:
    """Look at the machine from a folder where evidence would go."""
    return [
        _python(), _cores(), _disk(folder), _memory(), _archives(), _browser(), *_packages(), *_erasures(folder),
    ]  # fmt: skip


def _erasures(folder: Path) -> list[Check]:
    """Only where something is pending: most folders are no study, and in most studies nobody withdraws."""
    pending = finish_erasures(folder) if folder.is_dir() else []
    remedy = "end the program that uses the file, or free space on the disk, then run this again"
    return [Check("erasure", False, describe_pending_erasures(folder), remedy)] if pending else []


def _python() -> Check:
    version = sys.version.split()[0]
    return Check("Python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer", needed=True)


def _cores() -> Check:
    return Check("cores", True, f"{default_worker_count()} used for ingest")


def _disk(folder: Path) -> Check:
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    detail = f"{free / 1e9:,.0f} GB free at {folder}"
    remedy = "free some space: a dump of 100 GB becomes about 35 GB of Parquet"
    return Check("disk", free > _LEAST_FREE, detail, remedy)


def _memory() -> Check:
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return Check("memory", True, "unknown on this system")
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Check("memory", total > 2 * 10**9, f"{total / 1e9:,.0f} GB", "2 GB are needed for the funnel")


def _archives() -> Check:
    found = next((name for name in ("7zz", "7z", "7za", "bsdtar") if shutil.which(name)), None)
    if found:
        return Check("7-Zip", True, f"{found} found: .7z archives are read with it where it is faster")
    remedy = "optional: .7z works without it, slower; get it with `apt install 7zip` or `brew install sevenzip`"
    return Check("7-Zip", False, "no 7zz, 7z or bsdtar on the path", remedy)


def _browser() -> Check:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next((name for name in names if shutil.which(name)), None)
    remedy = "only for running the tests of the desk: `apt install chromium`"
    return Check("Chromium", found is not None, found or "not on the path", remedy)


def _packages() -> list[Check]:
    return [
        Check(
            name,
            importlib.util.find_spec(name) is not None,
            "Python package",
            f"pip install {name}",
            needed=True,
        )
        for name in ("duckdb", "ibis", "pyarrow", "pydantic", "starlette", "nh3", "python_calamine")
    ]


_MARKS = {
    "done": "[green]✓[/green]",
    "stale": "[yellow]![/yellow]",
    "doubtful": "[yellow]![/yellow]",
    "waiting": "[yellow]·[/yellow]",
    "none": "[red]–[/red]",
}


def add_to(app: typer.Typer) -> None:
    app.command()(new)
    app.command()(status)
    app.command()(doctor)
    app.command()(serve)


def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make.")],
    template: Annotated[str, typer.Option(help="The bundled study to begin from.")] = "blank",
) -> None:
    """Make a study folder from a bundled study.

    Example: quaestor new my-study --template dl-implementation-issues
    """
    from quaestor.study.folder import open_study
    from quaestor.study.status import study_status
    from quaestor.study.templates import new_study

    made = new_study(folder, template)
    screen = console()
    screen.print(f"Made {made} from the bundled study {template}.", soft_wrap=True)
    screen.print(f"Next: {study_status(open_study(made)).next}", soft_wrap=True)


def status(study: StudyOption = None, json: JsonOption = False) -> None:
    """Say what a study has done and what comes next."""
    from rich.markup import escape
    from rich.table import Table

    from quaestor.study.status import study_status

    found = study_status(chosen_study(study))
    if json:
        print_json(asdict(found))
        return
    screen = console()
    screen.print(f"[bold]{escape(found.title)}[/bold]")
    table = Table(box=None, pad_edge=False, show_header=False)
    for stage in found.stages:
        table.add_row(_MARKS[stage.state], escape(stage.name), escape(stage.detail))
    screen.print(table)
    screen.print(f"Next: {escape(found.next)}", soft_wrap=True)


def doctor(study: StudyOption = None, json: JsonOption = False) -> None:
    """Say what this machine lacks and how to get it; exit 1 when something needed is missing."""
    from rich.markup import escape
    from rich.table import Table

    checks = examine(study or Path.cwd())
    if json:
        print_json([asdict(check) for check in checks])
    else:
        table = Table(box=None, pad_edge=False, show_header=False)
        for check in checks:
            mark = "done" if check.found else "none" if check.needed else "stale"
            detail = check.detail if check.found else f"{check.detail}: {check.remedy}"
            table.add_row(_MARKS[mark], check.name, escape(detail))
        console().print(table)
    if any(check.needed and not check.found for check in checks):
        raise typer.Exit(1)


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
