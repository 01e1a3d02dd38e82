"""Markdown that a researcher wrote, as HTML: no tags of their own, no pictures, headings below the page's own."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markupsafe import Markup

_READER = MarkdownIt("commonmark", {"html": False}).disable("image")
_DEEPEST = 6


def set_markdown(text: str, below: int = 1) -> Markup:
    """A text as HTML, its headings so many levels below how they are written."""
    tokens = _READER.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + below, _DEEPEST)}"
    for link in (child for token in tokens for child in token.children or () if child.type == "link_open"):
        link.attrSet("rel", "noopener noreferrer")
    return Markup(_READER.renderer.render(tokens, _READER.options, {}))  # noqa: S704 - it escapes all that it is given
