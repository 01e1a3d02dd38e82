"""Files that are either there whole or not there at all."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from quaestor.base.errors import InputError, StateError


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


_ASIDE = ".aside"
_AS_NAMED, _EXCHANGE = -100, 2
"""What Linux calls AT_FDCWD and RENAME_EXCHANGE."""


@contextlib.contextmanager
def built_aside(
    folder: Path, *, what: str, mark: str, placing: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Iterator[Path]:
    """An empty folder to build in, which replaces `folder` when the block ends well; otherwise the old one stays.

    Every such folder holds the file `mark`: one with files but without it belongs to somebody else and is refused. It
    takes its place within what `placing` gives, which may refuse.
    """
    folder = folder.absolute()
    _refuse_foreign(folder, what, mark)
    work = folder.with_name(f".{folder.name}{_ASIDE}")
    work.mkdir(parents=True, exist_ok=True)
    with sole_user(work, f"building the {what}"):
        new, old = work / "new", work / "old"
        for left_by_a_killed_build in (new, old):
            shutil.rmtree(left_by_a_killed_build, ignore_errors=True)
        new.mkdir()
        try:
            yield new
            os.sync()  # in one go instead of once a file
            with placing():
                _put_in_place(new, folder, old)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def remove(path: Path) -> None:
    """Remove a file or a folder; where something is built aside in it just now, whoever builds removes it."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    elif not path.name.endswith(_ASIDE):
        shutil.rmtree(path)
    else:
        with contextlib.suppress(StateError, FileNotFoundError), sole_user(path, "removing what is left"):
            shutil.rmtree(path)


def _refuse_foreign(folder: Path, what: str, mark: str) -> None:
    if folder.is_dir() and any(folder.iterdir()) and not (folder / mark).is_file():
        raise InputError(f"{folder} holds files that are not a {what}: move them, or name another folder")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, and a {what} is a folder: name another one")


def _put_in_place(new: Path, folder: Path, old: Path) -> None:
    """In one step where the system knows one, so that there is no moment without the folder."""
    if not folder.exists():
        os.replace(new, folder)
    elif not _exchanged(new, folder):
        os.replace(folder, old)
        os.replace(new, folder)
    fsync(folder.parent)


def _exchanged(one: Path, other: Path) -> bool:
    """Let two folders exchange their names; no where the system or the file system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    return rename is not None and rename(_AS_NAMED, os.fsencode(one), _AS_NAMED, os.fsencode(other), _EXCHANGE) == 0


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
