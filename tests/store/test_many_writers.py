"""Twenty concurrent writers cause no lock errors or gaps, and a reader misses nothing."""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quaestor.store.journal import Journal
from quaestor.store.records import NewAct

WRITERS, ACTS = 20, 15


def write(journal: Journal, writer: int) -> None:
    for number in range(ACTS):
        with journal.writing() as writing:
            # What was read under the lock is still so when the act is written.
            head = writing.head()
            (act,) = writing.append([NewAct("rating", f"rater {writer}", {"number": number, "head": head})])
            assert act.number == head + 1


def expect_all(journal: Journal) -> None:
    acts = list(journal.acts())
    assert [act.number for act in acts] == list(range(1, WRITERS * ACTS + 1))
    assert all(act.payload["head"] == act.number - 1 for act in acts)
    for writer in range(WRITERS):
        mine = [act.payload["number"] for act in acts if act.actor == f"rater {writer}"]
        assert mine == list(range(ACTS))


def test_twenty_threads_write_at_the_same_time_and_a_reader_misses_nothing(journal: Journal) -> None:
    seen: list[int] = []
    ended = threading.Event()

    def follow() -> None:
        while not ended.is_set() or len(seen) < journal.head():
            seen.extend(act.number for act in journal.acts(after=seen[-1] if seen else 0))

    with ThreadPoolExecutor(WRITERS + 1) as threads:
        reader = threads.submit(follow)
        writers = [threads.submit(write, journal, writer) for writer in range(WRITERS)]
        try:
            for future in writers:
                future.result()
        finally:
            ended.set()
        reader.result()
    assert seen == list(range(1, WRITERS * ACTS + 1))
    expect_all(journal)


def in_processes(number: int, work: Callable[[int], None]) -> list[int]:
    """Do the work in so many processes, begun at the same moment; their exit codes."""
    begin = time.monotonic() + 0.3
    children = []
    for index in range(number):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                time.sleep(max(0.0, begin - time.monotonic()))
                work(index)
                code = 0
            except BaseException:
                traceback.print_exc()  # nobody else would hear of it
                raise
            finally:
                os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@pytest.mark.slow
def test_twenty_processes_create_the_store_and_write_at_the_same_time(address: str | Path) -> None:
    def work(writer: int) -> None:
        with Journal.open(address) as journal:
            write(journal, writer)

    assert in_processes(WRITERS, work) == [0] * WRITERS
    with Journal.open(address) as journal:
        expect_all(journal)


def test_twenty_processes_with_one_key_record_one_act(address: str | Path) -> None:
    def work(writer: int) -> None:
        with Journal.open(address) as journal:
            journal.append([NewAct("rating", "r1", {"value": 1}, key="once")])

    assert in_processes(WRITERS, work) == [0] * WRITERS
    with Journal.open(address) as journal:
        assert [act.key for act in journal.acts()] == ["once"]
