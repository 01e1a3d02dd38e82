"""What was published before a name was learnt: until it is made anew without that name, the lead alone reads it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from quaestor.base.errors import StateError
from quaestor.interviews.model.records import Transcript
from quaestor.interviews.names.remaining import remaining
from quaestor.interviews.names.stale_items import files_mark
from quaestor.interviews.repository import INTERVIEWS, Interviews, identities_path, interviews_path, open_interviews
from quaestor.publication.publication_status import PUBLISHED, replaced_when_made
from quaestor.store.sealed_file import change_stamp
from quaestor.store.sealed_file_restore import erased_in
from quaestor.study.folder import Study


def replaced_now(study: Study) -> dict[str, str]:
    """By transcript what changes with every place where a name is replaced; none where there are no interviews."""
    if not interviews_path(study).exists():
        return {}
    with open_interviews(study) as interviews:
        return _replaced(interviews)


def withheld(interviews: Interviews | None) -> tuple[str, ...]:
    """What is published and may hold a name that is known by now; worked out once for a state of the study."""
    if interviews is None or not (there := published_folders(interviews.study)):
        return ()
    study = interviews.study
    made = {name: replaced_when_made(study, name) for name in there}
    with interviews.coding.looking() as state:
        changed = state.changed
    settings = study.file.stat().st_mtime_ns if study.file.exists() else 0
    marks = (change_stamp(interviews_path(study)), change_stamp(identities_path(study)), changed, settings)

    def found() -> tuple[str, ...]:
        if remaining(interviews):
            return there
        now = _replaced(interviews)
        return tuple(name for name, then in made.items() if any(now.get(talk) != mark for talk, mark in then.items()))

    return interviews.remembered("withheld", (marks, files_mark(study), made), found)


def published_folders(study: Study) -> tuple[str, ...]:
    return tuple(name for name in PUBLISHED if (study.published / name / "index.html").exists())


def _replaced(interviews: Interviews) -> dict[str, str]:
    return {talk.interview: _mark(talk) for talk in interviews.transcripts()}


def _mark(talk: Transcript) -> str:
    places = [(turn.number, one.start, one.end) for turn in talk.turns for one in turn.replacements]
    return hashlib.sha256(repr(places).encode()).hexdigest()


class Unwithdrawn:
    """Who had withdrawn from interviews when something was begun; `what` is its name, as `report`."""

    def __init__(self, study: Study, what: str) -> None:
        self._path = interviews_path(study)
        self._what = what
        self._before: set[str] = set()
        if self._path.exists():
            with INTERVIEWS.opened(self._path) as file, file.reading() as reading:
                self._before = set(erased_in(reading))

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Nobody withdraws as long as this lasts; refuses where somebody has since."""
        if not self._path.exists():
            yield
            return
        with INTERVIEWS.opened(self._path) as file, file.writing() as held:
            if since := set(erased_in(held)) - self._before:
                raise StateError(
                    f"{min(since)} withdrew while the {self._what} was made, which may quote them: make it again"
                )
            yield
