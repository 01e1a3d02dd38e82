"""Numbers as people type them: put into one form, and refused where they could be read in two ways."""

from __future__ import annotations

import math
import re

from quaestor.surveys.model.records import Question
from quaestor.surveys.model.wording.refusals import NotTaken

_LONGEST = 40
MOST, LEAST = 1e15, 1e-9
"""Beyond these a number is a slip of the finger, and one of them would drown all others; 0 is none of them."""
_BLANKS = dict.fromkeys(map(ord, "\u00a0\u2009\u202f"), " ")
_DIGITS = re.compile(r"[+-]?[0-9., ]+")
_GROUPS = r"[+-]?[1-9][0-9]{0,2}(?:%s[0-9]{3})+"
_BY_COMMA, _BY_POINT = re.compile(_GROUPS % ","), re.compile(_GROUPS % r"\.")
_BY_BLANK = re.compile(_GROUPS % " " + r"(?:[.,][0-9]+)?")


def typed_number(question: Question, text: str) -> str:
    """A number as it was typed, without what a person puts around it; one that could be another is refused."""
    plain = _without_separators(question, text)
    try:
        value = float(plain) if len(plain) <= _LONGEST and plain.isascii() and "_" not in plain else math.nan
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise NotTaken("no-number", said=text[:40])
    if value and not LEAST <= abs(value) <= MOST:
        raise NotTaken("too-far", said=text[:40])
    if question.whole and value != int(value):
        raise NotTaken("no-whole-number", said=text[:40])
    if question.low is not None and value < question.low:
        raise NotTaken("too-low", said=text[:40], low=f"{question.low:g}")
    if question.high is not None and value > question.high:
        raise NotTaken("too-high", said=text[:40], high=f"{question.high:g}")
    return plain


def _without_separators(question: Question, text: str) -> str:
    """Digits with a point; `1.234,5`, `1 2` and `1,234`, of which nobody knows what was meant, are refused."""
    plain = text.replace("\u2212", "-").translate(_BLANKS).strip().replace("- ", "-")
    doubt = NotTaken("odd-separators" if _DIGITS.fullmatch(plain) else "no-number", said=text[:40])
    if " " in plain and not _BY_BLANK.fullmatch(plain):
        raise doubt
    plain = plain.replace(" ", "")
    if "," not in plain:
        if question.whole and _BY_POINT.fullmatch(plain):  # 1.000 is a thousand to some, and 1 to others
            raise doubt
        return plain
    in_groups = _BY_COMMA.fullmatch(plain) is not None
    if in_groups and (question.whole or plain.count(",") > 1):
        return plain.replace(",", "")
    if in_groups or "." in plain or plain.count(",") > 1:
        raise doubt
    return plain.replace(",", ".")
