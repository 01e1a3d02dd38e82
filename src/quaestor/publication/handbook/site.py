"""Renders the pages of a handbook from a few templates."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from quaestor.base.errors import MissingDependency, StateError
from quaestor.base.files import build_folder
from quaestor.publication.handbook import numbers_in_words as words
from quaestor.publication.handbook.drawings import build_legend, draw_bars, draw_maps, draw_spark
from quaestor.publication.handbook.entry_index import EntryIndex, web_link
from quaestor.publication.handbook.records import BuiltHandbook, Entry, Handbook, Post
from quaestor.publication.results.joint_display import JointDisplay, build_joint_table, plan_figure
from quaestor.render.design_tokens import ICON, TOKENS
from quaestor.render.figures.export import render_svg
from quaestor.render.tables.html import STYLE, to_html

SHOWN_POSTS = 200
_SHOWN_HURTS = 15
_HERE = Path(__file__).parent


class HandbookPages:
    """Renders a handbook page by page; the templates are compiled once."""

    def __init__(self, book: Handbook) -> None:
        self.shelf = EntryIndex(book)
        self._environment = _environment(self.shelf)

    def __len__(self) -> int:
        return len(self.shelf.entries) + (3 if self.shelf.book.joint is None else 4)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yields the path of each page, relative to the root of the site, and its HTML."""
        yield "index.html", self._render("home.html", self._home())
        yield "contents.html", self._render("contents.html", {"letters": _by_letter(self.shelf)})
        yield "about.html", self._render("about.html", {"legend": build_legend(self.shelf.book.steps)})
        if self.shelf.book.joint is not None:
            yield "strands.html", self._render("strands.html", _strands(self.shelf.book.joint))
        for entry in self.shelf.book.entries:
            yield self.shelf.address(entry), self._render("code.html", self._code(entry), root="../")

    def titles(self) -> str:
        """Returns a script with all titles, for browsers that cannot load the search index from a file."""
        rows = [
            (words.plain(words.headline(entry.name)), self.shelf.address(entry), words.plain(_place(self.shelf, entry)))
            for entry in self.shelf.book.entries
        ]
        return f"window.handbookTitles = {json.dumps(rows, separators=(',', ':'))};\n"

    def _render(self, template: str, context: dict[str, Any], *, root: str = "") -> str:
        text = self._environment.get_template(template).render(
            root=root, page=template.removesuffix(".html"), **context
        )
        return words.plain(text)

    def _home(self) -> dict[str, Any]:
        hurts = _popular_and_hard(self.shelf)
        return {
            "maps": draw_maps(self.shelf),
            "legend": build_legend(self.shelf.book.steps),
            "hurts": hurts[:_SHOWN_HURTS],
            "more_hurts": max(0, len(hurts) - _SHOWN_HURTS),
            "tops": self.shelf.children(None),
        }

    def _code(self, entry: Entry) -> dict[str, Any]:
        posts = sorted(entry.posts, key=_by_views)[:SHOWN_POSTS]
        children = self.shelf.children(entry)
        total = max(entry.posts_total, len(entry.posts))
        return {
            "entry": entry,
            "ancestors": self.shelf.list_ancestors(entry),
            "children": children,
            "below": {post.item for child in children for post in child.posts},
            "neighbours": self.shelf.neighbours(entry),
            "posts": posts,
            "posts_total": total,
            "more_posts": total - len(posts),
            "missing": _missing(self.shelf.book, entry),
            "spark": draw_spark(entry.measures),
            "bars": draw_bars(entry.measures.by_attribute),
        }


def _strands(joint: JointDisplay) -> dict[str, Any]:
    wide, narrow = (Markup(render_svg(plan_figure(joint, narrow=narrow).draw())) for narrow in (False, True))  # noqa: S704 - drawn here
    return {"joint": joint, "wide": wide, "narrow": narrow, "table": Markup(to_html(build_joint_table(joint)))}  # noqa: S704 - escaped there


def static_files() -> Iterator[Path]:
    """Yields the files every page loads: the shared styles and those of the handbook."""
    yield from (TOKENS, ICON, STYLE, *sorted((_HERE / "static").iterdir()))


def _environment(shelf: EntryIndex) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals.update(
        book=shelf.book,
        address=shelf.address,
        children_of=shelf.children,
        ancestors_of=shelf.list_ancestors,
        place_of=lambda entry: _place(shelf, entry),
        codes=len(shelf.entries),
        search_example=_find_search_example(shelf),
    )
    environment.filters.update(
        count=words.count,
        share=words.share,
        duration=words.duration,
        duration_range=words.duration_range,
        plural=words.plural,
        counted=words.counted,
        listed=words.listed,
        headline=words.headline,
        breakable=words.breakable,
        web_link=web_link,
        day=_day,
    )
    return environment


def _find_search_example(shelf: EntryIndex) -> str:
    """Returns the name of the most frequent code without children; empty in an empty handbook."""
    leaves = [entry for entry in shelf.book.entries if not shelf.children(entry)]
    return max(leaves, key=lambda entry: entry.posts_total).name if leaves else ""


def _place(shelf: EntryIndex, entry: Entry) -> str:
    """`Object in data processing`."""
    above = " › ".join(ancestor.name for ancestor in shelf.list_ancestors(entry))
    return f"{entry.level} in {above}" if above else entry.level


def _popular_and_hard(shelf: EntryIndex) -> list[Entry]:
    """Returns second-level codes (first-level if there is no other) above both medians, hardest first."""
    book = shelf.book
    level = book.levels[min(1, len(book.levels) - 1)] if book.levels else ""
    if book.views_middle is None or book.days_middle is None:
        return []
    above = [
        (entry.measures.days, entry.measures.views, entry)
        for entry in book.entries
        if entry.level == level and entry.measures.views is not None and entry.measures.days is not None
    ]
    hard = [ranked for ranked in above if ranked[0] > book.days_middle and ranked[1] > book.views_middle]
    return [entry for _, _, entry in sorted(hard, key=lambda ranked: (-ranked[0], -ranked[1]))]


def _missing(book: Handbook, entry: Entry) -> list[str]:
    """Lists the measures that are unknown for a code."""
    measures = entry.measures
    named = {
        "posts": measures.posts,
        "views": measures.views,
        "score": measures.score,
        "time to the accepted answer": measures.days,
        "time to the first answer": measures.first_answer_days,
        **({words.plural(book.attribute): measures.by_attribute or None} if book.attribute else {}),
        "years": measures.years or None,
    }
    return [name for name, value in named.items() if value is None]


def _by_views(post: Post) -> tuple[bool, int, str, str]:
    return post.views is None, -(post.views or 0), post.title, post.item


def _by_letter(shelf: EntryIndex) -> list[tuple[str, list[Entry]]]:
    """Groups all codes by first letter; names that start with another character come first."""
    letters: dict[str, list[Entry]] = {}
    for entry in sorted(
        shelf.book.entries, key=lambda handbook_entry: (_sorted_as(handbook_entry.name), handbook_entry.path)
    ):
        first = _sorted_as(entry.name)[:1].upper()
        letters.setdefault(first if "A" <= first <= "Z" else "#", []).append(entry)
    return sorted(letters.items())


def _sorted_as(name: str) -> str:
    """Drops the brackets and quotes at the start of a name."""
    return name.casefold().lstrip("([{\"'“‘ ")


@lru_cache(maxsize=4096)
def _day(created: str) -> str:
    """Formats `24 April 2020`; returns the text unchanged if it is not a date."""
    try:
        day = date.fromisoformat(created[:10])
    except ValueError:
        return created
    return f"{day.day} {day:%B %Y}"


MARK = "handbook.json"
_TELL_EVERY = 50
_KEPT = ("pagefind.js", "pagefind-worker.js", "pagefind-entry.json")
"""Files of pagefind that our own search page needs besides the index; its ready-made widgets are left out."""


def build_handbook(
    book: Handbook,
    folder: Path,
    report_progress: Callable[[str, int, int], None],
    placing: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> BuiltHandbook:
    """Builds the site in `folder`, replacing an older one; an interrupted build leaves the old one.

    The same handbook gives the same bytes.
    """
    pages = HandbookPages(book)
    with build_folder(folder, kind="handbook", marker=MARK, guard_placement=placing) as site:
        _write(pages, site, report_progress)
        _make_searchable(site, report_progress)
    return BuiltHandbook(len(pages), len(pages.shelf.entries))


def _write(pages: HandbookPages, site: Path, report_progress: Callable[[str, int, int], None]) -> None:
    (site / "codes").mkdir()
    (site / "static").mkdir()
    for number, (name, text) in enumerate(pages, 1):
        (site / name).write_bytes(text.encode("utf-8"))
        if number % _TELL_EVERY == 0 or number == len(pages):
            report_progress("pages", number, len(pages))
    for path in static_files():
        (site / "static" / path.name).write_bytes(path.read_bytes())
    (site / "static" / "titles.js").write_text(pages.titles(), encoding="utf-8")
    book = pages.shelf.book
    mark = {"title": book.title, "study": book.study, "origin": book.origin, "pages": len(pages)}
    (site / MARK).write_text(json.dumps(mark, indent=2) + "\n", encoding="utf-8")


def _make_searchable(site: Path, report_progress: Callable[[str, int, int], None]) -> None:
    """Indexes the pages; ignores pagefind settings files in parent folders."""
    report_progress("search index", 0, 1)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PAGEFIND_")}
    command = [sys.executable, "-m", "pagefind", "--site", str(site), "--silent", "--force-language", "en"]
    done = subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True, check=False)
    index = site / "pagefind"
    if done.returncode or not (index / "pagefind-entry.json").is_file():
        output = (done.stderr or done.stdout).strip().splitlines()
        if any("No module named" in line or "FileNotFoundError" in line for line in output):
            raise MissingDependency("the handbook's search needs pagefind: run `pip install 'pagefind[bin]'`")
        reason = output[-1] if output else f"it ended with {done.returncode}"
        raise StateError(f"pagefind could not index {site} ({reason}): free disk space and memory, then try again")
    for path in index.iterdir():
        if path.suffix in (".js", ".css", ".json") and path.name not in _KEPT:
            path.unlink()
    report_progress("search index", 1, 1)
