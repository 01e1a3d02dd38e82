"""Files that are either there whole or not there at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from quaestor.base.errors import StateError


def open_private(path: Path) -> BinaryIO:
    """A new file to write to, for its owner alone from its first moment; one that a killed process left is replaced."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def fsync(path: Path) -> None:
    """What is written at `path`, a file or a folder, survives a power cut from here on."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: bytes, *, private: bool = False) -> None:
    """Replace the file at once: a reader sees the old content or the new, never a part."""
    with replacing(path, private=private) as aside:
        aside.write_bytes(content)


@contextlib.contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A new file to write, which takes the place of `path` when all went well.

    A private one is never readable by anybody but its owner, not even while it is written.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.unlink(missing_ok=True)
        os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666))
        yield aside
        fsync(aside)
        os.replace(aside, path)
        fsync(path.parent)
    finally:
        aside.unlink(missing_ok=True)


def open_lock(path: Path) -> BinaryIO:
    """A file to lock, for its owner alone: whoever can read a file can lock it, and so keep its owner out."""
    lock = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb")
    if hasattr(os, "fchmod") and os.fstat(lock.fileno()).st_mode & 0o077:
        with contextlib.suppress(PermissionError):  # of another owner, who let us write to it
            os.fchmod(lock.fileno(), 0o600)
    return lock


@contextlib.contextmanager
def sole_user(folder: Path, purpose: str) -> Iterator[None]:
    """Keep a second process from doing the same in the same folder; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        yield
        return
    with open_lock(folder / ".lock") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StateError(f"another process is busy with {purpose} in {folder}: wait until it has ended") from None
        yield
