"""Free text about open answers: stored in answers.db with the response, and erased with it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from quaestor.base.names import strip_strand
from quaestor.coding.model.free_text_fields import Change, Payload, Walk
from quaestor.coding.model.records import SURVEYS
from quaestor.coding.model.state import State
from quaestor.store.act_texts import ActTexts
from quaestor.store.records import Act
from quaestor.study.folder import Study
from quaestor.surveys.store.answers import AnswerFile

ANSWERS_FILE = "answers.db"
DECIDE_ACT = "survey.decide"
_PARTS = 3


def _decision(state: State, payload: Payload, change: Change) -> dict[str, Any]:
    """Returns the lead's reason for keeping or excluding a response."""
    item = f"{payload['survey']}/{payload['response']}/"
    return {**payload, "why": change([item], payload["why"], False)}


class SurveyText:
    """Texts that raters and leads wrote about responses; thread-safe."""

    origin = SURVEYS
    walks: Mapping[str, Walk] = {DECIDE_ACT: _decision}
    changing: frozenset[str] = frozenset()
    """None: withdrawals are not in the journal, because its times would identify them; the count of erasures serves."""

    def __init__(self, study: Study) -> None:
        self._path = study.root / ANSWERS_FILE
        self._file: AnswerFile | None = None
        self._lock = threading.Lock()

    def owner_of(self, item: str) -> str | None:
        """Returns the response that an open answer belongs to."""
        parts = strip_strand(item).split("/")
        return parts[1] if len(parts) == _PARTS and parts[1] else None

    def holds(self, item: str) -> bool:
        owner = self.owner_of(item)
        if owner is None or not self._path.exists():
            return False
        answers = self._opened()
        return answers.response(owner) is not None or answers.is_erased(owner)

    def is_older_act(self, act: Act) -> bool:
        """Tells whether an act about open answers predates this store and contains its text itself."""
        return False

    def is_readable(self) -> bool:
        return self._path.exists()

    def missing(self) -> str:
        return f"texts about open answers cannot be read without {self._path}: restore it first"

    def refusal(self, owner: str) -> str:
        return f"the respondent {owner} has withdrawn, so texts about their answers cannot be stored: leave them empty"

    def texts(self) -> ActTexts:
        return self._opened().texts

    def _opened(self) -> AnswerFile:
        with self._lock:
            if self._file is None:
                self._file = AnswerFile(self._path)
            return self._file

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None
