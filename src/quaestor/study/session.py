"""A session on the journal of a study: folds acts into a state, and checks and records new acts atomically.

The session knows no feature: the type of state and the store of free text are passed in.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from quaestor.base.errors import QuaestorError, StateError
from quaestor.store.group_commit import GroupCommit, PendingWrite
from quaestor.store.journal import Journal, JournalTransaction
from quaestor.store.records import Act, NewAct
from quaestor.study.folder import Study
from quaestor.study.free_text import FreeText, NoFreeText


class FoldedState(Protocol):
    """The state that a journal is folded into, act by act."""

    @property
    def head(self) -> int:
        """Returns the number of the last folded act; 0 before the first."""

    def fold(self, acts: Iterable[Act]) -> None:
        """Folds acts that follow the head."""


S = TypeVar("S", bound=FoldedState)
BuildAct = Callable[[S], NewAct | Sequence[NewAct] | None]
Same = Callable[[S, Act], bool]


@dataclass(eq=False)
class PendingAct(PendingWrite[list[Act]], Generic[S]):
    """An act to be checked against the newest state and recorded."""

    build_act: BuildAct[S]
    key: str = ""
    same: Same[S] | None = None


class Session(Generic[S]):
    """An open journal with its state, which is updated incrementally; thread-safe.

    `contributions` documents the order of its locks.
    """

    def __init__(
        self, study: Study, journal: Journal, new_state: Callable[[], S], free_text: FreeText[S] | None = None
    ) -> None:
        self.study = study
        self.journal = journal
        self._new_state = new_state
        self._free_text = free_text or NoFreeText()
        self._state = new_state()
        self._outdated = False
        """Whether the state may contain free text that was erased or changed."""
        self._lock = threading.RLock()
        self.pending = GroupCommit(self._record, self._lock)
        """Pending acts; each is checked against the state after those before it in the batch."""

    def close(self) -> None:
        self._free_text.close()

    @property
    def lead(self) -> str:
        return self.study.settings.study.lead

    @property
    def state(self) -> S:
        """Returns the current state of the journal."""
        with self.locked_state() as state:
            return state

    @contextmanager
    def locked_state(self) -> Iterator[S]:
        """Yields the current state and blocks changes by this process; keep it short."""
        with self._lock:
            head = self.journal.head()
            if head > self._state.head:
                self._fold(self.journal.acts(after=self._state.head))
            # A backup was restored, or free text was erased, changed, or became readable.
            if head < self._state.head or self._outdated or self._free_text.is_outdated():
                self._state = self._new_state()
                self._fold(self.journal.acts())
            yield self._state

    def _fold(self, acts: Iterable[Act]) -> None:
        """Folds recorded acts into the state."""
        from_the_first = self._state.head == 0

        def join_texts() -> Iterator[Act]:
            for act in acts:
                self._outdated |= act.kind in self._free_text.changing
                yield self._free_text.join(self._state, act)

        with collector_paused() if from_the_first else nullcontext():
            self._state.fold(join_texts())
        self._outdated &= not from_the_first

    def now(self) -> str:
        return self.journal.clock().isoformat(timespec="microseconds")

    def act(self, build_act: BuildAct[S], key: str = "", same: Same[S] | None = None) -> list[Act]:
        """Checks an act against the newest state and records it atomically; it is on disk on return.

        A key used before returns its recorded act if that is the `same`. Records everything that `build_act` returns,
        or nothing.
        """
        pending_act = PendingAct(build_act, key, same)
        self.pending.add(pending_act)
        self.pending.record()
        return pending_act.result()

    def _record(self, batch: Sequence[PendingAct[S]]) -> list[list[Act] | QuaestorError]:
        """Records a batch in one transaction, and returns the outcome of each act."""
        safe = self._state.head
        try:
            with self.journal.writing() as writing:
                self._fold(writing.acts(after=self._state.head))
                safe = self._state.head
                writing.look_up(pending_act.key for pending_act in batch if pending_act.key)
                outcomes = [self._record_act(writing, pending_act) for pending_act in batch]
                # Before the journal commits, under its write lock: a text must be on disk before its act.
                self._free_text.store()
        except BaseException:
            if self._state.head > safe:  # the state contains acts that were rolled back
                self._state = self._new_state()
            raise
        finally:
            self._free_text.forget_pending()
        return outcomes

    def _record_act(self, writing: JournalTransaction, pending_act: PendingAct[S]) -> list[Act] | QuaestorError:
        """Records one act within the transaction; a rejected act leaves nothing behind."""
        new_acts: list[NewAct] = []
        try:
            known = writing.find(pending_act.key) if pending_act.key else None
            if known:
                with_text = self._free_text.join(self._state, known)
                # If a text was erased or changed since, the key alone identifies the act.
                changed = self._free_text.is_changed(self._state, known)
                if pending_act.same and not changed and not pending_act.same(self._state, with_text):
                    raise StateError(f"the key {pending_act.key!r} was used before for another act: use a new key")
                return [with_text]
            built = pending_act.build_act(self._state)
            new_acts = [built] if isinstance(built, NewAct) else list(built or ())
            writing.look_up(act.key for act in new_acts)
            separated = [self._free_text.separate(self._state, act, writing.find(act.key)) for act in new_acts]
            recorded = writing.append(separated)
        except QuaestorError as error:
            for act in new_acts:
                self._free_text.forget_pending(act.key)
            return error
        # Folded before the commit, so that an act that cannot be folded is not recorded.
        self._fold(recorded)
        return [self._free_text.join(self._state, act) for act in recorded]

    def read_acts(self, kinds: Sequence[str]) -> list[Act]:
        """Returns the recorded acts of some kinds with their free text, without what was erased."""
        with self.locked_state() as state:
            return [self._free_text.join(state, act) for act in self.journal.read_acts_of_kinds(kinds)]

    def require_words(self) -> None:
        """Raises an error if stored texts cannot be read, so that they are never silently left out."""
        with self.locked_state():
            self._free_text.require_loaded()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pauses garbage collection while much is read and little is freed: scanning would double the time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
