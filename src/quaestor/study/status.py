"""What a study has done and what comes next."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.coding.state import State
from quaestor.corpus.evidence import read_manifest
from quaestor.study.coding import Coding, open_coding
from quaestor.study.coding_status import Next, Stage, coding_way, gates_of
from quaestor.study.erasures import describe_pending_erasures, finish_erasures
from quaestor.study.folder import Study
from quaestor.study.interviews.room import Interviews
from quaestor.study.interviews.status import awaits_items, interview_way
from quaestor.study.journal import has_journal
from quaestor.study.sources import what_changed
from quaestor.study.surveys.status import survey_way

_MANY_REJECTED = 0.05


@dataclass(frozen=True)
class Status:
    """The whole way so far, and the next thing to do."""

    title: str
    stages: tuple[Stage, ...]
    next: str


def study_status(study: Study, coding: Coding | None = None, interviews: Interviews | None = None) -> Status:
    """Look at what is there; nothing is computed but what a round had to reach."""
    return status_and_next(study, coding, interviews)[0]


def status_and_next(
    study: Study, coding: Coding | None, interviews: Interviews | None = None, *, wait: bool = True
) -> tuple[Status, Next | None]:
    """The same with the next thing to do, where that is done in the rounds, the codebook, a survey or interviews.

    Who does not wait is told of a large round that its agreement is being worked out.
    """
    if coding is None and has_journal(study):
        with open_coding(study) as opened:
            return status_and_next(study, opened, wait=wait)
    finish_erasures(study.root)
    sources = [_source(study, name) for name in study.settings.sources]
    funnel = _funnel(study, coding)
    stages, then = _coding(study, coding, wait)
    asked, survey = survey_way(coding or study)
    talks, talk = interview_way(coding or study, interviews)
    asked = [*asked, *talks]
    people_first = not sources or awaits_items(study)
    before = "" if asked and people_first else _next(study, sources, funnel)
    then = (survey or talk or then) if people_first else (then or survey or talk)
    status = Status(
        study.settings.study.title or study.settings.study.name,
        (
            *sources,
            *([] if asked and not (sources or study.settings.funnel.steps) else [funnel]),
            *asked,
            *stages,
            *_erasures(study),
        ),
        before or (then.command if then else "quaestor serve, to look at what each step kept and dropped"),
    )
    return status, None if before else then


def _coding(study: Study, coding: Coding | None, wait: bool) -> tuple[list[Stage], Next | None]:
    if coding is None:
        return coding_way(study, State(), {})
    gates = gates_of(coding, wait=wait)
    with coding.looking() as state:
        return coding_way(study, state, gates)


def _erasures(study: Study) -> list[Stage]:
    pending = describe_pending_erasures(study.root)
    return [Stage("erasure", "stale", pending)] if pending else []


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
    if awaits_items(study):
        return Stage(f"source {name}", "waiting", "made of transcripts by `quaestor interview items`")
    return Stage(f"source {name}", "none", f"{path} does not exist")


def _funnel(study: Study, coding: Coding | None) -> Stage:
    steps = study.settings.funnel.steps
    if not steps:
        return Stage("funnel", "none", "no steps in study.toml")
    from quaestor.study.funnel import last_result

    found = last_result(study, coding) if study.settings.sources else None
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
