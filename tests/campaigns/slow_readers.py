"""Measures how much slower saving is while readers request slow pages and disconnect.

python -m tests.campaigns.slow_readers [--demo FOLDER] [--readers 48] [--seconds 20]
"""

from __future__ import annotations

import argparse
import asyncio
import html
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.desk_client import JSON, Client, csrf_in
from benchmarks.desk_study import QUAESTOR, Serving, joined, serving

from quaestor.coding.round_acts import open_by_name
from quaestor.people.membership import invite
from quaestor.people.roles import Role
from quaestor.study.folder import open_study

SLOW_PAGES = ("/interviews/themes", "/interviews/drawings/code-map", "/interviews/themes/code?code=dataset", "/results")
"""What readers of the demo's interviews ask for: pages that take long when nobody has asked for them before."""
ROUND, RATER, FACET = "attacked", "rater-1", "attacked"
_ROUND_SETTINGS = f"""
[facets.{FACET}]
kind = "keep"
question = "Does the turn say anything?"

[[rounds]]
round = "{ROUND}"
items = {{ strand = "turns" }}
facets = ["{FACET}"]
raters = ["{RATER}", "rater-2"]
"""
MOST_SECONDS = 5.0
"""No save may take longer, whatever others read."""
_ITEM = re.compile(r'name="item" value="([^"]+)"')
_EVERY = 1.0
"""Seconds after which a reader who has left comes again."""
_LEAVES_WITHIN = 0.05
_PATIENCE = 60.0
"""Seconds after which a save that has no answer ends the measurement, and counts as having taken that long."""


@dataclass(frozen=True)
class SaveTimes:
    """How long saves took, in seconds."""

    saves: int
    median: float
    p95: float
    longest: float


@dataclass(frozen=True)
class SlowReaders:
    """Saves of one rater before and during the attack, and how many requests the attack made."""

    idle: SaveTimes
    attacked: SaveTimes
    requests: int

    @property
    def slowdown(self) -> float:
        """How many times as long a save takes under attack, in the median."""
        return self.attacked.median / self.idle.median

    @property
    def succeeded(self) -> bool:
        return self.slowdown > 2 or self.attacked.longest > MOST_SECONDS


def add_open_round(study: Path) -> None:
    """Open one more round in the demo's interviews, so that somebody can rate while others read."""
    file = study / "study.toml"
    if ROUND not in file.read_text("utf-8"):
        file.write_text(file.read_text("utf-8") + _ROUND_SETTINGS, "utf-8")
        open_by_name(open_study(study), ROUND, None)


def measure_slow_readers(
    study: Path, pages: Sequence[str] = SLOW_PAGES, readers: int = 48, seconds: float = 20.0, every: float = 0.05
) -> SlowReaders:
    """Serve a study on this machine and have a rater save every so many seconds: alone, then among slow readers.

    Each reader asks for one of the `pages`, leaves without its answer, and comes again after a second. The study needs
    an open round named `ROUND`, as `add_open_round` adds it, and nobody may have joined it yet.
    """
    opened = open_study(study)
    with serving(opened) as desk:
        rater = f"/join/{invite(opened, RATER, Role.RATER)[0]}"
        reader = f"/join/{invite(opened, 'slow-reader', Role.VIEWER)[0]}"
        return asyncio.run(_measure(desk, (rater, reader), pages, readers, seconds, every))


async def _measure(
    desk: Serving, links: tuple[str, str], pages: Sequence[str], readers: int, seconds: float, every: float
) -> SlowReaders:
    rater, reader = [await joined(desk, link) for link in links]
    sheet = (await rater.get(f"/rounds/{ROUND}/rate")).text
    item = _ITEM.search(sheet)
    if item is None:
        raise SystemExit(f"{RATER} has nothing to rate in {ROUND!r}: {sheet[:300]}")
    save = (rater, html.unescape(item[1]), csrf_in(sheet))
    await _save_for(1.0, every, *save)  # the first saves open files and load code
    idle = await _save_for(seconds, every, *save)
    ending = asyncio.Event()
    attack = [
        asyncio.create_task(_read_and_leave(reader, pages[number % len(pages)], number / readers, ending))
        for number in range(readers)
    ]
    attacked = await _save_for(seconds, every, *save)
    ending.set()
    return SlowReaders(idle, attacked, sum(await asyncio.gather(*attack)))


async def _save_for(seconds: float, every: float, rater: Client, item: str, csrf: str) -> SaveTimes:
    """One save after another; a save that is late because the one before it was has waited since it was due."""
    times: list[float] = []
    started = time.perf_counter()
    while (due := started + len(times) * every) < started + seconds:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        rating = {"key": uuid.uuid4().hex, "item": item, "answers": {FACET: "keep"}, "seconds": 1.0}
        more = {"Origin": rater.origin, "X-CSRF-Token": csrf}
        saving = rater.ask("POST", f"/rounds/{ROUND}/ratings", json.dumps(rating).encode(), JSON, more)
        try:
            answer = await asyncio.wait_for(saving, max(0.1, due + _PATIENCE - time.perf_counter()))
        except TimeoutError:
            times.append(_PATIENCE)
            break
        if answer.status != 200:
            raise SystemExit(f"a rating was answered with {answer.status}: {answer.text[:300]}")
        times.append(time.perf_counter() - due)
    p95 = statistics.quantiles([*times, times[-1]], n=20)[-1]
    return SaveTimes(len(times), statistics.median(times), p95, max(times))


async def _read_and_leave(signed_in: Client, page: str, share: float, ending: asyncio.Event) -> int:
    """Ask for a page and close the connection before the answer comes, again and again; how often."""
    cookies = "; ".join(f"{name}={value}" for name, value in signed_in.cookies.items())
    request = f"GET {page} HTTP/1.1\r\nHost: {signed_in.host}:{signed_in.port}\r\nCookie: {cookies}\r\n\r\n".encode()
    asked = 0
    await asyncio.sleep(share * _LEAVES_WITHIN)
    while not ending.is_set():
        _, writer = await asyncio.open_connection(signed_in.host, signed_in.port)
        writer.write(request)
        await writer.drain()
        asked += 1
        await asyncio.sleep(_LEAVES_WITHIN)
        writer.close()
        try:
            await asyncio.wait_for(ending.wait(), _EVERY)
        except TimeoutError:
            continue
    return asked


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demo", type=Path, help="a demo made before, which is copied; default: a new one")
    parser.add_argument("--readers", type=int, default=48)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "demo"
        if options.demo is None:
            subprocess.run([QUAESTOR, "demo", str(study), "--no-serve"], check=True, stdout=subprocess.DEVNULL)
        else:
            shutil.copytree(options.demo, study, ignore=shutil.ignore_patterns("people.db*"))
        add_open_round(study)
        found = measure_slow_readers(study, readers=options.readers, seconds=options.seconds)
    for name, times in (("idle", found.idle), ("attacked", found.attacked)):
        shown = [f"{seconds * 1e3:.1f} ms" for seconds in (times.median, times.p95, times.longest)]
        print(f"{name}: {times.saves} saves, median {shown[0]}, 95 % within {shown[1]}, all within {shown[2]}")
    print(f"{found.requests:,} requests left unread; a save takes {found.slowdown:.2f} times as long   bar ≤ 2")
    return 1 if found.succeeded else 0


if __name__ == "__main__":
    sys.exit(main())
