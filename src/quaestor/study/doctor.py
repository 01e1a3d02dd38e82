"""What this machine has, what it lacks, and how to get it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from quaestor.sources.stackexchange.lanes import lane_count
from quaestor.study.erasures import describe_pending_erasures, finish_erasures

_LEAST_FREE = 5 * 10**9


@dataclass(frozen=True)
class Check:
    """One thing looked at; `needed` when Quaestor cannot work without it."""

    name: str
    found: bool
    detail: str
    remedy: str = ""
    needed: bool = False


def examine(folder: Path) -> list[Check]:
    """Look at the machine from a folder where evidence would go."""
    return [
        _python(), _cores(), _disk(folder), _memory(), _archives(), _browser(), *_packages(), *_erasures(folder),
    ]  # fmt: skip


def _erasures(folder: Path) -> list[Check]:
    """Only where something is pending: most folders are no study, and in most studies nobody withdraws."""
    pending = finish_erasures(folder) if folder.is_dir() else []
    remedy = "end the program that uses the file, or free space on the disk, then run this again"
    return [Check("erasure", False, describe_pending_erasures(folder), remedy)] if pending else []


def _python() -> Check:
    version = sys.version.split()[0]
    return Check("Python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer", needed=True)


def _cores() -> Check:
    return Check("cores", True, f"{lane_count()} used for ingest")


def _disk(folder: Path) -> Check:
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    detail = f"{free / 1e9:,.0f} GB free at {folder}"
    remedy = "free some space: a dump of 100 GB becomes about 35 GB of Parquet"
    return Check("disk", free > _LEAST_FREE, detail, remedy)


def _memory() -> Check:
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return Check("memory", True, "unknown on this system")
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Check("memory", total > 2 * 10**9, f"{total / 1e9:,.0f} GB", "2 GB are needed for the funnel")


def _archives() -> Check:
    found = next((name for name in ("7zz", "7z", "7za", "bsdtar") if shutil.which(name)), None)
    if found:
        return Check("7-Zip", True, f"{found} found: .7z archives are read with it where it is faster")
    remedy = "optional: .7z works without it, slower; get it with `apt install 7zip` or `brew install sevenzip`"
    return Check("7-Zip", False, "no 7zz, 7z or bsdtar on the path", remedy)


def _browser() -> Check:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next((name for name in names if shutil.which(name)), None)
    remedy = "only for running the tests of the desk: `apt install chromium`"
    return Check("Chromium", found is not None, found or "not on the path", remedy)


def _packages() -> list[Check]:
    return [
        Check(
            name,
            importlib.util.find_spec(name) is not None,
            "Python package",
            f"pip install {name}",
            needed=True,
        )
        for name in ("duckdb", "ibis", "pyarrow", "pydantic", "starlette", "nh3", "python_calamine")
    ]
