"""Hashes of large files, computed in the background from the moment the files are named."""

from __future__ import annotations

import hashlib
import mmap
import queue
import threading
from collections.abc import Iterable
from pathlib import Path

_WINDOW = 16 << 20


def map_file(descriptor: int, length: int, offset: int) -> mmap.mmap:
    """A stretch of a file, to be looked at where the page cache holds it."""
    if hasattr(mmap, "MAP_POPULATE"):
        # All pages at once; one by one as they are touched costs a fifth of the time.
        flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
        return mmap.mmap(descriptor, length, flags=flags, prot=mmap.PROT_READ, offset=offset)
    return mmap.mmap(descriptor, length, access=mmap.ACCESS_READ, offset=offset)


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, as `sha256sum` prints it."""
    digest = hashlib.sha256()
    size = path.stat().st_size
    with path.open("rb") as file:
        for start in range(0, size, _WINDOW):
            # Mapped in windows: no copy, and no more than a window of memory.
            length = min(_WINDOW, size - start)
            with map_file(file.fileno(), length, start) as window:
                digest.update(window)
    return digest.hexdigest()


class Hashing:
    """A thread that hashes files one after the other; it ends with the process, whatever is left to do."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Path] = queue.SimpleQueue()
        self._done: dict[Path, str | OSError] = {}
        self._begun: set[Path] = set()
        self._change = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def begin(self, paths: Iterable[Path]) -> None:
        """Hash these files when their turn comes; a file is hashed once."""
        for path in paths:
            if path not in self._begun:
                self._begun.add(path)
                self._waiting.put(path)

    def of(self, path: Path) -> str:
        """The hash of a file, as soon as it is known."""
        self.begin([path])
        with self._change:
            self._change.wait_for(lambda: path in self._done)
        found = self._done[path]
        if isinstance(found, OSError):
            raise found
        return found

    def _work(self) -> None:
        while True:
            path = self._waiting.get()
            try:
                found: str | OSError = sha256_of(path)
            except OSError as error:
                found = error
            with self._change:
                self._done[path] = found
                self._change.notify_all()
