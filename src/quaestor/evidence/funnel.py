"""Run a study's funnel: counts, the step at which each item was dropped, examples, candidates."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import duckdb
import ibis.expr.types as ir
import pyarrow.parquet as pq
from ibis.backends.duckdb import Backend

from quaestor.base.errors import SettingsError, StateError
from quaestor.base.files import as_private_as, fsync, sole_user, write_whole
from quaestor.base.names import listed, nearest_first
from quaestor.evidence.dataset import read_manifest
from quaestor.evidence.engine import engine
from quaestor.evidence.funnel_expression import DROPPED_AT, Funnel, counts_of, describe, shuffled
from quaestor.evidence.ingest import evidence_stamp, file_stamp
from quaestor.evidence.items import (
    choose_rows,
    identity_schema,
    item_id,
    item_link,
    number_of,
    read_answers,
    read_items,
    read_left_out,
    with_identity,
)
from quaestor.evidence.records import Example, FunnelResult, Manifest, StepResult
from quaestor.render.figures.records import Figure, Kept
from quaestor.study.contributions import RoundOutcomes
from quaestor.study.features import open_round_outcomes
from quaestor.study.folder import Study, has_journal
from quaestor.study.session import Session
from quaestor.study.settings.evidence import StepSettings

RESULT, DROPPED_AT_FILE, CANDIDATES = "funnel.json", "fell.parquet", "candidates.parquet"
SHOWN = ("id", "title", "tags", "creation_date", "score", "view_count", "body")
_NOT_RUN = "the funnel has not run yet: run `quaestor funnel` first"


def _round_outcomes(study: Study, session: Session[Any] | None = None) -> tuple[RoundOutcomes | None, list[str]]:
    """The rounds that steps of the funnel wait for, with their outcome; None where nobody has acted yet.

    Where the study's journal is open already, it is not read from its beginning.
    """
    rounds = [step.round for step in study.settings.funnel.steps if step.round]
    if not rounds or not has_journal(study):
        return None, rounds
    return open_round_outcomes(session or study), rounds


def _decided(study: Study, session: Session[Any] | None = None) -> dict[str, list[str]]:
    outcomes, rounds = _round_outcomes(study, session)
    return outcomes.kept_items(rounds) if outcomes else {}


@dataclass(frozen=True)
class _Run:
    """A funnel with its evidence at hand."""

    study: Study
    manifest: Manifest
    connection: Backend
    items: ir.Table
    steps: tuple[StepSettings, ...]
    pending: tuple[StepSettings, ...]
    decided: dict[str, list[str]]

    @property
    def evidence(self) -> Path:
        return self.study.evidence_of(self.study.funnel_source())

    @property
    def seed(self) -> int:
        return self.study.settings.study.seed

    @property
    def left_out(self) -> int:
        """Questions that the ingest left out by tag, where the first step asks for those very tags."""
        if "posts" not in self.manifest.tables or not self.steps or not self.manifest.settings.get("tags"):
            return 0
        families = self.study.settings.families
        asked = {tag.lower() for name in self.steps[0].tags for tag in families.get(name, (name,))}
        if asked != set(self.manifest.settings["tags"]):
            return 0
        notable = self.manifest.tables["posts"].notable
        return int(notable.get("questions_read", 0)) - notable["questions"]


@contextmanager
def _open_run(study: Study) -> Iterator[_Run]:
    source = study.funnel_source()
    evidence = study.evidence_of(source)
    manifest = read_manifest(evidence)
    if manifest is None:
        raise StateError(f"the source {source!r} has no evidence yet: run `quaestor ingest {source}` first")
    all_steps = study.settings.funnel.steps
    if not all_steps:
        raise StateError(f"{study.file} has no funnel yet: add [[funnel.steps]]")
    # A step decided by a round ends what can be computed until that round has been decided.
    decided = _decided(study)
    waiting = (number for number, step in enumerate(all_steps) if step.round and step.round not in decided)
    ready = next(waiting, len(all_steps))
    study.funnel_folder.mkdir(parents=True, exist_ok=True)
    with engine(study.funnel_folder) as connection:
        items = read_items(connection, evidence)
        yield _Run(study, manifest, connection, items, all_steps[:ready], all_steps[ready:], decided)


def run_funnel(study: Study) -> FunnelResult:
    """Run the funnel and keep what it found, as private as its evidence; the same gives the same result."""
    evidence = study.evidence_of(study.funnel_source())
    as_private_as(evidence, study.funnel_folder)
    with _open_run(study) as run, sole_user(study.funnel_folder, "the funnel"):
        try:
            drops = _write_drops(run)
        except duckdb.Error as error:
            problem = str(error).partition("\n")[0]
            raise SettingsError(f"{study.file}: a step cannot be run as it stands: {problem}") from None
        steps = _read_steps(run, drops)
        _write_candidates(run, drops)
        pending = tuple(step.step for step in run.pending)
        waits_for = run.pending[0].round or "" if run.pending else ""
        note = "; ".join([*run.manifest.notes, *_notes_on_rounds(run, drops)])
        result = FunnelResult(study.funnel_source(), steps, pending, run.seed, waits_for, note)
        document = {"fingerprint": fingerprint(study, run.manifest), "result": asdict(result)}
        write_whole(study.funnel_folder / RESULT, json.dumps(document, indent=1).encode())
        as_private_as(evidence, study.funnel_folder)
        return result


def _notes_on_rounds(run: _Run, drops: ir.Table) -> list[str]:
    outcomes, _ = _round_outcomes(run.study)
    reached = {
        step.round: drops.filter(drops.fell_at >= number).select("item").to_pyarrow()["item"].to_pylist()
        for number, step in enumerate(run.steps)
        if step.round
    }
    return outcomes.notes_on(reached) if outcomes else []


def _write_drops(run: _Run) -> ir.Table:
    """Write of every item the step at which it was dropped, and read it back as a table."""
    answers, site = read_answers(run.connection, run.evidence), run.manifest.site
    settings = run.study.settings
    funnel = Funnel(run.items, answers, settings.families, settings.all_kinds(), run.decided, site)
    columns = {
        "item": item_id(run.items, site),
        "id": number_of(run.items),
        DROPPED_AT: funnel.dropped_at(run.steps).cast("int16"),
    }
    target = run.study.funnel_folder / DROPPED_AT_FILE
    unfinished = target.with_name(f".{target.name}")
    run.items.select(**columns).to_parquet(str(unfinished))
    fsync(unfinished)
    unfinished.replace(target)
    return run.connection.read_parquet(str(target))


def _read_steps(run: _Run, drops: ir.Table) -> tuple[StepResult, ...]:
    rows = drops.group_by(DROPPED_AT).agg(items=drops.count()).to_pyarrow().to_pylist()
    dropped_at = {row[DROPPED_AT]: row["items"] for row in rows}
    dropped_at[0] = dropped_at.get(0, 0) + run.left_out
    counts = counts_of(dropped_at, len(run.steps))
    left_out = read_left_out(run.connection, run.evidence, run.manifest.site) if run.left_out else None
    size = run.study.settings.funnel.examples
    results = []
    for number, (step, (entered, kept)) in enumerate(zip(run.steps, counts, strict=True)):
        # A seed of its own for each step, so that what one drops is not what the last one showed.
        order = (shuffled(drops.id, run.seed + number), drops.id)
        kept_examples, dropped_examples = (
            read_examples(run.study, run.items, chosen.order_by(order).limit(size))
            for chosen in (drops.filter(drops.fell_at > number), drops.filter(drops.fell_at == number))
        )
        if number == 0 and left_out is not None:
            few = left_out.order_by((shuffled(left_out.id, run.seed), left_out.id)).limit(size).select("item", *SHOWN)
            dropped_examples += [example_of(run.study, row) for row in few.to_pyarrow().to_pylist()]
        examples = tuple(kept_examples), tuple(dropped_examples[:size])
        results.append(StepResult(step.step, entered, kept, describe(step), *examples))
    return tuple(results)


def read_examples(study: Study, items: ir.Table, chosen: ir.Table) -> list[Example]:
    """Items as a page shows them, chosen from the table of drops and in its order."""
    keys = chosen.select("item", "id").to_pyarrow().to_pylist()
    shown = [name for name in SHOWN if name in items.columns]
    rows = choose_rows(items.select(*shown, _key=number_of(items)), "_key", [key["id"] for key in keys])
    by_number = {row["_key"]: row for row in rows.to_pyarrow().to_pylist()} if keys else {}
    return [example_of(study, {**by_number[key["id"]], "item": key["item"]}) for key in keys]


def example_of(study: Study, row: Mapping[str, Any]) -> Example:
    """A row of evidence as a page shows it."""
    created = row.get("creation_date")
    return Example(
        item=row["item"],
        title=str(row.get("title") or row["item"]),
        tags=tuple(row.get("tags") or ()),
        created=created.date().isoformat() if created else "",
        score=row.get("score"),
        views=row.get("view_count"),
        body=str(row.get("body") or "")[:4000],
        link=item_link(study, row["item"]),
    )


def _write_candidates(run: _Run, drops: ir.Table) -> None:
    """The items that passed every step so far, with identity and provenance."""
    kept = drops.filter(drops.fell_at == len(run.steps))
    rows = run.items.mutate(item=item_id(run.items, run.manifest.site), _key=number_of(run.items))
    rows = rows.semi_join(kept, rows._key == kept.id)
    columns = [name for name in run.items.columns if name not in ("item", "other_attributes", "other")]
    folder = run.study.funnel_folder
    plain, unfinished, target = (folder / name for name in (".plain.parquet", f".{CANDIDATES}", CANDIDATES))
    rows.select("item", *columns).order_by("item").to_parquet(str(plain))
    inputs = ",".join(file.sha256 for file in run.manifest.inputs)
    with pq.ParquetFile(plain) as file:
        schema = identity_schema(file.schema_arrow)
        with pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
            for batch in with_identity(file.iter_batches(10_000), run.study.funnel_source(), inputs):
                writer.write_batch(batch)
    plain.unlink()
    fsync(unfinished)
    unfinished.replace(target)


def draw(study: Study, result: FunnelResult) -> Path:
    """The funnel as an SVG in published/."""
    from quaestor.render.figures.export import write_svg

    return write_svg(_figure(result), study.published)


def drawing(result: FunnelResult) -> str:
    """The funnel as an SVG text."""
    from quaestor.render.figures.export import svg_of

    return svg_of(_figure(result))


def _figure(result: FunnelResult) -> Figure:
    from quaestor.render.figures.funnel import draw_funnel  # loading what draws takes half a second

    entered = result.steps[0].entered if result.steps else 0
    steps = [Kept(f"everything in {result.source}", entered), *(Kept(one.step, one.kept) for one in result.steps)]
    title = f"The funnel of {result.source}"
    return draw_funnel(steps, unit="items", title=title, pending=result.pending, note=result.note)


def fingerprint(study: Study, manifest: Manifest, session: Session[Any] | None = None) -> str:
    """Changes whenever the funnel would find something else."""
    settings = study.settings.model_dump(mode="json", include={"study", "families", "kinds", "funnel"})
    inputs = [asdict(file) for file in manifest.inputs]
    text = json.dumps([settings, inputs, manifest.settings, _decided(study, session)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def last_result(study: Study, session: Session[Any] | None = None) -> tuple[FunnelResult, bool] | None:
    """What the funnel found last, and whether that still holds; None where it has not run."""
    path = study.funnel_folder / RESULT
    if not path.exists():
        return None
    try:
        document = json.loads(path.read_text("utf-8"))
        raw = document["result"]
        steps = tuple(_read_step(step) for step in raw["steps"])
        result = FunnelResult(**{**raw, "steps": steps, "pending": tuple(raw["pending"])})
        manifest = read_manifest(study.evidence_of(study.funnel_source()))
        return result, manifest is not None and document["fingerprint"] == fingerprint(study, manifest, session)
    except (ValueError, KeyError, TypeError):
        raise StateError(f"{path} is damaged: run `quaestor funnel` again") from None


def _read_step(raw: Mapping[str, Any]) -> StepResult:
    sides = {
        side: tuple(Example(**{**example, "tags": tuple(example["tags"])}) for example in raw[side])
        for side in ("kept_examples", "dropped_examples")
    }
    return StepResult(**{**raw, **sides})


_CURRENT: dict[Path, tuple[object, FunnelResult]] = {}
"""By study folder: what a result depends on, and the result that holds."""


def current_result(study: Study, session: Session[Any] | None) -> FunnelResult:
    """The last result of the funnel; raises StateError where it has to run first, or again.

    Every page asks for it, so it is compared with the evidence only when something changed.
    """
    outcomes, rounds = _round_outcomes(study, session)
    depends = (
        file_stamp(study.file),
        file_stamp(study.funnel_folder / RESULT),
        evidence_stamp(study, study.funnel_source()),
        outcomes.change_stamp(rounds) if outcomes else None,
    )
    known = _CURRENT.get(study.root)
    if known is None or known[0] != depends:
        known = _CURRENT[study.root] = depends, _require_current(last_result(study, session))
    return known[1]


def _require_current(last: tuple[FunnelResult, bool] | None) -> FunnelResult:
    if last is None:
        raise StateError(_NOT_RUN)
    if not last[1]:
        raise StateError("evidence or study.toml changed since the funnel ran: run `quaestor funnel` again")
    return last[0]


def step_number(study: Study, name: str) -> int:
    """The number of a step by its name."""
    names = [step.step for step in study.settings.funnel.steps]
    if name not in names:
        raise StateError(f"the funnel has no step {name!r}, allowed: {listed(nearest_first(name, names))}")
    return names.index(name)


def dropped_at_file(study: Study, session: Session[Any] | None = None) -> Path:
    """The file that says of each item at which step it was dropped."""
    path = study.funnel_folder / DROPPED_AT_FILE
    _require_current(last_result(study, session) if path.exists() else None)
    return path


def read_passed(study: Study, step: int) -> Sequence[str]:
    """The items that passed a step, by its number."""
    table = pq.read_table(dropped_at_file(study), filters=[(DROPPED_AT, ">", step)], columns=["item"])
    return cast(Sequence[str], table["item"].to_pylist())
