"""Question kinds as named patterns over title and body; a study may put its own in their place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import ibis
import pyarrow as pa

from quaestor.base.errors import InputError
from quaestor.evidence.table_rows import read_rows
from quaestor.study.settings.evidence import KindSettings, bundled_kinds

if TYPE_CHECKING:
    import ibis.expr.types as ir


def is_of_kind(kind: KindSettings, title: ir.StringValue, body: ir.StringValue | None) -> ir.BooleanValue:
    """Whether a question is of the kind, as an expression."""
    texts = [(title, kind.title)] + ([(body, kind.body)] if body is not None else [])
    conditions = [_finds(text, patterns) for text, patterns in texts if patterns]
    found = conditions[0]
    for condition in conditions[1:]:
        found = found | condition
    return found & ~_finds(title, kind.unless_title) if kind.unless_title else found


def _finds(text: ir.StringValue, patterns: tuple[str, ...]) -> ir.BooleanValue:
    joined = "|".join(f"(?:{pattern})" for pattern in patterns)
    return text.re_search(f"(?i){joined}").fill_null(False)


@dataclass(frozen=True)
class KindMeasure:
    """Of the questions labelled with a kind, how many are found; of those found, how many are right."""

    labelled: int
    matched: int
    correct: int

    @property
    def precision(self) -> float:
        return self.correct / self.matched if self.matched else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.labelled if self.labelled else 0.0


def measure_kinds(path: Path) -> dict[str, KindMeasure]:
    """Precision and recall of each bundled kind on a CSV of title, body, kinds (separated by `;`)."""
    rows = [row for _, row in read_rows(path, exact=("title", "body"))]
    if not rows or not {"title", "body", "kinds"} <= set(rows[0]):
        raise InputError(f"{path} must have the columns title, body and kinds, and at least one row")
    labels = [set(row["kinds"].split(";")) for row in rows]
    table = ibis.memtable(pa.table({name: [row[name] for row in rows] for name in ("title", "body")}))
    kinds = bundled_kinds()
    matched = table.select(**{name: is_of_kind(kind, table.title, table.body) for name, kind in kinds.items()})
    columns = matched.to_pyarrow().to_pydict()
    return {
        name: KindMeasure(
            labelled=sum(name in label for label in labels),
            matched=sum(columns[name]),
            correct=sum(hit and name in label for hit, label in zip(columns[name], labels, strict=True)),
        )
        for name in kinds
    }
