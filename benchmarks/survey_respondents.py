"""Respondents as their browsers act, without script: load a page, send it, follow where it leads, to the end."""

from __future__ import annotations

import asyncio
import html
import itertools
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from benchmarks.desk_client import FORM, Answer, Client
from benchmarks.desk_raters import Going, expect
from quaestor.surveys.model.records import Questionnaire
from quaestor.synth.simulated_respondents import Respondent, build_form, draw_respondents

_HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
_DRAWN = 1_000


@dataclass(frozen=True)
class Sent:
    """A page as it was sent."""

    code: str
    page: str


@dataclass
class Log:
    """What all respondents did, in seconds, and what they were told."""

    saved: list[float] = field(default_factory=list)
    next_in_hand: list[float] = field(default_factory=list)
    begun: int = 0
    sent: dict[str, Sent] = field(default_factory=dict)
    acknowledged: dict[str, Sent] = field(default_factory=dict)
    finished: dict[str, Respondent] = field(default_factory=dict)
    """By their codes."""


class Walker:
    """One browser after another at the same table: as soon as one respondent has finished, the next one begins."""

    def __init__(self, address: str, survey: str, asked: Questionnaire, waiting: Iterator[Respondent]) -> None:
        self._client = Client(address)
        self._entrance = f"/s/{survey}"
        self._pages = {page.id: page for page in asked.pages}
        self._waiting = waiting
        self._path = ""
        self._following = ""
        self._page: Answer | None = None

    async def walk(self, log: Log, going: Going, every: float = 0.0, wait: float = 0.0) -> None:
        """Answer, page by page, at once or one page `every` so many seconds, as long as it goes on."""
        await self.load(log)
        due = time.perf_counter() + wait
        while going():
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            # A respondent delayed by the previous page has waited for this one too.
            started = due if every else time.perf_counter()
            await self.send(log)
            log.saved.append(time.perf_counter() - started)
            await self.load(log)
            log.next_in_hand.append(time.perf_counter() - started)
            due = due + every if every else time.perf_counter()

    async def load(self, log: Log) -> None:
        """The page that comes next; of the next respondent, where this one has finished."""
        if not self._following:
            self._respondent = next(self._waiting)
            self._path = self._following = await self._begin(log)
        if self._page is None:
            self._page = expect(await self._client.get(self._following), 200)

    async def send(self, log: Log) -> None:
        """Send the current page; it is saved when this returns."""
        assert self._page is not None
        hidden = _hidden(self._page)
        asked = self._pages[hidden["page"]]
        fields: Mapping[str, str | list[str]] = {**hidden, **build_form(asked.questions, self._respondent.answers)}
        key, said = hidden["key"], Sent(self._path.rpartition("/")[2], asked.id)
        log.sent[key] = said
        body = urlencode(fields, doseq=True).encode()
        answer = expect(await self._client.ask("POST", self._path, body, FORM, {"Origin": self._client.origin}), 303)
        log.acknowledged[key] = said
        self._page, self._following = None, answer.headers["location"]
        if self._following.endswith("/end"):
            log.finished[said.code] = self._respondent
            self._following = ""

    async def _begin(self, log: Log) -> str:
        """The address that is the respondent's own."""
        expect(await self._client.get(self._entrance), 200)
        answer = expect(await self._client.form(self._entrance, {}), 303)
        log.begun += 1
        return answer.headers["location"]


def many_respondents(asked: Questionnaire, seed: int) -> Iterator[Respondent]:
    """Respondents without end; after a thousand the first one's answers come again."""
    return itertools.cycle(draw_respondents(asked, _DRAWN, seed))


def _hidden(page: Answer) -> dict[str, str]:
    """What the form of a page carries by itself."""
    return {name: html.unescape(value) for name, value in _HIDDEN.findall(page.text)}
