"""Writes the pictures of the README from a demo study: `make screenshots`.

The study is made in a temporary folder, or is the demo study named with --study, in which new links are made for the
visitor and the lead. Apart from dates, the pictures depend on the seed of the demo alone.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from tests.support.browser import FLAGS, find_browser

from quaestor.demo.coding import ROUND
from quaestor.demo.folder import VISITOR
from quaestor.demo.progress import build_event_printer
from quaestor.demo.run import build_demo
from quaestor.evidence.sources.protocol import no_progress
from quaestor.people.membership import invite, list_people, remove_person
from quaestor.people.roles import Role
from quaestor.study.folder import open_study

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1280, "height": 800}
LARGEST = 200_000
SEED = 7
PASSWORD = "a few plain words"  # noqa: S105 - of accounts in a study that is thrown away


@contextmanager
def serving(study: Path) -> Iterator[tuple[str, str]]:
    """The desk in a process of its own; its address, and the lead's link that it prints."""
    command = [str(Path(sys.executable).with_name("quaestor")), "serve", "--study", str(study), "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            printed = [server.stdout.readline() if server.stdout else "" for _ in range(2)]
            found = re.findall(r"http://\S+", "".join(printed))
            if len(found) < 2:
                raise SystemExit("the desk did not start, see above: try again with a new demo study")
            yield found[0], found[1]
        finally:
            server.terminate()


def visitors_link(study: Path) -> str:
    """Removes all accounts, the lead included, and returns a new link for the visitor."""
    opened = open_study(study)
    for account in list_people(opened).accounts:
        remove_person(opened, account.name)
    return f"join/{invite(opened, VISITOR, Role.RATER)[0]}"


def joined(browser: Browser, link: str) -> Page:
    page = browser.new_context(viewport=SIZE, color_scheme="light", reduced_motion="reduce").new_page()  # type: ignore[arg-type]
    page.goto(link)
    page.get_by_label("Choose a password").fill(PASSWORD)
    page.get_by_label("Repeat password").fill(PASSWORD)
    page.get_by_role("button", name="Join").click()
    page.wait_for_url(lambda address: "/join/" not in address)
    return page


def rating_desk(page: Page, address: str) -> None:
    """An item as the visitor sees it, once the practice is over and the instructions are folded."""
    rate = f"{address}rounds/{ROUND}/rate"
    page.goto(rate)
    while page.locator("input[name=practice]").count():
        page.locator("form.sheet fieldset").first.locator("input[type=radio]").first.check()
        page.locator("form.sheet button[type=submit]").click()
        page.wait_for_load_state()
        page.goto(rate)
    page.wait_for_load_state("networkidle")
    for opened in page.locator("details.instructions[open] > summary").all():
        opened.click()


def keep(page: Page, name: str) -> None:
    """Take the picture in a palette of 256 colours, which is enough for pages and a third of the size."""
    taken = Image.open(io.BytesIO(page.screenshot(animations="disabled", caret="hide")))
    target = IMAGES / f"{name}.png"
    taken.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)
    if target.stat().st_size > LARGEST:
        raise SystemExit(f"{target} has {target.stat().st_size:,} bytes, more than {LARGEST:,}: show less of the page")
    sys.stdout.write(f"{target.relative_to(ROOT)}: {target.stat().st_size:,} bytes\n")


def take(study: Path) -> None:
    path = find_browser()
    if path is None:
        raise SystemExit("no Chromium on this machine: apt install chromium")
    IMAGES.mkdir(exist_ok=True)
    visitor = visitors_link(study)
    with serving(study) as (address, lead), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = joined(browser, f"{address}{visitor}")
        rating_desk(page, address)
        keep(page, "rate")
        page = joined(browser, lead)
        page.goto(address, wait_until="networkidle")
        keep(page, "study")
        show_interview_results(page, address)
        keep(page, "interviews")
        browser.close()


def show_interview_results(page: Page, address: str) -> None:
    """Opens the results of interviews and scrolls to the curve of new codes."""
    page.goto(f"{address}interviews/themes", wait_until="networkidle")
    heading = page.get_by_role("heading", name="New codes interview by interview")
    for drawing in page.locator("main img").all():  # each comes when it is scrolled to, and moves what is below it
        drawing.scroll_into_view_if_needed()
        drawing.evaluate("image => image.decode()")
    heading.evaluate("element => element.scrollIntoView()")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, help="a demo study that already exists; default: a new one")
    chosen: Path | None = parser.parse_args().study
    if chosen is not None:
        take(chosen)
        return
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "demo-study"
        build_demo(study, SEED, build_event_printer(print, no_progress))
        take(study)


if __name__ == "__main__":
    main()
