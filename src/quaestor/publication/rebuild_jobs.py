"""Rebuilds report and handbook in a background process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quaestor.study.background import BackgroundProcess, JobFailed, SendMessage


@dataclass(frozen=True)
class RebuildProgress:
    """Progress of a rebuild: what is being built, or why it failed."""

    running: bool = False
    words: str = ""
    failed: str = ""


class RebuildJobs:
    """Runs one build at a time; a publication is replaced as a whole, and stays as it was if a build fails."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._progress = RebuildProgress()
        self._process: BackgroundProcess | None = None
        self._listener: threading.Thread | None = None

    @property
    def progress(self) -> RebuildProgress:
        return self._progress

    def begin(self, names: Sequence[str], *, leave_out_undecided: bool = False) -> None:
        """Starts to rebuild the named publications; does nothing if a build is running."""
        with self._lock:
            if self._progress.running or not names:
                return
            self._progress = RebuildProgress(True, "starting")
            self._process = BackgroundProcess(_build_publications, self._root, tuple(names), leave_out_undecided)
            self._listener = threading.Thread(target=self._listen, args=(self._process,), daemon=True)
            self._listener.start()

    def _listen(self, process: BackgroundProcess) -> None:
        last = RebuildProgress()
        for message in process.messages():
            if isinstance(message, str):
                self._progress = RebuildProgress(True, message)
            elif isinstance(message, JobFailed):
                last = RebuildProgress(failed=message.why)
        self._progress = last

    def wait(self) -> RebuildProgress:
        """Waits until the build is over and returns its result."""
        with self._lock:  # begin() holds the lock until the process has started
            listener = self._listener
        if listener is not None:
            listener.join()
        return self._progress

    def close(self) -> None:
        """Ends a running build; nothing of it is kept."""
        with self._lock:
            if self._process is not None and self._progress.running:
                self._process.stop()
        self.wait()


def _build_publications(root: Path, names: Sequence[str], leave_out_undecided: bool, send_message: SendMessage) -> None:
    from quaestor.publication.audit.printed import read_printed
    from quaestor.publication.handbook.make import make_handbook
    from quaestor.publication.report.make import build_report
    from quaestor.study.folder import open_study

    study = open_study(root)
    for name in names:
        if name == "report":
            build_report(
                study, lambda words: send_message(f"The report: {words}"), leave_out_undecided=leave_out_undecided
            )
        elif len(names) == 1 or study.settings.results.code or read_printed(study) is not None:
            # A study with interviews only has a report, but no handbook.
            make_handbook(study, lambda what, done, total: send_message(f"The handbook: {what}"))
