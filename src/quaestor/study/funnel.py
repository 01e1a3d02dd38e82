"""Run a study's funnel: counts, the reason for each item that fell out, examples, candidates."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import ibis.expr.types as ir
import pyarrow.parquet as pq
from ibis.backends.duckdb import Backend

from quaestor.base.errors import SettingsError, StateError
from quaestor.base.files import fsync, sole_user, write_whole
from quaestor.base.names import listed, nearest_first
from quaestor.base.private import as_private_as
from quaestor.coding.decisions import kept as kept_items
from quaestor.corpus.engine import engine
from quaestor.corpus.evidence import read_manifest
from quaestor.corpus.funnel import FELL_AT, Funnel, counts_of, describe, shuffled
from quaestor.corpus.items import identity_schema, with_identity
from quaestor.corpus.questions import item_id, read_answers, read_left_out, read_questions
from quaestor.corpus.records import Example, FunnelResult, Manifest, StepResult
from quaestor.corpus.settings import StepSettings
from quaestor.publish.funnel import draw_funnel, save_funnel
from quaestor.study.coding import Coding, open_coding
from quaestor.study.folder import Study
from quaestor.study.journal import has_journal

RESULT, FELL, CANDIDATES = "funnel.json", "fell.parquet", "candidates.parquet"
_DECIDED: dict[Path, tuple[tuple[int, list[str]], dict[str, list[str]]]] = {}
"""By study folder: the last act and the rounds asked for, and what these decided."""
SHOWN = ("id", "title", "tags", "creation_date", "score", "view_count", "body")


@dataclass(frozen=True)
class _Open:
    """A funnel with its evidence at hand."""

    study: Study
    manifest: Manifest
    connection: Backend
    questions: ir.Table
    steps: tuple[StepSettings, ...]
    pending: tuple[StepSettings, ...]
    decided: dict[str, list[str]]

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
def _opened(study: Study) -> Iterator[_Open]:
    source = study.funnel_source()
    evidence = study.evidence_of(source)
    manifest = read_manifest(evidence)
    if manifest is None:
        raise StateError(f"the source {source!r} has no evidence yet: run `quaestor ingest {source}` first")
    all_steps = study.settings.funnel.steps
    if not all_steps:
        raise StateError(f"{study.file} has no funnel yet: add [[funnel.steps]]")
    # A step decided by a round ends what can be computed until that round has been decided.
    decided = decided_by_rounds(study)
    waiting = (number for number, step in enumerate(all_steps) if step.round and step.round not in decided)
    ready = next(waiting, len(all_steps))
    study.funnel_folder.mkdir(parents=True, exist_ok=True)
    with engine(study.funnel_folder) as connection:
        questions = read_questions(connection, evidence)
        yield _Open(study, manifest, connection, questions, all_steps[:ready], all_steps[ready:], decided)


def decided_by_rounds(study: Study, coding: Coding | None = None) -> dict[str, list[str]]:
    """What each round that a step asks for keeps, as far as the rounds are settled."""
    rounds = {str(step.round) for step in study.settings.funnel.steps if step.round}
    if not rounds or not has_journal(study):
        return {}
    with open_coding(coding or study) as opened:
        head = (opened.journal.head(), sorted(rounds))
        known = _DECIDED.get(study.root)
        if known is None or known[0] != head:
            state = opened.state
            found = {name: kept_items(state, name) for name in rounds if name in state.rounds}
            known = head, {name: sorted(items) for name, items in found.items() if items is not None}
            _DECIDED[study.root] = known
    return known[1]


def notes_on_rounds(study: Study, opened: _Open, fell: ir.Table) -> list[str]:
    """What a reader of the funnel must know about the rounds that decided its steps."""
    rounds = {step.round: number for number, step in enumerate(opened.steps) if step.round}
    if not rounds:
        return []
    with open_coding(study) as coding:
        state = coding.state
    notes = []
    for name, number in rounds.items():
        one = state.rounds[name]
        came = fell.filter(fell.fell_at >= number).select("item").to_pyarrow().column("item").to_pylist()
        outside = len(set(came) - set(one.plan.items))
        if outside:
            notes.append(f"{outside:,} items were not in the round {name} and are not kept")
        if any(rating.simulated for rating in one.all_ratings()):
            notes.append(f"the round {name} was rated by simulated raters")
        if one.blindness:
            notes.append(f"the round {name} is {one.blindness}")
        never = sum(not any(one.of_seat(seat, item) for seat in one.seats) for item in one.plan.items)
        if never:
            notes.append(f"{never:,} items of the round {name} were never rated and are not kept")
    return notes


def run_funnel(study: Study) -> FunnelResult:
    """Run the funnel and keep what it found, as private as its evidence; the same gives the same result."""
    evidence = study.evidence_of(study.funnel_source())
    as_private_as(evidence, study.funnel_folder)
    with _opened(study) as opened, sole_user(study.funnel_folder, "the funnel"):
        funnel = Funnel(
            opened.questions,
            read_answers(opened.connection, evidence),
            study.settings.families,
            study.settings.all_kinds(),
            opened.decided,
            opened.manifest.site,
        )
        site = opened.manifest.site
        try:
            fell = _write_fell(opened, funnel, site)
        except duckdb.Error as error:
            problem = str(error).partition("\n")[0]
            raise SettingsError(f"{study.file}: a step cannot be run as it stands: {problem}") from None
        steps = _steps(opened, fell, site)
        _write_candidates(opened, fell)
        pending = tuple(step.step for step in opened.pending)
        waits_for = opened.pending[0].round or "" if opened.pending else ""
        note = "; ".join([*opened.manifest.notes, *notes_on_rounds(study, opened, fell)])
        result = FunnelResult(study.funnel_source(), steps, pending, opened.seed, waits_for, note)
        document = {"fingerprint": fingerprint(study, opened.manifest), "result": asdict(result)}
        write_whole(study.funnel_folder / RESULT, json.dumps(document, indent=1).encode())
        as_private_as(evidence, study.funnel_folder)
        return result


def _write_fell(opened: _Open, funnel: Funnel, site: str) -> ir.Table:
    """For every question the step at which it fell out, on disk."""
    target = opened.study.funnel_folder / FELL
    table = opened.questions.select(
        item=item_id(opened.questions, site),
        id=number_of(opened.questions),
        fell_at=funnel.fell_at(opened.steps).cast("int16"),
    )
    aside = target.with_name(f".{target.name}")
    table.to_parquet(str(aside))
    fsync(aside)
    aside.replace(target)
    return opened.connection.read_parquet(str(target))


def number_of(questions: ir.Table) -> ir.IntegerValue:
    """The number an item is known by within its source."""
    return questions.row_number if "row_number" in questions.columns else questions.id


def _steps(opened: _Open, fell: ir.Table, site: str) -> tuple[StepResult, ...]:
    counted = fell.group_by(FELL_AT).agg(items=fell.count()).to_pyarrow().to_pylist()
    found = {row[FELL_AT]: row["items"] for row in counted}
    found[0] = found.get(0, 0) + opened.left_out
    counts = counts_of(found, len(opened.steps))
    size = opened.study.settings.funnel.examples
    results = []
    for number, (step, (entered, kept)) in enumerate(zip(opened.steps, counts, strict=True)):
        # A seed of its own for each step, so that what one drops is not what the last one showed.
        order = (shuffled(fell.id, opened.seed + number), fell.id)
        passed = fell.filter(fell.fell_at > number).order_by(order).limit(size)
        dropped = _examples(opened, fell.filter(fell.fell_at == number).order_by(order).limit(size))
        if number == 0 and opened.left_out:
            dropped = (*dropped, *_left_out_examples(opened, site, size))[:size]
        results.append(StepResult(step.step, entered, kept, describe(step), _examples(opened, passed), dropped))
    return tuple(results)


def _examples(opened: _Open, chosen: ir.Table) -> tuple[Example, ...]:
    keys = chosen.select("item", "id").to_pyarrow().to_pylist()
    if not keys:
        return ()
    number = number_of(opened.questions)
    shown = [name for name in SHOWN if name in opened.questions.columns]
    rows = opened.questions.filter(number.isin([key["id"] for key in keys])).select(*shown, _key=number)
    found = {row["_key"]: row for row in rows.to_pyarrow().to_pylist()}
    return tuple(example_of(key["item"], found[key["id"]], opened.study) for key in keys)


def _left_out_examples(opened: _Open, site: str, size: int) -> tuple[Example, ...]:
    left = read_left_out(opened.connection, opened.study.evidence_of(opened.study.funnel_source()))
    if left is None:
        return ()
    rows = left.order_by((shuffled(left.id, opened.seed), left.id)).limit(size)
    rows = rows.mutate(item=item_id(rows, site)).select("item", *SHOWN)
    return tuple(example_of(row["item"], row, opened.study) for row in rows.to_pyarrow().to_pylist())


def example_of(item: str, row: dict[str, Any], study: Study) -> Example:
    """A row of evidence as a page shows it."""
    created = row.get("creation_date")
    return Example(
        item=item,
        title=str(row.get("title") or item),
        tags=tuple(row.get("tags") or ()),
        created=created.date().isoformat() if created else "",
        score=row.get("score"),
        views=row.get("view_count"),
        body=str(row.get("body") or "")[:4000],
        link=link_of(item) if study.source(study.funnel_source()).kind == "stackexchange" else "",
    )


def link_of(item: str) -> str:
    """Where a Stack Exchange item can be read on the web, by its id alone."""
    site, _, rest = item.partition("/question/")
    if not rest.isdigit():
        return ""
    hosts = {"stackoverflow", "serverfault", "superuser", "askubuntu", "stackapps"}
    host = f"{site}.com" if site in hosts or site.endswith(".stackoverflow") else f"{site}.stackexchange.com"
    return f"https://{host}/q/{rest}"


def _write_candidates(opened: _Open, fell: ir.Table) -> None:
    """The items that passed every step so far, with identity and provenance."""
    kept = fell.filter(fell.fell_at == len(opened.steps))
    rows = opened.questions.mutate(
        item=item_id(opened.questions, opened.manifest.site), _key=number_of(opened.questions)
    )
    rows = rows.semi_join(kept, rows._key == kept.id)
    columns = [name for name in opened.questions.columns if name not in ("item", "other_attributes", "other")]
    folder = opened.study.funnel_folder
    plain, aside, target = (folder / name for name in (".plain.parquet", f".{CANDIDATES}", CANDIDATES))
    rows.select("item", *columns).order_by("item").to_parquet(str(plain))
    inputs = ",".join(one.sha256 for one in opened.manifest.inputs)
    with pq.ParquetFile(plain) as file:
        schema = identity_schema(file.schema_arrow)
        with pq.ParquetWriter(aside, schema, compression="zstd") as writer:
            for batch in with_identity(file.iter_batches(10_000), opened.study.funnel_source(), inputs):
                writer.write_batch(batch)
    plain.unlink()
    fsync(aside)
    aside.replace(target)


def draw(study: Study, result: FunnelResult) -> Path:
    """The funnel as an SVG in published/."""
    return save_funnel(result, study.published)


def drawing(result: FunnelResult) -> str:
    """The funnel as an SVG text."""
    return draw_funnel(result)


def fingerprint(study: Study, manifest: Manifest, coding: Coding | None = None) -> str:
    """Changes whenever the funnel would find something else."""
    settings = study.settings.model_dump(mode="json", include={"study", "families", "kinds", "funnel"})
    inputs = [asdict(one) for one in manifest.inputs]
    text = json.dumps([settings, inputs, manifest.settings, decided_by_rounds(study, coding)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def last_result(study: Study, coding: Coding | None = None) -> tuple[FunnelResult, bool] | None:
    """What the funnel found last, and whether that still holds; None where it has not run.

    Where the study's journal is open already, it is not read from its beginning.
    """
    path = study.funnel_folder / RESULT
    if not path.exists():
        return None
    try:
        return _read_result(study, json.loads(path.read_text("utf-8")), coding)
    except (ValueError, KeyError, TypeError):
        raise StateError(f"{path} is damaged: run `quaestor funnel` again") from None


def _read_result(study: Study, document: dict[str, Any], coding: Coding | None) -> tuple[FunnelResult, bool]:
    raw = document["result"]
    steps = tuple(
        StepResult(**{**step, **{side: tuple(Example(**{**one, "tags": tuple(one["tags"])}) for one in step[side])
                                 for side in ("kept_examples", "dropped_examples")}})
        for step in raw["steps"]
    )  # fmt: skip
    result = FunnelResult(**{**raw, "steps": steps, "pending": tuple(raw["pending"])})
    manifest = read_manifest(study.evidence_of(study.funnel_source()))
    return result, manifest is not None and document["fingerprint"] == fingerprint(study, manifest, coding)


def step_number(study: Study, name: str) -> int:
    """The number of a step by its name."""
    names = [step.step for step in study.settings.funnel.steps]
    if name not in names:
        raise StateError(f"the funnel has no step {name!r}, allowed: {listed(nearest_first(name, names))}")
    return names.index(name)


def fell_file(study: Study, coding: Coding | None = None) -> Path:
    """Where it is noted at which step each item fell out."""
    path = study.funnel_folder / FELL
    found = last_result(study, coding)
    if found is None or not path.exists():
        raise StateError("the funnel has not run yet: run `quaestor funnel` first")
    if not found[1]:
        raise StateError("evidence or study.toml changed since the funnel ran: run `quaestor funnel` again")
    return path
