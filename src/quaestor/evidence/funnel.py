"""Runs a study's funnel: counts, the step that dropped each item, examples and candidates."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from quaestor.base.errors import SettingsError, StateError
from quaestor.base.files import fsync, lock_folder, match_privacy, write_atomically
from quaestor.base.names import join_with_and
from quaestor.evidence.dataset import read_manifest
from quaestor.evidence.engine import Backend, engine, ibis, ir
from quaestor.evidence.funnel_expression import DROPPED_AT, Funnel, count_items_per_step, describe_step, shuffle_key
from quaestor.evidence.ingest import evidence_stamp, file_stamp
from quaestor.evidence.items import (
    SOURCE,
    add_identity,
    choose_rows,
    identity_schema,
    item_key,
    item_link,
    item_number,
    read_answers,
    read_items,
    read_left_out,
    select_drops,
)
from quaestor.evidence.live_items import (
    has_live_source,
    live_stamp,
    read_funnel_manifests,
    read_source_manifest,
    select_live_items,
)
from quaestor.evidence.records import ExampleItem, FunnelResult, Manifest, SampledStep, StepResult
from quaestor.measures.descriptive import share
from quaestor.render.figures.records import Figure, FunnelStep
from quaestor.study.contributions import RoundOutcomes
from quaestor.study.features import find_live_source, open_round_outcomes
from quaestor.study.folder import Study, has_journal
from quaestor.study.session import Session
from quaestor.study.settings.evidence import StepSettings

RESULT, DROPPED_AT_FILE, CANDIDATES = "funnel.json", "fell.parquet", "candidates.parquet"
UNSEEN = "unseen"
"""The stored column that is true for items that a round did not keep because nobody rated them."""
EXAMPLE_COLUMNS = ("id", "title", "tags", "creation_date", "score", "view_count", "body")
_NOT_RUN = "the funnel has not run yet: run `quaestor funnel` first"


def _round_outcomes(study: Study, session: Session[Any] | None = None) -> tuple[RoundOutcomes | None, list[str]]:
    """Returns the outcomes of the rounds in the funnel and their names; no outcomes if the study has no journal yet.

    An open session saves reading the whole journal.
    """
    rounds = [step.round for step in study.funnel.steps if step.round]
    if not rounds or not has_journal(study):
        return None, rounds
    return open_round_outcomes(session or study), rounds


def _read_kept_items(study: Study, session: Session[Any] | None = None) -> dict[str, list[str]]:
    outcomes, rounds = _round_outcomes(study, session)
    return outcomes.kept_items(rounds) if outcomes else {}


@dataclass(frozen=True)
class _OpenSource:
    """A source of a funnel with its open evidence."""

    name: str
    manifest: Manifest
    items: ir.Table


@dataclass(frozen=True)
class _Run:
    """A funnel with its open evidence, while it runs."""

    study: Study
    sources: tuple[_OpenSource, ...]
    connection: Backend
    steps: tuple[StepSettings, ...]
    pending: tuple[StepSettings, ...]
    decided: dict[str, list[str]]
    rated: dict[str, frozenset[str]]
    """By round of the funnel: the items that somebody rated."""
    is_live: bool
    """Whether the items are read from a private file, whose words are not copied."""

    @property
    def seed(self) -> int:
        return self.study.settings.study.seed

    @property
    def items(self) -> dict[str, ir.Table]:
        """The items by source."""
        return {source.name: source.items for source in self.sources}

    @property
    def left_out(self) -> int:
        """How many questions the ingest of all sources skipped by tag, of those that the first step would drop."""
        return sum(self.count_left_out(source.manifest) for source in self.sources)

    def count_left_out(self, manifest: Manifest) -> int:
        """Returns how many questions an ingest skipped by tag, if the first step selects exactly the same tags."""
        if "posts" not in manifest.tables or not self.steps or not manifest.settings.get("tags"):
            return 0
        families = self.study.settings.families
        step_tags = {tag.lower() for name in self.steps[0].tags for tag in families.get(name, (name,))}
        if step_tags != set(manifest.settings["tags"]):
            return 0
        notable = manifest.tables["posts"].notable
        return int(notable.get("questions_read", 0)) - notable["questions"]


@contextmanager
def _open_run(study: Study) -> Iterator[_Run]:
    manifests = read_funnel_manifests(study)
    all_steps = study.funnel.steps
    if not all_steps and not study.strand:
        raise StateError(f"{study.file} has no funnel yet: add [[funnel.steps]]")
    # Steps after a round cannot be computed before the round is settled.
    decided = _read_kept_items(study)
    waiting = (number for number, step in enumerate(all_steps) if step.round and step.round not in decided)
    ready = next(waiting, len(all_steps))
    study.funnel_folder.mkdir(parents=True, exist_ok=True)
    with engine(study.funnel_folder) as connection:
        items = {source: _read_entering(connection, study, source) for source in manifests}
        sources = tuple(_OpenSource(source, manifests[source], table) for source, table in items.items())
        outcomes, _ = _round_outcomes(study)
        rated = {step.round: outcomes.rated_items(step.round) for step in all_steps[:ready] if step.round and outcomes}
        ready_steps, pending = all_steps[:ready], all_steps[ready:]
        is_live = has_live_source(study)
        yield _Run(study, sources, connection, ready_steps, pending, decided, rated, is_live=is_live)


def _read_entering(connection: Backend, study: Study, source: str) -> ir.Table:
    """Returns the items of a source without those of a live source that the lead excluded."""
    items, live = read_items(connection, study, source), find_live_source(study, source)
    if live is None:
        return items
    entering = select_live_items(study, source, live)
    return items.semi_join(ibis.memtable(entering.select(["row_number"])), "row_number")


def _match_privacy_of_sources(study: Study) -> None:
    for source in study.funnel_sources():
        live = find_live_source(study, source)
        match_privacy(study.root / live.file if live else study.evidence_of(source), study.funnel_folder)


def run_funnel(study: Study) -> FunnelResult:
    """Runs the funnel and stores its result with the file permissions of the evidence; deterministic."""
    _match_privacy_of_sources(study)
    with _open_run(study) as run, lock_folder(study.funnel_folder, "the funnel"):
        try:
            drops = _write_drops(run)
        except duckdb.Error as error:
            problem = str(error).partition("\n")[0]
            raise SettingsError(f"{study.file}: a funnel step failed: {problem}") from None
        steps = _read_steps(run, drops)
        _write_candidates(run, drops)
        pending = tuple(step.step for step in run.pending)
        waits_for = run.pending[0].round or "" if run.pending else ""
        notes = dict.fromkeys(note for source in run.sources for note in source.manifest.notes)
        note = "; ".join([*notes, *_notes_on_rounds(run, drops)])
        entered = int(drops.count().to_pyarrow().as_py()) + run.left_out
        sources = join_with_and(study.funnel_sources())
        result = FunnelResult(sources, steps, pending, run.seed, waits_for, note, entered)
        document = {
            "fingerprint": compute_fingerprint(study, [source.manifest for source in run.sources]),
            "rated": _fingerprint_rated(study),
            "result": asdict(_remove_words(result) if run.is_live else result),
        }
        write_atomically(study.funnel_folder / RESULT, json.dumps(document, indent=1).encode())
        _match_privacy_of_sources(study)
        return result


def _remove_words(result: FunnelResult) -> FunnelResult:
    """Returns a result with only the ids of its examples, whose words pages read when they show them."""

    def keep_ids(examples: Sequence[ExampleItem]) -> tuple[ExampleItem, ...]:
        return tuple(replace(example, title=example.item, body="") for example in examples)

    steps = (
        replace(step, kept_examples=keep_ids(step.kept_examples), dropped_examples=keep_ids(step.dropped_examples))
        for step in result.steps
    )
    return replace(result, steps=tuple(steps))


def _notes_on_rounds(run: _Run, drops: ir.Table) -> list[str]:
    outcomes, _ = _round_outcomes(run.study)
    reached = {step.round: _read_reached(drops, number) for number, step in enumerate(run.steps) if step.round}
    return outcomes.notes_on(reached) if outcomes else []


def _read_reached(drops: ir.Table, number: int) -> list[str]:
    """Returns the items that reached a step."""
    return cast(list[str], drops.filter(drops.fell_at >= number).select("item").to_pyarrow()["item"].to_pylist())


def _count_sampled(run: _Run, drops: ir.Table, number: int) -> SampledStep | None:
    """Returns what the round of a step did, if nobody looked at some of the items that reached it."""
    name = run.steps[number].round
    outcomes, _ = _round_outcomes(run.study)
    if not name or outcomes is None:
        return None
    reached = _read_reached(drops, number)
    counts = outcomes.count_items(name, reached)
    not_drawn = len(reached) - counts.drawn
    if not not_drawn and counts.rated == counts.drawn:
        return None
    # Items of an earlier round, or items that meet a condition, are no random sample of those that reached this step.
    settings = next((settings for settings in run.study.settings.rounds if settings.round == name), None)
    is_random = settings is not None and not (settings.items.kept_by or settings.items.again or settings.items.where)
    kept_share = share(counts.kept, counts.kept + counts.excluded)
    if not is_random or kept_share.value is None or kept_share.low is None or kept_share.high is None:
        return SampledStep(counts.drawn, counts.rated, counts.excluded, not_drawn)
    most = len(reached) - counts.excluded
    bounds = (min(max(counts.kept, bound * len(reached)), most) for bound in (kept_share.low, kept_share.high))
    return SampledStep(counts.drawn, counts.rated, counts.excluded, not_drawn, kept_share.value * len(reached), *bounds)


def _write_drops(run: _Run) -> ir.Table:
    """Writes the step that dropped each item to a file, and returns that file as a table."""
    drops = [_select_drops(run, source) for source in run.sources]
    target = run.study.funnel_folder / DROPPED_AT_FILE
    unfinished = target.with_name(f".{target.name}")
    (ibis.union(*drops) if len(drops) > 1 else drops[0]).to_parquet(str(unfinished))
    if len(drops) > 1:
        try:
            _refuse_repeated_ids(run, run.connection.read_parquet(str(unfinished)))
        except StateError:
            unfinished.unlink()
            raise
    fsync(unfinished)
    unfinished.replace(target)
    return run.connection.read_parquet(str(target))


def _select_drops(run: _Run, source: _OpenSource) -> ir.Table:
    """Returns the step that dropped each item of a source, with the name of the source if the funnel has several."""
    items, settings, has_several = source.items, run.study.settings, len(run.sources) > 1
    answers = read_answers(run.connection, run.study.evidence_of(source.name))
    funnel = Funnel(items, answers, settings.families, settings.all_kinds(), run.decided)
    try:
        dropped_at = funnel.dropped_at(run.steps)
    except SettingsError as error:
        if not has_several:
            raise
        raise SettingsError(f"the source {source.name!r}: {error}") from None
    unseen = ibis.literal(False)
    for number, step in enumerate(run.steps):
        if step.round:
            unseen |= (dropped_at == number) & ~items.item.isin(sorted(run.rated[step.round]))
    columns = {"item": items.item, "id": item_number(items), DROPPED_AT: dropped_at.cast("int16"), UNSEEN: unseen}
    return items.select(**columns, **({SOURCE: ibis.literal(source.name)} if has_several else {}))


def _refuse_repeated_ids(run: _Run, drops: ir.Table) -> None:
    sources = drops.group_by("item").agg(first=drops[SOURCE].min(), last=drops[SOURCE].max())
    repeated = sources.filter(sources.first != sources.last).order_by("item").limit(1).to_pyarrow().to_pylist()
    for row in repeated:
        raise StateError(
            f"the sources {row['first']!r} and {row['last']!r} both have an item {row['item']!r}: give them different "
            f"ids, for example by `item` in {run.study.file}, or put the sources in separate strands"
        )


def _read_steps(run: _Run, drops: ir.Table) -> tuple[StepResult, ...]:
    rows = drops.group_by(DROPPED_AT).agg(items=drops.count()).to_pyarrow().to_pylist()
    dropped_at = {row[DROPPED_AT]: row["items"] for row in rows}
    dropped_at[0] = dropped_at.get(0, 0) + run.left_out
    counts = count_items_per_step(dropped_at, len(run.steps))
    left_out = _read_skipped(run)
    size = run.study.funnel.examples
    results = []
    for number, (step, (entered, kept)) in enumerate(zip(run.steps, counts, strict=True)):
        # Each step has its own seed, so that consecutive steps do not show the same examples.
        order = (shuffle_key(drops.id, run.seed + number), drops.id, drops.item)
        kept_examples, dropped_examples = (
            read_examples(run.study, run.items, chosen.order_by(order).limit(size))
            for chosen in (drops.filter(drops.fell_at > number), filter_dropped(drops, number))
        )
        if number == 0 and left_out is not None:
            skipped = left_out.order_by((shuffle_key(left_out.id, run.seed), left_out.id, left_out.item)).limit(size)
            dropped_examples += [build_example(run.study, row) for row in skipped.to_pyarrow().to_pylist()]
        examples = tuple(kept_examples), tuple(dropped_examples[:size])
        sampled = _count_sampled(run, drops, number)
        results.append(StepResult(step.step, entered, kept, describe_step(step), *examples, sampled=sampled))
    return tuple(results)


def _read_skipped(run: _Run) -> ir.Table | None:
    """Returns the stored examples of the questions that count as dropped by the first step; None if there are none."""
    tables = [
        table.select("item", *EXAMPLE_COLUMNS)
        for source in run.sources
        if run.count_left_out(source.manifest)
        and (table := read_left_out(run.connection, run.study, source.name, source.manifest.site)) is not None
    ]
    return (ibis.union(*tables) if len(tables) > 1 else tables[0]) if tables else None


def filter_dropped(drops: ir.Table, number: int) -> ir.Table:
    """Returns the items that a step dropped, without those that nobody looked at."""
    dropped = drops.filter(drops.fell_at == number)
    return dropped.filter(~dropped[UNSEEN]) if UNSEEN in drops.columns else dropped  # older files lack the column


def read_examples(study: Study, items_by_source: Mapping[str, ir.Table], chosen: ir.Table) -> list[ExampleItem]:
    """Returns the chosen items as examples, in the order of the table of drops."""
    keys = chosen.select([name for name in ("item", "id", SOURCE) if name in chosen.columns]).to_pyarrow().to_pylist()
    examples = {}
    for source, items in items_by_source.items():
        column, own_keys = item_key(items), [key for key in keys if key.get(SOURCE, source) == source]
        shown = [name for name in EXAMPLE_COLUMNS if name in items.columns]
        rows = choose_rows(items.select(*shown, _key=items[column]), "_key", [key[column] for key in own_keys])
        by_key = {row["_key"]: row for row in rows.to_pyarrow().to_pylist()} if own_keys else {}
        for key in own_keys:
            examples[key["item"]] = build_example(study, {**by_key[key[column]], "item": key["item"]})
    return [examples[key["item"]] for key in keys]


def build_example(study: Study, row: Mapping[str, Any]) -> ExampleItem:
    """Converts a row of evidence to an example."""
    created = row.get("creation_date")
    return ExampleItem(
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
    """Writes the items that passed every step so far, with content hash and provenance; never those of live sources."""
    if run.is_live:
        (run.study.funnel_folder / CANDIDATES).unlink(missing_ok=True)
        return
    kept = drops.filter(drops.fell_at == len(run.steps))
    folder = run.study.funnel_folder
    unfinished, target = folder / f".{CANDIDATES}", folder / CANDIDATES
    plain = [(source, folder / f".plain-{number}.parquet") for number, source in enumerate(run.sources)]
    try:
        for source, path in plain:
            own = select_drops(kept, run.study, source.name)
            rows = source.items.mutate(_key=item_number(source.items))
            rows = rows.semi_join(own, rows._key == own.id)
            columns = [name for name in source.items.columns if name not in ("item", "other_attributes", "other")]
            rows.select("item", *columns).order_by("item").to_parquet(str(path))
        schema = _unify_schemas(run.study, [pq.read_schema(path) for _, path in plain])
        with pq.ParquetWriter(unfinished, identity_schema(schema), compression="zstd") as writer:
            for source, path in plain:
                inputs = ",".join(file.sha256 for file in source.manifest.inputs)
                with pq.ParquetFile(path) as file:
                    batches = (_complete_columns(batch, schema) for batch in file.iter_batches(10_000))
                    for batch in add_identity(batches, source.name, inputs):
                        writer.write_batch(batch)
    finally:
        for _, path in plain:
            path.unlink(missing_ok=True)
    fsync(unfinished)
    unfinished.replace(target)


def _unify_schemas(study: Study, schemas: Sequence[pa.Schema]) -> pa.Schema:
    """Returns a schema with the columns of all sources."""
    try:
        return pa.unify_schemas(schemas) if len(schemas) > 1 else schemas[0]
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        sources = join_with_and(study.funnel_sources())
        problem = str(error).partition("\n")[0]
        raise SettingsError(
            f"{study.file}: the sources {sources} have a column of different types ({problem}): give it one type in all"
        ) from None


def _complete_columns(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Returns a batch with the columns of a schema; those it lacks are null."""
    if batch.schema.names == schema.names:
        return batch
    columns = [
        batch.column(field.name) if field.name in batch.schema.names else pa.nulls(batch.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def write_funnel_svg(study: Study, result: FunnelResult) -> Path:
    """Writes the funnel as an SVG to published/ and returns its path."""
    from quaestor.render.figures.export import write_svg

    return write_svg(_figure(result, f"funnel-{study.strand}" if study.strand else "funnel"), study.published)


def render_funnel_svg(result: FunnelResult) -> str:
    """Returns the funnel as SVG."""
    from quaestor.render.figures.export import render_svg

    return render_svg(_figure(result, "funnel"))


def _figure(result: FunnelResult, name: str) -> Figure:
    from quaestor.render.figures.funnel import draw_funnel  # importing the drawing library takes half a second

    steps = [
        FunnelStep(f"everything in {result.source}", result.entered),
        *(FunnelStep(step.step, step.kept, step.describe_sample()) for step in result.steps),
    ]
    title = f"The funnel of {result.source}"
    return draw_funnel(steps, unit="items", name=name, title=title, pending=result.pending, note=result.note)


def compute_fingerprint(study: Study, manifests: Sequence[Manifest], session: Session[Any] | None = None) -> str:
    """Returns a hash of everything that the funnel's result depends on, given the manifests of its sources."""
    settings = study.settings.model_dump(mode="json", include={"study", "families", "kinds"})
    settings["funnel"] = study.funnel.model_dump(mode="json", exclude={"title"})
    inputs = [[asdict(file) for file in manifest.inputs] for manifest in manifests]
    evidence: list[Any] = [inputs, [manifest.settings for manifest in manifests]]
    if len(manifests) == 1:  # as earlier versions stored it
        evidence = [inputs[0], manifests[0].settings]
    text = json.dumps([settings, *evidence, _read_kept_items(study, session)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _fingerprint_rated(study: Study, session: Session[Any] | None = None) -> str:
    """Returns a hash of the items that the rounds of the funnel rated; excluded ones are not among those kept."""
    outcomes, _ = _round_outcomes(study, session)
    rounds = _read_kept_items(study, session)
    rated = {name: sorted(outcomes.rated_items(name)) for name in rounds} if outcomes else {}
    return hashlib.sha256(json.dumps(rated, sort_keys=True).encode()).hexdigest()


def last_result(study: Study, session: Session[Any] | None = None) -> tuple[FunnelResult, bool] | None:
    """Returns the last result and whether it is still current; None if the funnel has not run."""
    path = study.funnel_folder / RESULT
    if not path.exists():
        return None
    try:
        document = json.loads(path.read_text("utf-8"))
        raw = document["result"]
        steps = tuple(_read_step(step) for step in raw["steps"])
        result = FunnelResult(**{**raw, "steps": steps, "pending": tuple(raw["pending"])})
        manifests = [read_source_manifest(study, source, session) for source in study.funnel_sources()]
        known = [manifest for manifest in manifests if manifest is not None]
        is_current = known == manifests and document["fingerprint"] == compute_fingerprint(study, known, session)
        is_current = is_current or _is_current_copy(study, document, session)
        # Older files do not say which items were rated.
        is_current = is_current and document.get("rated") in (None, _fingerprint_rated(study, session))
        return result, is_current
    except (ValueError, KeyError, TypeError):
        raise StateError(f"{path} is damaged: run `quaestor funnel` again") from None


def _is_current_copy(study: Study, document: Mapping[str, Any], session: Session[Any] | None) -> bool:
    """Returns whether an earlier version computed a result from a copy with the same items that a live source has."""
    source = study.funnel_source()
    live, copied = find_live_source(study, source), read_manifest(study.evidence_of(source))
    drops = study.funnel_folder / DROPPED_AT_FILE
    if live is None or copied is None or not drops.exists():
        return False
    if document["fingerprint"] != compute_fingerprint(study, [copied], session):
        return False
    items = {f"{study.prefix}{item}" for item in select_live_items(study, source, live, session)["item"].to_pylist()}
    return set(pq.read_table(drops, columns=["item"])["item"].to_pylist()) == items


def _read_step(raw: Mapping[str, Any]) -> StepResult:
    sides = {
        side: tuple(ExampleItem(**{**example, "tags": tuple(example["tags"])}) for example in raw[side])
        for side in ("kept_examples", "dropped_examples")
    }
    sampled = SampledStep(**raw["sampled"]) if raw.get("sampled") else None
    return StepResult(**{**raw, **sides, "sampled": sampled})


_CURRENT: dict[Path, tuple[object, FunnelResult]] = {}
"""By folder of a funnel: the stamps of everything a result depends on, and the current result."""


def current_result(study: Study, session: Session[Any] | None) -> FunnelResult:
    """Returns the last result of the funnel; raises StateError if the funnel must be run first, or again.

    Every page needs it. Therefore it is compared with the evidence only when a stamp changed.
    """
    outcomes, rounds = _round_outcomes(study, session)
    stamps = (
        file_stamp(study.file),
        file_stamp(study.funnel_folder / RESULT),
        *((evidence_stamp(study, source), live_stamp(study, source)) for source in study.funnel_sources()),
        outcomes.change_stamp(rounds) if outcomes else None,
    )
    cached = _CURRENT.get(study.funnel_folder)
    if cached is None or cached[0] != stamps:
        cached = _CURRENT[study.funnel_folder] = stamps, _require_current(last_result(study, session))
    return cached[1]


def _require_current(last: tuple[FunnelResult, bool] | None) -> FunnelResult:
    if last is None:
        raise StateError(_NOT_RUN)
    if not last[1]:
        raise StateError("evidence or study.toml changed since the funnel ran: run `quaestor funnel` again")
    return last[0]


def step_number(study: Study, name: str) -> int:
    """Returns the number of a step, from 0."""
    names = [step.step for step in study.in_strand_with_step(name).funnel.steps]
    return names.index(name)


def dropped_at_file(study: Study, session: Session[Any] | None = None) -> Path:
    """Returns the file with the step that dropped each item; raises StateError if it is missing or outdated."""
    path = study.funnel_folder / DROPPED_AT_FILE
    _require_current(last_result(study, session) if path.exists() else None)
    return path


def read_passed(study: Study, step: int) -> Sequence[str]:
    """Returns the items that passed a step, given by its number."""
    table = pq.read_table(dropped_at_file(study), filters=[(DROPPED_AT, ">", step)], columns=["item"])
    return cast(Sequence[str], table["item"].to_pylist())
