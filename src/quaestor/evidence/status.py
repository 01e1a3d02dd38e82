"""The status of a study's sources and of its funnel."""

from __future__ import annotations

from typing import Any

from quaestor.base.names import count_of
from quaestor.evidence.erasure import list_copies
from quaestor.evidence.funnel import last_result
from quaestor.evidence.ingest import describe_change
from quaestor.evidence.live_items import read_source_manifest
from quaestor.study.contributions import Next, StatusLine, StatusPart, StatusRequest
from quaestor.study.features import find_live_source
from quaestor.study.folder import Study
from quaestor.study.session import Session

_MANY_REJECTED = 0.05


def evidence_status(request: StatusRequest) -> StatusPart:
    """Returns a line for each source and one for the funnel of each strand, with the next command to run."""
    study = request.study
    sources = [_describe_source(study, name, request.session) for name in study.settings.sources]
    funnels = [_describe_funnel(strand, request.session) for strand in study.in_each_strand()]
    command = _choose_next_command(study, sources, funnels)
    copies = list_copies(study)
    if copies:
        detail = f"an earlier version copied words of answers or interviews to {count_of(len(copies), 'place')}"
        funnels.append(StatusLine("copies", "stale", f"{detail}: run `quaestor remove-copies`"))
    return StatusPart(
        (*sources, *funnels),
        Next(command) if command else Next("quaestor remove-copies", is_optional=True) if copies else None,
        is_evidence=True,
        is_empty=not (sources or study.settings.strands or study.funnel.steps),
    )


def _describe_source(study: Study, name: str, session: Session[Any] | None) -> StatusLine:
    manifest = read_source_manifest(study, name, session)
    live = find_live_source(study, name)
    if live is not None:
        items = manifest.tables["items"].rows if manifest else 0
        if not items:
            return StatusLine(f"source {name}", "waiting", f"no items yet; they are made of {live.items_are}")
        return StatusLine(f"source {name}", "done", f"{items:,} items, read from {live.file} when they are needed")
    if manifest is not None:
        changed = describe_change(study, name)
        if changed:
            return StatusLine(f"source {name}", "stale", changed)
        rows = sum(entry.rows for entry in manifest.tables.values())
        rejected = sum(entry.rejected for entry in manifest.tables.values())
        notes = f"; {'; '.join(manifest.notes)}" if manifest.notes else ""
        ingested = manifest.made[:16].replace("T", " ")
        detail = f"{rows:,} rows, {rejected:,} rejected, ingested {ingested} UTC{notes}"
        return StatusLine(f"source {name}", "doubtful" if rejected > rows * _MANY_REJECTED else "done", detail)
    path = study.path_of(name)
    if path.exists():
        return StatusLine(f"source {name}", "waiting", f"{path} exists, not ingested yet")
    return StatusLine(f"source {name}", "none", f"{path} does not exist")


def _describe_funnel(study: Study, session: Session[Any] | None) -> StatusLine:
    name, steps = f"strand {study.strand}" if study.strand else "funnel", study.funnel.steps
    if not steps and not study.strand:
        return StatusLine(name, "none", "no steps in study.toml")
    last = last_result(study, session) if study.settings.sources else None
    if last is None:
        return StatusLine(name, "waiting", f"{count_of(len(steps), 'step')}, not run yet")
    result, is_current = last
    counts = " → ".join(f"{step.kept:,}" for step in result.steps) or f"all {result.entered:,}"
    pending = f"; waits for the round {result.waits_for}" if result.waits_for else ""
    if not is_current:
        return StatusLine(name, "stale", f"{counts} (evidence, study.toml or a round's decisions changed)".strip())
    return StatusLine(name, "done", f"{counts}{pending}")


def _choose_next_command(study: Study, sources: list[StatusLine], funnels: list[StatusLine]) -> str:
    if not sources:
        return f"add a source to {study.file}"
    for line in sources:
        name = line.name.removeprefix("source ")
        if line.state == "none":
            return f"put the input of {name} at {study.path_of(name)}, or correct sources.{name}.path in {study.file}"
        if line.state in ("waiting", "stale") and find_live_source(study, name) is None:
            return f"quaestor ingest {name}"
    # Sources that still wait are live ones, whose funnels cannot run before people have answered.
    empty = {line.name.removeprefix("source ") for line in sources if line.state == "waiting"}
    strands = zip(study.in_each_strand(), funnels, strict=True)
    states = {funnel.state for strand, funnel in strands if not empty or not empty.issuperset(strand.funnel_sources())}
    if "none" in states:
        return f"add [[funnel.steps]] to {study.file}"
    return "quaestor funnel" if states & {"waiting", "stale"} else ""
