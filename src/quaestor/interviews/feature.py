"""What interviews contribute to a study."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from quaestor.interviews.backup import InterviewBackup
from quaestor.interviews.coding.decided_passages import ADOPT_ACT
from quaestor.interviews.free_text import FOLDER, REWORD_ACT, WITHDRAW_ACT, InterviewText
from quaestor.interviews.left_out_turns import TURNS_ACT, list_turns_left_out, list_turns_restored
from quaestor.interviews.publication_guard import InterviewGuard, fingerprint
from quaestor.interviews.report_section import InterviewSection
from quaestor.interviews.repository import INTERVIEWS_FILE
from quaestor.interviews.status import FEATURE_NAME, interviews_status
from quaestor.interviews.text_mask import open_text_mask
from quaestor.store.erasure import ErasedList
from quaestor.store.private_file import read_without_key
from quaestor.store.sealed_file_restore import read_erasures
from quaestor.study.contributions import ActKind
from quaestor.study.features import Feature
from quaestor.study.folder import Study

_TURN = re.compile(r"(P\d{1,9})(?:-\d{1,9})?/\d{1,9}")


def _withdrawn_items(study: Study) -> Callable[[str], bool]:
    """Returns a test for turns of withdrawn participants; it needs no key."""
    file = study.root / INTERVIEWS_FILE
    people = {*ErasedList.for_file(file).list_names(), *read_without_key(file, read_erasures)}

    def is_withdrawn(item: str) -> bool:
        turn = _TURN.fullmatch(item) if people else None
        return turn is not None and turn[1] in people

    return is_withdrawn


def _turns_of_participant(payload: Mapping[str, Any]) -> Callable[[str], object]:
    """Returns a test for turns of a withdrawn participant: the interviews of P1 are P1, P1-2 and so on."""
    return re.compile(rf"{re.escape(payload['participant'])}(-\d+)?/\d+").fullmatch


FEATURE = Feature(
    FEATURE_NAME,
    status=interviews_status,
    backup=InterviewBackup(),
    act_kinds={
        ADOPT_ACT: ActKind("adopted an in vivo passage as a code in {round}"),
        "interview.agreement": ActKind("put a consent form for interviews in force"),
        TURNS_ACT: ActKind(
            "changed which turns of the interviews count", removes=list_turns_left_out, restores=list_turns_restored
        ),
        REWORD_ACT: ActKind("replaced names in texts about interviews"),
        WITHDRAW_ACT: ActKind("withdrew from the interviews", actor="A participant", removes=_turns_of_participant),
    },
    input_folder=FOLDER,
    input_made_of="transcripts",
    input_command="quaestor interview items",
    free_text=InterviewText,
    withdrawn_items=_withdrawn_items,
    known_names=open_text_mask,
    fingerprint=fingerprint,
    report_section=InterviewSection(),
    publication_guard=InterviewGuard(),
)
