"""Report and handbook made anew beside those who work."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quaestor.study.background import Beside, Failed, Tell


@dataclass(frozen=True)
class Remade:
    """How far it is: what is being made, or why it could not be."""

    running: bool = False
    words: str = ""
    failed: str = ""


class Remaking:
    """One build at a time; what is published is exchanged whole, and stays as it was where a build fails."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._told = Remade()
        self._beside: Beside | None = None
        self._listener: threading.Thread | None = None

    @property
    def told(self) -> Remade:
        return self._told

    def begin(self, names: Sequence[str]) -> None:
        """Make what is named anew; where something is being made already, nothing more happens."""
        with self._lock:
            if self._told.running or not names:
                return
            self._told = Remade(True, "Beginning")
            self._beside = Beside(_make, self._root, tuple(names))
            self._listener = threading.Thread(target=self._listen, args=(self._beside,), daemon=True)
            self._listener.start()

    def _listen(self, beside: Beside) -> None:
        last = Remade()
        for message in beside.told():
            if isinstance(message, str):
                self._told = Remade(True, message)
            elif isinstance(message, Failed):
                last = Remade(failed=message.why)
        self._told = last

    def wait(self) -> Remade:
        """What came of it, once it is over."""
        with self._lock:  # who is being begun has started when the lock is free
            listener = self._listener
        if listener is not None:
            listener.join()
        return self._told

    def close(self) -> None:
        """End a build that is under way; nothing of it stays."""
        with self._lock:
            if self._beside is not None and self._told.running:
                self._beside.stop()
        self.wait()


def _make(root: Path, names: Sequence[str], tell: Tell) -> None:
    from quaestor.publication.audit.printed import read_printed
    from quaestor.publication.handbook.make import make_handbook
    from quaestor.publication.report.make import build_report
    from quaestor.study.folder import open_study

    study = open_study(root)
    for name in names:
        if name == "report":
            build_report(study, lambda words: tell(f"The report: {words}"))
        elif len(names) == 1 or study.settings.results.code is not None or read_printed(study) is not None:
            # A study that has interviews alone has a report, and nothing to make a handbook of.
            make_handbook(study, lambda what, done, total: tell(f"The handbook: {what}"))
