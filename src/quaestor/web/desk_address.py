"""Where the running desk of a study can be reached, for commands that print links to it."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from quaestor.base.files import write_atomically

DEFAULT_ADDRESS = "http://127.0.0.1:8321/"
RUN_HEADER = "x-quaestor-run"
_FILE = "desk-address.json"
_PATIENCE = 2.0
"""Seconds to wait for an answer of the desk."""


@dataclass(frozen=True)
class DeskAddress:
    """The addresses of a desk: on its own machine, and for other people if it has a public name."""

    local: str
    public: str = ""
    run: str = ""
    """Identifies this run of the desk, which another desk at the same port does not know."""

    @property
    def best(self) -> str:
        return self.public or self.local


@contextmanager
def recorded_address(evidence: Path, address: DeskAddress) -> Iterator[None]:
    """Records the address of a desk in the folder of generated files, which git ignores, while it runs."""
    file = evidence / _FILE
    with suppress(OSError):  # on a full disk people can still read
        evidence.mkdir(exist_ok=True)
        write_atomically(file, json.dumps(asdict(address)).encode())
    try:
        yield
    finally:
        with suppress(OSError):
            if _read(file) == address:  # a desk that was started later has its own
                file.unlink()


def find_running_desk(evidence: Path) -> DeskAddress | None:
    """Returns the addresses of the desk if it answers; a desk that was killed leaves its file behind."""
    address = _read(evidence / _FILE)
    if address is None:
        return None
    # A desk answers only to host names that it knows, and this one it always knows.
    request = urllib.request.Request(f"{address.local}health", headers={"Host": "127.0.0.1"})  # noqa: S310 - our file
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:  # noqa: S310 - our file
            return address if answer.headers.get(RUN_HEADER, "") == address.run else None
    except (OSError, ValueError):
        return None


def _read(file: Path) -> DeskAddress | None:
    try:
        return DeskAddress(**json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
