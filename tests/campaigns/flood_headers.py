"""Flood a desk with connections that send headers without end, or stop half-way, while somebody works at it.

python -m tests.campaigns.flood_headers [--seconds 20] [--senders 40] [--half-open 900]
"""

from __future__ import annotations

import argparse
import contextlib
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from httpx2 import Client, HTTPError
from tests.support.desk import CHOSEN, invited, post
from tests.support.small_study import small_study
from tests.support.windows import Server

from quaestor.people.roles import Role

MOST_MEMORY = 600 * 2**20
"""Bytes that the server may use at the height of the flood."""
_HEADER = b"x-padding: " + b"a" * 8_000 + b"\r\n"


@dataclass(frozen=True)
class Flood:
    """What a flood did to the server, and to somebody who was signed in meanwhile."""

    connections: int
    idle_memory: int
    peak_memory: int
    asked: int
    unanswered: int
    """Requests of the person at the desk that got no page."""

    @property
    def succeeded(self) -> bool:
        return self.peak_memory > MOST_MEMORY or self.unanswered > 0


def flood_headers(folder: Path, *, seconds: float = 20, senders: int = 40, half_open: int = 900) -> Flood:
    """Serve a small study, flood it for so long, and ask for a page as its lead all the time."""
    small_study(folder)
    server = Server(folder)
    address = urlsplit(server.address)
    place = (address.hostname or "", address.port or 0)
    ending = threading.Event()
    opened: list[int] = []
    process = psutil.Process(server.pid)
    try:
        with Client(base_url=server.address, timeout=60) as lead:
            fields = {"password": CHOSEN, "again": CHOSEN}
            assert post(lead, f"join/{invited(folder, Role.LEAD)}", fields).status_code == 303
            idle = process.memory_info().rss
            with _attacking(place, senders, half_open, ending, opened):
                peak, asked, unanswered = idle, 0, 0
                deadline = time.monotonic() + seconds
                while time.monotonic() < deadline:
                    asked += 1
                    try:
                        unanswered += lead.get("rounds").status_code != 200
                    except HTTPError:
                        unanswered += 1
                    peak = max(peak, process.memory_info().rss)
                    ending.wait(0.1)
    finally:
        server.stop()
    return Flood(len(opened), idle, peak, asked, unanswered)


@contextlib.contextmanager
def _attacking(
    place: tuple[str, int], senders: int, half_open: int, ending: threading.Event, opened: list[int]
) -> Iterator[None]:
    def send_headers_without_end() -> None:
        while not ending.is_set():
            with contextlib.suppress(OSError), socket.create_connection(place, 5) as connection:
                opened.append(1)
                connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
                while not ending.is_set():
                    connection.sendall(_HEADER)

    def keep_connections_half_open() -> None:
        with contextlib.ExitStack() as stack:
            while not ending.is_set() and len(opened) < 20 * half_open:
                for _ in range(half_open):
                    with contextlib.suppress(OSError):
                        connection = stack.enter_context(socket.create_connection(place, 5))
                        opened.append(1)
                        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
                ending.wait(2)

    threads = [threading.Thread(target=send_headers_without_end) for _ in range(senders)]
    threads.append(threading.Thread(target=keep_connections_half_open))
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ending.set()
        for thread in threads:
            thread.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--senders", type=int, default=40)
    parser.add_argument("--half-open", type=int, default=900)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        flood = flood_headers(
            Path(folder) / "study", seconds=options.seconds, senders=options.senders, half_open=options.half_open
        )
    print(
        f"{flood.connections:,} connections: memory {flood.idle_memory / 2**20:.0f} MB before, "
        f"{flood.peak_memory / 2**20:.0f} MB at most; {flood.unanswered} of {flood.asked} pages not answered"
    )
    return 1 if flood.succeeded else 0


if __name__ == "__main__":
    sys.exit(main())
