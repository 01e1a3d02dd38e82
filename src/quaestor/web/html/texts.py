"""Texts that researchers wrote as HTML: paragraphs, lists, links and Markdown, and no tags of their own."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from quaestor.surveys.model.wording.catalogue import Wording

_LINK = re.compile(
    r"https?://[^\s<>\"']{0,2000}[^\s<>\"'.,;:!?)\]]"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
)
"""Bounded, so that the time it takes grows with the length of a text and not with its square."""
_LANGUAGES = {
    "ar": "العربية", "cs": "Čeština", "da": "Dansk", "de": "Deutsch", "el": "Ελληνικά", "en": "English",
    "es": "Español", "fi": "Suomi", "fr": "Français", "he": "עברית", "hi": "हिन्दी", "hu": "Magyar", "it": "Italiano",
    "ja": "日本語", "ko": "한국어", "nl": "Nederlands", "no": "Norsk", "pl": "Polski", "pt": "Português",
    "ro": "Română", "ru": "Русский", "sv": "Svenska", "tr": "Türkçe", "uk": "Українська", "vi": "Tiếng Việt",
    "zh": "中文",
}  # fmt: skip


def set_text(text: str) -> Markup:
    """Paragraphs where there are empty lines, a list where lines begin with a hyphen, links that lead somewhere."""
    return Markup("").join(_block(block) for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip()) if block)


def web_links(text: str) -> Markup:
    """Formats a line as HTML, with links for web and e-mail addresses."""
    pieces, end = [], 0
    for match in _LINK.finditer(text):
        target = match[0] if "://" in match[0] else f"mailto:{match[0]}"
        link = Markup('<a href="{}" rel="noopener noreferrer">{}</a>').format(target, match[0])
        pieces += [escape(text[end : match.start()]), link]
        end = match.end()
    return Markup("").join([*pieces, escape(text[end:])])


def say(words: Wording, key: str, **values: object) -> Markup:
    """Returns a page text, marked as English if it is not translated."""
    text = escape(words.say(key, **values))
    return Markup('<span lang="en" dir="ltr">{}</span>').format(text) if key in words.lacking else text


def language_name(code: str) -> str:
    """Returns the name of a language in that language."""
    return _LANGUAGES.get(code.partition("-")[0], code)


def _block(block: str) -> Markup:
    lines = [line.strip() for line in block.strip().split("\n")]
    if all(line.startswith("- ") for line in lines):
        items = Markup("").join(Markup("<li>{}</li>").format(web_links(line[2:])) for line in lines)
        return Markup("<ul>{}</ul>").format(items)
    return Markup("<p>{}</p>").format(Markup(" ").join(web_links(line) for line in lines))


def with_commands(words: str) -> Markup:
    """Formats a sentence as HTML, with text in backticks as code."""
    pieces = str(escape(words)).split("`")
    if len(pieces) % 2 == 0:
        return escape(words)
    set_apart = (f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))
    return Markup("".join(set_apart))  # noqa: S704 - every piece is escaped


_READER = MarkdownIt("commonmark", {"html": False}).disable("image")
_DEEPEST = 6


def set_markdown(text: str, below: int = 1) -> Markup:
    """Renders Markdown, with headings moved down by some levels."""
    tokens = _READER.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + below, _DEEPEST)}"
    for link in (child for token in tokens for child in token.children or () if child.type == "link_open"):
        link.attrSet("rel", "noopener noreferrer")
    return Markup(_READER.renderer.render(tokens, _READER.options, {}))  # noqa: S704 - it escapes all that it is given
