"""Kill writers at random moments; every acknowledged act must be recorded completely.

python -m tests.campaigns.kill_writers [--kills 1000] [--seed 1]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from functools import partial
from pathlib import Path

from tests.campaigns.short_lives import Tally, acknowledged_until_killed
from tests.support.postgres import NoServer, server

from quaestor.store.journal import Journal
from quaestor.store.records import NewAct

LONGEST = 0.025
"""Seconds a writer lives after its first acknowledgement, at most."""


def kill_writers(address: str | Path, kills: int, seed: int) -> Tally:
    """Start and kill writers repeatedly, then compare acknowledged with recorded acts."""
    with Journal.open(address):
        pass
    acknowledged = acknowledged_until_killed(partial(_write_for_ever, address), kills, seed, LONGEST)
    return _compare(address, kills, acknowledged)


def _write_for_ever(address: str | Path, life: int, pipe: int) -> None:
    with Journal.open(address) as journal:
        for turn in range(1_000_000):
            group, size = f"{life}.{turn}", 1 + turn % 3
            journal.append(
                [
                    NewAct("rating", "r1", {"group": group, "size": size, "note": "x" * 200}, key=f"{group}.{part}")
                    for part in range(size)
                ]
            )
            os.write(pipe, f"{group}\n".encode())


def _compare(address: str | Path, kills: int, acknowledged: list[str]) -> Tally:
    found: dict[str, list[int]] = defaultdict(list)
    keys = set()
    numbers = []
    with Journal.open(address) as journal:
        for act in journal.acts():
            found[act.payload["group"]].append(act.payload["size"])
            keys.add(act.key)
            numbers.append(act.number)
    assert numbers == list(range(1, len(numbers) + 1)), "the numbers have a gap"
    return Tally(
        kills,
        acknowledged=len(acknowledged),
        on_record=len(found),
        lost=sum(group not in found for group in acknowledged),
        doubled=len(numbers) - len(keys),
        halved=sum(len(sizes) != sizes[0] for sizes in found.values()),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    clean = True
    with tempfile.TemporaryDirectory() as folder:
        clean &= _tell("SQLite", Path(folder) / "study.db", options)
    try:
        with server() as address:
            clean &= _tell("PostgreSQL", address.format(database="postgres"), options)
    except NoServer as reason:
        print(f"PostgreSQL: left out, {reason}")
        clean &= os.environ.get("CI") != "true"
    return 0 if clean else 1


def _tell(name: str, address: str | Path, options: argparse.Namespace) -> bool:
    begun = time.monotonic()
    tally = kill_writers(address, options.kills, options.seed)
    print(
        f"{name}: {tally.kills:,} kills in {time.monotonic() - begun:.0f} s; "
        f"{tally.acknowledged:,} groups of acts acknowledged, {tally.on_record:,} on record: "
        f"{tally.lost} lost, {tally.doubled} doubled, {tally.halved} halved"
    )
    return tally.clean


if __name__ == "__main__":
    sys.exit(main())
