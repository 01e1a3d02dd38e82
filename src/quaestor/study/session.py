"""A session on the journal of a study: the state folded from it, and acts that are checked and recorded at once.

The session knows no feature: the state that acts fold into and the store of their free text are passed in.
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
    """What a journal is folded into, act by act."""

    @property
    def head(self) -> int:
        """The number of the last act that it holds; 0 before the first."""

    def fold(self, acts: Iterable[Act]) -> None:
        """Go on with acts that follow the head."""


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
    """An open journal with its state, which is kept and goes on with the journal; safe for threads.

    `contributions` states the order of its locks.
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
        """Whether the state may hold free text that has been erased or changed."""
        self._lock = threading.RLock()
        self.pending = GroupCommit(self._record, self._lock)
        """Acts to be recorded; each is checked against the state that those before it in the batch lead to."""

    def close(self) -> None:
        self._free_text.close()

    @property
    def lead(self) -> str:
        return self.study.settings.study.lead

    @property
    def state(self) -> S:
        """What the journal says now."""
        with self.locked_state() as state:
            return state

    @contextmanager
    def locked_state(self) -> Iterator[S]:
        """What the journal says now, and nobody of this process changes it meanwhile; keep it short."""
        with self._lock:
            head = self.journal.head()
            if head > self._state.head:
                self._fold(self.journal.acts(after=self._state.head))
            # A backup was restored, or free text was erased, changed, or can be read again.
            if head < self._state.head or self._outdated or self._free_text.is_outdated():
                self._state = self._new_state()
                self._fold(self.journal.acts())
            yield self._state

    def _fold(self, acts: Iterable[Act]) -> None:
        """Go on with acts as the journal has them."""
        from_the_first = self._state.head == 0

        def joined() -> Iterator[Act]:
            for act in acts:
                self._outdated |= act.kind in self._free_text.changing
                yield self._free_text.join(self._state, act)

        with _collector_paused() if from_the_first else nullcontext():
            self._state.fold(joined())
        self._outdated &= not from_the_first

    def now(self) -> str:
        return self.journal.clock().isoformat(timespec="microseconds")

    def act(self, build_act: BuildAct[S], key: str = "", same: Same[S] | None = None) -> list[Act]:
        """Check an act against the newest state and record it, with nobody in between; the disk has it on return.

        A key that is on record is answered with the act it stands for, if that says the `same`. What `build_act`
        returns is recorded whole or not at all.
        """
        pending_act = PendingAct(build_act, key, same)
        self.pending.add(pending_act)
        self.pending.record()
        return pending_act.result()

    def _record(self, batch: Sequence[PendingAct[S]]) -> list[list[Act] | QuaestorError]:
        """Record a batch in one transaction, and return the outcome of each act."""
        safe = self._state.head
        try:
            with self.journal.writing() as writing:
                self._fold(writing.acts(after=self._state.head))
                safe = self._state.head
                writing.look_up(pending_act.key for pending_act in batch if pending_act.key)
                outcomes = [self._record_act(writing, pending_act) for pending_act in batch]
                # Before the journal commits, while its write lock is held: a text is on the disk before its act.
                self._free_text.store()
        except BaseException:
            if self._state.head > safe:  # it holds acts that were not recorded after all
                self._state = self._new_state()
            raise
        finally:
            self._free_text.forget_pending()
        return outcomes

    def _record_act(self, writing: JournalTransaction, pending_act: PendingAct[S]) -> list[Act] | QuaestorError:
        """Records one act within the transaction; where it is refused, it leaves nothing behind."""
        new_acts: list[NewAct] = []
        try:
            known = writing.find(pending_act.key) if pending_act.key else None
            if known:
                with_text = self._free_text.join(self._state, known)
                # Where a text was erased or changed since, the key alone says that it is the same act.
                changed = self._free_text.is_changed(self._state, known)
                if pending_act.same and not changed and not pending_act.same(self._state, with_text):
                    raise StateError(f"the key {pending_act.key!r} was sent before with something else: use a new key")
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
        # Folded before the commit: what the state cannot fold is not recorded.
        self._fold(recorded)
        return [self._free_text.join(self._state, act) for act in recorded]

    def require_words(self) -> None:
        """Refuses where words that somebody wrote cannot be read, so that they are not left out without a word."""
        with self.locked_state():
            self._free_text.require_loaded()


@contextmanager
def _collector_paused() -> Iterator[None]:
    """While a whole journal is read, objects come and none goes: to look for garbage would take as long as to read."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
