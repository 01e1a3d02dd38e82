"""Group commit: writes that arrive while the disk is busy share a commit, and each has its own outcome."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from quaestor.base.errors import InputError, QuaestorError
from quaestor.store.group_commit import GroupCommit, PendingWrite


@dataclass(eq=False)
class Note(PendingWrite[str]):
    text: str


class Store:
    """Remembers each batch that was recorded; refuses `refused`, and breaks at `broken`."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.busy = threading.Lock()

    def record(self, batch: Sequence[Note]) -> list[str | QuaestorError]:
        with self.busy:
            if any(note.text == "broken" for note in batch):
                raise ValueError("the store broke")
            self.batches.append([note.text for note in batch])
            return [InputError("no") if note.text == "refused" else note.text.upper() for note in batch]


async def in_thread(call: Callable[[], None]) -> None:
    await asyncio.to_thread(call)


def test_queued_writes_are_recorded_in_one_batch_in_order() -> None:
    store = Store()
    commits = GroupCommit[Note](store.record)
    notes = [Note(str(number)) for number in range(5)]
    for note in notes:
        commits.add(note)
    commits.record()
    commits.record()
    assert store.batches == [["0", "1", "2", "3", "4"]], "an empty queue needs no transaction"
    assert [note.result() for note in notes] == ["0", "1", "2", "3", "4"]


def test_a_refused_write_does_not_affect_others() -> None:
    commits = GroupCommit[Note](Store().record)
    good, refused = Note("good"), Note("refused")
    commits.add(good)
    commits.add(refused)
    commits.record()
    assert good.result() == "GOOD"
    with pytest.raises(InputError, match="no"):
        refused.result()


def test_after_a_failed_batch_each_write_is_tried_alone() -> None:
    store = Store()
    commits = GroupCommit[Note](store.record)
    notes = [Note("first"), Note("broken"), Note("last")]
    for note in notes:
        commits.add(note)
    commits.record()
    assert store.batches == [["first"], ["last"]]
    with pytest.raises(ValueError, match="broke"):
        notes[1].result()
    assert notes[2].result() == "LAST"


def test_an_interruption_ends_the_whole_batch() -> None:
    def interrupted(batch: Sequence[Note]) -> list[object]:
        calls.append(len(batch))
        raise KeyboardInterrupt

    calls: list[int] = []
    commits = GroupCommit[Note](interrupted)
    for text in ("one", "two"):
        commits.add(Note(text))
    commits.record()
    assert calls == [2]


def test_an_unrecorded_write_has_no_result() -> None:
    with pytest.raises(RuntimeError, match="has not been recorded"):
        Note("never").result()


def test_concurrent_threads_all_get_their_outcome() -> None:
    commits = GroupCommit[Note](Store().record)

    def save(number: int) -> str:
        note = Note(str(number))
        commits.add(note)
        commits.record()
        return note.result()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(save, range(200))) == [str(number) for number in range(200)]


def test_coroutines_share_the_wait_for_a_busy_disk() -> None:
    store = Store()
    commits = GroupCommit[Note](store.record)

    async def save(text: str) -> str:
        note = Note(text)
        commits.add(note)
        await commits.wait(note, in_thread)
        return note.result()

    async def save_all() -> list[str]:
        store.busy.acquire()
        first = asyncio.ensure_future(save("first"))
        while commits._queue or not commits._recording:
            await asyncio.sleep(0)
        others = [asyncio.ensure_future(save(str(number))) for number in range(20)]
        await asyncio.sleep(0)
        store.busy.release()
        return await asyncio.gather(first, *others)

    assert asyncio.run(save_all()) == ["FIRST", *(str(number) for number in range(20))]
    assert [len(batch) for batch in store.batches] == [1, 20]


def test_a_cancelled_wait_does_not_cancel_the_commit_of_others() -> None:
    store = Store()
    commits = GroupCommit[Note](store.record)

    async def leave_and_stay() -> str:
        leaving, staying = Note("leaving"), Note("staying")
        store.busy.acquire()
        commits.add(leaving)
        left = asyncio.ensure_future(commits.wait(leaving, in_thread))
        while commits._queue or not commits._recording:
            await asyncio.sleep(0)
        commits.add(staying)
        stayed = asyncio.ensure_future(commits.wait(staying, in_thread))
        await asyncio.sleep(0)
        left.cancel()
        store.busy.release()
        await stayed
        return staying.result() + leaving.result()

    assert asyncio.run(leave_and_stay()) == "STAYINGLEAVING"
