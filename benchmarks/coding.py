"""Import the ratings of a whole study (2,401 items, two raters) and fold a journal of 200,000 acts."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from tests.support.acting import rebuilt

from quaestor.base.table_files import ExportTable, write_table
from quaestor.coding.model.records import Facet, RoundPlan
from quaestor.coding.model.rounds import build_open_act
from quaestor.coding.model.state import State
from quaestor.coding.rating_files import import_ratings
from quaestor.coding.session import coding_session
from quaestor.store.journal import Journal
from quaestor.store.records import NewAct
from quaestor.study.folder import Study, open_study

ITEMS = tuple(f"stackoverflow/question/{number}" for number in range(2401))
RATERS = ("rater-1", "rater-2")
MANY = 200_000


def main(folder: Path, options: argparse.Namespace) -> None:
    seconds = []
    for _ in range(3):
        with tempfile.TemporaryDirectory(dir=folder) as made:
            seconds.append(_once(Path(made)))
    print(
        f"{len(ITEMS):,} items × {len(RATERS)} raters from a CSV into the journal: "
        f"{statistics.median(seconds):.2f} s   bar 1 s"
    )
    with tempfile.TemporaryDirectory(dir=folder) as made:
        _read_again(Path(made))


def _study(folder: Path) -> Study:
    (folder / "study.toml").write_text('[study]\nname = "coding"\n', "utf-8")
    return open_study(folder)


def _read_again(folder: Path) -> None:
    """What `quaestor serve` does before it says that it serves, so that the first page does not."""
    items = tuple(f"stackoverflow/question/{number}" for number in range(MANY // len(RATERS)))
    plan = RoundPlan(
        "main", "main", items, (Facet("relevance", "keep", reasons=("crash",)),), RATERS, measured="relevance"
    )
    answers = {"relevance": {"answer": "exclude", "reason": "crash"}}
    more = {"round": "main", "answers": answers, "unsure": [], "memo": "", "seconds": 12.5}
    with Journal.open(folder / "study.db") as journal:
        journal.append([build_open_act(State(), plan, "lead")])
        for rater in RATERS:
            journal.append([NewAct("rating", rater, {"item": item, **more}, 1) for item in items])
        seconds, processor = [], []
        for _ in range(3):
            coding = coding_session(_study(folder), journal)
            started, spent = time.perf_counter(), time.process_time()
            given = coding.state.round("main").rating_count
            seconds.append(time.perf_counter() - started)
            processor.append(time.process_time() - spent)
    print(
        f"a journal of {given:,} ratings read from the start: {statistics.median(seconds):.2f} s, "
        f"{statistics.median(processor):.2f} s of a processor"
    )


def _once(folder: Path) -> float:
    rows = [{"item": item, "rater": rater, "relevance": "keep", "seconds": "30"} for item in ITEMS for rater in RATERS]
    write_table(ExportTable.from_mappings("ratings", rows), folder / "ratings.csv")
    facet = Facet("relevance", "keep", reasons=("crash",))
    plan = RoundPlan("main", "main", ITEMS, (facet,), RATERS, measured="relevance")
    with Journal.open(folder / "study.db") as journal:
        coding = coding_session(_study(folder), journal)
        coding.act(lambda state: build_open_act(state, plan, "lead"))
        started = time.perf_counter()
        done = import_ratings(coding, "main", folder / "ratings.csv")
        spent = time.perf_counter() - started
        if done.added != len(rows) or rebuilt(journal) != coding.state:
            raise SystemExit("the import lost ratings")
    return spent
