"""Help: the documentation that ships with the package, searchable, at the desk."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from itertools import groupby

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import InputError
from quaestor.study.documentation import Topic, find_topic, list_topics, search_topics
from quaestor.web.page import Pages

_LONGEST_QUERY = 200
_READER = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


class HelpPages(Pages):
    """The documentation; the same for everybody who is signed in."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/help", self.contents, name="help"),
            Route("/help/{topic:path}", self.topic, name="help-topic"),
        ]

    async def contents(self, request: Request) -> Response:
        """The table of contents, or the pages that contain the words of a search."""
        query = request.query_params.get("words", "")[:_LONGEST_QUERY]
        context = {
            "query": query,
            "matches": await self.work(lambda: search_topics(query)) if query.strip() else None,
            "sections": [
                (section, list(topics)) for section, topics in groupby(list_topics(), lambda topic: topic.section)
            ],
        }
        return self.page(request, "help.html", context)

    async def topic(self, request: Request) -> Response:
        try:
            topic = find_topic(request.path_params["topic"])
        except InputError:
            raise HTTPException(404) from None

        def link(name: str) -> str:
            return str(request.url_for("help-topic", topic=name).path)

        return self.page(request, "help_topic.html", {"topic": topic, "content": topic_html(topic, link)})


def topic_html(topic: Topic, link: Callable[[str], str]) -> Markup:
    """A page of the documentation as HTML; links between pages lead to their pages at the desk."""
    tokens = _READER.parse(topic.text)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and following is not None:
            token.attrSet("id", _anchor(following.content))
        if token.type == "table_open":
            token.attrSet("tabindex", "0")  # a wide table scrolls, by keyboard too
        if token.type == "inline":
            token.children = list(_with_links(token.children or [], topic, link))
    return Markup(_READER.renderer.render(tokens, _READER.options, {}))  # noqa: S704 - it escapes all text


def _with_links(tokens: Sequence[Token], topic: Topic, link: Callable[[str], str]) -> Sequence[Token]:
    """The tokens of a paragraph with links to pages at the desk; a file that is not a page becomes plain text."""
    kept, dropped = [], 0
    for token in tokens:
        if token.type == "link_open":
            address = _address(str(token.attrs["href"]), topic, link)
            if not address:
                dropped += 1
                continue
            token.attrSet("href", address)
        if token.type == "link_close" and dropped:
            dropped -= 1
            continue
        kept.append(token)
    return kept


def _address(href: str, topic: Topic, link: Callable[[str], str]) -> str:
    """The address that a link of a page leads to; empty where it leads to no page of the documentation."""
    if href.startswith(("#", "http://", "https://")):
        return href
    path, _, anchor = href.partition("#")
    name = posixpath.normpath(posixpath.join(posixpath.dirname(topic.name), path)).removesuffix(".md")
    if name not in {known.name for known in list_topics()}:
        return ""
    return link(name) + (f"#{anchor}" if anchor else "")


def _anchor(heading: str) -> str:
    """The id of a heading, as GitHub makes it."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())
