"""Compare the journal with a bare loop of durable commits: the cost of its guarantees."""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import statistics
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from quaestor.store.journal import Journal
from quaestor.store.records import NewAct

ACTS, ROUNDS, AT_ONCE = 500, 5, 4_802
BAR, SECONDS_AT_ONCE = 0.25, 1.0
_TABLE = """
    CREATE TABLE acts (
        number INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, actor TEXT NOT NULL,
        codebook INTEGER NOT NULL, key TEXT NOT NULL UNIQUE, payload TEXT NOT NULL
    )
"""


def ratings(number: int) -> Iterator[NewAct]:
    for item in range(number):
        payload = {"item": f"stackoverflow/question/{item}", "round": "main", "codes": ["shape", "type"]}
        yield NewAct("rating", "r1", payload, codebook=3)


def ours(journal: Journal) -> float:
    """Acts a second, each in a transaction of its own."""
    started = time.perf_counter()
    for act in ratings(ACTS):
        journal.append([act])
    return ACTS / (time.perf_counter() - started)


def bare(connection: sqlite3.Connection, first: int) -> float:
    """The same rows with nothing around them: one INSERT, one durable commit."""
    started = time.perf_counter()
    for number, act in enumerate(ratings(ACTS), start=first):
        row = (number, datetime.now(UTC).isoformat(), act.kind, act.actor, act.codebook, uuid.uuid4().hex)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO acts VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, json.dumps(act.payload)))
        connection.execute("COMMIT")
    return ACTS / (time.perf_counter() - started)


def main(folder: Path, options: argparse.Namespace) -> None:
    place = folder / "journal"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    with (
        Journal.open(place / "study.db") as journal,
        closing(sqlite3.connect(place / "bare.db", isolation_level=None)) as connection,
    ):
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute(_TABLE)
        # In turns, so that a disk that is busy for a while is busy for both.
        pairs = [(ours(journal), bare(connection, 1 + turn * ACTS)) for turn in range(ROUNDS)]
        our_rate, bare_rate = (statistics.median(rates) for rates in zip(*pairs, strict=True))
        ratio = statistics.median(mine / theirs for mine, theirs in pairs)
        print(
            f"one act a commit: journal {our_rate:,.0f} acts/s   bare sqlite3 {bare_rate:,.0f} acts/s   "
            f"ratio {ratio:.2f} ×   bar ≥ {BAR} ×"
        )
        acts = list(ratings(AT_ONCE))
        started = time.perf_counter()
        journal.append(acts)
        seconds = time.perf_counter() - started
        print(f"{AT_ONCE:,} acts in one commit: {seconds:.2f} s   bar < {SECONDS_AT_ONCE:.0f} s")
