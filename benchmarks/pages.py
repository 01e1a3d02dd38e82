"""Measures the first and later loads of every demo page for each role.

It opens every address that a page links to, up to a few of each route, and prints the routes that take more than `BAR`
of processor time, as docs/reference/serving.md lists them. On a machine with nothing else to do a page takes as long
as its processor time; on a busy one the time on the clock says more about the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import statistics
import subprocess
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from starlette.routing import BaseRoute, Match

from benchmarks.desk import until_prepared
from benchmarks.desk_client import Answer, Client
from benchmarks.desk_study import QUAESTOR, Serving, joined, serving
from quaestor.people.membership import invite
from quaestor.people.roles import Role
from quaestor.study.folder import open_study
from quaestor.web.app import make_app
from quaestor.web.security.permissions import PERMISSIONS_BY_ROUTE

BAR = 0.3
"""Seconds of processor time above which a page is listed."""
EACH, AGAIN = 4, 5
"""Addresses of one route that are opened, and how often each of them is opened again."""
NOT_FOLLOWED = ("static", "report", "handbook", "tokens", "icon")
"""Files that are sent as they are."""
TYPED = ("/evidence?words=tensor+shape", "/evidence?words=nothing+has+these+words", "/evidence.csv?words=tensor")
"""Addresses that no page links to, since somebody types the words."""
_LINK = re.compile(r'(?:href|src|action)="([^"#]+)')


@dataclass
class RouteTimes:
    """How much processor time one route took, at the slowest of its addresses."""

    addresses: list[str] = field(default_factory=list)
    first: float = 0.0
    again: float = 0.0
    slowest: str = ""
    """The address that took longest when it was opened again."""

    def add(self, address: str, first: float, again: Sequence[float]) -> None:
        self.addresses.append(address)
        if not self.slowest or statistics.median(again) > self.again:
            self.again, self.slowest = statistics.median(again), address
        self.first = max(self.first, first)


def main(folder: Path, options: argparse.Namespace) -> None:
    demo = folder / "pages-demo"
    shutil.rmtree(demo, ignore_errors=True)
    subprocess.run([QUAESTOR, "demo", str(demo), "--no-serve"], check=True, stdout=subprocess.DEVNULL)
    print_table(measure_pages(demo, ("visitor", "rater-1")))


def measure_pages(study: Path, raters: Sequence[str]) -> list[dict[str, RouteTimes]]:
    """Serve a study; by route how long its pages take, for a reader, the raters and the lead."""
    app = make_app(study)
    app.state.let_go()
    with serving(open_study(study)) as desk:
        people = [("reader", Role.VIEWER), *((rater, Role.RATER) for rater in raters)]
        links = [f"/join/{invite(open_study(study), name, role)[0]}" for name, role in people]
        return [asyncio.run(_visit_all(desk, link, app.routes)) for link in (*links, desk.lead_link)]


async def _visit_all(desk: Serving, link: str, routes: Sequence[BaseRoute]) -> dict[str, RouteTimes]:
    visitor = await joined(desk, link)
    await visitor.get(TYPED[0])  # the first search starts the index build in the background
    await until_prepared(desk)
    times: dict[str, RouteTimes] = defaultdict(RouteTimes)
    waiting, known = deque(["/", *TYPED]), {"/", *TYPED}
    while waiting:
        address = waiting.popleft()
        name = _route_name(routes, address)
        if name is None or name in NOT_FOLLOWED or len(times[name].addresses) >= EACH:
            continue
        first, seconds = await _cost(desk, visitor, address)
        if first.status >= 400:
            continue
        again = [(await _cost(desk, visitor, address))[1] for _ in range(AGAIN)]
        times[name].add(address, seconds, again)
        new = [link for link in _links_in(first) if link not in known]
        known.update(new)
        waiting.extend(new)
    return {name: one for name, one in times.items() if one.addresses}


async def _cost(desk: Serving, visitor: Client, address: str) -> tuple[Answer, float]:
    """An answer, and the processor time that the server spent until it was there."""
    before = desk.process.cpu_times()
    answer = await visitor.get(address)
    after = desk.process.cpu_times()
    return answer, after.user + after.system - before.user - before.system


def _route_name(routes: Sequence[BaseRoute], address: str) -> str | None:
    scope = {"type": "http", "method": "GET", "path": urlsplit(address).path, "root_path": ""}
    return next((str(getattr(route, "name", "")) for route in routes if route.matches(scope)[0] is Match.FULL), None)


def _links_in(answer: Answer) -> list[str]:
    """Addresses of the same desk in a page, and where it leads on."""
    found = [answer.headers["location"]] if "location" in answer.headers else []
    if answer.headers.get("content-type", "").startswith("text/html"):
        found += _LINK.findall(answer.text)
    addresses = (urljoin(answer.path, unescape(link)) for link in found)
    return [fromkey for fromkey in dict.fromkeys(addresses) if fromkey.startswith("/") and not fromkey.startswith("//")]


def print_table(visits: Sequence[dict[str, RouteTimes]]) -> None:
    """The routes above the bar, slowest first, and those that were not opened."""
    routes = {name for visit in visits for name in visit}
    slowest = {name: max((visit[name] for visit in visits if name in visit), key=_longest) for name in routes}
    slow = sorted((item for item in slowest.items() if _longest(item[1]) > BAR), key=lambda item: -_longest(item[1]))
    print(f"{len(slowest)} routes opened, {len(slow)} of them take more than {BAR * 1e3:.0f} ms of processor time")
    print("\n| page | first | again | slowest address |\n| --- | --- | --- | --- |")
    for name, one in slow:
        print(f"| {name} | {one.first * 1e3:,.0f} ms | {one.again * 1e3:,.0f} ms | `{one.slowest}` |")
    print(f"\nnot opened: {', '.join(sorted(PERMISSIONS_BY_ROUTE.keys() - routes))}")


def _longest(times: RouteTimes) -> float:
    return max(times.first, times.again)
