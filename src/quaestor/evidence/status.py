"""The status of a study's sources and of its funnel."""

from __future__ import annotations

from typing import Any

from quaestor.base.names import count_of
from quaestor.evidence.dataset import read_manifest
from quaestor.evidence.funnel import last_result
from quaestor.evidence.ingest import describe_change
from quaestor.study.contributions import Next, StatusLine, StatusPart, StatusRequest
from quaestor.study.features import find_input_maker
from quaestor.study.folder import Study
from quaestor.study.session import Session

_MANY_REJECTED = 0.05


def evidence_status(request: StatusRequest) -> StatusPart:
    """Returns a line for each source and one for the funnel of each strand, with the next command to run."""
    study = request.study
    sources = [_describe_source(study, name) for name in study.settings.sources]
    funnels = [_describe_funnel(strand, request.session) for strand in study.in_each_strand()]
    command = _choose_next_command(study, sources, funnels)
    return StatusPart(
        (*sources, *funnels),
        Next(command) if command else None,
        is_evidence=True,
        is_empty=not (sources or study.settings.strands or study.funnel.steps),
    )


def _describe_source(study: Study, name: str) -> StatusLine:
    manifest = read_manifest(study.evidence_of(name))
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
    if maker := find_input_maker(study, name):
        return StatusLine(f"source {name}", "waiting", f"made of {maker.input_made_of} by `{maker.input_command}`")
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
        if line.state in ("waiting", "stale"):
            maker = None if study.path_of(name).exists() else find_input_maker(study, name)
            return maker.input_command if maker else f"quaestor ingest {name}"
    states = {funnel.state for funnel in funnels}
    if "none" in states:
        return f"add [[funnel.steps]] to {study.file}"
    return "quaestor funnel" if states & {"waiting", "stale"} else ""
