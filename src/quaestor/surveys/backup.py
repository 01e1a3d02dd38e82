"""Answers and invitations in backups: a restore never brings back a response withdrawn or refused since."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from quaestor.store.backup_file import Backup
from quaestor.store.private_file_copy import is_empty
from quaestor.study.contributions import BackupPart, PartCopy, WithdrawnData
from quaestor.study.folder import Study
from quaestor.surveys.free_text import ANSWERS_FILE
from quaestor.surveys.lifecycle import INVITATIONS_FILE
from quaestor.surveys.store.answers import ANSWERS
from quaestor.surveys.store.invitations import INVITATIONS
from quaestor.surveys.store.responses import (
    WITHDRAWN_LIST,
    WithdrawnList,
    check_answers,
    keep_quoted,
    keep_refusals,
    leave_out,
    read_erasures,
    read_withdrawals,
)


class SurveyBackup:
    """Backs up invitations before answers: accepting an invitation takes the locks in this order."""

    parts = (
        BackupPart(INVITATIONS, INVITATIONS_FILE, "invitations", "invitations", "invitations"),
        BackupPart(ANSWERS, ANSWERS_FILE, "responses", "responses", "responses"),
    )

    def keys(self, study: Study) -> Mapping[str, Path]:
        return {}

    def check(self, study: Study, part: BackupPart, copy: sqlite3.Connection, source: Path) -> None:
        if part.form is ANSWERS:
            check_answers(copy)

    def read_acts(self, backup: Backup) -> None:
        """Does nothing: withdrawals of respondents are not in the journal, because its times would identify them."""

    def leave_out(self, study: Study, acts: object, copies: Mapping[str, PartCopy]) -> WithdrawnData:
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
