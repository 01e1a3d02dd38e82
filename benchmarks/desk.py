"""The desk with 100,000 items in a round and 20 concurrent raters: saving, next item, pages and the journal."""

from __future__ import annotations

import argparse
import asyncio
import re
import sqlite3
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.desk_client import Client
from benchmarks.desk_raters import RATE, Log, Rater, at_the_desk, expect, lasting
from benchmarks.desk_study import RoundStudy, Serving, all_joined, joined, make, serving
from quaestor.study.folder import open_journal

ITEMS, RATERS = 100_000, 20
SECONDS, LOADS, COMMITS = 15.0, 30, 500
TRIES, DISTURBED = 5, 0.05
"""How often a phase is measured while the host takes more than this share of a core away; the calmest one counts."""
SAVE_BAR, RATE_BAR, PAGE_BAR = 50, 300, 300
_FILES = re.compile(r'(?:href|src)="(/static/[^"]+)"')
_LINKS = re.compile(r'<a [^>]*href="(/[^"#]*)"')
_NAVIGATION = re.compile(r"<nav.*?</nav>", re.DOTALL)


@dataclass
class Share:
    """How much of a core server, clients and whatever else runs here took, once a phase is over.

    What is stolen was wanted here, and given by the host of this machine to somebody else.
    """

    server: float = 0.0
    clients: float = 0.0
    others: float = 0.0
    stolen: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        took = f"server {self.server:.0%} of a core, clients {self.clients:.0%}, all others {self.others:.0%}"
        return f"{took}, stolen by the host {self.stolen:.0%}"


@contextmanager
def shares(process: psutil.Process) -> Iterator[Share]:
    """CPU of the server with its children, of this process, and of the machine, while something goes on."""
    share, started = Share(), time.perf_counter()
    before = _cpu(process), time.process_time(), _busy(), _stolen()
    yield share
    share.seconds = time.perf_counter() - started
    now = _cpu(process), time.process_time(), _busy(), _stolen()
    share.server, share.clients, busy, share.stolen = (
        (after - earlier) / share.seconds for earlier, after in zip(before, now, strict=True)
    )
    share.others = max(0.0, busy - share.server - share.clients)


def _cpu(process: psutil.Process) -> float:
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return sum(time_.user + time_.system for time_ in times)


def _busy() -> float:
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system)


def _stolen() -> float:
    return float(getattr(psutil.cpu_times(), "steal", 0.0))


def main(folder: Path, options: argparse.Namespace) -> None:
    print(f"making a round of {ITEMS:,} items for {RATERS} raters, through the front door")
    made = make(folder, ITEMS, RATERS)
    print(f"from the dump to the open round: {made.import_seconds:.1f} s")
    print(f"a bare loop of durable commits on this disk: {_bare(folder):,.0f} a second")
    log = Log()
    with serving(made.study) as desk:
        asyncio.run(_measure(desk, made, log))
    _compare(made, log)


async def _measure(desk: Serving, made: RoundStudy, whole: Log) -> None:
    clients = await all_joined(desk, made)
    lead = await joined(desk, desk.lead_link)
    prepared = await until_prepared(desk)
    print(f"texts at hand and evidence indexed, beside the desk: {prepared:.1f} s after all have joined")
    opening = time.perf_counter()
    await at_the_desk(made.raters, clients, Log())
    spent = time.perf_counter() - opening
    print(f"all {RATERS} sit down at once: {spent:.1f} s until all have 20 sheets in hand")
    print(f"\n| {ITEMS:,} items in the round, {RATERS} raters at once | median | 95th percentile | bar |")
    print("| --- | --- | --- | --- |")
    notes = [
        await _flat_out(desk, made, clients, whole),
        await _at_a_pace(desk, made, clients, whole),
        await _by_form(desk, made, clients, whole),
        await _page_loads(desk, made, clients, lead, whole),
    ]
    print("\n" + "\n".join(notes))
    print(f"memory of the server: {desk.process.memory_info().rss / 1e6:.0f} MB")
    await _until_killed(desk, made, clients, whole)


async def until_prepared(desk: Serving) -> float:
    """Until the server has nothing left to prepare in processes of its own."""
    started = time.perf_counter()
    while any(_works(child) for child in desk.process.children()):
        await asyncio.sleep(0.2)
    return time.perf_counter() - started


def _works(child: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(child.cmdline())
    except psutil.Error:  # it has just ended
        return False


async def _flat_out(desk: Serving, made: RoundStudy, clients: Sequence[Client], whole: Log) -> str:
    log, share, tries = await _calmest(desk, made, clients, whole)
    row("without a pause: rating saved", log.saved)
    row("without a pause: rating saved, next item in hand", log.next_in_hand)
    row("without a pause: the next sheets fetched ahead", log.ahead)
    rate = len(log.saved) / share.seconds
    return f"without a pause: {rate:,.0f} durable ratings a second   bar ≥ {RATE_BAR}   {share}{tries}"


async def _at_a_pace(desk: Serving, made: RoundStudy, clients: Sequence[Client], whole: Log) -> str:
    log, share, tries = await _calmest(desk, made, clients, whole, RATERS / RATE_BAR)
    row(f"at {RATE_BAR} a second: rating saved", log.saved)
    row(f"at {RATE_BAR} a second: rating saved, next item in hand", log.next_in_hand, SAVE_BAR)
    row(f"at {RATE_BAR} a second: the next sheets fetched ahead", log.ahead)
    rate = len(log.saved) / share.seconds
    return f"at a pace of {RATE_BAR} a second: {rate:,.0f} durable ratings a second   {share}{tries}"


async def _calmest(
    desk: Serving, made: RoundStudy, clients: Sequence[Client], whole: Log, every: float = 0.0
) -> tuple[Log, Share, str]:
    """The time in which the host took the least away from this machine, of at most so many."""
    measured = []
    while len(measured) < TRIES and not any(share.stolen <= DISTURBED for _, share in measured):
        measured.append(await _rated(desk, await at_the_desk(made.raters, clients, Log()), whole, every))
    log, share = min(measured, key=lambda one: one[1].stolen)
    return log, share, _tries([share for _, share in measured])


def _tries(measured: Sequence[Share]) -> str:
    stolen = ", ".join(f"{measurement.stolen:.0%}" for measurement in measured)
    return f"; the calmest of {len(measured)} (stolen: {stolen})" if len(measured) > 1 else ""


async def _by_form(desk: Serving, made: RoundStudy, clients: Sequence[Client], whole: Log) -> str:
    log = Log()
    raters = await at_the_desk(made.raters, clients, log)
    with shares(desk.process) as share:
        going = lasting(SECONDS / 2)
        await asyncio.gather(*(rater.by_form(going) for rater in raters))
    _add(whole, log)
    row("by form, without a pause: rating saved", log.saved)
    row("by form, without a pause: rating saved, next page loaded", log.next_in_hand)
    return f"by form: {len(log.saved) / share.seconds:,.0f} durable ratings a second, each with its page   {share}"


async def _page_loads(desk: Serving, made: RoundStudy, clients: Sequence[Client], lead: Client, whole: Log) -> str:
    """Pages with their stylesheets and scripts, none of them cached, while all raters rate at a pace."""
    visitor = Client(desk.address)
    visitor.cookies = clients[0].cookies
    pages = [("rater", visitor, "/"), ("rater", visitor, RATE)]
    pages += [("lead", lead, path) for path in await _linked(lead)]
    measured = []
    while len(measured) < TRIES and not any(measurement[2].stolen <= DISTURBED for measurement in measured):
        measured.append(await _loaded_while_all_rate(desk, made, clients, pages))
        _add(whole, measured[-1][1])
    times, log, share = min(measured, key=lambda one: one[2].stolen)
    for (who, path), spent in times.items():
        row(f"page load, {who}: {path}", spent, PAGE_BAR)
    row("page load, all of them", [one for spent in times.values() for one in spent], PAGE_BAR)
    rate = len(log.saved) / share.seconds
    return f"while pages load: {rate:,.0f} durable ratings a second   {share}{_tries([one[2] for one in measured])}"


Visited = tuple[str, Client, str]


async def _loaded_while_all_rate(
    desk: Serving, made: RoundStudy, clients: Sequence[Client], pages: Sequence[Visited]
) -> tuple[dict[tuple[str, str], list[float]], Log, Share]:
    log, ending = Log(), asyncio.Event()
    raters = await at_the_desk(made.raters, clients, log)
    with shares(desk.process) as share:
        going = [asyncio.create_task(one.by_script(lambda: not ending.is_set(), RATERS / RATE_BAR)) for one in raters]
        times = {(who, path): [await _load(client, path) for _ in range(LOADS)] for who, client, path in pages}
        ending.set()
        await asyncio.gather(*going)
    return times, log, share


async def _linked(lead: Client) -> list[str]:
    """The lead's first page and those it links to in its navigation."""
    page = expect(await lead.get("/"), 200).text
    found = [path for part in _NAVIGATION.findall(page) for path in _LINKS.findall(part)]
    there = [path for path in dict.fromkeys(found) if path != "/" and (await lead.get(path)).status == 200]
    return ["/", *there]


async def _load(client: Client, path: str) -> float:
    started = time.perf_counter()
    page = expect(await client.get(path), 200)
    for file in _FILES.findall(page.text):
        expect(await client.get(file), 200)
    return time.perf_counter() - started


async def _rated(desk: Serving, raters: list[Rater], whole: Log, every: float = 0.0) -> tuple[Log, Share]:
    with shares(desk.process) as share:
        going = lasting(SECONDS)
        await asyncio.gather(*(rater.by_script(going, every) for rater in raters))
    _add(whole, raters[0].log)
    return raters[0].log, share


async def _until_killed(desk: Serving, made: RoundStudy, clients: Sequence[Client], whole: Log) -> None:
    """The server dies by `kill -9` while everybody rates."""
    log = Log()
    raters = await at_the_desk(made.raters, clients, log)
    rating = [asyncio.create_task(rater.by_script(lambda: True)) for rater in raters]
    while len(log.acknowledged) < RATE_BAR and not any(task.done() for task in rating):
        await asyncio.sleep(0.01)
    desk.process.kill()
    ends = await asyncio.gather(*rating, return_exceptions=True)
    for end in ends:
        if not isinstance(end, OSError | asyncio.IncompleteReadError):
            raise SystemExit(f"a rater noticed nothing of the end of the server: {end!r}")
    _add(whole, log)


def _compare(made: RoundStudy, log: Log) -> None:
    """Compare the journal with acknowledged ratings: none lost, duplicated or invented."""
    with open_journal(made.study) as opened:
        acts = [act for act in opened.acts() if act.kind == "rating"]
    recorded = {act.key: act for act in acts}
    keys = Counter(act.key for act in acts)
    lost = [key for key in log.acknowledged if key not in keys]
    wrong = [
        key
        for key, said in log.acknowledged.items()
        if key in recorded and (recorded[key].actor, recorded[key].payload["item"]) != (said.rater, said.item)
    ]
    twice = [key for key, number in keys.items() if number > 1]
    unknown = [key for key in keys if key not in log.sent]
    if lost or wrong or twice or unknown:
        raise SystemExit(
            f"THE JOURNAL DIFFERS: {len(lost)} acknowledged ratings lost, {len(wrong)} say something else, "
            f"{len(twice)} are there twice, {len(unknown)} were sent by nobody"
        )
    on_the_way = len(keys) - len(log.acknowledged)
    print(
        f"killed by `kill -9` while all rated: all {len(log.acknowledged):,} acknowledged ratings are in the journal, "
        f"each once ({on_the_way} more were recorded and not yet acknowledged)"
    )


def _add(whole: Log, log: Log) -> None:
    whole.sent |= log.sent
    whole.acknowledged |= log.acknowledged


def row(what: str, seconds: Sequence[float], bar: int | None = None) -> None:
    """A line of the table, in milliseconds."""
    limit = f"≤ {bar} ms" if bar else ""
    print(f"| {what} | {statistics.median(seconds) * 1e3:.1f} ms | {p95(seconds) * 1e3:.1f} ms | {limit} |")


def p95(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


def _bare(folder: Path) -> float:
    """Commits a second that this disk takes, one after another, with nothing around them."""
    place = folder / "desk-bare.db"
    place.unlink(missing_ok=True)
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "CREATE TABLE bare (words TEXT)"):
            connection.execute(statement)
        started = time.perf_counter()
        for _ in range(COMMITS):
            connection.execute("INSERT INTO bare VALUES (?)", ("x" * 200,))
        return COMMITS / (time.perf_counter() - started)
