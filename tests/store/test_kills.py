"""An acknowledged act survives `kill -9`; another one is recorded completely or not at all."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

from tests.campaigns.kill_writers import kill_writers

from quaestor.store.journal import Journal
from quaestor.store.records import NewAct


def test_two_hundred_killed_writers_lose_nothing_in_a_file(tmp_path: Path) -> None:
    tally = kill_writers(tmp_path / "study.db", kills=200, seed=20)
    assert tally.clean, tally
    assert tally.acknowledged > 140


def test_thirty_killed_writers_lose_nothing_on_a_server(postgresql: str) -> None:
    tally = kill_writers(postgresql, kills=30, seed=20)
    assert tally.clean, tally
    assert tally.acknowledged > 20


def test_a_store_whose_creation_was_killed_is_created_again(tmp_path: Path) -> None:
    chance = random.Random(7)
    with Journal.open(tmp_path / "warm.db"):  # so that a child does not spend its life with imports
        pass
    unfinished = 0
    for number in range(40):
        file = tmp_path / f"{number}.db"
        child = os.fork()
        if child == 0:
            try:
                Journal.open(file)
            finally:
                os._exit(0)
        time.sleep(chance.uniform(0, 0.03))
        os.kill(child, signal.SIGKILL)
        unfinished += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        with Journal.open(file) as journal:
            assert journal.append([NewAct("rating", "r1", {})])[0].number == 1
    assert unfinished > 0


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "study.db").touch()
    with Journal.open(tmp_path / "study.db") as journal:
        assert journal.head() == 0
