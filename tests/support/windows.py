"""Real browsers for tests of the desk: the system's Chromium, a server, and the errors that a page logs."""

from __future__ import annotations

import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from axe_playwright_python.sync_playwright import DEFAULT_OPTIONS, Axe
from httpx2 import Client
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, StorageStateCookie, sync_playwright

from quaestor.people.roles import Role
from tests.support.browser import FLAGS, find_windowless
from tests.support.command_line import begun
from tests.support.desk import CHOSEN, invited, post
from tests.support.install import require

LOOKS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((320, "light"), (1280, "dark"))


@contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    require("chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=find_windowless(), args=[*FLAGS, *flags])
        yield opened
        opened.close()


class Server:
    """A desk in a process of its own, which can be killed and started again at the same address."""

    def __init__(self, folder: Path, *more: str, path: str = "/") -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._command = ["serve", "--study", str(folder), "--port", str(port), *more]
        self.address = f"http://127.0.0.1:{port}{path}"
        self.start()

    def start(self) -> None:
        self._process = begun(*self._command)
        try:
            wait_for(f"{self.address}health")
        except BaseException:
            self.kill()
            raise

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def kill(self) -> None:
        """Without a word of warning."""
        self._process.kill()
        self._process.join()

    def stop(self) -> None:
        self._process.terminate()
        self._process.join()


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


def width_of(page: Page) -> int:
    """How wide a page is once it has loaded: before its stylesheet arrives, it is measured without any style."""
    page.wait_for_load_state()
    width: int = page.evaluate("document.documentElement.scrollWidth")
    return width


def assert_for_everyone(page: Page, **options: object) -> None:
    """What is shown is accessible and fits, narrow and light as wide and dark, without being fetched for each."""
    page.wait_for_load_state()
    page.evaluate(Axe().axe_script)
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        assert width_of(page) <= width, (page.url, width)
        found = page.evaluate("options => axe.run(options)", {**DEFAULT_OPTIONS, **options})["violations"]
        wrong = [(one["id"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found]
        assert wrong == [], (page.url, width, scheme, wrong)


def session_after(link: str) -> StorageState:
    """Join by a link, and what a browser would keep of it; `cookies_after` has a browser do it."""
    address, _, token = link.partition("join/")
    with Client(base_url=address, timeout=60) as visitor:
        fields = {"password": CHOSEN, "again": CHOSEN}
        assert post(visitor, f"join/{token}", fields).status_code == 303
        kept: list[StorageStateCookie] = [
            {
                "name": cookie.name,
                "value": cookie.value or "",
                "domain": cookie.domain,
                "path": cookie.path,
                "expires": cookie.expires or -1,
                "httpOnly": cookie.has_nonstandard_attr("HttpOnly"),
                "secure": cookie.secure,
                "sameSite": "Lax",
            }
            for cookie in visitor.cookies.jar
        ]
    return {"cookies": kept, "origins": []}


@contextmanager
def signed_in(
    browser: Browser, server: Server, folder: Path, role: Role, *names: str
) -> Iterator[dict[str, BrowserContext]]:
    """Windows of several people at one desk, by their names."""
    found = {}
    for name in names:
        kept = session_after(f"{server.address}join/{invited(folder, role, name)}")
        found[name] = browser.new_context(storage_state=kept, viewport={"width": 1280, "height": 900})
    yield found
    for context in found.values():
        context.close()


def cookies_after(browser: Browser, link: str) -> StorageState:
    """Join by a link in a window of its own, which takes a while, and keep what the browser keeps."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    if page.get_by_label("Choose a password").count():
        page.get_by_label("Choose a password").fill(CHOSEN)
        page.get_by_label("Repeat password").fill(CHOSEN)
        page.get_by_role("button", name="Join").click()
    else:
        page.get_by_role("button", name="Open the study").click()
    page.get_by_role("link", name="Quaestor").wait_for()
    page.wait_for_url(lambda url: "/join/" not in url)
    state = context.storage_state()
    context.close()
    return state
