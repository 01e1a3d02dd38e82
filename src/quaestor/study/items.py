"""The items behind a number: what a step kept or dropped, and the way of one item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ibis.expr.types as ir
import pyarrow.compute as pc
import pyarrow.parquet as pq
from ibis.backends.duckdb import Backend

from quaestor.base.errors import StateError
from quaestor.base.names import is_storable
from quaestor.base.tables import Table, write_table
from quaestor.corpus.engine import engine
from quaestor.corpus.evidence import read_manifest
from quaestor.corpus.questions import item_id, read_left_out, read_questions
from quaestor.corpus.records import Example, StepResult
from quaestor.study.coding import Coding
from quaestor.study.folder import Study
from quaestor.study.funnel import SHOWN, example_of, fell_file, last_result, link_of, number_of, step_number


def step_result(study: Study, step: str) -> tuple[int, StepResult]:
    """A step that has been run, by its name, with its number."""
    number = step_number(study, step)
    fell_file(study)
    found = last_result(study)
    if found is None or number >= len(found[0].steps):
        waits_for = found[0].waits_for if found else ""
        raise StateError(f"the step {step!r} has no items yet: the round {waits_for!r} has to be decided first")
    return number, found[0].steps[number]


def items_of_step(study: Study, step: str, *, dropped: bool, limit: int | None, offset: int = 0) -> list[Example]:
    """The items that a step kept, or dropped, in the order of their ids.

    What a selection by tag left out is not in evidence; of that, the few kept as examples are given.
    """
    number, _ = step_result(study, step)
    with engine(study.funnel_folder) as connection:
        fell = connection.read_parquet(str(fell_file(study)))
        chosen = fell.filter(fell.fell_at == number if dropped else fell.fell_at > number)
        questions = read_questions(connection, study.evidence_of(study.funnel_source()))
        shown = [name for name in SHOWN if name in questions.columns and name != "id"]
        texts = questions.select(*shown, _key=number_of(questions))
        rows = chosen.join(texts, chosen.id == texts._key).order_by("id").limit(limit, offset=offset)
        found = rows.select("item", *shown).to_pyarrow().to_pylist()
        if not found and dropped and number == 0 and offset == 0:
            found = _left_out(study, connection)
    return [example_of(row["item"], row, study) for row in found]


def _left_out(study: Study, connection: Backend, identity: str | None = None) -> list[dict[str, Any]]:
    evidence = study.evidence_of(study.funnel_source())
    manifest = read_manifest(evidence)
    left: ir.Table | None = read_left_out(connection, evidence)
    if left is None or manifest is None:
        return []
    rows = left.mutate(item=item_id(left, manifest.site))
    if identity is not None:
        rows = rows.filter(rows.item == identity)
    found: list[dict[str, Any]] = rows.order_by("id").select("item", *SHOWN).to_pyarrow().to_pylist()
    return found


def write_items(items: list[Example], path: Path) -> None:
    """Items as a table, to be looked through elsewhere."""
    columns = ("item", "title", "created", "tags", "score", "views", "link")
    rows = [(one.item, one.title, one.created, " ".join(one.tags), one.score, one.views, one.link) for one in items]
    write_table(Table("items", columns, rows), path)


def way_of(study: Study, item: str, coding: Coding | None = None) -> dict[str, Any]:
    """What happened to one item: the steps it passed, where it fell out, and where it came from."""
    if not is_storable(item):
        raise _no_item(item)
    steps = study.settings.funnel.steps
    table = pq.read_table(fell_file(study, coding), filters=[("item", "=", item)])
    last = last_result(study, coding)
    ready = len(last[0].steps) if last else len(steps)
    if table.num_rows:
        number = int(pc.max(table.column("fell_at")).as_py())
    else:
        with engine(study.funnel_folder) as connection:
            if not _left_out(study, connection, item):
                raise _no_item(item)
        number = 0
    manifest = read_manifest(study.evidence_of(study.funnel_source()))
    return {
        "item": item,
        "passed": [step.step for step in steps[:number]],
        "fell_at": steps[number].step if number < ready else None,
        "waits_for": steps[ready].step if number == ready < len(steps) else None,
        "link": link_of(item) if study.source(study.funnel_source()).kind == "stackexchange" else "",
        "source": study.funnel_source(),
        "inputs": [one.name for one in manifest.inputs] if manifest else [],
        "inputs_sha256": [one.sha256 for one in manifest.inputs] if manifest else [],
        "ingested_by": manifest.tool if manifest else "",
    }


def _no_item(item: str) -> StateError:
    return StateError(f"there is no item {item!r} in evidence: ids look like stackoverflow/question/34454721")
