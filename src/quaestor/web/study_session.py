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
from quaestor.interviews.repository import Interviews, interviews_path, opened_files
from quaestor.interviews.text_mask import text_mask
from quaestor.render.figures.export import load_drawing
from quaestor.study.contributions import TextMask
from quaestor.study.folder import Study, has_journal, open_study
from quaestor.surveys.lifecycle import Surveys, answers_path
from quaestor.surveys.store.answers import AnswerFile


class KeptOpen:
    """What every page looks at; safe for many threads."""

    def __init__(self, folder: Path, prepare: Prepare | None = None) -> None:
        self._folder = folder
        self._prepare = prepare
        self._lock = threading.Lock()
        self._study: Study | None = None
        self._read = (0, 0)
        self._desk: Desk | None = None
        self._surveys: Surveys | None = None
        self._interviews: Interviews | None = None

    @property
    def study(self) -> Study:
        """The study as its file says now."""
        with self._lock:
            return self._current()

    @property
    def latest(self) -> Study:
        """The study as its file said when it could last be read: whoever rates is not stopped by who edits it."""
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
        if self._study is None or seen != self._read:
            self._study = open_study(self._folder)
            self._read = seen  # as it was before it was read: what changes meanwhile is read again
            if self._desk is not None:
                self._desk.reload(self._study)
        return self._study

    def prepare(self) -> None:
        """Do beforehand what would keep the first visitors waiting, and everybody else with them."""
        with suppress(QuaestorError):  # what is wrong is told to whoever asks for a page
            with self.locked_state():
                pass
            if self.latest.settings.sources and self.latest.funnel_folder.is_dir():
                warm_up_engine(self.latest)
            if answers_path(self.latest).exists() or interviews_path(self.latest).exists():
                load_drawing()

    @property
    def coding(self) -> CodingSession:
        """The rounds and the codebook to act on; the journal is made where there is none yet."""
        return self._opened().coding

    @property
    def coding_if_any(self) -> CodingSession | None:
        """The same for those who only look: none where nobody has acted yet."""
        return self._opened().coding if self._desk is not None or has_journal(self.latest) else None

    @property
    def desk_at_hand(self) -> Desk | None:
        """The desk where somebody has opened it already; nobody waits for it."""
        return self._desk

    @property
    def desk(self) -> Desk:
        """For those who rate: a study in which nobody has acted gets no journal by being looked at."""
        if self._desk is None and not has_journal(self.latest):
            raise StateError("No round has been opened yet: the lead opens rounds.")
        return self._opened()

    @property
    def surveys(self) -> Surveys:
        """The surveys to act on or to answer; the file of answers is made where there is none yet."""
        if self._surveys is not None:
            return self._surveys
        coding = self.coding
        with self._lock:
            if self._surveys is None:
                self._surveys = Surveys(coding, AnswerFile(answers_path(coding.study)))
            return self._surveys

    @property
    def surveys_if_any(self) -> Surveys | None:
        """The same for those who only look, and for strangers: none where no survey was ever opened."""
        return self.surveys if self._surveys is not None or answers_path(self.latest).exists() else None

    @property
    def interviews(self) -> Interviews:
        """The interviews to act on; their files are made where there are none yet."""
        if self._interviews is not None:
            return self._interviews
        coding = self.coding
        with self._lock:
            if self._interviews is None:
                self._interviews = Interviews(coding, *opened_files(coding.study))
            return self._interviews

    @property
    def interviews_if_any(self) -> Interviews | None:
        """The same for those who only look: none where nobody takes part yet."""
        study = self.latest  # what its file says now is looked through for names as well
        return self.interviews if self._interviews is not None or interviews_path(study).exists() else None

    @property
    def interviews_if_readable(self) -> Interviews | None:
        """The same for those who show where a study stands: none where their key is missing, too."""
        try:
            return self.interviews_if_any
        except QuaestorError:
            return None

    @property
    def open_features(self) -> dict[str, Any]:
        """By feature, what is open here already, for the status of the study."""
        interviews = self.interviews_if_readable
        return {"interviews": interviews} if interviews else {}

    @contextmanager
    def locked_state(self) -> Iterator[State]:
        """The state of coding, and nobody changes it meanwhile; an empty one where nobody has acted yet."""
        coding = self.coding_if_any
        with coding.locked_state() if coding else nullcontext(State()) as state:
            yield state

    def _opened(self) -> Desk:
        study = self.latest
        with self._lock:
            if self._desk is None:
                self._desk = Desk(study, self._prepare, lambda: self.text_mask)
            return self._desk

    @property
    def text_mask(self) -> TextMask:
        """Masks names that are known by now, whatever the evidence still has."""
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
