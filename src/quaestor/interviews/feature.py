"""What interviews contribute to a study."""

from __future__ import annotations

import re
from collections.abc import Callable

from quaestor.interviews.backup import InterviewBackup
from quaestor.interviews.free_text import FOLDER, InterviewText
from quaestor.interviews.repository import INTERVIEWS_FILE
from quaestor.interviews.status import FEATURE_NAME, interviews_status
from quaestor.interviews.text_mask import open_text_mask
from quaestor.store.erasure import ErasedList
from quaestor.store.private_file import read_known_file
from quaestor.store.sealed_file_restore import erased_in
from quaestor.study.features import Feature
from quaestor.study.folder import Study

_TURN = re.compile(r"(P\d{1,9})(?:-\d{1,9})?/\d{1,9}")


def _withdrawn_items(study: Study) -> Callable[[str], bool]:
    """A test for turns of withdrawn participants; needs no key."""
    file = study.root / INTERVIEWS_FILE
    people = {*ErasedList.beside(file).names(), *read_known_file(file, erased_in)}

    def is_withdrawn(item: str) -> bool:
        turn = _TURN.fullmatch(item) if people else None
        return turn is not None and turn[1] in people

    return is_withdrawn


FEATURE = Feature(
    FEATURE_NAME,
    status=interviews_status,
    backup=InterviewBackup(),
    act_sentences={
        "interview.adopt": "adopted words of a participant as a code in {round}",
        "interview.agreement": "put an agreement to interviews in force",
        "interview.withdraw": "withdrew from the interviews",
    },
    input_folder=FOLDER,
    input_made_of="transcripts",
    input_command="quaestor interview items",
    free_text=InterviewText,
    withdrawn_items=_withdrawn_items,
    known_names=open_text_mask,
)
