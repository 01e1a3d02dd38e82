"""Real browsers for tests of the desk: the system's Chromium, a server of its own, and what a page complains about."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, StorageState, sync_playwright

from browser import FLAGS, find_browser
from conftest import in_ci
from desk import CHOSEN


@contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    path = find_browser()
    if path is None:
        reason = "no Chromium on this machine: apt install chromium"
        if in_ci():
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=[*FLAGS, *flags])
        yield opened
        opened.close()


class Server:
    """A desk in a process of its own, which can be killed and started again at the same address."""

    def __init__(self, folder: Path, *more: str, path: str = "/") -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        quaestor = str(Path(sys.executable).with_name("quaestor"))
        self._command = [quaestor, "serve", "--study", str(folder), "--port", str(port), *more]
        self.address = f"http://127.0.0.1:{port}{path}"
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(f"{self.address}health")
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """Without a word of warning."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


@contextmanager
def serving(folder: Path, *more: str, path: str = "/") -> Iterator[str]:
    """A desk in a process of its own; its address."""
    server = Server(folder, *more, path=path)
    try:
        yield server.address
    finally:
        server.stop()


def wait_for(address: str) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def complaints_of(page: Page, address: str) -> list[str]:
    """What the browser warns of from now on, and every address elsewhere that a page asks for."""
    found: list[str] = []
    page.on("console", lambda message: found.append(message.text) if message.type in ("error", "warning") else None)
    page.on("request", lambda request: found.append(request.url) if not request.url.startswith(address) else None)
    return found


def cookies_after(browser: Browser, link: str) -> StorageState:
    """Join by a link and keep what the browser keeps."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    if page.get_by_label("Choose a password").count():
        page.get_by_label("Choose a password").fill(CHOSEN)
        page.get_by_label("The same once more").fill(CHOSEN)
        page.get_by_role("button", name="Join").click()
    else:
        page.get_by_role("button", name="Open the study").click()
    page.get_by_role("link", name="Quaestor").wait_for()
    page.wait_for_url(lambda url: "/join/" not in url)
    state = context.storage_state()
    context.close()
    return state
