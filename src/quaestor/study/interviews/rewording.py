"""Names taken out of what people wrote about interviews: notes, ticks, roles, guides, and words beside turns.

A transcript keeps its recorded words and shows others. What somebody wrote is changed itself: nobody counts places in
it, and who withdraws must leave nothing behind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from quaestor.base.errors import InputError
from quaestor.instruments.interviews.guide_file import FENCE, guide_from
from quaestor.instruments.interviews.name_search import Finder, Found, resolved
from quaestor.store.records import NewAct
from quaestor.study.coding import require_lead
from quaestor.study.interviews.conversation import NOTE, TICK
from quaestor.study.interviews.free_text import REWORD_ACT
from quaestor.study.interviews.names import all_names, finder_of
from quaestor.study.interviews.room import GUIDES, Interviews

_WRITTEN = {NOTE: ("text",), TICK: ("other",), "participant": ("role", "field")}
"""What people write in their own words, by the kind of an entry."""
_NOT_READ = re.compile(r"(\{[^}]*\})|[^{]+")
"""What stands in braces is for a machine."""


def replace_written(interviews: Interviews, actor: str | None = None) -> int:
    """Put what is shown in the place of every known name that somebody wrote, as the lead; how many texts it changed.

    It cannot be taken back: nothing remembers what stood there.
    """
    lead = require_lead(interviews.coding, actor, "take names out of what was written")
    finder = finder_of(interviews)
    changed = _changed(interviews, finder.sure_in) + _in_guides(interviews, finder)
    if changed:
        interviews.coding.act(lambda state: NewAct(REWORD_ACT, lead, {"texts": changed}))
    return changed


def take_names_out(interviews: Interviews, names: Collection[str]) -> int:
    """The same of the names of who withdraws, also where it is in doubt: soon nobody knows what to look for."""
    finder = Finder(one for one in all_names(interviews) if one.id in names)
    return _changed(interviews, lambda text: resolved(finder.candidates(text))) + _in_guides(interviews, finder)


def _changed(interviews: Interviews, find: Callable[[str], Sequence[Found]]) -> int:
    def without(text: str) -> str:
        return _without(text, find(text))

    return interviews.file.reword(_WRITTEN, without) + interviews.file.words.change(without)


def _without(text: str, found: Sequence[Found]) -> str:
    for one in reversed(found):
        text = f"{text[: one.start]}{one.shown}{text[one.end :]}"
    return text


def _in_guides(interviews: Interviews, finder: Finder) -> int:
    """The same in the versions of guides that interviews were held by: in what is read out, never in an id."""

    def without(name: str, text: str) -> str:
        lines = text.splitlines(keepends=True)
        ends = next((place for place, line in enumerate(lines) if place and line.strip() == FENCE), 0)
        made = "".join(
            _NOT_READ.sub(lambda one: one[1] or _without(one[0], finder.names_in(one[0])), line)
            if place > ends
            else _front_without(line, finder)
            for place, line in enumerate(lines)
        )
        return made if _ids(made, name) == _ids(text, name) else text

    return interviews.file.texts.reword(GUIDES, without)


def _front_without(line: str, finder: Finder) -> str:
    key, sign, words = line.partition("=")
    kept = not sign or key.strip() == "agreement"
    return line if kept else f"{key}{sign}{_without(words, finder.names_in(words))}"


def _ids(text: str, name: str) -> list[str] | None:
    try:
        return [question.id for question in guide_from(text, name).questions()]
    except InputError:
        return None
