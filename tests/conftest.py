"""What many tests share: where the real data is, and small dumps written by hand."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # what tests share and pytest does not collect
SHARED = ROOT.parent / "shared" / "data"

WriteTable = Callable[..., Path]


@pytest.fixture
def coffee() -> Path:
    """A whole small site's real dump, which lies beside the project and is never part of it."""
    folder = SHARED / "stackexchange" / "coffee"
    if not folder.exists():
        pytest.skip("the real dump ../shared/data/stackexchange/coffee is not here")
    return folder


@pytest.fixture
def write_posts(tmp_path: Path) -> WriteTable:
    """Writes Posts.xml from rows given as text and returns its folder."""

    def write(*rows: str | bytes, name: str = "Posts.xml", root: str = "posts", end: bool = True) -> Path:
        folder = tmp_path / "dump"
        folder.mkdir(exist_ok=True)
        parts = [b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?>\n', f"<{root}>\n".encode()]
        for row in rows:
            parts += [b"  ", row.encode() if isinstance(row, str) else row, b"\n"]
        if end:
            parts.append(f"</{root}>".encode())
        (folder / name).write_bytes(b"".join(parts))
        return folder

    return write


def in_ci() -> bool:
    return os.environ.get("CI") == "true"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The machine's own Chromium, for one module at a time. In CI it must be there."""
    from playwright.sync_api import sync_playwright

    from browser import FLAGS, find_browser

    path = find_browser()
    if path is None:
        reason = "no Chromium on this machine: apt install chromium"
        if in_ci():
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """A real server; its address wants the name of a database. In CI it must be there."""
    from postgres import NoServer, server

    with ExitStack() as stack:
        try:
            address = stack.enter_context(server())
        except NoServer as reason:
            if in_ci():
                pytest.fail(str(reason))
            pytest.skip(str(reason))
        yield address


@pytest.fixture
def postgresql(postgresql_server: str) -> str:
    """The address of a new, empty database."""
    return new_database(postgresql_server)


def new_database(postgresql_server: str) -> str:
    import psycopg

    name = f"study_{uuid.uuid4().hex}"
    with psycopg.connect(postgresql_server.format(database="postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgresql_server.format(database=name)
