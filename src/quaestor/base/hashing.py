"""SHA-256 hashes of large files, computed in a background thread."""

from __future__ import annotations

import hashlib
import mmap
import queue
import threading
from collections.abc import Iterable
from pathlib import Path

_WINDOW = 16 << 20


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
