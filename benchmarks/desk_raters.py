"""Raters at the desk as their browsers act: sheets fetched ahead, each rating sent with its key until acknowledged."""

from __future__ import annotations

import asyncio
import html
import json
import random
import re
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from benchmarks.desk_client import JSON, Answer, Client
from benchmarks.desk_study import FACET, REASONS, ROUND

Going = Callable[[], bool]
RATE, GIVE, AHEAD = (f"/rounds/{ROUND}/{what}" for what in ("rate", "ratings", "ahead"))
ANSWERS = ("keep", *(f"exclude: {reason}" for reason in REASONS))
_FEW, _FULL = 15, 20
"""Sheets in hand below which the browser asks for more, and how many it wants."""
_ITEM, _KEY = re.compile(r'name="item" value="([^"]+)"'), re.compile(r'name="key" value="([^"]+)"')
_CSRF = re.compile(r'name="csrf" value="([^"]+)"')


@dataclass(frozen=True)
class Acknowledged:
    """A rating that the desk says it has."""

    rater: str
    item: str


@dataclass
class Log:
    """What all raters did, in seconds, and what they were told."""

    saved: list[float] = field(default_factory=list)
    next_in_hand: list[float] = field(default_factory=list)
    ahead: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    sent: set[str] = field(default_factory=set)
    acknowledged: dict[str, Acknowledged] = field(default_factory=dict)


class Rater:
    """One rater with a page open; a second connection fetches ahead, as browsers do."""

    def __init__(self, name: str, client: Client, log: Log) -> None:
        self.name = name
        self.log = log
        self._client = client
        self._beside = Client(client.origin)
        self._beside.cookies = client.cookies
        self._chance = random.Random(name)
        self._csrf = self._item = self._key = ""
        self._sheets: deque[str] = deque()
        self._fetching: asyncio.Task[None] | None = None

    async def open_page(self) -> Answer:
        """The page of the next item, and with it what its form carries."""
        answer = expect(await self._client.get(RATE), 200)
        found = [pattern.search(answer.text) for pattern in (_ITEM, _KEY, _CSRF)]
        self._item, self._key, self._csrf = (html.unescape(one[1]) if one else "" for one in found)
        if not self._item:
            raise SystemExit(f"{self.name} has nothing left to rate: let the round have more items")
        self._sheets.clear()
        return answer

    async def sit_down(self) -> None:
        """Open the page and prefetch the first sheets."""
        await self.open_page()
        await self._fetch_ahead()

    async def by_script(self, going: Going, every: float = 0.0) -> None:
        """Rate as the script of the page does, at once or one item `every` so many seconds, as long as it goes on."""
        try:
            await self._rate_on(going, every)
        finally:
            if self._fetching is not None:
                await asyncio.gather(self._fetching, return_exceptions=True)

    async def _rate_on(self, going: Going, every: float) -> None:
        due = time.perf_counter() + self._chance.random() * every
        while going():
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            # A rater delayed by the previous item has waited for this one too.
            started = due if every else time.perf_counter()
            await self.save()
            self.log.saved.append(time.perf_counter() - started)
            self._item = await self._next_sheet()
            self.log.next_in_hand.append(time.perf_counter() - started)
            if len(self._sheets) < _FEW and (self._fetching is None or self._fetching.done()):
                self._fetching = asyncio.create_task(self._fetch_ahead())
            due = due + every if every else time.perf_counter()

    async def _next_sheet(self) -> str:
        if not self._sheets and self._fetching is not None:
            await self._fetching
        if not self._sheets:
            await self._fetch_ahead()
        if not self._sheets:
            raise SystemExit(f"{self.name} has nothing left to rate: let the round have more items")
        return self._sheets.popleft()

    async def save(self) -> None:
        """Send a rating of the current item; it is saved when this returns."""
        key = uuid.uuid4().hex
        said = {"key": key, "item": self._item, "answers": {FACET: self._chance.choice(ANSWERS)}}
        body = json.dumps({**said, "unsure": [], "memo": "", "seconds": 8.5, "round": ROUND}).encode()
        self.log.sent.add(key)
        more = {"Origin": self._client.origin, "X-CSRF-Token": self._csrf}
        expect(await self._client.ask("POST", GIVE, body, JSON, more), 200)
        self.log.acknowledged[key] = Acknowledged(self.name, self._item)

    async def _fetch_ahead(self) -> None:
        last = self._sheets[-1] if self._sheets else self._item
        answer = expect(
            await self._beside.get(f"{AHEAD}?after={quote(last, safe='')}&most={_FULL - len(self._sheets)}"), 200
        )
        self.log.ahead.append(answer.seconds)
        known = {self._item, *self._sheets}
        self._sheets.extend(one["item"] for one in json.loads(answer.body)["sheets"] if one["item"] not in known)

    async def by_form(self, going: Going) -> None:
        """Rate without script: send the form, and get the page of the next item."""
        while going():
            fields = {"csrf": self._csrf, "item": self._item, "key": self._key}
            started, item, key = time.perf_counter(), self._item, self._key
            self.log.sent.add(key)
            answer = await self._client.form(GIVE, fields | {f"answer.{FACET}": self._chance.choice(ANSWERS)})
            expect(answer, 303)
            self.log.acknowledged[key] = Acknowledged(self.name, item)
            self.log.saved.append(answer.seconds)
            page = await self.open_page()
            self.log.pages.append(page.seconds)
            self.log.next_in_hand.append(time.perf_counter() - started)

    def close(self) -> None:
        self._client.close()
        self._beside.close()


async def at_the_desk(names: Sequence[str], clients: Sequence[Client], log: Log) -> list[Rater]:
    """Raters who have their first sheets before them; none has rated yet."""
    raters = [Rater(name, client, log) for name, client in zip(names, clients, strict=True)]
    await asyncio.gather(*(rater.sit_down() for rater in raters))
    log.ahead.clear()
    return raters


def lasting(seconds: float) -> Going:
    """Goes on for so long from now."""
    until = time.perf_counter() + seconds
    return lambda: time.perf_counter() < until


def expect(answer: Answer, status: int) -> Answer:
    """The answer, where it is the one that was hoped for."""
    if answer.status != status:
        raise SystemExit(f"{answer.path} is answered with {answer.status} instead of {status}: {_words(answer.text)}")
    return answer


def _words(page: str) -> str:
    """What a page says, without its markup."""
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())[:300]
