"""Limits for HTTP connections: how much a client may send, how slowly, and how many connections it may hold open.

uvicorn on httptools keeps headers without end, and waits without end for heads, bodies, and clients that do not read.
"""

from __future__ import annotations

import asyncio
import http
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from quaestor.people.sign_in import group_by_network
from quaestor.web.security.rate_limit import is_this_machine


@dataclass(frozen=True)
class Limits:
    """Limits per client and server, in seconds, bytes and counts."""

    head_bytes: int = 32_768
    """Request line and headers; browsers send one or two thousand bytes, plus cookies."""
    headers: int = 100
    pipelined: int = 10
    """Requests that may wait on one connection for the answer to an earlier one; browsers send none ahead."""
    head_seconds: float = 20.0
    """From the connection, or the answer to the request before; idle connections are closed after 5 seconds."""
    body_seconds: float = 30.0
    body_bytes_per_second: int = 1_000
    """A body may take `body_seconds`, and longer as long as it arrives at this rate."""
    unread_seconds: float = 60.0
    """How long an answer may wait for a client that does not read it."""
    linger_seconds: float = 2.0
    """How long a refused client has to read the answer."""
    connections: int = 512
    connections_per_address: int = 256
    count_this_machine: bool = False
    """Whether connections from this machine count for `connections_per_address`; usually they come from a proxy."""
    body_bytes: int = 128_000_000
    """Bodies of all requests that are being received or answered, together."""


def limited_protocol(limits: Limits) -> type[HttpToolsProtocol]:
    """The protocol for one server; all of its connections share the limits."""
    return type("LimitedProtocolOfOneServer", (LimitedProtocol,), {"pool": ConnectionPool(limits)})


class ConnectionPool:
    """The open connections of a server.

    Where there are too many, connections that wait for their client are closed: those of the address that has most of
    them, the oldest first. A request that is being answered is never cut off, so idle clients cannot lock out others.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.body_bytes = 0
        self._connections: dict[LimitedProtocol, None] = {}
        """In the order in which they were made, which decides where two have waited equally long."""
        self._by_network: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None
        times = (limits.head_seconds, limits.body_seconds, limits.unread_seconds, limits.linger_seconds)
        self._check_every = min(1.0, *(seconds / 4 for seconds in times))
        self._close_at_once = max(1, limits.connections // 32)
        """More than one, so that a flood of connections does not look through all of them for each new one."""

    def add(self, connection: LimitedProtocol) -> None:
        self._connections[connection] = None
        self._by_network[connection.network] += 1
        if self._timer is None:
            self._timer = connection.loop.call_later(self._check_every, self._close_expired, connection.loop)
        waiting = (other for other in self._connections if other is not connection and other.waits_for_client)
        if len(self._connections) > self.limits.connections:
            self._close_oldest_of_crowd(waiting)
        elif connection.counts and self._by_network[connection.network] > self.limits.connections_per_address:
            self._close_oldest_of_crowd(other for other in waiting if other.network == connection.network)

    def remove(self, connection: LimitedProtocol) -> None:
        if connection in self._connections:
            del self._connections[connection]
            self._by_network[connection.network] -= 1
            if not self._by_network[connection.network]:
                del self._by_network[connection.network]
            self.let_go_of_body(connection)

    def hold_body(self, connection: LimitedProtocol, count: int) -> None:
        """Count bytes of a body; where all bodies take too much memory, close those that are not whole yet."""
        connection.held_bytes += count
        self.body_bytes += count
        if self.body_bytes > self.limits.body_bytes:
            counter: Counter[str] = Counter()
            for other in self._connections:
                counter[other.network] += other.held_bytes
            unfinished = [other for other in self._connections if other.held_bytes and not other.reading_head]
            largest = max((other.network for other in unfinished), key=counter.__getitem__)
            for other in sorted((other for other in unfinished if other.network == largest), key=_since):
                if self.body_bytes <= self.limits.body_bytes:
                    break
                other.drop()

    def let_go_of_body(self, connection: LimitedProtocol) -> None:
        self.body_bytes -= connection.held_bytes
        connection.held_bytes = 0

    def _close_oldest_of_crowd(self, waiting: Iterable[LimitedProtocol]) -> None:
        """Close a few of the connections of the address that has most of these; idle ones before unfinished bodies."""
        candidates = list(waiting)
        if candidates:
            crowd = Counter(other.network for other in candidates).most_common(1)[0][0]
            oldest = sorted(
                (other for other in candidates if other.network == crowd),
                key=lambda other: (not other.reading_head, other.since),
            )
            for other in oldest[: self._close_at_once]:
                other.drop()

    def _close_expired(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for connection in tuple(self._connections):
            if connection.deadline() <= now:
                connection.expire()
        self._timer = loop.call_later(self._check_every, self._close_expired, loop) if self._connections else None


def _since(connection: LimitedProtocol) -> float:
    return connection.since


class _Refused(Exception):
    """Raised in a callback of the parser, which stops it."""

    def __init__(self, status: http.HTTPStatus) -> None:
        super().__init__(status)
        self.status = status


class LimitedProtocol(HttpToolsProtocol):
    """One connection, as uvicorn handles it, with an end to everything that its client can send or leave undone."""

    pool: ClassVar[ConnectionPool]
    url = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        self.network = group_by_network(address)
        self.counts = self.pool.limits.count_this_machine or not is_this_machine(address)
        """Whether it counts for the limit of connections from one address."""
        self.reading_head = True
        """Whether the next byte belongs to a head, or would: between requests too, and while one is answered."""
        self.since = self.loop.time()
        """When the client began to keep the server waiting, if it does."""
        self.held_bytes = 0
        self._unparsed = 0
        """Bytes since the parser last handed over a whole head or a part of a body; it keeps them until then."""
        self._body_received = 0
        self._is_refused = False
        self.pool.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.pool.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return  # Thrown away; closing while data arrives would reset the connection before the answer is read.
        self._unset_keepalive_if_required()
        self._unparsed += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.cycle.keep_alive = False  # Answered in HTTP/1.1; the parser takes nothing that follows.
        except httptools.HttpParserError as error:
            cause = error.__context__
            self._refuse(cause.status if isinstance(cause, _Refused) else http.HTTPStatus.BAD_REQUEST)
        else:
            if self._unparsed > self.pool.limits.head_bytes:
                self._refuse(self._status_of_too_large_head())

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.reading_head:
            return  # A trailer, after a chunked body: nobody reads it.
        if len(self.headers) >= self.pool.limits.headers:
            raise _Refused(http.HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        limits = self.pool.limits
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > limits.head_bytes:
            raise _Refused(self._status_of_too_large_head())
        if len(self.pipeline) >= limits.pipelined:
            raise _Refused(http.HTTPStatus.TOO_MANY_REQUESTS)
        super().on_headers_complete()
        self.reading_head = False
        self.since = self.loop.time()
        self._unparsed = self._body_received = 0

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        self._body_received += len(body)
        super().on_body(body)
        if not self.cycle.response_complete:
            self.pool.hold_body(self, len(body))

    def on_message_complete(self) -> None:
        self.reading_head = True
        self._unparsed = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.pool.let_go_of_body(self)
        self.since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        self.since = self.loop.time()
        super().pause_writing()

    @property
    def waits_for_client(self) -> bool:
        """Whether the server waits for the client to send or read."""
        if self._is_refused or self.flow.write_paused or self.transport.is_closing():
            return True
        if self.reading_head:
            return self.cycle is None or self.cycle.response_complete
        return not self.flow.read_paused

    def deadline(self) -> float:
        """When to stop waiting for the client."""
        limits = self.pool.limits
        if self._is_refused:
            return self.since + limits.linger_seconds
        if self.flow.write_paused or self.transport.is_closing():
            return self.since + limits.unread_seconds
        if not self.waits_for_client:
            return math.inf
        if self.reading_head:
            return self.since + limits.head_seconds
        if self.cycle.response_complete:  # What is still sent is thrown away.
            return self.since + limits.body_seconds
        return self.since + limits.body_seconds + self._body_received / limits.body_bytes_per_second

    def expire(self) -> None:
        """Stops waiting; answers 408 to a client that sent part of a request."""
        has_begun = self._unparsed if self.reading_head else not self.cycle.response_started
        if self._is_refused or self.flow.write_paused or self.transport.is_closing() or not has_begun:
            self.drop()
        else:
            self._refuse(http.HTTPStatus.REQUEST_TIMEOUT)

    def drop(self) -> None:
        """Close at once, whatever is still to be sent."""
        self.pool.remove(self)
        self.connections.discard(self)
        self.transport.abort()

    def _refuse(self, status: http.HTTPStatus) -> None:
        """Answer with a status, and close once the client had time to read it."""
        if self.cycle is not None and not self.cycle.response_complete:
            if self.reading_head or self.pipeline or self.cycle.response_started:
                self.drop()  # An earlier request is still being answered: there is no place for another answer.
                return
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._is_refused = True
        self.since = self.loop.time()
        self.pool.let_go_of_body(self)
        words = f"{_WORDS[status]}\n".encode()
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: text/plain; charset=utf-8\r\n"
            f"content-length: {len(words)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + words)
        self.transport.write_eof()

    def _status_of_too_large_head(self) -> http.HTTPStatus:
        if len(self.url) > self.pool.limits.head_bytes // 2:
            return http.HTTPStatus.REQUEST_URI_TOO_LONG
        return http.HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE


_WORDS = {
    http.HTTPStatus.BAD_REQUEST: "This is not an HTTP request.",
    http.HTTPStatus.REQUEST_TIMEOUT: "The request did not arrive in time: send it again.",
    http.HTTPStatus.REQUEST_URI_TOO_LONG: "The address is too long: shorten it.",
    http.HTTPStatus.TOO_MANY_REQUESTS: "Too many requests were sent at once: wait for the answers.",
    http.HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: "The headers are too large: delete the cookies of this site.",
}
