"""The words of a turn as HTML: character for character as they are, with lines under what is coded."""

from __future__ import annotations

import json
from typing import Any

from markupsafe import Markup, escape

from quaestor.study.interviews.coding_sheet import CodedTurn, CodingSheet, Mark

LANES = 5
"""Ways of drawing a stretch that can be told apart; what lies deeper is drawn like the last one."""


def exactly(text: str) -> Markup:
    """Text that a browser takes in as it is: it would make one of two line ends, and drop what is no character."""
    return Markup(str(escape(text)).replace("\r", "&#13;").replace("\0", "\ufffd"))  # noqa: S704 - escaped


def spoken(turn: CodedTurn) -> Markup:
    """A turn cut where a stretch begins or ends; each piece lies in the stretches that it belongs to."""
    parts = []
    for piece in turn.pieces:
        inside = sorted(piece.inside, key=lambda number: turn.marks[number].lane)
        before = "".join(f'<mark class="lane-{lane_of(turn.marks[one])}" data-mark="{one}">' for one in inside)
        parts.append(f"{before}{exactly(piece.words)}{'</mark>' * len(inside)}")
    return Markup("".join(parts))  # noqa: S704 - every piece is escaped


def lane_of(mark: Mark) -> int:
    return min(mark.lane, LANES - 1)


def stretches_json(sheet: CodingSheet) -> Markup:
    """All stretches of a page by turn, as its script reads them; nothing in it ends the element that it stands in."""
    turns = (turn for answer in sheet.answers for turn in answer.turns if turn.marks)
    text = json.dumps({turn.number: [_told(mark) for mark in turn.marks] for turn in turns}, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))  # noqa: S704 - has no markup left


def _told(mark: Mark) -> dict[str, Any]:
    fields = {name: words for name, words in mark.fields if words}
    more = {"code": mark.code, "memo": mark.memo, "fields": fields, "link": mark.link}
    return {"start": mark.start, "end": mark.end, **{name: value for name, value in more.items() if value}}
