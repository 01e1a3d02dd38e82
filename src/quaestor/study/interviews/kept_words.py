"""What raters write beside turns of transcripts: kept with the participant's other words, where it can be erased.

The journal keeps everything for ever. An act about a turn therefore holds places, codes and choices, and for each piece
of free words (a memo, a field, a comment, a reason) where it is kept. Whoever reads the journal gets the words from
there; those of a participant who withdrew are empty.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from quaestor.base.errors import StateError
from quaestor.coding.free_words import WITH_WORDS, items_of, with_words_changed
from quaestor.coding.state import State
from quaestor.store.records import Act, NewAct
from quaestor.store.sealed_file import SealedFile
from quaestor.study.folder import Study
from quaestor.study.interviews.files import INTERVIEWS, interviews_path, keys_of, opened_interviews

WITHDRAW_ACT, REWORD_ACT = "interview.withdraw", "interview.reword"
CHANGING = (WITHDRAW_ACT, REWORD_ACT)
"""Since one of these is on record, words of earlier acts are not what they were."""
_TURN = re.compile(r"(P\d{1,9})(?:-\d{1,9})?/\d{1,9}")
_KEPT = re.compile(r"kept:(\d{1,9})")


class KeptWords:
    """The words of a study's acts, apart from its journal; a study without interviews has none. Safe for threads."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._file: SealedFile | None = None
        self._lock = threading.Lock()
        self._missed = False
        """Whether acts were told without their words, since there was no key."""

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def put_apart(self, state: State, act: NewAct, known: bool) -> NewAct:
        """An act as the journal may hold it; its words about turns are on the disk when this returns.

        Those of an act that is on record are there already, and may have been changed since.
        """
        if not is_about_turns(act) or not interviews_path(self._study).exists():
            return act
        self.require_told()
        words: list[tuple[str, str]] = []

        def kept(item: str, said: str) -> str:
            turn = _TURN.fullmatch(item)
            if turn is None:
                return said
            words.append((turn[1], said))
            return f"kept:{len(words) - 1}"

        made = with_words_changed(state, act, kept)
        if words and not known:
            self._opened().words.keep(act.key, words)
        return made

    def told(self, act: Act) -> Act:
        """An act with its words: those of who withdrew are empty, and all of them where there is no key to them."""
        if not is_about_turns(act) or not _refers(act.payload):
            return act
        readable = self._readable()
        self._missed |= not readable
        words = self._opened().words.of(act.key) if readable else {}
        return replace(act, payload=_filled_in(act.payload, words))

    def require_told(self) -> None:
        """Nothing is recorded or handed out in the place of words that are there and could not be read."""
        if self._missed:
            raise StateError(
                f"what was written beside transcripts cannot be read without {keys_of(self._study)[INTERVIEWS.name]} "
                f"and {interviews_path(self._study)}: bring them back first"
            )

    def found_again(self) -> bool:
        """Whether words can be read that could not be read before."""
        found = self._missed and self._readable()
        self._missed &= not found
        return found

    def _readable(self) -> bool:
        return interviews_path(self._study).exists() and keys_of(self._study)[INTERVIEWS.name].exists()

    def _opened(self) -> SealedFile:
        with self._lock:
            if self._file is None:
                self._file = opened_interviews(self._study)
            return self._file


def is_turn(item: str) -> bool:
    """Whether an item is a turn of a transcript, so that what is written about it is kept here."""
    return _TURN.fullmatch(item) is not None


def is_about_turns(act: Act | NewAct) -> bool:
    return act.kind in WITH_WORDS and any(is_turn(one) for one in items_of(act.payload))


def _refers(value: Any) -> bool:
    if isinstance(value, str):
        return value.startswith("kept:") and _KEPT.fullmatch(value) is not None
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_refers(one) for one in inside)


def _filled_in(value: Any, words: Mapping[int, str]) -> Any:
    if isinstance(value, str):
        found = _KEPT.fullmatch(value)
        return words.get(int(found[1]), "") if found else value
    if isinstance(value, dict):
        return {name: _filled_in(one, words) for name, one in value.items()}
    return [_filled_in(one, words) for one in value] if isinstance(value, list) else value
