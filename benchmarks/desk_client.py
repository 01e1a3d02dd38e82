"""A visitor that costs next to nothing: HTTP/1.1 over one kept connection, for it shares the cores with the server."""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

FORM, JSON = "application/x-www-form-urlencoded", "application/json"
_CSRF = re.compile(r'name="csrf" value="([^"]+)"')
_LONGEST_WAIT = 600.0


@dataclass(frozen=True)
class Answer:
    """What a server said, and how long it took until the last byte was here."""

    path: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class Client:
    """One browser's worth of connection and cookies."""

    def __init__(self, address: str, headers: Mapping[str, str] | None = None) -> None:
        parts = urlsplit(address)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 80
        self.origin = f"http://{self.host}:{self.port}"
        self.headers = dict(headers or {})
        self.cookies: dict[str, str] = {}
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def get(self, path: str) -> Answer:
        return await self.ask("GET", path)

    async def form(self, path: str, fields: Mapping[str, str]) -> Answer:
        return await self.ask("POST", path, urlencode(fields).encode(), FORM, {"Origin": self.origin})

    async def ask(
        self, method: str, path: str, body: bytes = b"", kind: str = "", more: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one request; repeat it if the server closed an idle connection, as browsers do."""
        head = {**self.headers, **(more or {})}
        if self.cookies:
            head["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if body or method != "GET":
            head |= {"Content-Type": kind, "Content-Length": str(len(body))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        sent = f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n{lines}\r\n".encode() + body
        started = time.perf_counter()
        fresh = self._writer is None
        try:
            status, headers, content = await asyncio.wait_for(self._exchange(sent), _LONGEST_WAIT)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.close()
            if fresh:
                raise
            status, headers, content = await asyncio.wait_for(self._exchange(sent), _LONGEST_WAIT)
        return Answer(path, status, headers, content, time.perf_counter() - started)

    async def _exchange(self, sent: bytes) -> tuple[int, dict[str, str], bytes]:
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self.host, self.port)
        assert self._reader is not None
        self._writer.write(sent)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
            if name.lower() == "set-cookie":
                self._keep(value.strip())
        version, status = first.split(" ", 2)[:2]
        body = await self._body(self._reader, int(status), headers)
        if version == "HTTP/1.0" or headers.get("connection", "").lower() == "close":
            self.close()
        return int(status), headers, body

    async def _body(self, reader: asyncio.StreamReader, status: int, headers: Mapping[str, str]) -> bytes:
        if status in (204, 304):
            return b""
        if "content-length" in headers:
            return await reader.readexactly(int(headers["content-length"]))
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return await reader.read()
        parts = []
        while size := int(await reader.readline(), 16):
            parts.append((await reader.readexactly(size + 2))[:-2])
        await reader.readline()
        return b"".join(parts)

    def _keep(self, cookie: str) -> None:
        name, _, value = cookie.partition(";")[0].partition("=")
        self.cookies[name] = value

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


def wait_until_there(address: str, path: str, server: subprocess.Popen[Any], patience: float = 120.0) -> None:
    """Until a server that was just started answers."""
    deadline = time.monotonic() + patience
    while True:
        try:
            with urllib.request.urlopen(f"{address}{path}", timeout=10):  # noqa: S310 - a server of this machine
                return
        except OSError as error:
            if server.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(
                    f"{address} did not answer in {patience:.0f} s, or its server ended before: {error}"
                ) from None
            time.sleep(0.05)


def csrf_in(page: str) -> str:
    """What a form of the desk carries to show where it came from."""
    found = _CSRF.search(page)
    if found is None:
        raise SystemExit(f"no form in this page: {page[:300]}")
    return found[1]
