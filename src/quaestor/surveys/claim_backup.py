"""Backs up payment claims to a separate file with the key that decrypts them, and nothing about any answer.

Claims are only ever added, and their stages only move forward. So a restore merges the backup with the claims that are
there: no claim is lost, and nobody who was paid is shown as unpaid.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.clock import Clock, exact_now, format_file_stamp
from quaestor.base.errors import QuaestorError, StateError
from quaestor.base.files import fsync
from quaestor.store.backup_file import CLAIMS as ARCHIVE
from quaestor.store.backup_file import Backup, open_backup, write_backup
from quaestor.store.private_file_copy import (
    BackupLines,
    compute_digest,
    copy_to_memory,
    damaged_backup_error,
    format_lines,
    is_empty,
    replace_content,
    restore_copy,
)
from quaestor.store.records import BackupReport
from quaestor.study.folder import Study, backup_folder
from quaestor.surveys.payment import CLAIMS_FILE, CLAIMS_KEY
from quaestor.surveys.store.claim_key import ClaimKey
from quaestor.surveys.store.claims import CLAIMS, PaymentStage

_KEY = "key"
_ID = 32
_KEY_LENGTH = 64


@dataclass(frozen=True)
class ClaimsRestoreResult:
    """Result of a restore of claims."""

    claims: int
    added: int
    kept: Path | None
    """Where the replaced claims and key were moved."""
    known: bool
    """Whether there were claims before the restore, made or paid after the backup."""


def has_claims(study: Study) -> bool:
    """Tells whether there are any claims."""
    return (study.root / CLAIMS_FILE).exists()


def back_up_claims(study: Study, file: Path) -> BackupReport:
    """Writes all claims and their key to a new file, without any times, and verifies it."""
    key = _key_there(study)
    path = study.root / CLAIMS_FILE
    if key is None:
        raise StateError(
            f"{path} cannot be opened without {CLAIMS_KEY}: restore the original key"
            if path.exists()
            else f"there are no payment claims in {study.root}: nothing to back up"
        )
    with ExitStack() as opened:
        lines: Iterator[str] = iter(())
        if path.exists():
            claims = opened.enter_context(CLAIMS.open(path))
            with claims.snapshot() as still:
                lines = format_lines(opened.enter_context(closing(copy_to_memory(still))))
        return _written(file, key, lines)


def restore_claims(study: Study, file: Path, replace: bool = False, clock: Clock = exact_now) -> ClaimsRestoreResult:
    """Merges the claims of a backup with those of the study; a different key is refused unless `replace`."""
    path = study.root / CLAIMS_FILE
    with ExitStack() as opened:
        backup = opened.enter_context(open_backup(file, ARCHIVE))
        key, copy = opened.enter_context(_read(backup))
        there_key = _key_there(study)
        other = there_key is not None and there_key.text != key.text
        if other and not replace:
            raise StateError(
                f"{study.root / CLAIMS_KEY} differs from the key in {file}, so claims made under it would be "
                "lost: use --replace, which first moves the current claims and key to a file"
            )
        known = path.exists()
        with CLAIMS.open(path) as claims, claims.erasing() as there:
            known = known and not is_empty(there)
            kept = None
            if other and there_key is not None:
                target = backup_folder(study) / f"claims-before-restore-{format_file_stamp(clock())}.backup"
                kept = _written(target, there_key, format_lines(there)).file
                before = 0
            else:
                before = _count(there)
                _put_together(copy, there)
            if there_key is None or other:
                _write_key(study.root / CLAIMS_KEY, key)
            if compute_digest(there) != compute_digest(copy):
                replace_content(there, copy)
            after = _count(there)
    return ClaimsRestoreResult(after, after - before, kept, known and not other)


def _written(target: Path, key: ClaimKey, lines: Iterator[str]) -> BackupReport:
    parts = (BackupLines(CLAIMS.name, CLAIMS.version, lines), BackupLines(_KEY, 1, [json.dumps([_KEY, key.text])]))
    return write_backup((), target, "", parts, ARCHIVE)


@contextmanager
def _read(backup: Backup) -> Iterator[tuple[ClaimKey, sqlite3.Connection]]:
    """Yields the key and the claims of a backup, after decrypting each claim."""
    source, parts = backup.report.file, backup.report.parts
    if parts.keys() != {CLAIMS.name, _KEY}:
        raise damaged_backup_error(source, "it does not contain claims and their key")
    try:
        (line,) = backup.read_lines(_KEY)
        _, text = json.loads(line)
        key = ClaimKey(source, text)
    except (ValueError, TypeError):
        raise damaged_backup_error(source, "its key is invalid") from None
    if key.text != text or len(text) != _KEY_LENGTH:
        raise damaged_backup_error(source, "its key is incomplete")
    with restore_copy(CLAIMS, parts[CLAIMS.name].version, backup.read_lines(CLAIMS.name), source) as copy:
        for name, sealed, stage in copy.execute("SELECT id, sealed, stage FROM claims"):
            if len(name) != _ID or stage not in range(len(PaymentStage)):
                raise damaged_backup_error(source, "it contains an invalid claim")
            try:
                key.opened(sealed, name)
            except (QuaestorError, ValueError):
                raise damaged_backup_error(source, "its key does not decrypt its claims") from None
        yield key, copy


def _put_together(copy: sqlite3.Connection, there: sqlite3.Connection) -> None:
    for name, survey, sealed, stage in there.execute("SELECT id, survey, sealed, stage FROM claims").fetchall():
        copy.execute("INSERT OR IGNORE INTO claims VALUES (?, ?, ?, ?)", (name, survey, sealed, stage))
        copy.execute(
            "UPDATE claims SET survey = ?, sealed = ?, stage = max(stage, ?) WHERE id = ?",
            (survey, sealed, stage, name),
        )


def _key_there(study: Study) -> ClaimKey | None:
    path = study.root / CLAIMS_KEY
    return ClaimKey(path) if path.exists() else None


def _write_key(path: Path, key: ClaimKey) -> None:
    """Writes the key atomically, readable by its owner only."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        aside.unlink()
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(key.text.encode())
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)
    fsync(path.parent)


def _count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM claims").fetchone()[0])
