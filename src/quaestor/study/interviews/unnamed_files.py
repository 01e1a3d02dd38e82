"""What raters wrote, for files that somebody but the lead takes along: no known name in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from quaestor.study.coding import Coding
from quaestor.study.interviews.files import interviews_path
from quaestor.study.interviews.masking import masker
from quaestor.study.interviews.room import open_interviews
from quaestor.study.ratings import Told, as_written

_LINK = "link"
"""Of a stretch: made by a page, and no words."""


@contextmanager
def words_for(coding: Coding, actor: str) -> Iterator[Told]:
    """Makes of a text or an answer what somebody may read of it; the lead's files can be brought in again."""
    if actor == coding.lead or not interviews_path(coding.study).exists():
        yield as_written
        return
    with open_interviews(coding) as interviews:
        masked = masker(interviews)
        yield lambda said: _unnamed(said, masked)


def _unnamed(said: Any, masked: Callable[[str], str]) -> Any:
    if isinstance(said, str):
        return masked(said)
    if isinstance(said, Mapping):
        return {part: words if part == _LINK else _unnamed(words, masked) for part, words in said.items()}
    return [_unnamed(one, masked) for one in said] if isinstance(said, list | tuple) else said
