"""What a backup holds beside the acts on its way into a study: checked whole, without what was taken back since."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.files import fsync
from quaestor.instruments.answer_file import ANSWERS
from quaestor.instruments.invitation_file import INVITATIONS
from quaestor.instruments.returning_answers import (
    check_answers,
    erasures_in,
    keep_quoted,
    keep_refusals,
    leave_out,
    withdrawals_in,
)
from quaestor.instruments.withdrawn_list import WITHDRAWN_LIST, WithdrawnList
from quaestor.store.backup_file import Backup
from quaestor.store.erased_list import ERASED_LIST, ErasedList
from quaestor.store.private_copy import Form, Part, copied, digest_of, filled, is_empty, lines_of, refill, refusal
from quaestor.store.private_file import DamagedFile, PrivateFile
from quaestor.store.sealed_copy import check_sealed, erased_in
from quaestor.study.folder import Study
from quaestor.study.interviews.files import IDENTITIES, IDENTITIES_FILE, INTERVIEWS, INTERVIEWS_FILE, keys_of
from quaestor.study.interviews.returning import WithdrawnParticipants, on_record_here, on_record_in, take_back
from quaestor.study.surveys.fielding import INVITATIONS_FILE
from quaestor.study.surveys.free_text import ANSWERS_FILE

BESIDE: tuple[tuple[Form, str], ...] = (
    (INVITATIONS, INVITATIONS_FILE),
    (ANSWERS, ANSWERS_FILE),
    (INTERVIEWS, INTERVIEWS_FILE),
    (IDENTITIES, IDENTITIES_FILE),
)
"""What a backup holds beside the acts, in the order in which whoever begins by an invitation takes their locks."""
_SEALED = (INTERVIEWS, IDENTITIES)


@dataclass(frozen=True)
class Returning:
    """One file of the study, and what it is to hold."""

    form: Form
    path: Path
    copy: sqlite3.Connection
    there: sqlite3.Connection | None = None
    """What it holds now, within a transaction that may write; None where there is no file that can be read."""
    lasting: sqlite3.Connection | None = None
    """A copy of that, without what is known to be withdrawn: it has to go from there as well, and is kept nowhere."""

    @cached_property
    def same(self) -> bool:
        return self.there is not None and digest_of(self.there) == digest_of(self.copy)

    @cached_property
    def replaces(self) -> bool:
        """Whether something is there that is neither withdrawn nor what comes back."""
        if self.lasting is None or self.same or (self.there is not None and is_empty(self.there)):
            return False
        return digest_of(self.lasting) != digest_of(self.copy)


@dataclass
class BringingBack:
    """What `restore_from` brings back beside the acts; the study is changed by `bring` alone."""

    returning: list[Returning] = field(default_factory=list)
    damaged: dict[Path, Path] = field(default_factory=dict)
    """Files that cannot be read, and the names under which they are kept."""
    withdrawn: int = 0
    """Responses of the backup that have been taken back since."""
    participants: WithdrawnParticipants = field(default_factory=WithdrawnParticipants)
    """Who withdrew from interviews."""
    unknown: list[str] = field(default_factory=list)
    """The lists that would say what was withdrawn after the backup was made, where nothing here says it."""
    _held: ExitStack = field(default_factory=ExitStack)
    _files: list[PrivateFile] = field(default_factory=list)

    def difference(self) -> str:
        for one in self.returning:
            if one.replaces and one.lasting is not None:
                return f"{one.path} holds {_count(one.lasting, one.form):,} {_TOLD[one.form.name][1]}, and not those"
        return ""

    def parts(self) -> Sequence[Part]:
        return [Part(one.form.name, one.form.version, lines_of(one.lasting)) for one in self.returning if one.lasting]

    def bring(self) -> None:
        for path, aside in self.damaged.items():
            # The file itself last: a log that stayed behind would be replayed into the next one.
            for suffix in ("-wal", "-shm", ""):
                part = path.with_name(f"{path.name}{suffix}")
                if part.exists():
                    part.rename(f"{aside}{suffix}")
            fsync(path.parent)
        for one in self.returning:
            if one.same:
                continue
            writing = one.there or self._held.enter_context(self._opened(one.form, one.path).erasing(finish=False))
            refill(writing, one.copy)
            if one.form is ANSWERS:
                WithdrawnList.beside(one.path).add(withdrawals_in(one.copy))
            elif one.form is INTERVIEWS:
                ErasedList.beside(one.path).add(erased_in(one.copy))
        self._held.close()
        for file in self._files:
            file.finish_erasure()

    def counts(self) -> dict[str, int]:
        """What the study has now of each kind."""
        return {_TOLD[one.form.name][0]: _count(one.copy, one.form) for one in self.returning}

    def hold(self, form: Form, path: Path) -> tuple[sqlite3.Connection, sqlite3.Connection] | None:
        """A file of the study, in which nobody else can write meanwhile, and a copy of it; None where it is missing."""
        if not path.exists():
            return None
        file = self._opened(form, path)
        with file.reading() as reading:
            whole = reading.execute("PRAGMA integrity_check").fetchone()[0]
        if whole != "ok":
            raise DamagedFile(f"{path} is damaged ({whole.splitlines()[-1]}): {form.lost}")
        writing = self._held.enter_context(file.erasing(finish=False))
        with file.still() as still:
            return writing, copied(still)

    def _opened(self, form: Form, path: Path) -> PrivateFile:
        file = form.opened(path)
        self._files.append(file)
        return file

    def end(self, *error: object) -> None:
        """Let go of what is held; what was not brought has not happened."""
        try:
            self._held.__exit__(*error)  # type: ignore[arg-type]
        finally:
            for file in self._files:
                file.close()


_TOLD = {
    ANSWERS.name: ("responses", "responses"),
    INVITATIONS.name: ("invitations", "invitations"),
    INTERVIEWS.name: ("interviews", "entries"),
    IDENTITIES.name: ("identities", "entries"),
}
"""What is counted of each part: its name, and the table whose rows they are."""


@contextmanager
def bringing_back(study: Study, backup: Backup, replace: bool, stamp: str) -> Iterator[BringingBack]:
    """Make and check all copies before the study is looked at, then hold what is there until this ends."""
    if unknown := backup.report.parts.keys() - {form.name for form, _ in BESIDE}:
        raise InputError(f"{backup.report.file} holds {min(unknown)!r}, which this Quaestor does not know: update it")
    with ExitStack() as copies:
        made = [
            (form, study.root / name, copies.enter_context(_copied(study, backup, form)))
            for form, name in BESIDE
            if form.name in backup.report.parts
        ]
        on_record = _on_record(backup)
        bringing = BringingBack()
        copies.push(bringing.end)
        for form, path, copy in made:
            there, lasting = None, None
            try:
                if found := bringing.hold(form, path):
                    there, lasting = found[0], copies.enter_context(closing(found[1]))
            except DamagedFile:
                if not replace:
                    raise
                bringing.damaged[path] = path.with_name(f"{path.name}.damaged-{stamp}")
            if form is ANSWERS:
                _take_back(bringing, path, copy, lasting)
            bringing.returning.append(Returning(form, path, copy, there, lasting))
        _take_back_participants(study, bringing, on_record)
        yield bringing


@contextmanager
def _copied(study: Study, backup: Backup, form: Form) -> Iterator[sqlite3.Connection]:
    source = backup.report.file
    with filled(form, backup.report.parts[form.name].version, backup.lines(form.name), source) as copy:
        try:
            if form is ANSWERS:
                check_answers(copy)
            elif form in _SEALED:
                check_sealed(copy, keys_of(study)[form.name], form.name, source)
        except (ValueError, TypeError, RecursionError) as error:
            raise refusal(source, str(error)) from error
        yield copy


def _on_record(backup: Backup) -> dict[str, str]:
    try:
        return on_record_in(backup)
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise refusal(backup.report.file, f"an act is no withdrawal: {error}") from error


def _take_back(bringing: BringingBack, path: Path, copy: sqlite3.Connection, there: sqlite3.Connection | None) -> None:
    """Answers that were withdrawn or refused since the backup was made do not come back, nor stay."""
    listed = WithdrawnList.beside(path)
    known = erasures_in(there) if there else []
    known += [(one.survey, one.day, "respondent", one.response) for one in sorted(listed.read())]
    if not listed.path.exists() and (there is None or is_empty(there)):
        bringing.unknown.append(WITHDRAWN_LIST)
    bringing.withdrawn = leave_out(copy, known)
    if there is not None:
        leave_out(there, erasures_in(copy))
        bringing.withdrawn += keep_refusals(copy, there)
        keep_quoted(copy, there)


def _take_back_participants(study: Study, bringing: BringingBack, on_record: dict[str, str]) -> None:
    """Whoever withdrew from interviews does not come back either, nor stay: whom one file knows of goes from all."""
    sealed = [one for one in bringing.returning if one.form in _SEALED]
    if not sealed:
        return
    there = {one.form.name: one.lasting for one in sealed if one.lasting is not None}
    known = {**on_record_here(study), **on_record}
    bringing.participants = take_back(study, known, {one.form.name: one.copy for one in sealed}, there)
    if not bringing.participants.known:
        bringing.unknown.append(ERASED_LIST)


def _count(connection: sqlite3.Connection, form: Form) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {_TOLD[form.name][1]}").fetchone()[0])  # noqa: S608
