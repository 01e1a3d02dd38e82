"""Replaces names in what people wrote about interviews: notes, ticks, roles, guides, and memos on turns.

A transcript keeps its recorded words and shows others. What somebody wrote is changed itself: no code counts
characters in it, and nothing about a withdrawn participant may stay behind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from quaestor.base.errors import InputError
from quaestor.coding.session import require_lead
from quaestor.deidentify.finder import NameMatch
from quaestor.interviews.conduct.conversation_state import MARK, NOTE, TICK
from quaestor.interviews.free_text import REWORD_ACT
from quaestor.interviews.model.guide_file import FENCE, parse_guide
from quaestor.interviews.names.known_names import NAME, get_finder
from quaestor.interviews.repository import GUIDES, Interviews
from quaestor.store.records import NewAct

_WRITTEN = {
    NOTE: ("text",),
    MARK: ("text",),
    TICK: ("other",),
    "participant": ("role", "field", "attributes"),
    "consent": ("how",),
}
"""The free-text fields of each kind of entry."""
_BESIDE = {"transcript": ("left_out",)}
"""Text in a transcript's file that is not part of the conversation."""
_OF_IDENTITIES = {"contact": ("more",), NAME: ("shown",)}
Find = Callable[[str], Sequence[NameMatch]]
_NOT_READ = re.compile(r"(\{[^}]*\})|[^{]+")
"""Text in braces is for the parser, not for readers."""


def replace_names_in_texts(interviews: Interviews, actor: str | None = None) -> int:
    """Replaces every known name in written texts, as the lead; returns how many texts changed.

    It cannot be undone: the earlier text is not kept.
    """
    lead = require_lead(interviews.coding, actor, "replace names in written texts")
    finder = get_finder(interviews)
    changed = _change_texts(interviews, _WRITTEN, finder.find_sure) + _change_guides(interviews, finder.find_sure_names)
    if changed:
        interviews.coding.act(lambda state: NewAct(REWORD_ACT, lead, {"texts": changed}))
    return changed


def erase_names_in_texts(interviews: Interviews, find: Find) -> int:
    """Replaces the names of a withdrawn participant in all written texts, notes about other people included."""
    identities = interviews.identities.replace_texts(_OF_IDENTITIES, lambda text: replace_matches(text, find))
    return _change_texts(interviews, {**_WRITTEN, **_BESIDE}, find) + _change_guides(interviews, find) + identities


def _change_texts(interviews: Interviews, written: Mapping[str, Sequence[str]], find: Find) -> int:
    def changed(text: str) -> str:
        return replace_matches(text, find)

    return interviews.file.replace_texts(written, changed) + interviews.file.words.replace_texts(changed)


def replace_matches(text: str, find: Find) -> str:
    """Returns a text in which each name that `find` finds is replaced."""
    for match in reversed(find(text)):
        text = f"{text[: match.start]}{match.shown}{text[match.end :]}"
    return text


def _change_guides(interviews: Interviews, find: Find) -> int:
    """Replaces names in the text of used guide versions, but never in an id."""

    def changed(name: str, text: str) -> str:
        lines = text.splitlines(keepends=True)
        ends = next((place for place, line in enumerate(lines) if place and line.strip() == FENCE), 0)
        reworded = "".join(
            _NOT_READ.sub(lambda match: match[1] or replace_matches(match[0], find), line)
            if place > ends
            else _change_front_matter(line, find)
            for place, line in enumerate(lines)
        )
        return reworded if _list_question_ids(reworded, name) == _list_question_ids(text, name) else text

    return interviews.file.texts.replace_texts(GUIDES, changed)


def _change_front_matter(line: str, find: Find) -> str:
    key, sign, words = line.partition("=")
    kept = not sign or key.strip() == "agreement"
    return line if kept else f"{key}{sign}{replace_matches(words, find)}"


def _list_question_ids(text: str, name: str) -> list[str] | None:
    try:
        return [question.id for question in parse_guide(text, name).questions()]
    except InputError:
        return None
