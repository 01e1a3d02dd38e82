"""Fill the disk under a desk while people work: pages still open, a save is refused or kept, and nothing is lost.

python -m tests.campaigns.fill_disk

The study lies on a small file system of its own. Where mounting is not allowed, the server may make no file larger.
"""

from __future__ import annotations

import contextlib
import resource
import sqlite3
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
from httpx2 import Client
from tests.support.desk import CHOSEN, csrf_in, invited, post
from tests.support.small_study import ITEMS, small_study
from tests.support.windows import Server

from quaestor.coding.codebook import import_codebook
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.session import open_coding
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study

PAGES = ("", "rounds", "rounds/main", "evidence", "codebook", "people", "me", "sign-in", "health")
SIZE = 48 * 2**20


@dataclass
class FullDisk:
    """What was asked while the disk was full, and what went wrong."""

    how: str
    pages: int = 0
    saves: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def succeeded(self) -> bool:
        return bool(self.failures)


def fill_disk() -> FullDisk:
    """Work at a desk before, while and after its disk is full; compare what was acknowledged with the journal."""
    with tempfile.TemporaryDirectory() as folder, _small_disk(Path(folder)) as is_mounted:
        study = _make(Path(folder) / "study")
        outcome = FullDisk("a full file system" if is_mounted else "a limit on the size of files")
        server = Server(study.root)
        try:
            with _signed_in(server, study, Role.LEAD) as lead, _signed_in(server, study, Role.RATER) as rater:
                acknowledged = _save(rater, ITEMS[:2], outcome, expected=200)
                _age_sessions(study)
                with _full(Path(folder), server, is_mounted):
                    for page in PAGES:
                        for visitor in (lead, rater):
                            status = visitor.get(page).status_code
                            outcome.pages += 1
                            if status >= 500:
                                outcome.failures.append(f"/{page} was answered with {status}")
                    acknowledged |= _save(rater, ITEMS[2:5], outcome, expected=503)
                acknowledged |= _save(rater, ITEMS[5:8], outcome, expected=200)
        finally:
            server.stop()
        with open_coding(open_study(study.root)) as coding:
            recorded = coding.state.round("main").ratings.get("rater-1", {})
        outcome.failures += [f"the acknowledged rating of {item} is lost" for item in acknowledged - recorded.keys()]
    return outcome


def _make(folder: Path) -> Study:
    small_study(folder)
    file = folder / "study.toml"
    file.write_text(file.read_text("utf-8").replace('after = "pilot"\n', ""), "utf-8")
    study = open_study(folder)
    import_codebook(study)
    open_by_name(study, "main", None)
    return study


@contextlib.contextmanager
def _signed_in(server: Server, study: Study, role: Role) -> Iterator[Client]:
    with Client(base_url=server.address, timeout=60) as visitor:
        fields = {"password": CHOSEN, "again": CHOSEN}
        assert post(visitor, f"join/{invited(study.root, role)}", fields).status_code == 303
        yield visitor


def _age_sessions(study: Study) -> None:
    """Make every session some hours old: the next page of each renews it, which is a write."""
    with contextlib.closing(sqlite3.connect(study.root / "people.db", isolation_level=None)) as people:
        expires = (datetime.now(UTC) + timedelta(hours=2)).isoformat()
        people.execute("UPDATE sessions SET expires = ?", (expires,))


def _save(rater: Client, items: list[str], outcome: FullDisk, expected: int) -> set[str]:
    """Rate these items; which of them the server acknowledged."""
    headers = {"origin": str(rater.base_url).rstrip("/"), "x-csrf-token": csrf_in(rater.get("rounds/main/rate").text)}
    acknowledged = set()
    for item in items:
        rating = {"key": uuid.uuid4().hex, "item": item, "answers": {"relevance": "keep"}, "seconds": 1.0}
        answer = rater.post("rounds/main/ratings", json=rating, headers=headers)
        outcome.saves += 1
        if answer.status_code == 200:
            acknowledged.add(item)
        if answer.status_code not in (200, expected):
            outcome.failures.append(f"a save was answered with {answer.status_code} instead of {expected}")
    return acknowledged


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[bool]:
    """Put a small file system on a folder; whether that was allowed."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "quaestor-test", str(folder)]
    is_mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", str(folder)], check=True)


@contextlib.contextmanager
def _full(folder: Path, server: Server, is_mounted: bool) -> Iterator[None]:
    if is_mounted:
        filler = folder / "filler"
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        yield
        filler.unlink()
        return
    process = psutil.Process(server.pid)
    before = process.rlimit(psutil.RLIMIT_FSIZE)
    process.rlimit(psutil.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY))
    yield
    process.rlimit(psutil.RLIMIT_FSIZE, before)


def main() -> int:
    outcome = fill_disk()
    print(f"{outcome.how}: {outcome.pages} pages, {outcome.saves} saves, {len(outcome.failures)} failures")
    for failure in outcome.failures:
        print(f"    {failure}")
    return 1 if outcome.succeeded else 0


if __name__ == "__main__":
    sys.exit(main())
