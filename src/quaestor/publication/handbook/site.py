"""Every page of a handbook as text, each made from the same few templates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from quaestor.base.look import ICON, TOKENS
from quaestor.publish.handbook import drawings, taxonomy_map, words
from quaestor.publish.handbook.addresses import web_link
from quaestor.publish.handbook.records import Entry, Handbook, Post
from quaestor.publish.handbook.shelf import Shelf

SHOWN_POSTS = 200
_SHOWN_HURTS = 15
_HERE = Path(__file__).parent


class Pages:
    """Renders a handbook page by page; the templates are compiled once."""

    def __init__(self, book: Handbook) -> None:
        self.shelf = Shelf(book)
        self._environment = _environment(self.shelf)

    def __len__(self) -> int:
        return len(self.shelf.entries) + 3

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Where each page stands, from the root of the site, and its text."""
        yield "index.html", self._render("home.html", self._home())
        yield "contents.html", self._render("contents.html", {"letters": _by_letter(self.shelf)})
        yield "about.html", self._render("about.html", {"legend": taxonomy_map.legend(self.shelf.book.steps)})
        for entry in self.shelf.book.entries:
            yield self.shelf.address(entry), self._render("code.html", self._code(entry), root="../")

    def titles(self) -> str:
        """A script with the title of every code, for browsers that may not load the search index from a file."""
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
            "maps": taxonomy_map.maps(self.shelf),
            "legend": taxonomy_map.legend(self.shelf.book.steps),
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
            "way": self.shelf.way(entry),
            "children": children,
            "below": {post.item for child in children for post in child.posts},
            "neighbours": self.shelf.neighbours(entry),
            "posts": posts,
            "posts_total": total,
            "more_posts": total - len(posts),
            "missing": _missing(entry),
            "spark": drawings.spark(entry.measures),
            "bars": drawings.bars(entry.measures.frameworks),
        }


def static_files() -> Iterator[Path]:
    """What every page loads: the look that all of Quaestor shares, and what a handbook adds to it."""
    yield from (TOKENS, ICON, *sorted((_HERE / "static").iterdir()))


def _environment(shelf: Shelf) -> Environment:
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
        way_of=shelf.way,
        place_of=lambda entry: _place(shelf, entry),
        codes=len(shelf.entries),
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


def _place(shelf: Shelf, entry: Entry) -> str:
    """`Object in data processing`."""
    above = " › ".join(one.name for one in shelf.way(entry))
    return f"{entry.level} in {above}" if above else entry.level


def _popular_and_hard(shelf: Shelf) -> list[Entry]:
    """The codes of the second level (the first where there is no other) above both middles, the hardest first."""
    book = shelf.book
    level = book.levels[min(1, len(book.levels) - 1)] if book.levels else ""
    if book.views_middle is None or book.days_middle is None:
        return []
    above = [
        (entry.measures.days, entry.measures.views, entry)
        for entry in book.entries
        if entry.level == level and entry.measures.views is not None and entry.measures.days is not None
    ]
    hard = [one for one in above if one[0] > book.days_middle and one[1] > book.views_middle]
    return [entry for _, _, entry in sorted(hard, key=lambda one: (-one[0], -one[1]))]


def _missing(entry: Entry) -> list[str]:
    """What is not known of a code, in words."""
    measures = entry.measures
    named = {
        "posts": measures.posts,
        "views": measures.views,
        "score": measures.score,
        "time to the accepted answer": measures.days,
        "time to the first answer": measures.first_answer_days,
        "frameworks": measures.frameworks or None,
        "years": measures.years or None,
    }
    return [name for name, value in named.items() if value is None]


def _by_views(post: Post) -> tuple[bool, int, str, str]:
    return post.views is None, -(post.views or 0), post.title, post.item


def _by_letter(shelf: Shelf) -> list[tuple[str, list[Entry]]]:
    """All codes from A to Z; what begins with no letter of these stands first."""
    letters: dict[str, list[Entry]] = {}
    for entry in sorted(shelf.book.entries, key=lambda one: (_sorted_as(one.name), one.path)):
        first = _sorted_as(entry.name)[:1].upper()
        letters.setdefault(first if "A" <= first <= "Z" else "#", []).append(entry)
    return sorted(letters.items())


def _sorted_as(name: str) -> str:
    """Without the brackets and quotes that a name may begin with."""
    return name.casefold().lstrip("([{\"'“‘ ")


@lru_cache(maxsize=4096)
def _day(created: str) -> str:
    """`24 April 2020`, or the text as it is where it is not a day."""
    try:
        day = date.fromisoformat(created[:10])
    except ValueError:
        return created
    return f"{day.day} {day:%B %Y}"
