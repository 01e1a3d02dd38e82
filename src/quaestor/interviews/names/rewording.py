"""Names taken out of what people wrote about interviews: notes, ticks, roles, guides, and words beside turns.

A transcript keeps its recorded words and shows others. What somebody wrote is changed itself: nobody counts places in
it, and a participant who withdraws must leave nothing behind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from quaestor.base.errors import InputError
from quaestor.coding.session import require_lead
from quaestor.deidentify.finder import Found
from quaestor.interviews.conduct.conversation_state import MARK, NOTE, TICK
from quaestor.interviews.free_text import REWORD_ACT
from quaestor.interviews.model.guide_file import FENCE, guide_from
from quaestor.interviews.names.known_names import NAME, finder_of
from quaestor.interviews.repository import GUIDES, Interviews
from quaestor.store.records import NewAct

_WRITTEN = {NOTE: ("text",), MARK: ("text",), TICK: ("other",), "participant": ("role", "field")}
"""What people write in their own words, by the kind of an entry."""
_BESIDE = {"transcript": ("left_out",)}
"""What the file of a transcript says beside the conversation."""
_OF_IDENTITIES = {"contact": ("more",), NAME: ("shown",)}
Find = Callable[[str], Sequence[Found]]
_NOT_READ = re.compile(r"(\{[^}]*\})|[^{]+")
"""What stands in braces is for a machine."""


def replace_written(interviews: Interviews, actor: str | None = None) -> int:
    """Put what is shown in the place of every known name that somebody wrote, as the lead; how many texts it changed.

    It cannot be taken back: nothing remembers what stood there.
    """
    lead = require_lead(interviews.coding, actor, "take names out of what was written")
    finder = finder_of(interviews)
    changed = _changed(interviews, _WRITTEN, finder.sure_in) + _in_guides(interviews, finder.names_in)
    if changed:
        interviews.coding.act(lambda state: NewAct(REWORD_ACT, lead, {"texts": changed}))
    return changed


def take_names_out(interviews: Interviews, find: Find) -> int:
    """Replace the names of a participant who withdraws in all that is written, notes about other people included."""
    identities = interviews.identities.reword(_OF_IDENTITIES, lambda text: without(text, find))
    return _changed(interviews, {**_WRITTEN, **_BESIDE}, find) + _in_guides(interviews, find) + identities


def _changed(interviews: Interviews, written: Mapping[str, Sequence[str]], find: Find) -> int:
    def changed(text: str) -> str:
        return without(text, find)

    return interviews.file.reword(written, changed) + interviews.file.words.change(changed)


def without(text: str, find: Find) -> str:
    """A text with what is shown in the place of each name that is found in it."""
    for match in reversed(find(text)):
        text = f"{text[: match.start]}{match.shown}{text[match.end :]}"
    return text


def _in_guides(interviews: Interviews, find: Find) -> int:
    """The same in the versions of guides that interviews were held by: in what is read out, never in an id."""

    def changed(name: str, text: str) -> str:
        lines = text.splitlines(keepends=True)
        ends = next((place for place, line in enumerate(lines) if place and line.strip() == FENCE), 0)
        reworded = "".join(
            _NOT_READ.sub(lambda match: match[1] or without(match[0], find), line)
            if place > ends
            else _front_without(line, find)
            for place, line in enumerate(lines)
        )
        return reworded if _ids(reworded, name) == _ids(text, name) else text

    return interviews.file.texts.reword(GUIDES, changed)


def _front_without(line: str, find: Find) -> str:
    key, sign, words = line.partition("=")
    kept = not sign or key.strip() == "agreement"
    return line if kept else f"{key}{sign}{without(words, find)}"


def _ids(text: str, name: str) -> list[str] | None:
    try:
        return [question.id for question in guide_from(text, name).questions()]
    except InputError:
        return None
