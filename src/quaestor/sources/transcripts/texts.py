"""Bytes of a text file as lines, whatever program wrote them."""

from __future__ import annotations

import codecs
import re

from quaestor.base.errors import InputError

_MARKED = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_BREAK = re.compile(r"\r\n|\n|\r")


def decoded(data: bytes, where: str) -> tuple[str, str]:
    """The text and the name of its encoding: the one its mark says, else UTF-8, else that of old Windows programs."""
    ways = next(([(codec, name)] for mark, codec, name in _MARKED if data.startswith(mark)), None)
    for codec, name in ways or [("utf-8", "UTF-8"), ("cp1252", "Windows-1252")]:
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        return text, name
    raise InputError(f"{where} is no text in UTF-8, UTF-16 or Windows-1252: save it as UTF-8")


def lines_of(text: str) -> list[str]:
    """The lines of a text; separators that may stand within speech, such as U+2028, part nothing."""
    return _BREAK.split(text)
