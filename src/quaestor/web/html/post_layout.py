"""A post as part of a page: headings below the page's own, images as links, code in colours, lists that are lists."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from html import escape, unescape
from typing import NamedTuple

from quaestor.web.html.highlight import Colour, isolate_directions

_PIECE = re.compile(r'<(/?)([a-z][a-z0-9]*)((?: [a-z-]+="[^"]*")*)>|([^<]+)')
_ATTRIBUTE = re.compile(r' ([a-z-]+)="([^"]*)"')
_ADDRESS = re.compile(r"(?:https?://[^/?#\\@\s]+(?:[/?#][^\x00-\x20]*)?|mailto:[^\s?]+(?:\?\S*)?)\Z", re.IGNORECASE)
"""Without a name or password before the host, which makes one host look like another."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_VOID = ("br", "hr", "img")
_NO_WORDS = ("enter image description here", "image", "enter link description here")
_NARROW = 30
"""Characters that fit a line on the narrowest screen; longer code scrolls, and must be reachable by keyboard."""


class PostPiece(NamedTuple):
    """A tag or text of sanitised HTML."""

    end: bool
    name: str
    attributes: str
    text: str

    def attribute(self, name: str) -> str:
        return next((unescape(value) for key, value in _ATTRIBUTE.findall(self.attributes) if key == name), "")


class OpenElement(NamedTuple):
    """An element that is still open."""

    name: str
    close: str
    implied: bool = False


def lay_out_post(html: str, colour: Colour, below: int | None) -> str:
    """Rewrites sanitised HTML; headings are moved below a level of the page, or become plain text."""
    pieces = [
        PostPiece(match[1] == "/", match[2] or "", match[3] or "", match[4] or "") for match in _PIECE.finditer(html)
    ]
    return "".join(PostLayout(pieces, colour, below).parts())


class PostLayout:
    """Rewrites a post in one pass."""

    def __init__(self, pieces: list[PostPiece], colour: Colour, below: int | None) -> None:
        self._pieces = pieces
        self._colour = colour
        self._below = below
        self._open: list[OpenElement] = []
        self._levels: list[int] = []

    def parts(self) -> Iterator[str]:
        place = 0
        while place < len(self._pieces):
            piece = self._pieces[place]
            if piece.end:
                yield from self._close(piece.name)
            else:
                yield from self._imply_list_item(piece)
                code = self._code_at(place) if piece.name == "pre" else None
                if code is not None:
                    text, classes, place = code
                    yield _block(self._colour(text, classes), text)
                elif piece.name:
                    yield self._start(piece, place)
                else:
                    yield isolate_directions(piece.text) if self._is_inside("code") else piece.text
            place += 1
        while self._open:
            yield self._open.pop().close

    def _start(self, piece: PostPiece, place: int) -> str:
        name = piece.name
        if name == "img":
            return self._image(piece)
        if name in _VOID:
            return f"<{name}>"
        opening, closing = self._tags(piece, place)
        self._open.append(OpenElement(name, closing))
        return opening

    def _tags(self, piece: PostPiece, place: int) -> tuple[str, str]:
        """Returns the start and end tags of an element."""
        name = piece.name
        if name == "a":
            address = _address(piece.attribute("href"))
            return (f'<a href="{address}">', "</a>") if address and self._has_content(place) else ("", "")
        if name in _HEADINGS:
            return self._heading(_HEADINGS[name]) if self._has_content(place) else ("", "")
        if name == "pre":
            return '<pre tabindex="0"><code>', "</code></pre>"
        if name == "table":
            return '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>', "</table></div>"
        if name == "th" and not self._has_content(place):
            return "<td>", "</td>"
        if name == "li" and not (self._open and self._open[-1].name in ("ul", "ol")):
            return "<div>", "</div>"
        kinds = {"dl": "<div>", "dt": '<div class="term">', "dd": '<div class="meaning">'}
        return (kinds[name], "</div>") if name in kinds else (f"<{name}>", f"</{name}>")

    def _heading(self, level: int) -> tuple[str, str]:
        if self._below is None:
            return '<p class="heading">', "</p>"
        while self._levels and self._levels[-1] >= level:
            self._levels.pop()
        self._levels.append(level)
        shown = min(6, self._below + len(self._levels))
        return f"<h{shown}>", f"</h{shown}>"

    def _image(self, piece: PostPiece) -> str:
        """Replaces an image by a link: loading it would reveal the reader to its host."""
        words = " ".join(piece.attribute("alt").split())
        text = "image" if not _visible(words) or words.casefold() in _NO_WORDS else f"image: {words}"
        address = _address(piece.attribute("src"))
        if not address or self._is_inside("a"):
            return f'<span class="image">{escape(text)}</span>'
        return f'<a class="image" href="{address}">{escape(text)}</a>'

    def _imply_list_item(self, piece: PostPiece) -> Iterator[str]:
        """Wraps content of a list that is not in an item into one."""
        if piece.name == "li":
            if self._open and self._open[-1].implied:
                yield self._open.pop().close
        elif self._open and self._open[-1].name in ("ul", "ol") and (piece.name or piece.text.strip()):
            self._open.append(OpenElement("li", "</li>", implied=True))
            yield "<li>"

    def _close(self, name: str) -> Iterator[str]:
        while self._open:
            last = self._open.pop()
            yield last.close
            if last.name == name and not last.implied:
                return

    def _is_inside(self, name: str) -> bool:
        return any(element.name == name and element.close for element in self._open)

    def _code_at(self, place: int) -> tuple[str, str, int] | None:
        """The text of a block of code, the classes it was given, and where it ends; None where it has markup in it."""
        texts: list[str] = []
        classes = self._pieces[place].attribute("class")
        for at in range(place + 1, len(self._pieces)):
            piece = self._pieces[at]
            if piece.name == "code" and not piece.end:
                classes = f"{classes} {piece.attribute('class')}"
            elif piece.name == "pre" and piece.end:
                return "".join(texts), classes, at
            elif piece.name not in ("", "code"):
                return None
            texts.append(unescape(piece.text))
        return None

    def _has_content(self, place: int) -> bool:
        depth = 0
        for at in range(place, len(self._pieces)):
            piece = self._pieces[at]
            if piece.name == "img" or _visible(unescape(piece.text)):
                return True
            if piece.name and piece.name not in _VOID:
                depth += -1 if piece.end else 1
                if not depth:
                    return False
        return False


def _block(html: str, text: str) -> str:
    wide = any(len(line) > _NARROW for line in text.splitlines())
    return f'<pre tabindex="0"><code>{html}</code></pre>' if wide else f"<pre><code>{html}</code></pre>"


def _address(address: str) -> str:
    """An address as an attribute writes it; nothing where it is not plainly one of the web or of a mailbox."""
    target = address.strip()
    return escape(target) if _ADDRESS.match(target) else ""


def _visible(text: str) -> bool:
    return any(unicodedata.category(character)[0] not in "ZC" for character in text)
