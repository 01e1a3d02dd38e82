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
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
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
