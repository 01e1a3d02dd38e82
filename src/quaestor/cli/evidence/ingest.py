"""`quaestor ingest`: read evidence into Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quaestor.base.errors import InputError
from quaestor.base.files import BackgroundHasher
from quaestor.base.names import count_of
from quaestor.cli.output import (
    ActorOption,
    JsonOption,
    StudyOption,
    chosen_study,
    console,
    number,
    print_json,
    progress_bar,
    say,
)

if TYPE_CHECKING:
    from quaestor.evidence.ingest import IngestReport


def add_to(app: typer.Typer) -> None:
    app.command()(ingest)
    app.command("remove-copies")(remove_copies)


def ingest(
    source: Annotated[
        str | None,
        typer.Argument(help="A source from study.toml (default: all), or `stackexchange` with a PATH."),
    ] = None,
    path: Annotated[Path | None, typer.Argument(help="A dump: folder, .xml, .xml.gz or .7z.")] = None,
    out: Annotated[Path | None, typer.Option(help="The output folder; only with a PATH.")] = None,
    tags: Annotated[
        str | None,
        typer.Option(help="Only questions with these tags and their answers: `pandas,tensorflow*`."),
    ] = None,
    site: Annotated[str | None, typer.Option(help="The site's name in item ids; default: from the path.")] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Read the sources of a study, or any Stack Exchange dump, into Parquet.

    Examples:

        quaestor ingest

        quaestor ingest stackexchange coffee.stackexchange.com.7z --out coffee

        quaestor ingest stackexchange stackoverflow.com --out tf --tags 'tensorflow*,pytorch'
    """
    if path is not None:
        _ingest_dump(source, path, out, tags, site, json)
        return
    if out is not None or tags is not None or site is not None:
        raise InputError("--out, --tags and --site need a PATH: quaestor ingest stackexchange PATH --out DIR")
    from quaestor.evidence.ingest import ingest_source

    opened = chosen_study(study)
    names = [source] if source is not None else list(opened.settings.sources)
    if not names:
        raise InputError(f"{opened.file} has no source yet: add one, for example [sources.stackoverflow]")
    reports = {}
    for name in names:
        with progress_bar() as progress:
            reports[name] = ingest_source(opened, name, progress=progress)
        if not json:
            _show(reports[name])
    if json:
        print_json({name: report.as_json() for name, report in reports.items()})


def remove_copies(actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False) -> None:
    """Remove plain copies of open answers and interviews that an earlier version made; nothing reads them any more.

    Example: quaestor remove-copies
    """
    from quaestor.coding.session import open_coding, require_lead
    from quaestor.evidence import erasure
    from quaestor.evidence.feature import COPIES_ACT
    from quaestor.store.records import NewAct

    opened = chosen_study(study)
    with open_coding(opened) as coding:
        lead = require_lead(coding, actor, "remove copies of evidence")
        removed = [str(path.relative_to(opened.root)) for path in erasure.remove_copies(opened)]
        if removed:
            coding.act(lambda state: NewAct(COPIES_ACT, lead, {"removed": removed}))
    if json:
        print_json({"removed": removed})
        return
    for path in removed:
        say(f"Removed {path}")
    say("The removal is recorded in the journal." if removed else "There are no copies: nothing to remove.")


def _ingest_dump(
    kind: str | None, path: Path, out: Path | None, tags: str | None, site: str | None, as_json: bool
) -> None:
    if kind != "stackexchange":
        raise InputError(
            f"a PATH can only be read as `stackexchange`, not as {kind!r}: "
            f"quaestor ingest stackexchange {path} --out DIR"
        )
    if out is None:
        raise InputError(f"--out is missing: quaestor ingest stackexchange {path} --out DIR")
    chosen_tags = tuple(tag.strip() for tag in tags.split(",") if tag.strip()) if tags is not None else ()
    if tags is not None and not chosen_tags:
        raise InputError("--tags is empty: name tags, as in --tags 'pandas,tensorflow*', or leave it out")
    # Hashing takes as long as everything else, so it starts while the libraries are still loading.
    hashing = BackgroundHasher()
    hashing.start([path] if path.is_file() else sorted(path.glob("*.xml")))
    from quaestor.evidence.ingest import ingest_stackexchange

    with progress_bar() as progress:
        report = ingest_stackexchange(path, out, tags=chosen_tags, site=site, progress=progress, hashing=hashing)
    if as_json:
        print_json(report.as_json())
    else:
        _show(report)


def _show(report: IngestReport) -> None:
    from rich.markup import escape
    from rich.table import Table

    screen = console()
    manifest = report.manifest
    if report.unchanged and not manifest.made:
        rows = manifest.tables["items"].rows
        screen.print(f"Nothing to ingest: {number(rows)} items, read from {report.out.name} when they are needed.")
        return
    if report.unchanged:
        time = manifest.made[:16].replace("T", " ")
        screen.print(f"Nothing to do: {report.out} already has this evidence, ingested {time} UTC.", soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("table")
    for heading in ("read", "kept", "rejected"):
        table.add_column(heading, justify="right")
    for name, entry in manifest.tables.items():
        table.add_row(name, number(entry.read), number(entry.rows), number(entry.rejected))
    screen.print(table)
    if "posts" in manifest.tables:
        notable = manifest.tables["posts"].notable
        counts = [f"{number(notable.get(name, 0))} {name}" for name in ("questions", "answers", "accepted", "closed")]
        screen.print(", ".join(counts))
    if report.resumed:
        screen.print(f"Reused from an interrupted run: {', '.join(report.resumed)}.")
    for name, entry in manifest.tables.items():
        if entry.rejected:
            rejected = f"{count_of(entry.rejected, 'row')} of {name} rejected, listed in {report.rejects(name)}"
            screen.print(escape(f"{rejected}; the first: {report.first_reason(name)}"), soft_wrap=True)
        if entry.unknown:
            columns = ", ".join(f"{key} ({number(count)})" for key, count in entry.unknown.items())
            title = (
                "Columns not mapped, kept in other"
                if manifest.kind == "table"
                else f"Unknown attributes in {name}, kept in other_attributes"
            )
            screen.print(escape(f"{title}: {columns}"), soft_wrap=True)
    for note in manifest.notes:
        screen.print(escape(f"Note: {note}"), soft_wrap=True)
    if not any(entry.rows for entry in manifest.tables.values()):
        screen.print("[yellow]Nothing was kept.[/yellow] Check the tags, the column mapping and the rejected rows.")
    rate = manifest.text_bytes / 1e6 / max(manifest.seconds, 0.001)
    screen.print(
        f"{manifest.text_bytes / 1e6:,.1f} MB in {manifest.seconds:.1f} s ({rate:,.0f} MB/s) into {report.out}",
        soft_wrap=True,
    )
