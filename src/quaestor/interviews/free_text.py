"""Free text about turns of transcripts: sealed in interviews.db under the participant, and erased with them."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from quaestor.coding.model.free_text_fields import Walk
from quaestor.coding.model.records import INTERVIEWS as ORIGIN
from quaestor.coding.model.records import RoundPlan
from quaestor.interviews.model.records import find_participant
from quaestor.interviews.repository import INTERVIEWS, interviews_path, list_keys, open_interviews_file
from quaestor.store.act_texts import ActTexts
from quaestor.store.records import Act
from quaestor.store.sealed_file import SealedFile
from quaestor.study.folder import Study

WITHDRAW_ACT, REWORD_ACT = "interview.withdraw", "interview.reword"


class InterviewText:
    """What raters wrote about turns; thread-safe."""

    origin = ORIGIN
    walks: Mapping[str, Walk] = {}
    changing = frozenset((WITHDRAW_ACT, REWORD_ACT))

    def __init__(self, study: Study) -> None:
        self._study = study
        self._file: SealedFile | None = None
        self._lock = threading.Lock()

    def owner_of(self, item: str) -> str | None:
        """Returns the participant who spoke a turn."""
        return find_participant(item)

    def holds(self, item: str) -> bool:
        return self.owner_of(item) is not None and interviews_path(self._study).exists()

    def is_older_act(self, act: Act) -> bool:
        """Whether an act predates origins: interviews sealed texts earlier, so the form of item ids decides."""
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
        return interviews_path(self._study).exists() and list_keys(self._study)[INTERVIEWS.name].exists()

    def missing(self) -> str:
        return (
            f"texts about transcripts cannot be read without {list_keys(self._study)[INTERVIEWS.name]} "
            f"and {interviews_path(self._study)}: restore them first"
        )

    def refusal(self, owner: str) -> str:
        return f"{owner} has withdrawn: nothing can be recorded about them"

    def texts(self) -> ActTexts:
        with self._lock:
            if self._file is None:
                self._file = open_interviews_file(self._study)
            return self._file.words

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def is_turn(plan: RoundPlan, item: str) -> bool:
    """Whether an item of a round is a turn of a transcript; for a plan without an origin, the item's id decides."""
    return plan.origin in (ORIGIN, "") and find_participant(item) is not None
