"""The coding of a study: its journal, the state derived from it, and acts that are checked and recorded at once."""

from __future__ import annotations

import gc
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from quaestor.base.errors import QuaestorError, StateError
from quaestor.coding.state import State
from quaestor.store.journal import Journal, Writing
from quaestor.store.records import Act, NewAct
from quaestor.study.folder import Study
from quaestor.study.free_text import FreeTexts
from quaestor.study.journal import open_journal

Decide = Callable[[State], NewAct | Sequence[NewAct] | None]
Same = Callable[[State, Act], bool]


@dataclass(eq=False)
class Wanted:
    """An act that somebody wants on record, and what came of it."""

    decide: Decide
    key: str = ""
    same: Same | None = None
    outcome: list[Act] | BaseException | None = None

    def acts(self) -> list[Act]:
        """What is on record now; raises why it is not."""
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome or []


class Coding:
    """A study's rounds and codebook; the state is kept and goes on with the journal."""

    def __init__(self, study: Study, journal: Journal) -> None:
        self.study = study
        self.journal = journal
        self._free_text = FreeTexts(study)
        self._state = State()
        self._outdated = False
        """Whether the state may hold free text that has been erased or changed."""
        self._taking = threading.RLock()
        self._waiting: deque[Wanted] = deque()

    def close(self) -> None:
        self._free_text.close()

    @property
    def lead(self) -> str:
        return self.study.settings.study.lead

    @property
    def state(self) -> State:
        """What the journal says now."""
        with self.looking() as state:
            return state

    @contextmanager
    def looking(self) -> Iterator[State]:
        """What the journal says now, and nobody of this process changes it meanwhile; keep it short."""
        with self._taking:
            head = self.journal.head()
            if head > self._state.head:
                self._take(self.journal.acts(after=self._state.head))
            # A backup was restored, or free text was erased, changed, or can be read again.
            if head < self._state.head or self._outdated or self._free_text.is_outdated():
                self._state = State()
                self._take(self.journal.acts())
            yield self._state

    def _take(self, acts: Iterable[Act]) -> None:
        """Go on with acts as the journal has them."""
        from_the_first = self._state.head == 0

        def joined() -> Iterator[Act]:
            for act in acts:
                self._outdated |= act.kind in self._free_text.changing
                yield self._free_text.join(self._state, act)

        with _collector_paused() if from_the_first else nullcontext():
            self._state.take(joined())
        self._outdated &= not from_the_first

    def now(self) -> str:
        return self.journal.clock().isoformat(timespec="microseconds")

    def act(self, decide: Decide, key: str = "", same: Same | None = None) -> list[Act]:
        """Check an act against the newest state and record it, with nobody in between; the disk has it on return.

        A key that is on record is answered with the act it stands for, if that says the `same`. What `decide` returns
        is recorded whole or not at all.
        """
        wanted = Wanted(decide, key, same)
        self.ask_for(wanted)
        self.record()
        return wanted.acts()

    def ask_for(self, wanted: Wanted) -> None:
        """Put an act in the line; whoever records next records it too."""
        self._waiting.append(wanted)

    def record(self) -> None:
        """Record all that wait; on return each of them has its outcome.

        Acts that arrive while the disk is busy are recorded together, each checked against what those before it made
        of the state: many raters share the wait for the disk.
        """
        with self._taking:
            together = []
            while self._waiting:
                together.append(self._waiting.popleft())
            if together:
                self._record(together)

    def _record(self, together: Sequence[Wanted]) -> None:
        """All of these in one transaction; where something goes wrong that is not one's own fault, each alone."""
        safe = self._state.head
        try:
            with self.journal.writing() as writing:
                self._take(writing.acts(after=self._state.head))
                safe = self._state.head
                writing.look_up(wanted.key for wanted in together if wanted.key)
                outcomes: list[list[Act] | BaseException] = [self._recorded(writing, wanted) for wanted in together]
                # Before the journal commits, and while its write lock is held: see `FreeTexts` for the lock order.
                self._free_text.store()
            self._free_text.forget_pending()
        except BaseException as error:  # noqa: BLE001 - raised where the act was asked for
            self._free_text.forget_pending()
            if self._state.head > safe:  # it holds acts that were not recorded after all
                self._state = State()
            if len(together) > 1 and isinstance(error, Exception):
                for wanted in together:
                    self._record([wanted])
                return
            outcomes = [error for _ in together]
        for wanted, outcome in zip(together, outcomes, strict=True):
            wanted.outcome = outcome

    def _recorded(self, writing: Writing, wanted: Wanted) -> list[Act] | QuaestorError:
        """One act within the transaction; a refusal is its own, and leaves nothing behind."""
        wished: list[NewAct] = []
        try:
            known = writing.find(wanted.key) if wanted.key else None
            if known:
                told = self._free_text.join(self._state, known)
                # Where a text was erased or changed since, the key alone says that it is the same act.
                changed = self._free_text.is_changed(self._state, known)
                if wanted.same and not changed and not wanted.same(self._state, told):
                    raise StateError(f"the key {wanted.key!r} was sent before with something else: use a new key")
                return [told]
            new = wanted.decide(self._state)
            wished = [new] if isinstance(new, NewAct) else list(new or ())
            writing.look_up(one.key for one in wished)
            made = writing.append([self._free_text.separate(self._state, one, writing.find(one.key)) for one in wished])
        except QuaestorError as error:
            for one in wished:
                self._free_text.forget_pending(one.key)
            return error
        # Taken before the commit: what the state cannot take is not recorded.
        self._take(made)
        return [self._free_text.join(self._state, one) for one in made]

    def require_words(self) -> None:
        """Refuses where words that somebody wrote cannot be read, so that they are not left out without a word."""
        with self.looking():
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


def require_lead(coding: Coding, actor: str | None, what: str) -> str:
    """The lead's name; refuses anybody else."""
    if actor not in (None, coding.lead):
        raise StateError(f"{actor!r} is not the lead of the study, who alone can {what}: {coding.lead!r} is")
    return coding.lead


def require_part(coding: Coding, name: str, actor: str) -> str:
    """The actor, where they rate in a round or lead the study; refuses anybody else."""
    one = coding.state.round(name)
    if actor != coding.lead and one.seat_of(actor) is None:
        raise StateError(f"{actor!r} does not rate in {name!r}: only its raters and the lead can do this")
    return actor


Where = Study | Coding
"""A study whose journal is opened for one thing and closed again, or one whose journal is open already."""


def study_of(where: Where) -> Study:
    return where.study if isinstance(where, Coding) else where


@contextmanager
def open_coding(where: Where) -> Iterator[Coding]:
    """The coding of a study, with nobody of this process in between until the end."""
    if isinstance(where, Coding):
        with where.looking():
            yield where
        return
    with open_journal(where) as journal:
        coding = Coding(where, journal)
        try:
            yield coding
        finally:
            coding.close()


def rebuilt(journal: Journal) -> State:
    """The state from the journal alone, without the words that it only refers to."""
    state = State()
    state.take(journal.acts())
    return state
