"""Question kinds: named patterns over title and body, which a study can replace by its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
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
    """Returns an expression that is true for questions of the kind."""
    texts = [(title, kind.title)] + ([(body, kind.body)] if body is not None else [])
    matches = reduce(or_, (_matches_any(text, patterns) for text, patterns in texts if patterns))
    return matches & ~_matches_any(title, kind.unless_title) if kind.unless_title else matches


def _matches_any(text: ir.StringValue, patterns: tuple[str, ...]) -> ir.BooleanValue:
    joined = "|".join(f"(?:{pattern})" for pattern in patterns)
    return text.re_search(f"(?i){joined}").fill_null(False)


@dataclass(frozen=True)
class KindMeasure:
    """How many questions are labelled with a kind, how many its patterns match, and how many of these are labelled."""

    labelled: int
    matched: int
    correct: int

    @property
    def precision(self) -> float:
        return self.correct / self.matched if self.matched else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.labelled if self.labelled else 0.0

    def as_json(self) -> dict[str, float]:
        return {
            "labelled": self.labelled,
            "found": self.matched,
            "right": self.correct,
            "precision": self.precision,
            "recall": self.recall,
        }


def measure_kinds(path: Path) -> dict[str, KindMeasure]:
    """Measures each bundled kind against a CSV with the columns title, body and kinds (separated by `;`)."""
    rows = [row for _, row in read_rows(path, exact=("title", "body"))]
    if not rows or not {"title", "body", "kinds"} <= set(rows[0]):
        raise InputError(f"{path} must have the columns title, body and kinds, and at least one row")
    labels = [set(row["kinds"].split(";")) for row in rows]
    table = ibis.memtable(pa.table({name: [row[name] for row in rows] for name in ("title", "body")}))
    kinds = bundled_kinds()
    matches = table.select(**{name: is_of_kind(kind, table.title, table.body) for name, kind in kinds.items()})
    columns = matches.to_pyarrow().to_pydict()
    return {
        name: KindMeasure(
            labelled=sum(name in label for label in labels),
            matched=sum(columns[name]),
            correct=sum(hit and name in label for hit, label in zip(columns[name], labels, strict=True)),
        )
        for name in kinds
    }
