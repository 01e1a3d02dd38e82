"""The words of a turn as HTML: character for character as they are, lines under what is coded, and its codes beside it.

A page has hundreds of stretches: written here they cost half of what a template takes for them.
"""

from __future__ import annotations

import json
from typing import Any

from markupsafe import Markup, escape

from quaestor.interviews.pages.coding_sheet import CodedTurn, CodingSheet, Mark

LANES = 5
"""Ways of drawing a stretch that can be told apart; what lies deeper is drawn like the last one."""


def exactly(text: str) -> Markup:
    """Text that a browser takes in as it is: it would make one of two line ends, and drop what is no character."""
    return Markup(str(escape(text)).replace("\r", "&#13;").replace("\0", "\ufffd"))  # noqa: S704 - escaped


def spoken(turn: CodedTurn) -> Markup:
    """A turn cut where a stretch begins or ends; each piece lies in the stretches that it belongs to."""
    if not turn.marks:
        return exactly(turn.text)
    opened = [f'<mark class="lane-{lane_of(mark)}" data-mark="{place}">' for place, mark in enumerate(turn.marks)]
    parts = []
    for piece in turn.pieces:
        inside = sorted(piece.inside, key=lambda place: turn.marks[place].lane)
        parts.append(f"{''.join([opened[place] for place in inside])}{exactly(piece.words)}{'</mark>' * len(inside)}")
    return Markup("".join(parts))  # noqa: S704 - every piece is escaped


def margin(turn: CodedTurn, is_open: bool) -> Markup:
    """The codes of a turn, each with what more is said; where the round is open, each can be removed."""
    return Markup("".join(_beside(turn, place, is_open) for place in range(len(turn.marks))))  # noqa: S704 - escaped


def _beside(turn: CodedTurn, place: int, is_open: bool) -> str:
    mark = turn.marks[place]
    named = str(escape(mark.name))
    chip = f'<q dir="auto">{escape(mark.words)}</q> <span class="small">in vivo</span>' if mark.in_vivo else named
    told = [f"{name}: {words}" for name, words in mark.fields if words] + [mark.memo] * bool(mark.memo)
    more = f'<span class="more">{"".join(f"<span>{escape(words)}</span>" for words in told)}</span>' if told else ""
    remove = (
        f'<button form="act" class="quiet remove" name="remove" '
        f'value="{turn.number}:{mark.start}:{mark.end}:{escape(mark.code)}" '
        f'aria-label="Remove {named or "the words in vivo"}">×</button>'
    )
    return (
        f'<li class="lane-{lane_of(mark)}" data-mark="{place}"><span class="chip">{chip}</span>'
        f"{more}{remove if is_open else ''}</li>"
    )


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
