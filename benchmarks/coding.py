"""Ratings of a whole study taken in from a file: 2,401 items, two raters."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from quaestor.base.tables import Table, write_table
from quaestor.coding.records import Facet, Plan
from quaestor.coding.rounds import open_round
from quaestor.store.journal import Journal
from quaestor.study.coding import Coding, rebuilt
from quaestor.study.ratings import import_ratings

ITEMS = tuple(f"stackoverflow/question/{number}" for number in range(2401))
STUDY = SimpleNamespace(settings=SimpleNamespace(study=SimpleNamespace(lead="lead")))
RATERS = ("rater-1", "rater-2")


def main(folder: Path, options: argparse.Namespace) -> None:
    seconds = []
    for _ in range(3):
        with tempfile.TemporaryDirectory(dir=folder) as made:
            seconds.append(_once(Path(made)))
    print(
        f"{len(ITEMS):,} items × {len(RATERS)} raters from a CSV into the journal: "
        f"{statistics.median(seconds):.2f} s   bar 1 s"
    )


def _once(folder: Path) -> float:
    rows = [{"item": item, "rater": rater, "relevance": "keep", "seconds": "30"} for item in ITEMS for rater in RATERS]
    write_table(Table.of("ratings", rows), folder / "ratings.csv")
    facet = Facet("relevance", "keep", reasons=("crash",))
    plan = Plan("main", "main", ITEMS, (facet,), RATERS, measured="relevance")
    with Journal.open(folder / "study.db") as journal:
        coding = Coding(cast(Any, STUDY), journal)
        coding.act(lambda state: open_round(state, plan, "lead"))
        started = time.perf_counter()
        done = import_ratings(coding, "main", folder / "ratings.csv")
        spent = time.perf_counter() - started
        if done.given != len(rows) or rebuilt(journal) != coding.state:
            raise SystemExit("the import lost ratings")
    return spent
