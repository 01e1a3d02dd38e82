"""What was published before a name was learnt: until it is made anew without that name, the lead alone reads it."""

from __future__ import annotations

import hashlib

from quaestor.base.errors import InputError, StateError
from quaestor.instruments.interviews.records import Transcript
from quaestor.store.sealed_file import mark_of
from quaestor.study.folder import Study
from quaestor.study.interviews.files import identities_path, interviews_path
from quaestor.study.interviews.older_items import files_mark
from quaestor.study.interviews.remaining import remaining
from quaestor.study.interviews.room import Interviews, open_interviews
from quaestor.study.kept_open import KeptOpen
from quaestor.study.results.freshness import PUBLISHED, replaced_when_made

WITHHELD = (
    "A name is known since this was published that may stand in it: it can be read again when the lead has replaced "
    "the name and made it anew."
)


def replaced_now(study: Study) -> dict[str, str]:
    """By transcript what changes with every place where a name is replaced; none where there are no interviews."""
    if not interviews_path(study).exists():
        return {}
    with open_interviews(study) as interviews:
        return _replaced(interviews)


def withheld(interviews: Interviews | None) -> tuple[str, ...]:
    """What is published and may hold a name that is known by now; worked out once for a state of the study."""
    if interviews is None or not (there := _published(interviews.study)):
        return ()
    study = interviews.study
    made = {name: replaced_when_made(study, name) for name in there}
    with interviews.coding.looking() as state:
        changed = state.changed
    settings = study.file.stat().st_mtime_ns if study.file.exists() else 0
    marks = (mark_of(interviews_path(study)), mark_of(identities_path(study)), changed, settings)

    def found() -> tuple[str, ...]:
        if remaining(interviews):
            return there
        now = _replaced(interviews)
        return tuple(name for name, then in made.items() if any(now.get(talk) != mark for talk, mark in then.items()))

    return interviews.remembered("withheld", (marks, files_mark(study), made), found)


def withheld_at(opened: KeptOpen) -> tuple[tuple[str, ...], str]:
    """The same at the desk; all of it where names cannot be read, and why, which is for the lead alone."""
    try:
        return withheld(opened.interviews_if_any), ""
    except (InputError, StateError) as error:
        return _published(opened.latest), str(error)


def refuse_withheld(opened: KeptOpen, name: str) -> None:
    """Nobody but the lead reads what may hold a name."""
    if name in withheld_at(opened)[0]:
        raise StateError(WITHHELD)


def _published(study: Study) -> tuple[str, ...]:
    return tuple(name for name in PUBLISHED if (study.published / name / "index.html").exists())


def _replaced(interviews: Interviews) -> dict[str, str]:
    return {talk.interview: _mark(talk) for talk in interviews.transcripts()}


def _mark(talk: Transcript) -> str:
    places = [(turn.number, one.start, one.end) for turn in talk.turns for one in turn.replacements]
    return hashlib.sha256(repr(places).encode()).hexdigest()
