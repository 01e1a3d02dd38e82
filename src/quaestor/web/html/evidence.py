"""Sanitises the HTML of posts and lays it out for reading."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape

import nh3
from markupsafe import Markup

from quaestor.evidence.item_texts import ItemText
from quaestor.web.html.highlight import CLASSES, detect_language, highlight_code
from quaestor.web.html.post_layout import lay_out_post

LONGEST = 100_000
"""Characters of a post that are shown; no site allows as many."""
_MOST_WORK, _DEEPEST = 100_000, 100
_TAGS = {
    "a", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i",
    "img", "ins", "kbd", "li", "ol", "p", "pre", "s", "samp", "strike", "strong", "sub", "sup", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "ul", "var",
}  # fmt: skip
_SILENT = {
    "applet", "embed", "frameset", "iframe", "math", "noembed", "noframes", "noscript", "object", "script", "select",
    "style", "svg", "template", "textarea", "title", "xmp",
}  # fmt: skip
"""Elements whose content is not meant for readers."""
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)([^>]*+)")
_LONE = re.compile("[\ud800-\udfff]")
_FORMATTING = {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}
_CLOSED_BY_ITSELF = {
    "a", "area", "base", "br", "col", "dd", "dt", "embed", "frame", "hr", "image", "img", "input", "li", "link", "meta",
    "option", "p", "param", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
}  # fmt: skip
_FLOATING_CLASSES = {
    "span": set(CLASSES) | {"image"},
    "a": {"image"},
    "div": {"scroll", "term", "meaning"},
    "p": {"heading"},
}
_TOO_MUCH = "<p>The markup of this post is not what people write, so it is shown as it came.</p>"
_CUT = "<p>The rest of this post is left out: it is longer than 100,000 characters.</p>"

_INPUT = nh3.Cleaner(
    tags=_TAGS,
    clean_content_tags=_SILENT,
    attributes={"a": {"href"}, "img": {"src", "alt"}, "pre": {"class"}, "code": {"class"}},
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel=None,
)
_OUTPUT = nh3.Cleaner(
    tags=(_TAGS - {"img", "dl", "dt", "dd"}) | {"span", "div"},
    clean_content_tags=_SILENT,
    attributes={"a": {"href"}},
    allowed_classes=_FLOATING_CLASSES,
    tag_attribute_values={
        "pre": {"tabindex": {"0"}},
        "div": {"tabindex": {"0"}, "role": {"group"}, "aria-label": {"Table"}},
    },
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel="nofollow noopener noreferrer",
)


def sanitize_input(html: str) -> str:
    """Sanitises a post's HTML to the allowed elements and attributes, serialised as a browser would."""
    text = _LONE.sub("\ufffd", html[:LONGEST])
    if _is_too_complex(text):
        return f"{_TOO_MUCH}<pre>{escape(text[:20_000])}</pre>"
    clean_html = _INPUT.clean(text)
    return clean_html + _CUT if len(html) > LONGEST else clean_html


def sanitize_output(html: str) -> str:
    """Sanitises the final HTML once more, allowing only what the desk itself writes."""
    return _OUTPUT.clean(html)


def _is_too_complex(html: str) -> bool:
    """Whether reading it could take long: a parser repeats open formatting in every block, and walks what is nested.

    Of each way to open a formatting element at most three are repeated, which bounds the elements that come out by
    tags × ways; nested blocks cost their depth each time. A megabyte of nested blocks would take ten minutes.
    """
    depth: dict[str, int] = {}
    ways: set[tuple[str, str]] = set()
    deep = 0
    for tags, (end, written, attributes) in enumerate(_TAG.findall(html), start=1):
        name = written.lower()
        if name in _FORMATTING:
            ways.add((name, "" if name == "a" else attributes))
        if name not in _CLOSED_BY_ITSELF:
            before = depth.get(name, 0)
            depth[name] = max(0, before - 1) if end else before + 1
            deep += depth[name] - before
        if deep > _DEEPEST or tags * (1 + len(ways)) > _MOST_WORK:
            return True
    return False


_CACHED, _LONGEST_CACHED = 1_000, 20_000
"""Number and size of cached posts: raters of a round read the same ones."""


def clean(html: str, tags: Sequence[str] = (), below: int | None = 1) -> Markup:
    """A post's HTML with nothing in it that runs, loads, or styles; links leave without a trace, code is in colours.

    Its headings come below those of the page down to the level `below`; with None they are headings no more.
    """
    make = _cached_clean if len(html) <= _LONGEST_CACHED else _cleaned
    return Markup(make(html, tuple(tags), below))  # noqa: S704 - sanitised last


def prepare_item(reading: ItemText) -> ItemText:
    """Prepares an item for its page; the stored HTML is sanitised again when it is shown."""
    body, answer = (_lay_out(text, reading.tags, 1) for text in (reading.body, reading.answer))
    return replace(reading, body=body, answer=answer, is_prepared=True)


def body_of(reading: ItemText) -> Markup:
    return _render_html(reading.body, reading)


def answer_of(reading: ItemText) -> Markup:
    return _render_html(reading.answer, reading)


def _render_html(html: str, reading: ItemText) -> Markup:
    if not reading.is_prepared:
        return clean(html, reading.tags)
    return Markup(sanitize_output(html))  # noqa: S704 - sanitised last, wherever it was stored


def _cleaned(html: str, tags: tuple[str, ...], below: int | None) -> str:
    return sanitize_output(_lay_out(html, tags, below))


def _lay_out(html: str, tags: Sequence[str], below: int | None) -> str:
    def colour(code: str, classes: str) -> str:
        return highlight_code(code, detect_language(code, classes, tags))

    return lay_out_post(sanitize_input(html), colour, below)


_cached_clean = lru_cache(maxsize=_CACHED)(_cleaned)
