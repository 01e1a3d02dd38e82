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
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # what tests share and pytest does not collect
SHARED = ROOT.parent / "shared" / "data"

settings.register_profile("quaestor", deadline=None)  # a busy machine is no failure
settings.load_profile("quaestor")

WriteTable = Callable[..., Path]

LONGEST = (
    "study/test_funnel.py", "publish/report/test_browser.py", "web/test_whole_path.py", "study/test_ingest.py",
    "web/test_blind_everywhere.py", "cli/test_commands.py", "web/test_results_page.py", "cli/test_demo.py",
    "study/surveys/test_exporting.py", "web/test_browser.py", "test_interview_tutorial.py",
    "publish/report/test_write.py", "web/test_hostile.py", "web/test_nothing_lost.py", "web/test_claims.py",
    "cli/test_coding.py", "instruments/test_survey_kills.py", "store/test_kills.py", "synth/test_stackexchange.py",
    "web/test_survey_results.py", "test_survey_tutorial.py",
)  # fmt: skip
"""Files of few tests that take long: begun last, they would keep one process busy while the others wait."""


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # it would begin with the files of the most tests


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    first = {ROOT / "tests" / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: first.get(item.path, len(first)))


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

    from browser import FLAGS, find_windowless

    path = find_windowless()
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
