"""Number formats of a spreadsheet: what shows a number exactly as it is printed elsewhere."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal

from quaestor.render.table_model import Number

_PRINTED = re.compile(
    r"(?P<sign>[-−]?)(?P<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.(?P<places>[0-9]{1,10}))?(?P<percent>%?)"
)
_LARGEST = 10**15
"""From here on a spreadsheet does not know all digits of a number."""
_LONGEST = 255


def number_format(value: Number, text: str, mark: str = "") -> str | None:
    """The format that shows the value as the text with its mark; None where a spreadsheet cannot do that."""
    if not math.isfinite(value) or abs(value) >= _LARGEST:
        return None
    beside = f" {mark}" if mark else ""
    # A single section would get a sign of its own before a negative number.
    sections = [shape + _quoted(beside) for shape in _shape(value, text)] or [_quoted(text + beside)] * 3
    made = ";".join(sections)
    return made if len(made) <= _LONGEST else None


def _shape(value: Number, text: str) -> list[str]:
    """Digits, places and percent as the text has them, if the number rounded there is what the text says."""
    printed = _PRINTED.fullmatch(text)
    if printed is None:
        return []
    places, scale = len(printed["places"] or ""), 100 if printed["percent"] else 1
    # Spreadsheets know fifteen digits and round a half away from zero.
    known = abs(Decimal(f"{value:.15g}")) * scale
    rounded = known.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    said = Decimal(text.replace(",", "").strip("-−%"))
    below_zero = value < 0 and rounded != 0
    if rounded != said or below_zero != bool(printed["sign"]) or (value < 0) != below_zero:
        return []
    whole = printed["whole"]
    if len(whole) > 1 and whole[0] == "0":
        return []
    digits = "0" if said >= 1000 and "," not in whole else "#,##0"
    shape = f"{digits}{'.' + '0' * places if places else ''}{printed['percent']}"
    return [shape, f'"−"{shape}'] if printed["sign"] == "−" else [shape]


def _quoted(text: str) -> str:
    """The text itself, whatever the number."""
    return "".join(f'"{part}"' if part != '"' else r"\"" for part in re.split('(")', text) if part)
