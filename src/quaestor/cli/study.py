"""`quaestor new`, `status`, `doctor`, `serve`, `docs`: a study, the machine it is on, the desk, the documentation."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from dataclasses import asdict, dataclass
from itertools import groupby
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
class MachineCheck:
    """The result of checking one requirement; `needed` if Quaestor cannot work without it."""

    name: str
    found: bool
    detail: str
    remedy: str = ""
    needed: bool = False


def examine(folder: Path) -> list[MachineCheck]:
    """Checks the machine for a study in this folder."""
    return [
        _check_python(), _check_cores(), _check_disk(folder), _check_memory(), _check_archives(), _check_browser(),
        *_check_packages(), *_check_erasures(folder),
    ]  # fmt: skip


def _check_erasures(folder: Path) -> list[MachineCheck]:
    """Finishes pending erasures and reports those that remain; most folders have none."""
    pending = finish_erasures(folder) if folder.is_dir() else []
    remedy = "close the program that uses the file, or free disk space, then run `quaestor doctor` again"
    return [MachineCheck("erasure", False, describe_pending_erasures(folder), remedy)] if pending else []


def _check_python() -> MachineCheck:
    version = sys.version.split()[0]
    return MachineCheck("Python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer", needed=True)


def _check_cores() -> MachineCheck:
    return MachineCheck("cores", True, f"{default_worker_count()} used for ingest")


def _check_disk(folder: Path) -> MachineCheck:
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    detail = f"{free / 1e9:,.0f} GB free at {folder}"
    remedy = "free disk space: a dump of 100 GB becomes about 35 GB of Parquet"
    return MachineCheck("disk", free > _LEAST_FREE, detail, remedy)


def _check_memory() -> MachineCheck:
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return MachineCheck("memory", True, "unknown on this system")
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return MachineCheck("memory", total > 2 * 10**9, f"{total / 1e9:,.0f} GB", "the funnel needs 2 GB")


def _check_archives() -> MachineCheck:
    program = next((name for name in ("7zz", "7z", "7za", "bsdtar") if shutil.which(name)), None)
    if program:
        return MachineCheck("7-Zip", True, f"{program}, used for .7z archives where it is faster")
    remedy = "optional, for faster reading of .7z archives: `apt install 7zip` or `brew install sevenzip`"
    return MachineCheck("7-Zip", False, "no 7zz, 7z or bsdtar on the path", remedy)


def _check_browser() -> MachineCheck:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    program = next((name for name in names if shutil.which(name)), None)
    remedy = "needed only to test the desk itself: `apt install chromium`"
    return MachineCheck("Chromium", program is not None, program or "not on the path", remedy)


def _check_packages() -> list[MachineCheck]:
    return [
        MachineCheck(
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
    app.command()(docs)


def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to create.")],
    template: Annotated[
        str | None, typer.Option(help="The bundled study to start from; default: blank.", show_default=False)
    ] = None,
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="What a blank study starts with: posts, table, interviews or survey; repeat it to add a survey.",
        ),
    ] = None,
    raters: Annotated[
        int | None, typer.Option(min=1, max=26, help="How many people code each item.", show_default="2")
    ] = None,
) -> None:
    """Create a study folder from a bundled study, or a blank one for your own evidence.

    In a terminal, a blank study asks for the kind of evidence and the number of raters, unless options give them.

    Examples:

        quaestor new my-study --evidence posts --raters 2

        quaestor new my-study --template dl-implementation-issues
    """
    from quaestor.study.features import study_status
    from quaestor.study.folder import open_study
    from quaestor.study.templates import BLANK, list_files_to_adapt, new_study

    kinds = list(evidence or ())
    if template is None and evidence is None and sys.stdin.isatty():
        kinds, raters = _ask_what_to_start_with(raters)
    root = new_study(folder, template or BLANK, kinds, raters or 2)
    screen = console()
    screen.print(f"Created {root} from the bundled study {template or BLANK}.", soft_wrap=True)
    if kinds:
        screen.print(f"Adapt the examples in {', '.join(list_files_to_adapt(kinds))}.", soft_wrap=True)
    screen.print(f"Next: {study_status(open_study(root)).next}", soft_wrap=True)


def _ask_what_to_start_with(raters: int | None) -> tuple[list[str], int | None]:
    """Asks for the kinds of evidence, and for the number of raters if something is coded."""
    from quaestor.base.names import suggest
    from quaestor.study.templates import EVIDENCE

    while True:
        typed = typer.prompt(
            f"Kind of evidence ({', '.join(EVIDENCE)}; several separated by commas; empty to decide later)",
            default="",
            show_default=False,
        )
        kinds = [kind.strip() for kind in typed.split(",") if kind.strip()]
        unknown = next((kind for kind in kinds if kind not in EVIDENCE), None)
        if unknown is None:
            break
        console().print(f"There is no kind {unknown!r}; choose from: {suggest(unknown, EVIDENCE)}", markup=False)
    if raters is None and any(EVIDENCE[kind] for kind in kinds):
        raters = typer.prompt("How many raters code each item", default=2, type=int)
    return kinds, raters


def status(study: StudyOption = None, json: JsonOption = False) -> None:
    """Show the progress of a study and the next step."""
    from rich.markup import escape
    from rich.table import Table

    from quaestor.study.features import study_status

    summary = study_status(chosen_study(study))
    if json:
        print_json(asdict(summary))
        return
    screen = console()
    screen.print(f"[bold]{escape(summary.title)}[/bold]")
    table = Table(box=None, pad_edge=False, show_header=False)
    for stage in summary.stages:
        table.add_row(_MARKS[stage.state], escape(stage.name), escape(stage.detail))
    screen.print(table)
    screen.print(f"Next: {escape(summary.next)}", soft_wrap=True)


def doctor(study: StudyOption = None, json: JsonOption = False) -> None:
    """Check this machine and print how to fix what is missing; exit 1 if a requirement is not met."""
    from rich.markup import escape
    from rich.table import Table

    checks = examine(study or Path.cwd())
    if json:
        print_json([asdict(check) for check in checks])
    else:
        table = Table(box=None, pad_edge=False, show_header=False)
        for check in checks:
            state = "done" if check.found else "none" if check.needed else "stale"
            detail = check.detail if check.found else f"{check.detail}: {check.remedy}"
            table.add_row(_MARKS[state], check.name, escape(detail))
        console().print(table)
    if any(check.needed and not check.found for check in checks):
        raise typer.Exit(1)


def serve(
    study: StudyOption = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to serve on; 0 picks a free one.")] = 8321,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="The address to listen on; any other than this machine needs --allow-host."
        ),
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A host name of the desk for browsers; repeat for several."),
    ] = None,
    root_path: Annotated[
        str, typer.Option(metavar="PATH", help="The path of the desk behind a proxy, such as /desk.")
    ] = "",
) -> None:
    """Serve the study in the browser; only on this machine unless you set --host.

    Examples:
      quaestor serve
      quaestor serve --root-path /desk --allow-host study.example.org
    """
    from quaestor.web.server import ServerAddress, serve_study

    opened = chosen_study(study)
    address = ServerAddress(port, host, tuple(allow_host or ()), root_path)
    serve_study(opened.root, address, lambda link: print_address(opened, link))


def print_address(study: Study, address: str) -> None:
    """Prints the address of the desk, and a link for the lead if the lead has no account yet."""
    from quaestor.people.membership import create_lead_token

    token = create_lead_token(study)  # before anything is printed: if it cannot be saved, nothing is served
    screen = console()
    screen.print(f"Serving {study.root} at {address}  (Ctrl+C to stop)", soft_wrap=True, markup=False)
    if token is not None:
        link = f"Open {address}join/{token}  (the lead's link, valid once, for 7 days)"
        screen.print(link, soft_wrap=True, markup=False)


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
