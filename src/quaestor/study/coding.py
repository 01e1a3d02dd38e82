"""The coding of a study: its journal, the state derived from it, and acts that are checked and recorded at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from quaestor.base.errors import StateError
from quaestor.coding.state import State
from quaestor.store.journal import Journal
from quaestor.store.records import Act, NewAct
from quaestor.study.folder import Study
from quaestor.study.journal import open_journal

Decide = Callable[[State], NewAct | Sequence[NewAct] | None]
Same = Callable[[State, Act], bool]


class Coding:
    """A study's rounds and codebook; the state is kept and goes on with the journal."""

    def __init__(self, study: Study, journal: Journal) -> None:
        self.study = study
        self.journal = journal
        self._state = State()
        self._taking = threading.RLock()

    @property
    def lead(self) -> str:
        return self.study.settings.study.lead

    @property
    def state(self) -> State:
        """What the journal says now."""
        with self._taking:
            self._state.take(self.journal.acts(after=self._state.head))
            return self._state

    def now(self) -> str:
        return self.journal.clock().isoformat(timespec="microseconds")

    def act(self, decide: Decide, key: str = "", same: Same | None = None) -> list[Act]:
        """Check an act against the newest state and record it, with nobody in between.

        A key that is on record is answered with the act it stands for, if that says the `same`.

        What `decide` returns is recorded whole or not at all.
        """
        with self._taking:
            safe = self._state.head
        try:
            with self.journal.writing() as writing, self._taking:
                self._state.take(writing.acts(after=self._state.head))
                safe = self._state.head
                known = writing.find(key) if key else None
                if known:
                    if same and not same(self._state, known):
                        raise StateError(f"the key {key!r} stands for act {known.number}, which says something else")
                    return [known]
                wanted = decide(self._state)
                made = writing.append([wanted] if isinstance(wanted, NewAct) else list(wanted or ()))
                # Taken before the commit: what the state cannot take is not recorded.
                self._state.take(made)
                return made
        except BaseException:
            with self._taking:
                if self._state.head > safe:  # it holds acts that were not recorded after all
                    self._state = State()
            raise


def require_lead(coding: Coding, actor: str | None, what: str) -> str:
    """The lead's name; refuses anybody else."""
    if actor not in (None, coding.lead):
        raise StateError(f"{actor!r} is not the lead of the study, who alone can {what}: {coding.lead!r} is")
    return coding.lead


def require_part(coding: Coding, name: str, actor: str) -> str:
    """The actor, where they rate in a round or lead the study; refuses anybody else."""
    one = coding.state.round(name)
    if actor != coding.lead and one.seat_of(actor) is None:
        raise StateError(f"{actor!r} does not rate in {name!r}: its raters are {', '.join(s.rater for s in one.seats)}")
    return actor


@contextmanager
def open_coding(study: Study) -> Iterator[Coding]:
    with open_journal(study) as journal:
        yield Coding(study, journal)


def rebuilt(journal: Journal) -> State:
    """The state from the journal alone."""
    state = State()
    state.take(journal.acts())
    return state
