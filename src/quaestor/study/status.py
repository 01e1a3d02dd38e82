"""What a study has done and what comes next."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.corpus.evidence import read_manifest
from quaestor.study.coding_status import Stage, coding_stages
from quaestor.study.folder import Study
from quaestor.study.sources import what_changed

_MANY_REJECTED = 0.05


@dataclass(frozen=True)
class Status:
    """The whole way so far, and the next thing to do."""

    title: str
    stages: tuple[Stage, ...]
    next: str


def study_status(study: Study) -> Status:
    """Look at what is there; nothing is computed."""
    sources = [_source(study, name) for name in study.settings.sources]
    funnel = _funnel(study)
    coding, coding_next = coding_stages(study)
    following = _next(study, sources, funnel) or coding_next
    return Status(
        study.settings.study.title or study.settings.study.name,
        (*sources, funnel, *coding),
        following or "quaestor serve, to look at what each step kept and dropped",
    )


def _source(study: Study, name: str) -> Stage:
    manifest = read_manifest(study.evidence_of(name))
    if manifest is not None:
        changed = what_changed(study, name)
        if changed:
            return Stage(f"source {name}", "stale", changed)
        rows = sum(entry.rows for entry in manifest.tables.values())
        rejected = sum(entry.rejected for entry in manifest.tables.values())
        notes = f"; {'; '.join(manifest.notes)}" if manifest.notes else ""
        made = manifest.made[:16].replace("T", " ")
        detail = f"{rows:,} rows, {rejected:,} rejected, ingested {made} UTC{notes}"
        return Stage(f"source {name}", "doubtful" if rejected > rows * _MANY_REJECTED else "done", detail)
    path = study.path_of(name)
    if path.exists():
        return Stage(f"source {name}", "waiting", f"{path} is there, not ingested yet")
    return Stage(f"source {name}", "none", f"{path} does not exist")


def _funnel(study: Study) -> Stage:
    steps = study.settings.funnel.steps
    if not steps:
        return Stage("funnel", "none", "no steps in study.toml")
    from quaestor.study.funnel import last_result

    found = last_result(study) if study.settings.sources else None
    if found is None:
        return Stage("funnel", "waiting", f"{len(steps)} steps, not run yet")
    result, holds = found
    counts = " → ".join(f"{step.kept:,}" for step in result.steps)
    pending = f"; waits for the round {result.waits_for}" if result.waits_for else ""
    if not holds:
        return Stage("funnel", "stale", f"{counts} (evidence, study.toml or a round's decisions changed)".strip())
    return Stage("funnel", "done", f"{counts}{pending}")


def _next(study: Study, sources: list[Stage], funnel: Stage) -> str:
    if not sources:
        return f"add a source to {study.file}"
    for stage in sources:
        name = stage.name.removeprefix("source ")
        if stage.state == "none":
            return f"put the input of {name} at {study.path_of(name)}, or correct sources.{name}.path in {study.file}"
        if stage.state in ("waiting", "stale"):
            return f"quaestor ingest {name}"
    if funnel.state == "none":
        return f"add [[funnel.steps]] to {study.file}"
    if funnel.state in ("waiting", "stale"):
        return "quaestor funnel"
    return ""
