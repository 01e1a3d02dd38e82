"""Ratings and decisions of a round as files, for those who may see them; what puts a look on record asks first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quaestor.base.errors import StateError
from quaestor.base.tables import FORMS, Table, table_bytes
from quaestor.coding.state import OPEN, State
from quaestor.coding.views import asks_first, require_lead_view
from quaestor.study.coding import Coding
from quaestor.study.decisions import decisions_of
from quaestor.study.ratings import export_ratings, note_view


@dataclass(frozen=True)
class RoundFile:
    """A file to be taken home."""

    name: str
    kind: str
    content: bytes


def needs_record(state: State, name: str, actor: str, lead: str) -> bool:
    """Whether somebody has to agree first that their look at the ratings of a round goes on record."""
    one = state.round(name)
    if one.seat_of(actor) and one.plan.blind and one.status == OPEN:
        return False  # they get their own
    require_lead_view(state, name, actor, lead)
    return asks_first(state, name, actor)


@dataclass(frozen=True)
class Asking:
    """The state of a round whose ratings a person is about to see for the first time."""

    is_open: bool


def asking(coding: Coding, name: str, actor: str) -> Asking | None:
    """What somebody is asked before a look goes on record; nothing where there is nothing to record."""
    with coding.looking() as state:
        if name in state.published or not needs_record(state, name, actor, coding.lead):
            return None
        return Asking(state.round(name).status == OPEN)


def why_no_files(state: State, name: str, actor: str, lead: str) -> str:
    """Why somebody gets no file of a round now, in a sentence; empty where they do."""
    try:
        needs_record(state, name, actor, lead)
    except StateError as refusal:
        return str(refusal)
    return ""


def look(coding: Coding, name: str, actor: str) -> None:
    """Put on record that somebody who may see the ratings of a round now does."""
    with coding.looking() as state:
        if needs_record(state, name, actor, coding.lead):
            note_view(coding, name, actor)


def ratings_file(coding: Coding, name: str, actor: str, form: str = "csv", *, superseded: bool = False) -> RoundFile:
    """The ratings an actor may see; whoever asks has looked before, or needs no record."""
    with coding.looking():
        rows = export_ratings(coding, name, actor, superseded=superseded)
    return _file("ratings", rows, name, form)


def decisions_file(coding: Coding, name: str, actor: str, form: str = "csv") -> RoundFile:
    return _file("decisions", decisions_of(coding, name, actor), name, form)


def _file(what: str, rows: Sequence[Mapping[str, str]], name: str, form: str) -> RoundFile:
    content = table_bytes(Table.of(what, rows), form)
    return RoundFile(f"{name}-{what}.{form}", FORMS[form], content)
