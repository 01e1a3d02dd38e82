"""Free text about turns of transcripts: sealed in interviews.db under the participant, and erased with them."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping

from quaestor.coding.model.free_text_fields import Walk
from quaestor.coding.model.records import INTERVIEWS as ORIGIN
from quaestor.coding.model.records import RoundPlan
from quaestor.interviews.repository import INTERVIEWS, interviews_path, keys_of, opened_interviews
from quaestor.store.act_texts import ActTexts
from quaestor.store.records import Act
from quaestor.store.sealed_file import SealedFile
from quaestor.study.folder import Study

FOLDER = "evidence/interviews"
"""Where the inputs of sources lie that are made of transcripts."""
WITHDRAW_ACT, REWORD_ACT = "interview.withdraw", "interview.reword"
_TURN = re.compile(r"(P\d{1,9})(?:-\d{1,9})?/\d{1,9}")


class InterviewText:
    """What raters wrote about turns; safe for threads."""

    origin = ORIGIN
    walks: Mapping[str, Walk] = {}
    changing = frozenset((WITHDRAW_ACT, REWORD_ACT))

    def __init__(self, study: Study) -> None:
        self._study = study
        self._file: SealedFile | None = None
        self._lock = threading.Lock()

    def owner_of(self, item: str) -> str | None:
        """The participant who said a turn."""
        turn = _TURN.fullmatch(item)
        return turn[1] if turn else None

    def holds(self, item: str) -> bool:
        return self.owner_of(item) is not None and interviews_path(self._study).exists()

    def is_older_act(self, act: Act) -> bool:
        """Interviews stored texts apart before acts named an origin: these go by the form of their items' ids."""
        payload = act.payload
        named = (
            [payload]
            if "item" in payload
            else payload["plan"]["practice"]
            if "plan" in payload
            else payload.get("decisions", ())
        )
        return any(self.owner_of(entry["item"]) for entry in named)

    def is_readable(self) -> bool:
        return interviews_path(self._study).exists() and keys_of(self._study)[INTERVIEWS.name].exists()

    def missing(self) -> str:
        return (
            f"what was written beside transcripts cannot be read without {keys_of(self._study)[INTERVIEWS.name]} "
            f"and {interviews_path(self._study)}: bring them back first"
        )

    def refusal(self, owner: str) -> str:
        return f"{owner} has withdrawn: nothing can be kept about them"

    def texts(self) -> ActTexts:
        with self._lock:
            if self._file is None:
                self._file = opened_interviews(self._study)
            return self._file.words

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def is_turn(plan: RoundPlan, item: str) -> bool:
    """Whether an item of a round is a turn of a transcript; a plan that does not say so is taken by the item's id."""
    return plan.origin in (ORIGIN, "") and _TURN.fullmatch(item) is not None
