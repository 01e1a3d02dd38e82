"""What many tests share: where the real data is, and small dumps written by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests.support.install import require, skip_or_fail
from tests.support.paths import SHARED, TESTS
from tests.support.postgres import new_database

if TYPE_CHECKING:
    from playwright.sync_api import Browser


settings.register_profile("quaestor", deadline=None)  # a busy machine is no failure
settings.load_profile("quaestor")

FEW_EXAMPLES = 10
"""Of each property in a fast run."""
NOT_FAST_FIXTURES = frozenset({"browser", "postgresql", "postgresql_server"})
NOT_FAST_MARKS = ("browser", "needs", "slow")
WriteTable = Callable[..., Path]

LONGEST = (
    "evidence/test_funnel.py",
    "coding/test_recounts.py",
    "surveys/test_changing_questionnaires.py",
    "interviews/test_counts_match_records.py",
    "web/test_mixed_browser.py",
    "publication/report/test_browser.py",
    "web/test_whole_path.py",
    "evidence/test_ingest.py",
    "web/test_blind_everywhere.py",
    "cli/test_commands.py",
    "web/publication/test_results_page.py",
    "cli/test_demo.py",
    "surveys/exchange/test_export.py",
    "web/coding/test_browser.py",
    "test_interview_tutorial.py",
    "publication/report/test_write.py",
    "web/test_hostile.py",
    "web/coding/test_nothing_lost.py",
    "web/surveys/test_claims.py",
    "cli/coding/test_coding.py",
    "surveys/store/test_kills.py",
    "store/test_kills.py",
    "synth/test_stackexchange.py",
    "web/surveys/test_results.py",
    "test_survey_tutorial.py",
    "test_own_study_tutorial.py",
    "publication/report/test_parts.py",
    "publication/test_right_numbers.py",
    "publication/results/test_joint_display.py",
    "evidence/test_mixed_study.py",
    "web/test_mixed_study.py",
)
"""Files of few tests that take long: begun last, they would keep one process busy while the others wait."""

SLOW_FILES = frozenset(TESTS / name for name in (TESTS / "slow_files.txt").read_text("utf-8").split())
"""Left out by --fast, which names further candidates: a test takes a tenth of a second or more, the file over one."""
LONG_FILE, LONG_TEST = 3, 0.15
"""Seconds of a file, and of each of its tests on average, from which a fast run names the file, at most three."""


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "leave out what takes long or needs a browser, a server or another program, and try few examples"
    parser.addoption("--fast", action="store_true", help=words)


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # it would begin with the files of the most tests


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    first = {TESTS / name: place for place, name in enumerate(LONGEST)}
    if config.getoption("fast"):
        left_out = [item for item in items if item.path in SLOW_FILES.union(first) or not _is_fast(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
        for item in items:
            _try_few_examples(item)
    items.sort(key=lambda item: first.get(item.path, len(first)))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Names the files that make a fast run slow."""
    if not config.getoption("fast"):
        return
    seconds, tests = Counter[str](), Counter[str]()
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if hasattr(report, "duration"):
            file = report.nodeid.partition("::")[0]
            seconds[file] += report.duration
            tests[file] += report.when == "call"
    slow = [file for file in seconds if seconds[file] > max(LONG_FILE, LONG_TEST * tests[file])]
    for file in sorted(slow, key=seconds.__getitem__, reverse=True)[:3]:
        terminalreporter.write_line(f"{file}: {seconds[file]:.1f} s; if this is usual, add it to tests/slow_files.txt")


def _is_fast(item: pytest.Item) -> bool:
    fixtures = NOT_FAST_FIXTURES.intersection(getattr(item, "fixturenames", ()))
    return not fixtures and not any(item.get_closest_marker(mark) for mark in NOT_FAST_MARKS)


def _try_few_examples(item: pytest.Item) -> None:
    """Also where a test says how many; Hypothesis has no public way to change the settings of a test."""
    test = getattr(item, "obj", None)
    chosen = getattr(test, "_hypothesis_internal_use_settings", None)
    if chosen is not None and chosen.max_examples > FEW_EXAMPLES:
        getattr(test, "__func__", test)._hypothesis_internal_use_settings = settings(chosen, max_examples=FEW_EXAMPLES)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            require(name)


@pytest.fixture
def coffee() -> Path:
    """The real dump of a small site, which is stored outside the repository."""
    folder = SHARED / "data" / "stackexchange" / "coffee"
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


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """An erasure waits a tenth of a second for readers, not two seconds."""
    monkeypatch.setattr("quaestor.store.private_file._ERASING_PATIENCE", 0.1)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The machine's own Chromium, for one module at a time. In CI it must be there."""
    from tests.support.windows import chromium

    with chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """A real server; its address wants the name of a database. In CI it must be there."""
    from tests.support.postgres import NoServer, server

    with ExitStack() as stack:
        try:
            address = stack.enter_context(server())
        except NoServer as reason:
            skip_or_fail(str(reason))
        yield address


@pytest.fixture
def postgresql(postgresql_server: str) -> str:
    """The address of a new, empty database."""
    return new_database(postgresql_server)
