"""How well the question kinds are found, measured on questions labelled by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import ibis
import pyarrow as pa

from quaestor.base.errors import InputError
from quaestor.corpus.kinds import bundled_kinds, is_of_kind
from quaestor.study.tables import read_rows


@dataclass(frozen=True)
class KindMeasure:
    """Of the questions labelled with a kind, how many are found; of those found, how many are right."""

    labelled: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.labelled if self.labelled else 0.0


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
            found=sum(columns[name]),
            right=sum(hit and name in label for hit, label in zip(columns[name], labels, strict=True)),
        )
        for name in kinds
    }


def describe_kinds() -> dict[str, str]:
    """Each bundled kind and what it asks."""
    return {name: kind.description for name, kind in bundled_kinds().items()}
