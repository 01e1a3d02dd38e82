"""The open study behind the web server; reloads study.toml when it changes and opens the journal once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from quaestor.base.errors import QuaestorError, SettingsError, StateError
from quaestor.coding.model.state import State
from quaestor.coding.pages.rating_sheet import Desk
from quaestor.coding.session import CodingSession
from quaestor.evidence.item_texts import Prepare
from quaestor.evidence.items import warm_up_engine
from quaestor.interviews.repository import Interviews, interviews_path, open_files
from quaestor.interviews.text_mask import text_mask
from quaestor.render.figures.export import load_drawing
from quaestor.study.contributions import TextMask
from quaestor.study.folder import Study, has_journal, open_study
from quaestor.surveys.lifecycle import Surveys, answers_path
from quaestor.surveys.store.answers import AnswerFile


class StudySession:
    """The open study, journal, surveys and interviews of a running desk; thread-safe."""

    def __init__(self, folder: Path, prepare: Prepare | None = None) -> None:
        self._folder = folder
        self._prepare = prepare
        self._lock = threading.Lock()
        self._study: Study | None = None
        self._stamp = (0, 0)
        self._desk: Desk | None = None
        self._surveys: Surveys | None = None
        self._interviews: Interviews | None = None

    @property
    def study(self) -> Study:
        """The study with its current study.toml; raises SettingsError if that cannot be read."""
        with self._lock:
            return self._current()

    @property
    def latest(self) -> Study:
        """The study with the last valid study.toml, so that an edit with a mistake does not stop raters."""
        with self._lock:
            if self._study is None:
                return self._current()
            with suppress(SettingsError):
                self._current()
            return self._study

    def _current(self) -> Study:
        file = self._study.file if self._study else None
        status = file.stat() if file is not None and file.exists() else None
        seen = (status.st_mtime_ns, status.st_size) if status else (0, 0)
        if self._study is None or seen != self._stamp:
            self._study = open_study(self._folder)
            self._stamp = seen  # taken before reading: a change during the read triggers another read
            if self._desk is not None:
                self._desk.reload(self._study)
        return self._study

    def prepare(self) -> None:
        """Loads what the first visitors would otherwise wait for."""
        with suppress(QuaestorError):  # the pages show the error
            with self.locked_state():
                pass
            if self.latest.settings.sources and self.latest.funnel_folder.is_dir():
                warm_up_engine(self.latest)
            if answers_path(self.latest).exists() or interviews_path(self.latest).exists():
                load_drawing()

    @property
    def coding(self) -> CodingSession:
        """The coding session; creates the journal if there is none."""
        return self._open_desk().coding

    @property
    def coding_if_any(self) -> CodingSession | None:
        """The coding session for reading; none if there is no journal."""
        return self._open_desk().coding if self._desk is not None or has_journal(self.latest) else None

    @property
    def open_desk(self) -> Desk | None:
        """The rating desk if it is already open; never waits for it to open."""
        return self._desk

    @property
    def desk(self) -> Desk:
        """The rating desk; raises StateError rather than create a journal for a mere view."""
        if self._desk is None and not has_journal(self.latest):
            raise StateError("No round has been opened yet: the lead opens rounds.")
        return self._open_desk()

    @property
    def surveys(self) -> Surveys:
        """The surveys; creates the file of answers if there is none."""
        if self._surveys is not None:
            return self._surveys
        coding = self.coding
        with self._lock:
            if self._surveys is None:
                self._surveys = Surveys(coding, AnswerFile(answers_path(coding.study)))
            return self._surveys

    @property
    def surveys_if_any(self) -> Surveys | None:
        """The surveys for reading and for respondents; none if no survey was ever opened."""
        return self.surveys if self._surveys is not None or answers_path(self.latest).exists() else None

    @property
    def interviews(self) -> Interviews:
        """The interviews; creates their files if there are none."""
        if self._interviews is not None:
            return self._interviews
        coding = self.coding
        with self._lock:
            if self._interviews is None:
                self._interviews = Interviews(coding, *open_files(coding.study))
            return self._interviews

    @property
    def interviews_if_any(self) -> Interviews | None:
        """The interviews for reading; none if there are no participants."""
        study = self.latest  # reloads study.toml, which is also searched for names
        return self.interviews if self._interviews is not None or interviews_path(study).exists() else None

    @property
    def interviews_if_readable(self) -> Interviews | None:
        """The interviews for the status of the study; also none if their key is missing."""
        try:
            return self.interviews_if_any
        except QuaestorError:
            return None

    @property
    def open_features(self) -> dict[str, Any]:
        """The open sessions by feature, for the status of the study."""
        interviews = self.interviews_if_readable
        return {"interviews": interviews} if interviews else {}

    @contextmanager
    def locked_state(self) -> Iterator[State]:
        """Locks and yields the coding state; an empty state if there is no journal."""
        coding = self.coding_if_any
        with coding.locked_state() if coding else nullcontext(State()) as state:
            yield state

    def is_sent_by(self, sender: str, visitor: str) -> bool:
        """Returns whether a queued act belongs to a visitor, who may have been renamed since, and not to somebody else.

        An empty sender is that of a form; another name is left in a browser in which somebody else has signed in.
        """
        if sender in ("", visitor):
            return True
        with self.locked_state() as state:
            return state.current_name(sender) == visitor

    def _open_desk(self) -> Desk:
        study = self.latest
        with self._lock:
            if self._desk is None:
                self._desk = Desk(study, self._prepare, lambda: self.text_mask)
            return self._desk

    @property
    def text_mask(self) -> TextMask:
        """Masks all names known by now, even if the evidence still contains them."""
        return text_mask(self.interviews_if_any)

    def close(self) -> None:
        with self._lock:
            if self._surveys is not None:
                self._surveys.answers.close()
                self._surveys = None
            if self._interviews is not None:
                self._interviews.close()
                self._interviews = None
            if self._desk is not None:
                self._desk.close()
                self._desk = None
