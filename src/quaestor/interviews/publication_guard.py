"""Keeps known names and withdrawn participants of interviews out of published results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from quaestor.base.errors import StateError
from quaestor.interviews.model.records import Transcript
from quaestor.interviews.names.remaining import find_remaining_names, refuse_names
from quaestor.interviews.names.stale_items import stamp_item_files
from quaestor.interviews.repository import INTERVIEWS, Interviews, identities_path, interviews_path, open_interviews
from quaestor.store.sealed_file import change_stamp
from quaestor.store.sealed_file_restore import read_erasures
from quaestor.study.folder import Study


class InterviewGuard:
    """Implements `study.contributions.PublicationGuard`."""

    def refuse(self, study: Study) -> None:
        refuse_names(study)

    def text_stamps(self, study: Study) -> dict[str, str]:
        """Returns a stamp per interview that changes with every place where a name is replaced."""
        if not interviews_path(study).exists():
            return {}
        with open_interviews(study) as interviews:
            return _stamps(interviews)

    def watch_withdrawals(self, study: Study, what: str) -> Callable[[], AbstractContextManager[None]]:
        return WithdrawalGuard(study, what).placing

    def withheld(self, opened: Interviews | None, published: Mapping[str, Mapping[str, str]]) -> Collection[str]:
        """Returns the results that may contain a name known by now, cached until the study changes."""
        if opened is None or not published:
            return ()
        study = opened.study
        with opened.coding.locked_state() as state:
            changed = state.changed
        settings = study.file.stat().st_mtime_ns if study.file.exists() else 0
        files = (change_stamp(interviews_path(study)), change_stamp(identities_path(study)), changed, settings)

        def find_withheld() -> tuple[str, ...]:
            if find_remaining_names(opened):
                return tuple(published)
            now = _stamps(opened)
            return tuple(
                name
                for name, stamps in published.items()
                if any(now.get(interview) != stamp for interview, stamp in stamps.items())
            )

        return opened.remembered("withheld", (files, stamp_item_files(study), published), find_withheld)


def fingerprint(study: Study) -> str:
    """Returns a stamp that changes with the files of interviews and identities."""
    return "".join(f"{change_stamp(path)}\0" for path in (interviews_path(study), identities_path(study)))


def _stamps(interviews: Interviews) -> dict[str, str]:
    return {transcript.interview: _stamp(transcript) for transcript in interviews.transcripts()}


def _stamp(transcript: Transcript) -> str:
    places = [(turn.number, name.start, name.end) for turn in transcript.turns for name in turn.replacements]
    return hashlib.sha256(repr(places).encode()).hexdigest()


class WithdrawalGuard:
    """Refuses to place a result if a participant withdrew while it was generated; `what` names it, as in `report`."""

    def __init__(self, study: Study, what: str) -> None:
        self._path = interviews_path(study)
        self._what = what
        self._before: set[str] = set()
        if self._path.exists():
            with INTERVIEWS.open(self._path) as file, file.reading() as reading:
                self._before = set(read_erasures(reading))

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Blocks withdrawals while the result is placed; raises StateError if somebody has withdrawn meanwhile."""
        if not self._path.exists():
            yield
            return
        with INTERVIEWS.open(self._path) as file, file.writing() as writing:
            if since := set(read_erasures(writing)) - self._before:
                raise StateError(
                    f"{min(since)} withdrew while the {self._what} was generated, which may quote them: rebuild it"
                )
            yield
