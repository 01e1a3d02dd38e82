"""Commands as a person types them: in a terminal that can answer questions."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path


def at_terminal(*arguments: str | Path, typed: str = "", cwd: Path | None = None) -> tuple[int, str]:
    """Runs a command in a terminal in which `typed` is entered; returns its exit code and all that the screen shows."""
    ours, theirs = pty.openpty()
    words = [sys.executable, "-c", "from quaestor.cli.main import run; run()", *map(str, arguments)]
    settings = {**os.environ, "TERM": "dumb", "COLUMNS": "200", "NO_COLOR": "1"}
    process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=settings)
    os.close(theirs)
    os.write(ours, typed.encode())
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    return process.wait(), shown.decode("utf-8").replace("\r\n", "\n")
