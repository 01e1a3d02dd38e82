"""One race for every desk: the same items, as many raters, each asks for the next item and saves, again and again."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import socket
from typing import Protocol

import psutil

from benchmarks.desk import Share, shares
from benchmarks.desk_client import wait_until_there

RATERS, SECONDS = 4, 20.0
LEAD_PASSWORD = "a few plain words"  # noqa: S105 - of accounts that live as long as the race
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Item:
    """What everybody rates."""

    item: str
    title: str
    body: str


class PeerRater(Protocol):
    """A rater at some desk, through what its own page asks for."""

    async def next(self) -> str:
        """The item to rate now."""

    async def save(self, item: str) -> None:
        """Returns when the server has acknowledged."""


@dataclass
class Raced:
    """What one desk did."""

    name: str
    durable: str
    import_seconds: float = 0.0
    export_seconds: float = 0.0
    exported: int = 0
    acknowledged: int = 0
    saved: list[float] = field(default_factory=list)
    next: list[float] = field(default_factory=list)
    share: Share = field(default_factory=Share)

    @property
    def rate(self) -> float:
        return len(self.saved) / self.share.seconds

    def check(self) -> None:
        if self.exported != self.acknowledged:
            raise SystemExit(f"{self.name} acknowledged {self.acknowledged} ratings and exports {self.exported}")


async def race(raced: Raced, raters: Sequence[PeerRater], process: psutil.Process) -> None:
    """Every rater takes the next item and saves, once to warm up and then for as long as everywhere."""
    await asyncio.gather(*(_rate(raced, rater, 0.0) for rater in raters))
    raced.saved, raced.next = [], []
    with shares(process) as share:
        until = time.perf_counter() + SECONDS
        await asyncio.gather(*(_rate(raced, rater, until) for rater in raters))
    raced.share = share


async def _rate(raced: Raced, rater: PeerRater, until: float) -> None:
    while True:
        started = time.perf_counter()
        item = await rater.next()
        between = time.perf_counter()
        await rater.save(item)
        raced.next.append(between - started)
        raced.saved.append(time.perf_counter() - between)
        raced.acknowledged += 1
        if time.perf_counter() >= until:
            return


def environment(folder: Path, name: str, package: str) -> tuple[Path, str]:
    """The programs of a package that was installed, once, into an environment of its own, and its version."""
    place = folder.resolve() / name
    ready = place / "ready"
    if not ready.exists():
        print(f"installing {package} into an environment of its own, once")
        for command in (
            [sys.executable, "-m", "venv", str(place)],
            [str(place / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", package],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise NotInstalled(f"{package} cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
        ready.touch()
    asked = [str(place / "bin" / "python"), "-c", f"from importlib.metadata import version as v; print(v('{package}'))"]
    version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return place / "bin", version


def durability(mode: str, level: int) -> str:
    """What SQLite promises of a commit, by how it was opened."""
    words = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}[level]
    return f"{'durable' if level >= 2 else 'not durable'}: SQLite, journal {mode}, synchronous {words}"


class NotInstalled(Exception):
    """A peer that is not to be had on this machine."""


@contextmanager
def started(
    command: list[str], place: Path, port: int, ready: str, environment: dict[str, str]
) -> Iterator[tuple[str, psutil.Process]]:
    """Run a peer's server; its output is written to a file next to its data."""
    address = f"http://127.0.0.1:{port}"
    with (
        (place / "server.log").open("w", encoding="utf-8") as log,
        subprocess.Popen(command, cwd=place, env=environment, stdout=log, stderr=subprocess.STDOUT) as server,
    ):
        try:
            wait_until_there(address, ready, server, patience=600)
            yield address, psutil.Process(server.pid)
        finally:
            server.kill()


def free_port() -> int:
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
