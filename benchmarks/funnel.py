"""Compare the funnel with the same steps as hand-written DuckDB SQL on the same Parquet."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
from tests.support.paths import STUDIES

from benchmarks.ingest import dump, ours
from quaestor.evidence.engine import engine
from quaestor.evidence.funnel_expression import DROPPED_AT, Funnel, count_items_per_step
from quaestor.study.settings.schema import read_settings

STUDY = STUDIES / "dl-implementation-issues" / "study.toml"

BY_HAND = """
    SELECT count(*), count(*) FILTER (tagged), count(*) FILTER (tagged AND how_to),
           count(*) FILTER (tagged AND how_to AND accepted), count(*) FILTER (tagged AND how_to AND accepted AND open)
    FROM (
        SELECT len(list_filter(tags, lambda tag: tag LIKE '%tensorflow%' OR tag LIKE '%pytorch%'
                                                 OR tag LIKE '%theano%')) > 0 AS tagged,
               title ILIKE '%how to%' AS how_to,
               accepted_answer_id IS NOT NULL AS accepted,
               closed_date IS NULL AS open
        FROM read_parquet('{files}') WHERE post_type_id = 1
    )
"""


def questions(folder: Path, number: int) -> Path:
    """Parquet with so many questions: those of a synthetic dump, again and again with new ids."""
    target = folder / f"questions-{number}"
    if target.exists():
        return target
    path = dump(folder, 1.0)
    ours(path, folder, [])
    aside = folder / "questions.aside"
    shutil.rmtree(aside, ignore_errors=True)
    connection = duckdb.connect()
    source = f"read_parquet('{folder}/out/posts/*.parquet') WHERE post_type_id = 1"
    found = connection.execute(f"SELECT count(*) FROM {source}").fetchone()
    assert found is not None
    copies = -(-number // found[0])
    connection.execute(
        f"COPY (SELECT * EXCLUDE (body, id, other_attributes), id + copy * 100000000 AS id, '' AS body "
        f"FROM (SELECT * FROM {source}) CROSS JOIN range({copies}) AS copies(copy) LIMIT {number}) "
        f"TO '{aside}' (FORMAT parquet, PER_THREAD_OUTPUT, COMPRESSION zstd)"
    )
    os.replace(aside, target)
    return target


def main(folder: Path, options: argparse.Namespace) -> None:
    files = f"{questions(folder, options.questions)}/*.parquet"
    settings = read_settings(STUDY)
    steps = [step for step in settings.funnel.steps if not step.round]

    def ibis_way() -> list[int]:
        with engine(folder) as connection:
            posts = connection.read_parquet(files)
            asked = posts.filter(posts.post_type_id == 1)
            fell = Funnel(asked, None, settings.families, settings.all_kinds()).dropped_at(steps)
            numbered = asked.select(fell_at=fell)
            counted = numbered.group_by(DROPPED_AT).agg(items=numbered.count()).to_pyarrow().to_pylist()
            counts = count_items_per_step({row[DROPPED_AT]: row["items"] for row in counted}, len(steps))
            return [counts[0][0], *(out for _, out in counts)]

    def by_hand() -> list[int]:
        with duckdb.connect() as connection:
            found = connection.execute(BY_HAND.format(files=files)).fetchone()
            assert found is not None
            return list(found)

    by_hand()
    ours_seconds, ours_counts = _median(ibis_way)
    hand_seconds, hand_counts = _median(by_hand)
    if ours_counts != hand_counts:
        raise SystemExit(f"the funnel found {ours_counts}, the SQL {hand_counts}")
    print(
        f"{options.questions:,} questions, {' → '.join(f'{count:,}' for count in ours_counts)}\n"
        f"funnel {ours_seconds:.2f} s   by hand {hand_seconds:.2f} s   "
        f"ratio {ours_seconds / hand_seconds:.2f} ×   bar 1.3 ×"
    )


def _median(way: Callable[[], list[int]]) -> tuple[float, list[int]]:
    times, counts = [], []
    for _ in range(5):
        started = time.perf_counter()
        counts = way()
        times.append(time.perf_counter() - started)
    return statistics.median(times), counts
