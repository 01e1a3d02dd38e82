"""HTML of strangers through a sanitiser: what goes in is bounded, what comes out holds only what is listed here."""

from __future__ import annotations

import re
from html import escape

import nh3

from quaestor.web.highlight import CLASSES

LONGEST = 100_000
"""Characters of a post; no site lets its people write as many."""
_MOST_WORK, _DEEPEST = 100_000, 100
_KEPT = {
    "a", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i",
    "img", "ins", "kbd", "li", "ol", "p", "pre", "s", "samp", "strike", "strong", "sub", "sup", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "ul", "var",
}  # fmt: skip
_SILENT = {
    "applet", "embed", "frameset", "iframe", "math", "noembed", "noframes", "noscript", "object", "script", "select",
    "style", "svg", "template", "textarea", "title", "xmp",
}  # fmt: skip
"""Elements whose content is nothing that a reader was meant to read."""
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

_TAKE_IN = nh3.Cleaner(
    tags=_KEPT,
    clean_content_tags=_SILENT,
    attributes={"a": {"href"}, "img": {"src", "alt"}, "pre": {"class"}, "code": {"class"}},
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel=None,
)
_LET_OUT = nh3.Cleaner(
    tags=(_KEPT - {"img", "dl", "dt", "dd"}) | {"span", "div"},
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


def taken_in(html: str) -> str:
    """A post's HTML with what is listed above and no more, written as a browser would write it."""
    text = _LONE.sub("\ufffd", html[:LONGEST])
    if _beyond_reason(text):
        return f"{_TOO_MUCH}<pre>{escape(text[:20_000])}</pre>"
    taken = _TAKE_IN.clean(text)
    return taken + _CUT if len(html) > LONGEST else taken


def let_out(html: str) -> str:
    """The last word on what a page shows: read once more, with nothing allowed that the desk does not write itself."""
    return _LET_OUT.clean(html)


def _beyond_reason(html: str) -> bool:
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
