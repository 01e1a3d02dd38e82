"""The usual way to read a dump: a loop over lxml.etree.iterparse, as a careful person would write it.

    python -m benchmarks.lxml_loop Posts.xml OUT.parquet [TAG …]

Elements are cleared, earlier siblings deleted, values converted, rows written in groups: the same rows, columns
and types, in the same compression, that Quaestor writes. With tags it makes the same selection: questions with
a wanted tag (`*` allowed) and all answers to them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from lxml import etree

from quaestor.evidence.sources.stackexchange.schema import FLAG, POSTS, TAGS, TIME, WHOLE

GROUP = 30_000


def split(text: str) -> list[str]:
    return text[1:-1].split("|") if text.startswith("|") else text[1:-1].split("><")


def converter(kind: pa.DataType) -> Callable[[str], Any]:
    return {WHOLE: int, TIME: datetime.fromisoformat, TAGS: split, FLAG: "True".__eq__}.get(kind, str)


CONVERT = {name: (POSTS.columns[name], converter(kind)) for name, kind in POSTS.attributes}


def main(source: str, target: str, tags: list[str]) -> None:
    wanted = re.compile("|".join(".*".join(map(re.escape, tag.split("*"))) for tag in tags)) if tags else None
    chosen: set[str] = set()
    columns: dict[str, list[Any]] = {name: [] for name in POSTS.schema.names}
    writer = pq.ParquetWriter(target, POSTS.schema, compression="zstd", compression_level=1, use_dictionary=False)
    rows = 0

    def flush() -> None:
        writer.write_table(pa.table(columns, schema=POSTS.schema))
        for values in columns.values():
            values.clear()

    for _, element in etree.iterparse(source, events=("end",), tag="row"):
        attributes = element.attrib
        if wanted is None or is_wanted(attributes, wanted, chosen):
            row = {}
            for name, text in attributes.items():
                column, convert = CONVERT[name]
                row[column] = convert(text)
            for column, values in columns.items():
                values.append(row.get(column))
            rows += 1
            if rows % GROUP == 0:
                flush()
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]
    flush()
    writer.close()
    print(json.dumps({"rows": rows}))


def is_wanted(attributes: Any, wanted: re.Pattern[str], chosen: set[str]) -> bool:
    """Questions by tag, and answers to questions already chosen: dumps are in the order of ids."""
    kind = attributes.get("PostTypeId")
    if kind == "1":
        if any(wanted.fullmatch(tag) for tag in split(attributes.get("Tags", "||"))):
            chosen.add(attributes["Id"])
            return True
        return False
    return kind == "2" and attributes.get("ParentId") in chosen


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
