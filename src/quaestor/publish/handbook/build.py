"""A handbook on disk: written aside with its search index, then put in place whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from quaestor.base.errors import MissingPart, StateError
from quaestor.base.folders import built_aside
from quaestor.publish.handbook.pages import Pages, static_files
from quaestor.publish.handbook.records import BuiltHandbook, Handbook

MARK = "handbook.json"
_TELL_EVERY = 50
_KEPT = ("pagefind.js", "pagefind-worker.js", "pagefind-entry.json")
"""What a search of our own needs of pagefind, beside the index; the rest is its ready-made boxes."""


def build_handbook(
    book: Handbook,
    folder: Path,
    tell: Callable[[str, int, int], None],
    placing: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> BuiltHandbook:
    """Make the site in `folder`, in place of an older one; an interrupted build leaves the old one.

    The same handbook gives the same bytes.
    """
    pages = Pages(book)
    with built_aside(folder, what="handbook", mark=MARK, placing=placing) as site:
        _write(pages, site, tell)
        _make_searchable(site, tell)
    return BuiltHandbook(len(pages), len(pages.shelf.entries))


def _write(pages: Pages, site: Path, tell: Callable[[str, int, int], None]) -> None:
    (site / "codes").mkdir()
    (site / "static").mkdir()
    for number, (name, text) in enumerate(pages, 1):
        (site / name).write_bytes(text.encode("utf-8"))
        if number % _TELL_EVERY == 0 or number == len(pages):
            tell("pages", number, len(pages))
    for path in static_files():
        (site / "static" / path.name).write_bytes(path.read_bytes())
    (site / "static" / "titles.js").write_text(pages.titles(), encoding="utf-8")
    book = pages.shelf.book
    mark = {"title": book.title, "study": book.study, "origin": book.origin, "pages": len(pages)}
    (site / MARK).write_text(json.dumps(mark, indent=2) + "\n", encoding="utf-8")


def _make_searchable(site: Path, tell: Callable[[str, int, int], None]) -> None:
    """Index the pages; settings of pagefind that happen to lie around are kept out of it."""
    tell("search index", 0, 1)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PAGEFIND_")}
    command = [sys.executable, "-m", "pagefind", "--site", str(site), "--silent", "--force-language", "en"]
    done = subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True, check=False)
    index = site / "pagefind"
    if done.returncode or not (index / "pagefind-entry.json").is_file():
        said = (done.stderr or done.stdout).strip().splitlines()
        if any("No module named" in line or "FileNotFoundError" in line for line in said):
            raise MissingPart("the search of the handbook needs pagefind: run `pip install 'pagefind[bin]'`")
        reason = said[-1] if said else f"it ended with {done.returncode}"
        raise StateError(
            f"pagefind made no search index of {site} ({reason}): free disk space and memory and try again"
        )
    for path in index.iterdir():
        if path.suffix in (".js", ".css", ".json") and path.name not in _KEPT:
            path.unlink()
    tell("search index", 1, 1)
