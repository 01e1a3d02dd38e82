"""Free text about open answers: in answers.db under the response, and erased with it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from quaestor.coding.model.free_text_fields import Change, Payload, Walk
from quaestor.coding.model.records import SURVEYS
from quaestor.coding.model.state import State
from quaestor.store.act_texts import ActTexts
from quaestor.store.records import Act
from quaestor.study.folder import Study
from quaestor.surveys.store.answers import AnswerFile

ANSWERS_FILE = "answers.db"
FOLDER = "evidence/open-answers"
"""Where the inputs of sources lie that are made of open answers: generated, so that git does not keep them."""
DECIDE_ACT = "survey.decide"
_PARTS = 3


def _decision(state: State, payload: Payload, change: Change) -> dict[str, Any]:
    """Why the lead keeps a response or leaves it out."""
    item = f"{payload['survey']}/{payload['response']}/"
    return {**payload, "why": change([item], payload["why"], False)}


class SurveyText:
    """What raters and leads wrote about responses; safe for threads."""

    origin = SURVEYS
    walks: Mapping[str, Walk] = {DECIDE_ACT: _decision}
    changing: frozenset[str] = frozenset()
    """None: a withdrawal is not in the journal, which would tell its minute; the number of erasures says it."""

    def __init__(self, study: Study) -> None:
        self._path = study.root / ANSWERS_FILE
        self._file: AnswerFile | None = None
        self._lock = threading.Lock()

    def owner_of(self, item: str) -> str | None:
        """The response that an open answer belongs to."""
        parts = item.split("/")
        return parts[1] if len(parts) == _PARTS and parts[1] else None

    def holds(self, item: str) -> bool:
        owner = self.owner_of(item)
        if owner is None or not self._path.exists():
            return False
        answers = self._opened()
        return answers.response(owner) is not None or answers.is_erased(owner)

    def is_older_act(self, act: Act) -> bool:
        """Older acts about open answers hold their texts themselves."""
        return False

    def is_readable(self) -> bool:
        return self._path.exists()

    def missing(self) -> str:
        return f"what was written about open answers cannot be read without {self._path}: bring it back first"

    def refusal(self, owner: str) -> str:
        return f"the respondent {owner} has withdrawn, so no text can be kept about their answer: leave texts empty"

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
