"""Files for the eyes of their owner alone: what is made of one is as private as it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from quaestor.base.errors import InputError, StateError

_OTHERS = 0o077


def is_private(path: Path) -> bool:
    """Whether nobody but its owner can open a file or folder."""
    return path.exists() and not path.stat().st_mode & _OTHERS


def create_private(path: Path) -> None:
    """Make an empty database file where there is none, for its owner alone from its first moment.

    SQLite gives the log and the index that it makes beside it the same mode.
    """
    if not path.parent.is_dir():
        raise StateError(f"the folder {path.parent} does not exist: make it first")
    if path.is_dir():
        raise InputError(f"{path} is a folder: move it away")
    # Only a file that is new is opened here: to close one that SQLite has open, anywhere in this process, would drop
    # its locks, and another process could then remove the log under it.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def close_to_others(path: Path) -> None:
    """Take a database file and what lies beside it from everybody but its owner."""
    for part in (path, *(path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-shm", "-journal"))):
        try:
            if part.stat().st_mode & _OTHERS:
                part.chmod(0o600)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise InputError(
                f"{part} can be read by others ({error.strerror}): have its owner run `chmod 600 {part}`"
            ) from None


@contextmanager
def new_private_text(path: Path) -> Iterator[TextIO]:
    """A new file that its owner alone can read, in UTF-8; it is gone again where filling it fails."""
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError(f"{path} cannot be made ({error.strerror}): give the name of a new file") from None
    try:
        with os.fdopen(opened, "w", encoding="utf-8", newline="") as file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def as_private_as(model: Path, folder: Path) -> None:
    """Where `model` is its owner's alone, so is `folder` with all that lies in it; it is made where it is not there."""
    if not is_private(model):
        return
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder, *folder.rglob("*")):
        try:
            path.chmod(0o700 if path.is_dir() else 0o600, follow_symlinks=False)
        except (FileNotFoundError, NotImplementedError):  # removed meanwhile, or a link, which has no mode of its own
            continue
