"""Run a command and see how long it took and how much memory it and its children held."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil


@dataclass(frozen=True)
class Run:
    """One run: seconds, the highest sum of resident memory over the process tree, and what it printed."""

    seconds: float
    peak_mb: float
    output: Any


def run(command: list[str], *, watch: bool = False) -> Run:
    """Run a command that prints JSON; watching the memory costs time, so the two are measured apart."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    peak = [0.0]
    watcher = threading.Thread(target=_watch, args=(process.pid, peak), daemon=True)
    if watch:
        watcher.start()
    out, errors = process.communicate()
    seconds = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed: {errors}")
    return Run(seconds, peak[0] / 1e6, json.loads(out))


def _watch(number: int, peak: list[float]) -> None:
    try:
        parent = psutil.Process(number)
        while parent.is_running():
            total = 0
            for process in [parent, *parent.children(recursive=True)]:
                try:
                    total += process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            peak[0] = max(peak[0], total)
            time.sleep(0.02)
    except psutil.NoSuchProcess:
        return


def warm(path: Path) -> None:
    """Bring a file into the page cache, so that the disk takes no part in the race."""
    with path.open("rb", buffering=0) as file:
        while file.read(64 << 20):
            pass
