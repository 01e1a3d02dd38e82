"""Items of people who withdrew, by their ids: no round takes them, however old the evidence or the round that has them.

A withdrawal takes items out of the evidence. It cannot take them out of earlier rounds, nor out of evidence that
somebody puts back from a copy.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from quaestor.base.errors import InputError
from quaestor.coding.records import INTERVIEWS, SURVEYS
from quaestor.instruments.response_rows import hashed
from quaestor.instruments.returning_answers import withdrawals_in
from quaestor.instruments.withdrawn_list import WithdrawnList
from quaestor.store.erased_list import ErasedList
from quaestor.store.sealed_copy import erased_in
from quaestor.study.folder import Study
from quaestor.study.free_text import origin_of
from quaestor.study.interviews.files import INTERVIEWS_FILE
from quaestor.study.surveys.free_text import ANSWERS_FILE

_TURN = re.compile(r"(P\d{1,9})(?:-\d{1,9})?/\d{1,9}")
_OPEN_ANSWER = re.compile(r"[^/]+/([^/]+)/[^/]+")
_Read = TypeVar("_Read")


def without_withdrawn(study: Study, items: Iterable[str], origin: str | None = None) -> list[str]:
    """The same items in the same order without those of people who withdrew.

    The origin says whether the items are what people said; None stands for that of the study's funnel. Plans of older
    rounds name none (an empty origin): there the form of an id has to tell.
    """
    if origin is None:
        origin = origin_of(study)
    turns, answers = origin in (INTERVIEWS, ""), origin in (SURVEYS, "")
    people = _withdrawn_participants(study) if turns else set()
    responses = _withdrawn_responses(study) if answers else set()

    def is_withdrawn(item: str) -> bool:
        if people and (turn := _TURN.fullmatch(item)) and turn[1] in people:
            return True
        answer = _OPEN_ANSWER.fullmatch(item) if responses else None
        return answer is not None and hashed(answer[1]) in responses

    return [item for item in items if not is_withdrawn(item)]


def _withdrawn_participants(study: Study) -> set[str]:
    file = study.root / INTERVIEWS_FILE
    return {*ErasedList.beside(file).names(), *_read_from(file, erased_in)}


def _withdrawn_responses(study: Study) -> set[str]:
    """Their hashes: nobody keeps the id of a response that is gone."""
    file = study.root / ANSWERS_FILE
    found = {*WithdrawnList.beside(file).read(), *_read_from(file, withdrawals_in)}
    return {one.response for one in found}


def _read_from(file: Path, read: Callable[[sqlite3.Connection], Iterable[_Read]]) -> set[_Read]:
    """What a file knows that may not be there; which needs no key."""
    if not file.exists():
        return set()
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return set(read(connection))
    except sqlite3.DatabaseError as error:
        raise InputError(f"{file} cannot be read ({error}), which says who withdrew: restore a backup of it") from None
