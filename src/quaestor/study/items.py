"""The items behind a number: what a step kept or dropped, and the way of one item."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from quaestor.base.errors import StateError
from quaestor.corpus.engine import engine
from quaestor.corpus.evidence import read_manifest
from quaestor.corpus.questions import read_questions
from quaestor.study.folder import Study
from quaestor.study.funnel import fell_file, link_of, step_number


@dataclass(frozen=True)
class ItemRow:
    """An item with what a list shows of it."""

    item: str
    title: str
    fell_at: str | None
    link: str


def items_of_step(study: Study, step: str, *, dropped: bool, limit: int, offset: int = 0) -> list[ItemRow]:
    """The items that a step kept, or dropped, in the order of their ids."""
    number = step_number(study, step)
    with engine(study.funnel_folder) as connection:
        fell = connection.read_parquet(str(fell_file(study)))
        chosen = fell.filter(fell.fell_at == number if dropped else fell.fell_at > number)
        questions = read_questions(connection, study.evidence_of(study.funnel_source()))
        key = "id" if "id" in questions.columns else "row_number"
        titles = questions.select(_id=key, title="title")
        rows = chosen.join(titles, chosen.id == titles._id).order_by("id").limit(limit, offset=offset)
        found = rows.select("item", "title", "fell_at").to_pyarrow().to_pylist()
    names = [one.step for one in study.settings.funnel.steps]
    return [
        ItemRow(row["item"], row["title"] or "", _step_name(names, row["fell_at"]), link_of(row["item"]))
        for row in found
    ]


def _step_name(names: list[str], number: int) -> str | None:
    pending = number >= len(names)
    return None if pending else names[number]


def way_of(study: Study, item: str) -> dict[str, Any]:
    """What happened to one item: the steps it passed, where it fell out, and where it came from."""
    path: Path = fell_file(study)
    table = pq.read_table(path, filters=[("item", "=", item)])
    if not table.num_rows:
        raise StateError(f"there is no item {item!r} in the funnel: ids look like stackoverflow/question/34454721")
    number = int(pc.max(table.column("fell_at")).as_py())
    steps = study.settings.funnel.steps
    ready = next((place for place, step in enumerate(steps) if step.round), len(steps))
    manifest = read_manifest(study.evidence_of(study.funnel_source()))
    return {
        "item": item,
        "passed": [step.step for step in steps[:number]],
        "fell_at": steps[number].step if number < ready else None,
        "link": link_of(item),
        "source": study.funnel_source(),
        "inputs": [one.name for one in manifest.inputs] if manifest else [],
        "inputs_sha256": [one.sha256 for one in manifest.inputs] if manifest else [],
        "ingested_by": manifest.tool if manifest else "",
    }
