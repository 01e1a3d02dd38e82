"""What was published before a name was learnt: until it is made anew without that name, the lead alone reads it."""

from __future__ import annotations

import hashlib

from quaestor.base.errors import StateError
from quaestor.store.sealed_file import mark_of
from quaestor.study.folder import Study
from quaestor.study.interviews.files import identities_path, interviews_path
from quaestor.study.interviews.older_items import files_mark
from quaestor.study.interviews.remaining import remaining
from quaestor.study.interviews.room import Interviews, open_interviews
from quaestor.study.results.freshness import PUBLISHED, replaced_when_made

WITHHELD = (
    "A name is known since this was published that may stand in it: it can be read again when the lead has replaced "
    "the name and made it anew."
)


def replaced_now(study: Study) -> str:
    """Changes with every place of a transcript where a name is replaced; empty where there are no interviews."""
    if not interviews_path(study).exists():
        return ""
    with open_interviews(study) as interviews:
        return _replaced(interviews)


def withheld(interviews: Interviews | None) -> tuple[str, ...]:
    """What is published and may hold a name that is known by now; worked out once for a state of the study."""
    if interviews is None:
        return ()
    study = interviews.study
    made = {name: replaced_when_made(study, name) for name in PUBLISHED}
    with interviews.coding.looking() as state:
        changed = state.changed
    settings = study.file.stat().st_mtime_ns if study.file.exists() else 0
    marks = (mark_of(interviews_path(study)), mark_of(identities_path(study)), changed, settings)

    def found() -> tuple[str, ...]:
        if remaining(interviews):
            return PUBLISHED
        now = _replaced(interviews)
        return tuple(name for name, then in made.items() if then is not None and then != now)

    return interviews.remembered("withheld", (marks, files_mark(study), tuple(made.items())), found)


def refuse_withheld(interviews: Interviews | None, name: str) -> None:
    """Nobody but the lead reads what may hold a name."""
    if name in withheld(interviews):
        raise StateError(WITHHELD)


def _replaced(interviews: Interviews) -> str:
    places = [
        (talk.interview, turn.number, one.start, one.end)
        for talk in interviews.transcripts()
        for turn in talk.turns
        for one in turn.replacements
    ]
    return hashlib.sha256(repr(sorted(places)).encode()).hexdigest()
