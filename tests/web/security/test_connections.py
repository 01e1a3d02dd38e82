"""Connections of clients that send too much, too slowly, or never read: a real server on loopback, raw sockets."""

from __future__ import annotations

import select
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import psutil
import pytest
import uvicorn
from httpx2 import Client
from starlette.types import Receive, Scope, Send
from tests.support.desk import CHOSEN, invited, post
from tests.support.small_study import small_study
from tests.support.windows import Server

from quaestor.people.roles import Role
from quaestor.web.security.connections import Limits
from quaestor.web.server import make_server

PATIENCE = 30.0
"""Seconds after which a test gives up waiting for the server; no test waits that long when it passes."""
PATIENT = Limits(head_seconds=PATIENCE * 4, body_seconds=PATIENCE * 4, unread_seconds=PATIENCE * 4)
GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@dataclass
class Desk:
    """An application that notes what reaches it, and answers /wait as long as its client stays."""

    port: int = 0
    bodies: list[bytes] = field(default_factory=list)
    given_up: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released each time that a client is gone before its body was whole."""
    entered: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released each time that a request reaches the application."""
    answered: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released each time that an answer was sent, or dropped because nobody reads it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        self.entered.release()
        if scope["method"] == "POST":
            sent = []
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    self.given_up.release()
                    return
                sent.append(message["body"])
                if not message["more_body"]:
                    break
            self.bodies.append(b"".join(sent))
        if scope["path"] == "/wait":
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        parts = [b"x" * 100_000] * 200 if scope["path"] == "/large" else [scope["path"].encode()]
        length = str(sum(len(part) for part in parts)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body"})
        self.answered.release()

    def connect(self, source: str = "127.0.0.1") -> Line:
        return Line(socket.create_connection(("127.0.0.1", self.port), PATIENCE, (source, 0)))


class Line:
    """A raw connection to the server."""

    def __init__(self, opened: socket.socket) -> None:
        self.socket = opened

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> Self:
        self.socket.sendall(data)
        return self

    def send_without_end(self, data: bytes, most: int = 400, pause: float = 0.0) -> Self:
        """Send the same again and again until the server answers or hangs up, so many times at most."""
        for _ in range(most):
            if select.select([self.socket], [], [], pause)[0]:
                break
            try:
                self.socket.sendall(data)
            except OSError:
                break
        return self

    def answer(self) -> tuple[int, bytes]:
        """The status and the body of the next answer."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = self.socket.recv(1)
            assert byte, f"the connection was closed after {head!r}"
            head += byte
        status, length = int(head.split(b" ", 2)[1]), int(head.lower().partition(b"content-length: ")[2].split()[0])
        body = b""
        while len(body) < length:
            body += self.socket.recv(length - len(body))
        return status, body

    def wait_for_end(self) -> bytes:
        """What is still received until the server has closed the connection."""
        rest = b""
        try:
            while part := self.socket.recv(65_536):
                rest += part
        except ConnectionResetError:
            pass
        return rest

    def is_open(self) -> bool:
        """Whether the server has left this connection open, as far as this side knows by now."""
        readable = select.select([self.socket], [], [], 0)[0]
        if not readable:
            return True
        try:
            return bool(self.socket.recv(1, socket.MSG_PEEK))
        except ConnectionResetError:
            return False


@contextmanager
def serving(limits: Limits) -> Iterator[Desk]:
    """A real server in a thread, with these limits."""
    desk = Desk()
    server = make_server(desk, proxied=False, limits=limits)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        desk.port = listener.getsockname()[1]
        thread = threading.Thread(target=_run, args=(server, listener))
        thread.start()
        try:
            yield desk
        finally:
            server.should_exit = server.force_exit = True
            thread.join(PATIENCE)
    assert not thread.is_alive()


def _run(server: uvicorn.Server, listener: socket.socket) -> None:
    server.run(sockets=[listener])


@pytest.fixture(scope="module")
def patient() -> Iterator[Desk]:
    """A server that waits longer than any test."""
    with serving(PATIENT) as desk:
        yield desk


def test_requests_on_one_connection_are_answered_in_order(patient: Desk) -> None:
    large = b"y" * 900_000
    with patient.connect() as line:
        assert line.send(GET).answer() == (200, b"/")
        line.send(b"POST /form HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(large) + large)
        assert line.answer() == (200, b"/form")
        assert patient.bodies.pop() == large
        line.send(b"POST /parts HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n")
        assert line.answer() == (200, b"/parts")
        assert patient.bodies.pop() == b"abcde"
        line.send(b"".join(GET.replace(b"/", b"/%d" % number, 1) for number in range(5)))
        assert [line.answer() for _ in range(5)] == [(200, b"/%d" % number) for number in range(5)]


@pytest.mark.parametrize(
    ("begun", "more"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: ", b"a" * 10_000),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", b"".join(b"A%d: a\r\n" % number for number in range(200))),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", b"A" * 10_000),
    ],
    ids=["a value without end", "headers without end", "a name without end"],
)
def test_endless_headers_are_rejected(patient: Desk, begun: bytes, more: bytes) -> None:
    with patient.connect() as line:
        status, words = line.send(begun).send_without_end(more).answer()
        assert status == 431
        assert b"headers" in words
        line.wait_for_end()


def test_an_endless_request_line_is_rejected(patient: Desk) -> None:
    with patient.connect() as line:
        assert line.send(b"GET /").send_without_end(b"a" * 10_000).answer()[0] == 414
        line.wait_for_end()


def test_headers_that_arrive_at_once_have_the_same_limits(patient: Desk) -> None:
    few, many = (b"".join(b"A%d: a\r\n" % number for number in range(count)) for count in (99, 100))
    with patient.connect() as line:
        assert line.send(HALF + few + b"\r\n").answer() == (200, b"/")
        assert line.send(HALF + many + b"\r\n").answer()[0] == 431
    for size, status in ((30_000, 200), (33_000, 431)):
        with patient.connect() as line:
            assert line.send(HALF + b"A: " + b"a" * size + b"\r\n\r\n").answer()[0] == status
    with patient.connect() as line:
        assert line.send(b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n").answer()[0] == 414


def test_trailers_and_chunk_extensions_have_a_size_limit(patient: Desk) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    for begun, more in (
        (b"0\r\nA: ", b"a" * 10_000),
        (b"0\r\n", b"".join(b"A%d: a\r\n" % number for number in range(1_000))),
        (b"5;a=", b"a" * 10_000),
    ):
        with patient.connect() as line:
            assert line.send(head + begun).send_without_end(more).answer()[0] == 431
            line.wait_for_end()
        assert patient.given_up.acquire(timeout=PATIENCE)


def test_bytes_that_are_not_http_are_rejected(patient: Desk) -> None:
    with patient.connect() as line:
        assert line.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03").answer()[0] == 400
        line.wait_for_end()


def test_an_upgrade_request_is_answered_as_plain_http(patient: Desk) -> None:
    with patient.connect() as line:
        line.send(b"GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        assert line.answer() == (200, b"/chat")
        line.wait_for_end()


def test_a_thousand_pipelined_requests_are_not_all_queued() -> None:
    with serving(PATIENT) as desk, desk.connect() as line:
        line.send(GET.replace(b"/", b"/wait", 1) + GET * 1_000)
        assert line.wait_for_end() == b""
        assert desk.entered.acquire(timeout=PATIENCE)
        assert not desk.entered.acquire(blocking=False)


def test_a_slow_request_head_times_out() -> None:
    with serving(replace(PATIENT, head_seconds=0.2)) as desk:
        with desk.connect() as line:
            assert line.send(HALF).answer()[0] == 408
            line.wait_for_end()
        with desk.connect() as line:
            assert line.send(HALF + b"A: ").send_without_end(b"a", 20_000, 0.002).answer()[0] == 408
        with desk.connect() as line:
            assert line.wait_for_end() == b""
        with desk.connect() as line:
            assert line.send(GET).answer()[0] == 200
            line.send_without_end(b"\r\n", 20_000, 0.002)
            line.wait_for_end()


def test_a_slow_request_body_times_out() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
    with serving(replace(PATIENT, body_seconds=0.2)) as desk:
        for data, most in ((b"", 0), (b"a", 20_000)):
            with desk.connect() as line:
                assert line.send(head + b"abc").send_without_end(data, most, 0.002).answer()[0] == 408
                line.wait_for_end()
            assert desk.given_up.acquire(timeout=PATIENCE)


def test_a_body_that_continues_after_the_response_closes_the_connection() -> None:
    chunk = b"2710\r\n" + b"a" * 10_000 + b"\r\n"
    with serving(replace(PATIENT, body_seconds=0.2)) as desk, desk.connect() as line:
        line.send(b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)
        assert line.answer() == (200, b"/")
        line.send_without_end(chunk, 20_000, 0.002)
        line.wait_for_end()


def test_a_slow_but_steady_body_is_accepted() -> None:
    limits = replace(PATIENT, body_seconds=0.05, body_bytes_per_second=1)
    with serving(limits) as desk, desk.connect() as line:
        line.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1100\r\n\r\n" + b"a" * 1_000)
        assert desk.entered.acquire(timeout=PATIENCE)
        with desk.connect() as other:  # another body that is too slow: by its end the time of the first one is over too
            other.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1100\r\n\r\n")
            assert other.answer()[0] == 408
        assert line.send(b"a" * 100).answer() == (200, b"/")


def test_a_client_that_does_not_read_its_response_is_disconnected() -> None:
    with serving(replace(PATIENT, unread_seconds=0.2)) as desk, desk.connect() as line:
        line.send(GET.replace(b"/", b"/large", 1))
        assert desk.answered.acquire(timeout=PATIENCE)
        assert len(line.wait_for_end()) < 20_000_000


@pytest.mark.slow
def test_above_the_connection_limit_the_longest_idle_connections_are_closed() -> None:
    with serving(replace(PATIENT, connections=8)) as desk, ExitStack() as stack:
        busy = [stack.enter_context(desk.connect()) for _ in range(2)]
        for line in busy:
            line.send(GET.replace(b"/", b"/wait", 1))
            assert desk.entered.acquire(timeout=PATIENCE)
        half_open = [stack.enter_context(desk.connect()).send(HALF) for _ in range(30)]
        with desk.connect() as line:
            assert line.send(GET).answer() == (200, b"/")
            assert not any(one.is_open() for one in half_open[:-6])
            assert all(one.is_open() for one in [*busy, line])
        assert half_open[-1].send(b"\r\n").answer() == (200, b"/")


def test_when_all_connections_are_busy_new_ones_get_503() -> None:
    with serving(replace(PATIENT, connections=4)) as desk, ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(desk.connect()).send(GET.replace(b"/", b"/wait", 1))
            assert desk.entered.acquire(timeout=PATIENCE)
        with desk.connect() as line:
            assert line.send(GET).answer()[0] == 503
            line.wait_for_end()


needs_two_addresses = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8")


@needs_two_addresses
def test_a_connection_limit_per_address_does_not_affect_other_addresses() -> None:
    limits = replace(PATIENT, connections=100, connections_per_address=8, count_this_machine=True)
    with serving(limits) as desk, ExitStack() as stack:
        others = [stack.enter_context(desk.connect("127.0.0.1")).send(HALF) for _ in range(8)]
        crowd = [stack.enter_context(desk.connect("127.0.0.2")).send(HALF) for _ in range(30)]
        assert crowd[-1].send(b"\r\n").answer() == (200, b"/")
        assert not any(line.is_open() for line in crowd[:-8])
        assert all(line.send(b"\r\n").answer() == (200, b"/") for line in others)


@needs_two_addresses
def test_local_connections_come_from_a_proxy_and_have_no_limit_per_address() -> None:
    with serving(replace(PATIENT, connections_per_address=2)) as desk, ExitStack() as stack:
        lines = [stack.enter_context(desk.connect()).send(HALF) for _ in range(10)]
        assert all(line.send(b"\r\n").answer() == (200, b"/") for line in lines)


@needs_two_addresses
def test_an_address_that_fills_the_server_loses_its_own_connections() -> None:
    with serving(replace(PATIENT, connections=20)) as desk, ExitStack() as stack:
        others = [stack.enter_context(desk.connect("127.0.0.1")).send(HALF) for _ in range(5)]
        for _ in range(60):
            stack.enter_context(desk.connect("127.0.0.2")).send(HALF)
        with desk.connect("127.0.0.3") as line:
            assert line.send(GET).answer() == (200, b"/")
        assert all(line.send(b"\r\n").answer() == (200, b"/") for line in others)


@needs_two_addresses
def test_request_bodies_share_a_memory_limit() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n"
    with serving(replace(PATIENT, body_bytes=1_000_000)) as desk, ExitStack() as stack:
        other = stack.enter_context(desk.connect("127.0.0.1")).send(head + b"a" * 300_000)
        crowd = [stack.enter_context(desk.connect("127.0.0.2")).send(head + b"a" * 400_000) for _ in range(4)]
        for _ in range(3):
            assert desk.given_up.acquire(timeout=PATIENCE)
        assert other.send(b"a" * 200_000).answer() == (200, b"/")
        assert sum(line.is_open() for line in crowd) == 1


def test_a_flood_of_headers_neither_fills_the_memory_nor_blocks_other_people(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    server = Server(study.root)
    port, process, largest = int(server.address.rstrip("/").rpartition(":")[2]), psutil.Process(server.pid), 0
    try:
        with Client(base_url=server.address, timeout=PATIENCE) as lead, ExitStack() as stack:
            join = f"/join/{invited(study.root, Role.LEAD)}"
            assert post(lead, join, {"password": CHOSEN, "again": CHOSEN}).status_code == 303
            for _ in range(5):
                for _ in range(80):
                    line = stack.enter_context(Line(socket.create_connection(("127.0.0.1", port), PATIENCE)))
                    line.send(HALF + b"A: ").send_without_end(b"a" * 100_000, 40)
                assert lead.get("/").status_code == 200
                largest = max(largest, process.memory_info().rss)
        assert largest < 600_000_000
    finally:
        server.stop()
