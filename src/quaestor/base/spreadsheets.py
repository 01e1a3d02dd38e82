"""Cells that a spreadsheet shows as they are."""

from __future__ import annotations

import re

_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")


def harmless(text: str) -> str:
    """A spreadsheet takes what begins like a formula for one; behind an apostrophe it is text."""
    return f"'{text}" if _FORMULA.match(text) else text
