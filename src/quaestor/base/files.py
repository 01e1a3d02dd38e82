"""Atomic replacement of files and folders, locks, file permissions, and hashes of large files."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import mmap
import os
import queue
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from quaestor.base.errors import InputError, StateError

_WINDOW = 16 << 20


def open_private(path: Path) -> BinaryIO:
    """Opens a new file that only its owner can read, replacing one that a killed process left behind."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def fsync(path: Path) -> None:
    """Flushes a file or a folder to disk, so that it survives a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomically(path: Path, content: bytes, *, private: bool = False) -> None:
    """Replaces a file in one step: a reader sees the old content or the new content, never a part of it."""
    with replace_file(path, private=private) as temporary:
        temporary.write_bytes(content)


@contextlib.contextmanager
def replace_file(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yields a temporary file to write, which replaces `path` if the block succeeds.

    With `private`, only the owner can read the file, even while it is being written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.unlink(missing_ok=True)
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666))
        yield temporary
        fsync(temporary)
        os.replace(temporary, path)
        fsync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def open_lock(path: Path) -> BinaryIO:
    """Opens a lock file that only its owner can read: anyone who can read it could lock the owner out."""
    lock = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb")
    if hasattr(os, "fchmod") and os.fstat(lock.fileno()).st_mode & 0o077:
        with contextlib.suppress(PermissionError):  # the file belongs to another user, who lets us write to it
            os.fchmod(lock.fileno(), 0o600)
    return lock


@contextlib.contextmanager
def lock_folder(folder: Path, purpose: str) -> Iterator[None]:
    """Keeps a second process from working in the same folder; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:  # a system without file locks
        yield
        return
    with open_lock(folder / ".lock") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StateError(
                f"another process is busy with {purpose} in {folder}: wait until it has finished"
            ) from None
        yield


_BUILD_SUFFIX = ".aside"
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
"""Arguments of the Linux system call renameat2."""


@contextlib.contextmanager
def build_folder(
    folder: Path, *, kind: str, marker: str, guard_placement: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Iterator[Path]:
    """Yields an empty folder to build in, which replaces `folder` if the block succeeds; otherwise the old one stays.

    Every such folder contains the file `marker`: a folder with files but without it belongs to somebody else and is
    refused. The replacement happens inside the context of `guard_placement`, which may refuse it.
    """
    folder = folder.absolute()
    if folder.is_dir() and any(folder.iterdir()) and not (folder / marker).is_file():
        raise InputError(f"{folder} contains files that are not a {kind}: move them, or name another folder")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, and a {kind} is a folder: name another one")
    work = folder.with_name(f".{folder.name}{_BUILD_SUFFIX}")
    work.mkdir(parents=True, exist_ok=True)
    with lock_folder(work, f"building the {kind}"):
        new, old = work / "new", work / "old"
        for leftover in (new, old):  # of a build that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        new.mkdir()
        try:
            yield new
            os.sync()  # once for all files instead of one fsync per file
            with guard_placement():
                _replace_folder(new, folder, old)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def remove(path: Path) -> None:
    """Removes a file or a folder; a folder in which a build is running is left to that build."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    elif not path.name.endswith(_BUILD_SUFFIX):
        shutil.rmtree(path)
    else:
        with contextlib.suppress(StateError, FileNotFoundError), lock_folder(path, "removing what is left"):
            shutil.rmtree(path)


def _replace_folder(new: Path, folder: Path, old: Path) -> None:
    """Replaces a folder in one step if the system can, so that it never is missing."""
    if not folder.exists():
        os.replace(new, folder)
    elif not _swap_folders(new, folder):
        os.replace(folder, old)
        os.replace(new, folder)
    fsync(folder.parent)


def _swap_folders(first: Path, second: Path) -> bool:
    """Exchanges the names of two folders; returns False if the system or the file system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    return bool(rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE) == 0)


_OTHERS = 0o077
"""The permission bits of the group and of all others."""


def is_private(path: Path) -> bool:
    """Whether only its owner can open a file or folder."""
    return path.exists() and not path.stat().st_mode & _OTHERS


def create_private_file(path: Path) -> None:
    """Creates an empty database file that only its owner can read, unless the file exists.

    SQLite gives its log and shared-memory files the same mode.
    """
    if not path.parent.is_dir():
        raise StateError(f"the folder {path.parent} does not exist: create it first")
    if path.is_dir():
        raise InputError(f"{path} is a folder: move it away")
    # Only a new file is opened here: closing a file that SQLite has open anywhere in this process would drop SQLite's
    # locks, and another process could then remove the log.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def restrict_to_owner(path: Path) -> None:
    """Makes a database file and its log files readable by their owner only."""
    for file in (path, *(path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-shm", "-journal"))):
        try:
            if file.stat().st_mode & _OTHERS:
                file.chmod(0o600)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise InputError(
                f"{file} can be read by others ({error.strerror}): its owner must run `chmod 600 {file}`"
            ) from None


@contextmanager
def create_private_text(path: Path) -> Iterator[TextIO]:
    """Yields a new UTF-8 file that only its owner can read; removes it again if the block fails."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError(f"{path} cannot be created ({error.strerror}): name a file that does not exist yet") from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def match_privacy(model: Path, folder: Path) -> None:
    """If only its owner can read `model`, makes `folder` and its content equally private, creating it if needed."""
    if not is_private(model):
        return
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder, *folder.rglob("*")):
        try:
            path.chmod(0o700 if path.is_dir() else 0o600, follow_symlinks=False)
        except (FileNotFoundError, NotImplementedError):  # removed in the meantime, or a link, which has no mode
            continue


def map_file(descriptor: int, length: int, offset: int) -> mmap.mmap:
    """Maps a section of a file into memory, read-only."""
    if hasattr(mmap, "MAP_POPULATE"):
        # Maps all pages at once: page faults one by one cost a fifth of the time.
        flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
        return mmap.mmap(descriptor, length, flags=flags, prot=mmap.PROT_READ, offset=offset)
    return mmap.mmap(descriptor, length, access=mmap.ACCESS_READ, offset=offset)


def hash_file(path: Path) -> str:
    """Returns the SHA-256 of a file, as `sha256sum` prints it."""
    digest = hashlib.sha256()
    size = path.stat().st_size
    with path.open("rb") as file:
        for start in range(0, size, _WINDOW):
            # Mapped in windows: nothing is copied, and memory is limited to one window.
            length = min(_WINDOW, size - start)
            with map_file(file.fileno(), length, start) as window:
                digest.update(window)
    return digest.hexdigest()


class BackgroundHasher:
    """A daemon thread that hashes files one after the other; it ends with the process."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Path] = queue.SimpleQueue()
        self._results: dict[Path, str | OSError] = {}
        self._started: set[Path] = set()
        self._change = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def start(self, paths: Iterable[Path]) -> None:
        """Queues files to be hashed, each only once."""
        for path in paths:
            if path not in self._started:
                self._started.add(path)
                self._queue.put(path)

    def wait_for(self, path: Path) -> str:
        """Waits for the hash of a file and returns it; raises the OSError that prevented it."""
        self.start([path])
        with self._change:
            self._change.wait_for(lambda: path in self._results)
        result = self._results[path]
        if isinstance(result, OSError):
            raise result
        return result

    def _work(self) -> None:
        while True:
            path = self._queue.get()
            try:
                result: str | OSError = hash_file(path)
            except OSError as error:
                result = error
            with self._change:
                self._results[path] = result
                self._change.notify_all()
