"""The handbook on disk: complete or missing, the same bytes each time, no broken links."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from lxml import html
from tests.support.paths import ROOT

from quaestor.base.errors import InputError, StateError
from quaestor.base.files import lock_folder
from quaestor.publication.handbook.records import BuiltHandbook, Handbook
from quaestor.publication.handbook.site import build_handbook


def quiet(what: str, done: int, total: int) -> None:
    pass


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_link_in_the_site_leads_to_an_existing_file(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) == 14
    followed = 0
    for page in pages:
        for link in html.parse(str(page)).xpath("//@href | //@src | //@action"):
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme in ("http", "https")
                continue
            assert not parts.path.startswith("/"), "a link from the root would not work in another folder"
            target = page.parent / unquote(parts.path) if parts.path else page
            assert target.is_file(), f"{page.name} links to {link}"
            if parts.fragment:
                assert html.parse(str(target)).xpath("//*[@id=$id]", id=parts.fragment), f"{page.name} links to {link}"
            followed += 1
    assert followed > 200


def test_every_code_has_a_page_with_a_portable_file_name(site: Path) -> None:
    names = [path.name for path in (site / "codes").iterdir()]
    assert len(names) == len({name.lower() for name in names}) == 11
    assert not {"con.html", "CON.html"} & set(names)


def test_two_builds_give_the_same_bytes(site: Path, book: Handbook, tmp_path: Path) -> None:
    build_handbook(book, tmp_path / "again", quiet)
    first, second = content(site), content(tmp_path / "again")
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def test_the_site_has_a_search_index_and_no_unneeded_files(site: Path) -> None:
    entry = json.loads((site / "pagefind" / "pagefind-entry.json").read_text())
    assert entry["languages"]["en"]["page_count"] == 11
    scripts = {path.name for path in (site / "pagefind").glob("*.js")}
    assert scripts == {"pagefind.js", "pagefind-worker.js"}
    assert not list((site / "pagefind").glob("*.css"))


def test_a_build_reports_its_progress_and_result(book: Handbook, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    handbook = build_handbook(book, tmp_path / "deep" / "site", lambda *words: told.append(words))
    assert handbook == BuiltHandbook(pages=14, searchable=11)
    assert told == [("pages", 14, 14), ("search index", 0, 1), ("search index", 1, 1)]


def test_a_new_site_replaces_the_old_one_completely(book: Handbook, tmp_path: Path) -> None:
    build_handbook(book, tmp_path / "site", quiet)
    fewer = replace(book, entries=book.entries[:1])
    build_handbook(fewer, tmp_path / "site", quiet)
    assert [path.name for path in (tmp_path / "site" / "codes").iterdir()] == ["data.html"]
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_an_interrupted_build_leaves_the_old_site_and_the_next_one_succeeds(book: Handbook, tmp_path: Path) -> None:
    build_handbook(book, tmp_path / "site", quiet)
    before = content(tmp_path / "site")

    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_handbook(replace(book, title="Another"), tmp_path / "site", stop)
    assert content(tmp_path / "site") == before
    build_handbook(replace(book, title="Another"), tmp_path / "site", quiet)
    assert b"Another" in (tmp_path / "site" / "index.html").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_killed_first_build_leaves_no_site(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "from tests.publication.handbook.conftest import small_book\n"
        "from pathlib import Path\n"
        "from quaestor.publication.handbook.site import build_handbook\n"
        "build_handbook(small_book(), Path(sys.argv[1]), lambda *words: os.kill(os.getpid(), 9))\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path / "site")], cwd=ROOT, check=False)
    assert killed.returncode == -9
    assert not (tmp_path / "site").exists()


def test_a_folder_that_is_not_a_handbook_is_not_replaced(book: Handbook, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(InputError, match="not a handbook"):
        build_handbook(book, tmp_path, quiet)
    with pytest.raises(InputError, match="is a file"):
        build_handbook(book, tmp_path / "thesis.txt", quiet)
    assert (tmp_path / "thesis.txt").read_text() == "precious"
    (tmp_path / "empty").mkdir()
    assert build_handbook(book, tmp_path / "empty", quiet).pages == 14


def test_a_second_simultaneous_build_of_a_folder_is_refused(book: Handbook, tmp_path: Path) -> None:
    (tmp_path / ".site.aside").mkdir()
    with lock_folder(tmp_path / ".site.aside", "a test"), pytest.raises(StateError, match="another process"):
        build_handbook(book, tmp_path / "site", quiet)


def test_pagefind_settings_outside_the_site_are_ignored(
    site: Path, book: Handbook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pagefind.toml").write_text('exclude_selectors = ["main"]\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAGEFIND_OUTPUT_SUBDIR", "elsewhere")
    build_handbook(book, Path("site"), quiet)
    assert content(tmp_path / "site") == content(site)


def test_pages_stay_below_their_size_limits(site: Path) -> None:
    shared = sum(path.stat().st_size for path in (site / "static").iterdir())
    assert shared < 40_000
    assert (site / "index.html").stat().st_size < 60_000
    assert (site / "codes" / "data-tensor.html").stat().st_size < 200_000
