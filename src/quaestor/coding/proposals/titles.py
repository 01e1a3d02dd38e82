"""A title as words in lower case: escapes resolved, asides in brackets left out, names of code made plain."""

from __future__ import annotations

import html
import re

from quaestor.coding.proposals.words import Words, singular

LONGEST_TITLE = 500
ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
TOKEN = re.compile(r"[^\W_](?:[\w.+#'’-]*[\w+#])?|[,;:?!()/|&]|(?<=\s)[-–—](?=\s)|\.(?=\s)")
TENSOR_FLOW = re.compile("tensor flow", re.IGNORECASE)
HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def read_title(title: str, words: Words) -> tuple[str, ...]:
    """The words and marks of a title; of a text longer than any title, the beginning."""
    text = ASIDE.sub(" ", html.unescape(title[:LONGEST_TITLE]))
    text = TENSOR_FLOW.sub("tensorflow", text.replace("::", "."))
    found: list[str] = []
    for token in TOKEN.findall(text):
        found.extend(_plain(token, words))
    return tuple(found)


def _plain(token: str, words: Words) -> tuple[str, ...]:
    lower = token.lower()
    if lower.isalpha() and (lower == token or token[1:].islower()):
        return (lower,)
    if lower in words.grammar["frameworks"] or lower in words.grammar["boundaries"] or len(lower) == 1:
        return ("-",) if lower in "–—" else (lower,)
    token = token.removesuffix("'s").removesuffix("’s")
    last = token.rsplit(".", 1)[-1]
    if last and not last[0].isdigit():
        token = last
    humps = HUMP.findall(token) if "_" not in token else token.split("_")
    if len(humps) > 1 and "-" not in token and singular(humps[-1].lower()) in words.nouns["things"]:
        return tuple(hump.lower() for hump in humps if hump)
    return (token.lower(),)
