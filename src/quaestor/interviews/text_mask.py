"""Masks known names in the texts of pages: in the words of turns, and in what people wrote about them."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.base.names import strip_strand
from quaestor.coding.model.records import INTERVIEWS
from quaestor.evidence.erasure import find_origin
from quaestor.evidence.live_items import as_html
from quaestor.interviews.coding.acts import find_quotes, find_turn_shown
from quaestor.interviews.model.records import SpokenTurn, parse_item_id
from quaestor.interviews.names.known_names import InterviewNames, get_finder
from quaestor.interviews.repository import Interviews, interviews_path, list_keys, open_interviews
from quaestor.study.contributions import NoNames, TextMask
from quaestor.study.folder import Study
from quaestor.study.session import Session


def text_mask(interviews: Interviews | None) -> TextMask:
    """Returns the mask for one page; None means that the study has no interviews."""
    return NoNames() if interviews is None else InterviewMask(interviews)


@contextmanager
def open_text_mask(where: Study | Session[Any]) -> Iterator[TextMask]:
    """Opens the names that a study knows; raises StateError if their key is missing."""
    study = where.study if isinstance(where, Session) else where
    if not interviews_path(study).exists():
        yield NoNames()
        return
    for key in list_keys(study).values():
        if not key.exists():  # opening the files would create a new key, which cannot decrypt them
            raise StateError(f"{key} is missing, so known names cannot be found in texts: restore it first")
    with open_interviews(where) as interviews:
        yield InterviewMask(interviews)


class InterviewMask:
    """Replaces known names, whether or not somebody confirmed them; for one page."""

    def __init__(self, interviews: Interviews) -> None:
        self._interviews = interviews
        self._masked: dict[str, str] = {}
        self._origins: dict[str, str] = {}

    @cached_property
    def _names(self) -> InterviewNames:
        return InterviewNames(get_finder(self._interviews))

    def mask(self, text: str) -> str:
        if text not in self._masked:
            self._masked[text] = self._names.mask(text)
        return self._masked[text]

    def find(self, text: str) -> Sequence[str]:
        return self._names.find(text)

    def _is_turn(self, item: str) -> bool:
        # By the source of its strand, not by the form of an id: a row of a table may be called P1/00001.
        strand = self._interviews.coding.study.in_strand_of(item)
        if strand.strand not in self._origins:
            self._origins[strand.strand] = find_origin(strand)
        return self._origins[strand.strand] in (INTERVIEWS, "")

    def item_text(self, item: str, title: str, body: str) -> tuple[str, str]:
        interview, _, number = strip_strand(item).rpartition("/")
        is_turn = interview and number.isdecimal() and self._is_turn(item)
        if not is_turn or not self._interviews.file.read_head(interview):
            return title, body
        turn = self._turn(item)
        if turn is None:
            return self.mask(title), self.mask(body)
        hidden = {word for place in turn.replacements for word in turn.raw[place.start : place.end].split()}
        is_named = any(word in html.unescape(title) for word in hidden)
        return f"{interview}, turn {turn.number}" if is_named else title, as_html(turn.text)

    def passages(self, item: str, places: Sequence[tuple[int, int]]) -> Sequence[str] | None:
        turn = self._turn(item)
        if turn is None:
            return None
        shown = (turn.to_shown(start, end) for start, end in places)
        return [turn.text[start:end] for start, end in shown]

    def locate(self, item: str, words: str, near: Sequence[tuple[int, int]]) -> tuple[int, int]:
        turn = self._turn(item)
        if turn is None:
            raise InputError(f"{item!r} no longer exists: choose none for its passages")
        # Words that were not edited keep their place exactly: mapped back, half of a masked name would grow.
        for place, shown in zip(near, self.passages(item, near) or (), strict=False):
            if shown.split() == words.split():
                return place
        places = [turn.to_raw(*span) for span in find_quotes(turn.text, words)]
        low, high = min(start for start, _ in near), max(end for _, end in near)
        overlaps = [min(end, high) - max(start, low) for start, end in places]
        if len(places) > 1 and max(overlaps) <= 0:
            raise InputError(f"the turn contains these words {len(places)} times: copy more of the text around them")
        return places[overlaps.index(max(overlaps))]

    def _turn(self, item: str) -> SpokenTurn | None:
        """Returns the turn as raters see it; None if it no longer exists."""
        try:
            return find_turn_shown(self._interviews, *parse_item_id(item))
        except QuaestorError:
            return None
