"""The items behind a funnel count: what a step kept or dropped, and the path of one item through the steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from quaestor.base.errors import StateError
from quaestor.base.names import is_storable
from quaestor.base.table_files import ExportTable, write_table
from quaestor.evidence.engine import Backend, engine
from quaestor.evidence.funnel import (
    EXAMPLE_COLUMNS,
    UNSEEN,
    build_example,
    dropped_at_file,
    filter_dropped,
    last_result,
    read_examples,
    step_number,
)
from quaestor.evidence.funnel_expression import DROPPED_AT
from quaestor.evidence.item_texts import read_item_texts
from quaestor.evidence.items import SOURCE, item_link, read_items_by_source, read_left_out
from quaestor.evidence.live_items import has_live_source, read_funnel_manifests, read_source_manifest
from quaestor.evidence.records import ExampleItem, FunnelResult, StepResult
from quaestor.study.contributions import TextMask
from quaestor.study.folder import Study
from quaestor.study.session import Session


def find_step_result(study: Study, step: str) -> tuple[int, StepResult]:
    """Returns the number and the result of a step; raises StateError if it has not been run."""
    study, number = study.in_strand_with_step(step), step_number(study, step)
    dropped_at_file(study)
    last = last_result(study)
    if last is None or number >= len(last[0].steps):
        waits_for = last[0].waits_for if last else ""
        raise StateError(f"the step {step!r} has no items yet: the round {waits_for!r} has to be decided first")
    return number, last[0].steps[number]


def list_step_items(study: Study, step: str, *, dropped: bool, limit: int | None, offset: int = 0) -> list[ExampleItem]:
    """Lists the items that a step kept or dropped, in the order of their ids.

    Questions that an ingest by tag skipped are not in evidence; for those, the stored examples are returned.
    """
    study, (number, _) = study.in_strand_with_step(step), find_step_result(study, step)
    with engine(study.funnel_folder) as connection:
        drops = connection.read_parquet(str(dropped_at_file(study)))
        chosen = filter_dropped(drops, number) if dropped else drops.filter(drops.fell_at > number)
        ordered = chosen.order_by([name for name in (SOURCE, "id") if name in chosen.columns])
        items = read_items_by_source(connection, study)
        examples = read_examples(study, items, ordered.limit(limit, offset=offset))
        if not examples and dropped and number == 0 and offset == 0:
            examples = [build_example(study, row) for row in _left_out(study, connection)]
    return examples


def mask_examples(mask: TextMask, examples: Iterable[ExampleItem]) -> tuple[ExampleItem, ...]:
    """Returns examples without known names."""
    masked = ((example, *mask.item_text(example.item, example.title, example.body)) for example in examples)
    return tuple(replace(example, title=title, body=body) for example, title, body in masked)


def mask_result(study: Study, mask: TextMask, result: FunnelResult) -> FunnelResult:
    """Returns a funnel result whose examples contain no known names; those of a live source get their words here."""
    is_live = has_live_source(study)
    examples = [example for step in result.steps for example in (*step.kept_examples, *step.dropped_examples)]
    texts = read_item_texts(study, [example.item for example in examples]) if is_live else {}

    def mask_side(side: Iterable[ExampleItem]) -> tuple[ExampleItem, ...]:
        known = ((example, texts.get(example.item)) for example in side)
        return mask_examples(
            mask, (replace(example, title=text.title, body=text.body) if text else example for example, text in known)
        )

    steps = (
        replace(step, kept_examples=mask_side(step.kept_examples), dropped_examples=mask_side(step.dropped_examples))
        for step in result.steps
    )
    return replace(result, steps=tuple(steps))


def _left_out(study: Study, connection: Backend, item: str | None = None) -> list[dict[str, Any]]:
    left_out: list[dict[str, Any]] = []
    for source, manifest in read_funnel_manifests(study).items():
        rows = read_left_out(connection, study, source, manifest.site)
        if rows is not None:
            rows = rows if item is None else rows.filter(rows.item == item)
            left_out += rows.order_by("id").select("item", *EXAMPLE_COLUMNS).to_pyarrow().to_pylist()
    return left_out


def write_item_table(items: list[ExampleItem], path: Path) -> None:
    """Writes items as a table for use in other programs."""
    columns = ("item", "title", "created", "tags", "score", "views", "link")
    rows = [
        (item.item, item.title, item.created, " ".join(item.tags), item.score, item.views, item.link) for item in items
    ]
    write_table(ExportTable("items", columns, rows), path)


def _suggest_strand(study: Study, item: str, session: Session[Any] | None) -> StateError | None:
    """Returns an error that names the whole id, if a strand has the item and only its prefix is missing."""
    for strand in study.in_each_strand():
        whole_id = f"{strand.prefix}{item}"
        if whole_id == item or last_result(strand, session) is None:
            continue
        if pq.read_table(dropped_at_file(strand, session), filters=[("item", "=", whole_id)]).num_rows:
            return StateError(f"there is no item {item!r} in evidence; did you mean {whole_id!r}?")
    return None


def _find_source(study: Study, item: str, drops: pa.Table) -> str:
    """Returns the source of an item from its row in the table of drops, or from its site if the ingest skipped it."""
    sources = study.funnel_sources()
    if len(sources) == 1:
        return sources[0]
    if drops.num_rows:
        return str(drops.column(SOURCE)[0].as_py())
    site = item.removeprefix(study.prefix).partition("/question/")[0]
    return next(source for source, manifest in read_funnel_manifests(study).items() if manifest.site == site)


def trace_item(study: Study, item: str, session: Session[Any] | None = None) -> dict[str, Any]:
    """Returns the steps that an item passed, the step that dropped it, and the input it came from.

    An item that was not drawn for a round, or that nobody rated, was not dropped by it.
    """
    unknown = StateError(f"there is no item {item!r} in evidence: ids look like stackoverflow/question/34454721")
    if not is_storable(item):
        raise unknown
    study = study.in_strand_of(item)
    steps = study.funnel.steps
    table = pq.read_table(dropped_at_file(study, session), filters=[("item", "=", item)])
    last = last_result(study, session)
    ready = len(last[0].steps) if last else len(steps)
    number = int(pc.max(table.column(DROPPED_AT)).as_py()) if table.num_rows else 0
    if not table.num_rows:
        with engine(study.funnel_folder) as connection:
            if not _left_out(study, connection, item):
                raise _suggest_strand(study, item, session) or unknown
    unseen = UNSEEN in table.column_names and any(table.column(UNSEEN).to_pylist())
    source = _find_source(study, item, table)
    manifest = read_source_manifest(study, source, session)
    inputs = manifest.inputs if manifest else ()
    return {
        "item": item,
        "passed": [step.step for step in steps[:number]],
        "fell_at": steps[number].step if number < ready and not unseen else None,
        "not_drawn_at": steps[number].step if unseen else None,
        "waits_for": steps[ready].step if number == ready < len(steps) else None,
        "link": item_link(study, item),
        "strand": study.strand_title,
        "source": source,
        "inputs": [file.name for file in inputs],
        "inputs_sha256": [file.sha256 for file in inputs],
        "ingested_by": manifest.tool if manifest else "",
    }
