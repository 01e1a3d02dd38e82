"""What tells who somebody is by its shape alone: e-mail and web addresses, telephone numbers, names of accounts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

EMAIL, WEB, TELEPHONE, ACCOUNT = "e-mail", "web", "telephone", "account"
SHOWN = {
    EMAIL: "[e-mail address]",
    WEB: "[web address]",
    TELEPHONE: "[telephone number]",
    ACCOUNT: "[account]",
}
_ENDS = (
    "com|org|net|edu|gov|io|dev|ai|app|co|info|eu|de|ch|at|uk|fr|it|es|nl|be|pl|cz|se|no|fi|dk|us|ca|au|jp|cn|in|br|ru"
)
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_DOMAIN = rf"(?:{_LABEL}\.){{1,8}}"
_EMAIL = re.compile(rf"[\w.!#$%&'*+/=?^`{{|}}~-]{{1,64}}\s?@\s?{_DOMAIN}(?:{_LABEL})", re.IGNORECASE)
_SAID_EMAIL = re.compile(
    rf"[\w.+-]{{1,64}}\s*[\[(]\s*at\s*[\])]\s*{_LABEL}(?:\s*(?:\.|[\[(]\s*dot\s*[\])])\s*{_LABEL}){{1,4}}",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"(?:(?:https?|ftp)://|www\.)[^\s<>\"“”«»]{2,2000}", re.IGNORECASE)
_BARE = re.compile(rf"(?<![\w@./-]){_DOMAIN}(?:{_ENDS})(?![\w-])(?:/[^\s<>\"“”«»]{{0,2000}})?", re.IGNORECASE)
_ACCOUNT = re.compile(r"(?<![\w@./])@[^\W\d_][\w.-]{1,60}\w")
_NUMBER = re.compile(
    r"(?<![\w.,:/-])(?:\+|\(\+?)?\d(?:[ \u00a0\u202f./()\u2010-\u2013-]{0,3}\d){6,17}(?![\w]|[.,:/-]\d)"
)
_DAY = re.compile(r"\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|\d{4}\s?[-\u2013]\s?\d{4}")
_VERSION = re.compile(r"\d{1,3}(?:\.\d{1,5}){2,5}")
_GROUPED = re.compile(r"\d{1,3}(?:[ \u00a0\u202f.]\d{3})+")
_TRAILING = ".,;:!?)]}'\"”’…"


@dataclass(frozen=True)
class Shaped:
    """A stretch of a text that has such a shape."""

    start: int
    end: int
    kind: str
    sure: bool = True


def shapes_in(text: str) -> Iterator[Shaped]:
    """Everything of such a shape, in no order; what may be something else is not sure."""
    if "@" in text or "\uff20" in text:
        plain = text.replace("\uff20", "@")
        yield from (Shaped(*one.span(), EMAIL) for one in _EMAIL.finditer(plain))
        yield from (Shaped(*one.span(), ACCOUNT, sure=False) for one in _ACCOUNT.finditer(plain))
    if "[" in text or "(" in text:
        yield from (Shaped(*one.span(), EMAIL) for one in _SAID_EMAIL.finditer(text))
    for one in _SCHEME.finditer(text):
        yield Shaped(one.start(), _end(one), WEB)
    if "." in text:
        yield from (Shaped(one.start(), _end(one), WEB, sure=False) for one in _BARE.finditer(text))
    for one in _NUMBER.finditer(text):
        if (sure := _is_telephone(one[0])) is not None:
            yield Shaped(*one.span(), TELEPHONE, sure)


def _end(found: re.Match[str]) -> int:
    """Where an address ends: the full stop of the sentence is not part of it."""
    return found.start() + len(found[0].rstrip(_TRAILING))


def _is_telephone(text: str) -> bool | None:
    """Whether digits are a telephone number; None where they are something else, such as a date or a count."""
    if text.startswith(("+", "(", "00")):
        return True
    if _DAY.fullmatch(text) or _VERSION.fullmatch(text) or _GROUPED.fullmatch(text):
        return None
    groups = re.findall(r"\d+", text)
    return len(groups) > 1 and not all(len(one) == 1 for one in groups) and (text.startswith("0") or len(groups) > 2)
