"""Registers surveys as a feature of a study, with answers and invitations in its backups."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

from quaestor.base.names import strip_strand
from quaestor.store.backup_file import Backup
from quaestor.store.private_file import read_without_key
from quaestor.store.private_file_copy import is_empty
from quaestor.study.contributions import ActKind, BackupPart, PartCopy, WithdrawnData
from quaestor.study.features import Feature
from quaestor.study.folder import Study
from quaestor.surveys.free_text import ANSWERS_FILE, DECIDE_ACT, SurveyText
from quaestor.surveys.lifecycle import INVITATIONS_FILE, MERGE_ACT, UNMERGE_ACT
from quaestor.surveys.open_answers import OpenAnswerSource
from quaestor.surveys.publication_guard import SurveyGuard
from quaestor.surveys.recipients import MAIL_ACT, REMOVE_ACT
from quaestor.surveys.report_section import SurveySection, fingerprint
from quaestor.surveys.status import surveys_status
from quaestor.surveys.store.answers import ANSWERS
from quaestor.surveys.store.invitations import INVITATIONS
from quaestor.surveys.store.recipients import INVITATIONS_KEY, keep_recipients
from quaestor.surveys.store.responses import (
    WITHDRAWN_LIST,
    WithdrawnList,
    check_answers,
    hashed,
    keep_quoted,
    keep_refusals,
    leave_out,
    read_erasures,
    read_withdrawals,
)


class SurveyBackup:
    """Answers and invitations in backups: a restore never brings back a response withdrawn or refused since."""

    # Invitations come before answers: accepting an invitation takes the locks in this order.
    parts = (
        BackupPart(INVITATIONS, INVITATIONS_FILE, "invitations", "invitations", "invitations"),
        BackupPart(ANSWERS, ANSWERS_FILE, "responses", "responses", "responses"),
    )

    def keys(self, study: Study) -> Mapping[str, Path]:
        """Returns the key of the addresses of recipients, if there is one; answers have none."""
        key = study.root / INVITATIONS_KEY
        return {INVITATIONS.name: key} if key.exists() else {}

    def check(self, study: Study, part: BackupPart, copy: sqlite3.Connection, source: Path) -> None:
        if part.form is ANSWERS:
            check_answers(copy)

    def read_acts(self, backup: Backup) -> None:
        """Does nothing: withdrawals of respondents are not in the journal, because its times would identify them."""

    def leave_out(self, study: Study, acts: object, copies: Mapping[str, PartCopy]) -> WithdrawnData:
        invitations = copies.get(INVITATIONS.name)
        if invitations is not None and invitations.present is not None:
            keep_recipients(invitations.copy, invitations.present)
        if ANSWERS.name not in copies:
            return WithdrawnData()
        answers = copies[ANSWERS.name]
        withdrawn_list = WithdrawnList.next_to(answers.path)
        known = read_erasures(answers.present) if answers.present else []
        known += [
            (withdrawal.survey, withdrawal.day, "respondent", withdrawal.response)
            for withdrawal in sorted(withdrawn_list.read())
        ]
        left_out = WithdrawnData()
        if not withdrawn_list.path.exists() and (answers.present is None or is_empty(answers.present)):
            left_out.unknown.append(WITHDRAWN_LIST)
        left_out.responses = leave_out(answers.copy, known)
        if answers.present is not None:
            leave_out(answers.present, read_erasures(answers.copy))
            left_out.responses += keep_refusals(answers.copy, answers.present)
            keep_quoted(answers.copy, answers.present)
        return left_out

    def note_withdrawals(self, part: BackupPart, path: Path, copy: sqlite3.Connection) -> None:
        if part.form is ANSWERS:
            WithdrawnList.next_to(path).add(read_withdrawals(copy))

    def after_restore(self, study: Study, left_out: WithdrawnData) -> None:
        """Does nothing: everything derived from answers is computed again when needed."""


_OPEN_ANSWER = re.compile(r"[^/]+/([^/]+)/[^/]+")


def _withdrawn_items(study: Study) -> Callable[[str], bool]:
    """Returns a test for open answers of withdrawn responses, which are known by the hash of their id only."""
    file = study.root / ANSWERS_FILE
    known = {*WithdrawnList.next_to(file).read(), *read_without_key(file, read_withdrawals)}
    responses = {withdrawal.response for withdrawal in known}

    def is_withdrawn(item: str) -> bool:
        answer = _OPEN_ANSWER.fullmatch(strip_strand(item)) if responses else None
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
        MERGE_ACT: ActKind("merged two options of {survey}"),
        UNMERGE_ACT: ActKind("separated two merged options of {survey}"),
        "survey.erase": ActKind("erased a response to {survey}"),
        "survey.import": ActKind("imported a file of answers to {survey}"),
        "survey.invite": ActKind("created invitations to {survey}"),
        MAIL_ACT: ActKind("sent e-mails about {survey}"),
        REMOVE_ACT: ActKind("erased addresses of people invited to {survey}"),
    },
    live_source=OpenAnswerSource(),
    free_text=SurveyText,
    publication_guard=SurveyGuard(),
    withdrawn_items=_withdrawn_items,
    fingerprint=fingerprint,
    report_section=SurveySection(),
)
