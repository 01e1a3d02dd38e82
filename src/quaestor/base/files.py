"""Files that are either there whole or not there at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from quaestor.base.errors import StateError


def fsync(path: Path) -> None:
    """What is written at `path`, a file or a folder, survives a power cut from here on."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: bytes) -> None:
    """Replace the file at once: a reader sees the old content or the new, never a part."""
    with replacing(path) as aside:
        aside.write_bytes(content)


@contextlib.contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A new file to write, which takes the place of `path` when all went well; a private one only its owner reads."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600 if private else 0o666))
        yield aside
        fsync(aside)
        os.replace(aside, path)
        fsync(path.parent)
    finally:
        aside.unlink(missing_ok=True)


@contextlib.contextmanager
def sole_user(folder: Path, purpose: str) -> Iterator[None]:
    """Keep a second process from doing the same in the same folder; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        yield
        return
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StateError(f"another process is busy with {purpose} in {folder}: wait until it has ended") from None
        yield
