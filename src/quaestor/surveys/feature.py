"""Registers surveys as a feature of a study."""

from __future__ import annotations

import re
from collections.abc import Callable

from quaestor.store.private_file import read_without_key
from quaestor.study.contributions import ActKind
from quaestor.study.features import Feature
from quaestor.study.folder import Study
from quaestor.surveys.backup import SurveyBackup
from quaestor.surveys.free_text import ANSWERS_FILE, DECIDE_ACT, FOLDER, SurveyText
from quaestor.surveys.status import surveys_status
from quaestor.surveys.store.responses import WithdrawnList, hashed, read_withdrawals

_OPEN_ANSWER = re.compile(r"[^/]+/([^/]+)/[^/]+")


def _withdrawn_items(study: Study) -> Callable[[str], bool]:
    """Returns a test for open answers of withdrawn responses, which are known by the hash of their id only."""
    file = study.root / ANSWERS_FILE
    known = {*WithdrawnList.next_to(file).read(), *read_without_key(file, read_withdrawals)}
    responses = {withdrawal.response for withdrawal in known}

    def is_withdrawn(item: str) -> bool:
        answer = _OPEN_ANSWER.fullmatch(item) if responses else None
        return answer is not None and hashed(answer[1]) in responses

    return is_withdrawn


FEATURE = Feature(
    "surveys",
    status=surveys_status,
    backup=SurveyBackup(),
    act_kinds={
        "survey.open": ActKind("opened the survey {survey}"),
        "survey.close": ActKind("closed the survey {survey}"),
        "survey.final": ActKind("released the last cards of {survey}, which closes it permanently"),
        DECIDE_ACT: ActKind("reviewed {count} to {survey}", counted="response", is_joined=True),
        "survey.erase": ActKind("erased a response to {survey}"),
        "survey.import": ActKind("imported a file of answers to {survey}"),
        "survey.invite": ActKind("created invitations to {survey}"),
    },
    input_folder=FOLDER,
    input_made_of="open answers",
    input_command="quaestor survey items",
    free_text=SurveyText,
    withdrawn_items=_withdrawn_items,
)
