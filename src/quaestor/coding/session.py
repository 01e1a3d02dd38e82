"""The coding session: an open journal and its state of codebook, rounds, ratings and decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

from quaestor.base.errors import StateError
from quaestor.coding.free_text import CodingFreeText
from quaestor.coding.model.state import ItemRemoval, State
from quaestor.store.journal import Journal
from quaestor.study.features import features
from quaestor.study.folder import Study, open_journal
from quaestor.study.session import Session

CodingSession = Session[State]
"""A session whose state is the study's codebook, rounds, ratings and decisions."""


@cache
def _item_removals() -> Mapping[str, ItemRemoval]:
    return {
        kind: ItemRemoval(feature.name, described.removes, described.restores)
        for feature in features()
        for kind, described in feature.act_kinds.items()
        if described.removes is not None
    }


def new_state() -> State:
    """Returns the state before the first act, with the item removals of every feature."""
    return State(removals=_item_removals())


def coding_session(study: Study, journal: Journal) -> CodingSession:
    """Returns a session on an open journal; the caller closes both."""
    return Session(study, journal, new_state, CodingFreeText(study))


def require_lead(coding: CodingSession, actor: str | None, action: str) -> str:
    """Returns the name of the lead; raises StateError for anybody else."""
    if actor not in (None, coding.lead):
        raise StateError(f"{actor!r} is not the lead of the study: only {coding.lead!r} can {action}")
    return coding.lead


def require_part(coding: CodingSession, name: str, actor: str) -> str:
    """Returns the actor if they rate in a round or lead the study; raises StateError otherwise."""
    round_state = coding.state.round(name)
    if actor != coding.lead and round_state.slot_of(actor) is None:
        raise StateError(f"{actor!r} does not rate in {name!r}: only its raters and the lead can do this")
    return actor


StudyOrSession = Study | CodingSession
"""A study, whose journal is opened and closed by each function, or an open session."""


def find_study(study_or_session: StudyOrSession) -> Study:
    return study_or_session.study if isinstance(study_or_session, Session) else study_or_session


@contextmanager
def open_coding(study_or_session: StudyOrSession) -> Iterator[CodingSession]:
    """Opens the coding session of a study, or locks the one that is already open."""
    if isinstance(study_or_session, Session):
        with study_or_session.locked_state():
            yield study_or_session
        return
    with open_journal(study_or_session) as journal:
        coding = coding_session(study_or_session, journal)
        try:
            yield coding
        finally:
            coding.close()
