"""File names that every system allows, and links to the web only."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quaestor.base.names import build_page_names
from quaestor.publication.handbook.entry_index import web_link


@given(st.sets(st.text(st.characters(), max_size=12) | st.text("aA/-_ ", max_size=4), max_size=30))
@example({"a/b", "a-b", "A B", "a_b", "", "数据", "con", "CON", "../..", "a" * 300})
def test_page_names_are_safe_unique_and_do_not_depend_on_order(ids: set[str]) -> None:
    names = build_page_names(sorted(ids))
    assert set(names) == ids
    assert len({name.lower() for name in names.values()}) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9](-?[a-z0-9])*", name) and len(name) < 160 for name in names.values())
    assert not {"con", "nul", "aux", "com1", "lpt1"} & set(names.values())
    assert build_page_names(sorted(ids, reverse=True)) == names


def test_page_names_with_hashes_do_not_collide() -> None:
    shared = build_page_names(["a b", "a-b"])
    names = build_page_names(["a b", "a-b", shared["a b"]])
    assert len(set(names.values())) == 3


def test_an_ordinary_id_gives_a_readable_page_name() -> None:
    assert build_page_names(["data-processing/data/create"]) == {
        "data-processing/data/create": "data-processing-data-create"
    }


@pytest.mark.parametrize(
    "link",
    ["https://stackoverflow.com/q/1", "http://example.org:8080/a?b=c#d", "https://例え.jp/"],
)
def test_web_links_are_kept(link: str) -> None:
    assert web_link(link) == link


@pytest.mark.parametrize(
    "link",
    [
        "", "javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)",
        "data:text/html,x", "file:///etc/passwd", "//example.org/", "/local", "https://", "https:///path",
        "https://user:pass@example.org/", "https://example.org\\@evil.org", "http://[::1", "ftp://example.org/",
        "https://example.org/\x00", "vbscript:x",
    ],
)  # fmt: skip
def test_other_links_are_removed(link: str) -> None:
    assert web_link(link) == ""


@given(st.text(st.characters(), max_size=40))
def test_only_web_addresses_become_links(text: str) -> None:
    assert web_link(text) == "" or re.match(r"https?://[^/?#@\s]", text, re.IGNORECASE)
