"""Names taken out of what people wrote about interviews: notes, ticks, roles, and words beside turns.

A transcript keeps its recorded words and shows others. What somebody wrote is changed itself: nobody counts places in
it, and who withdraws must leave nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from quaestor.instruments.interviews.name_search import Finder, Found, resolved
from quaestor.store.records import NewAct
from quaestor.study.coding import require_lead
from quaestor.study.interviews.conversation import NOTE, TICK
from quaestor.study.interviews.kept_words import REWORD_ACT
from quaestor.study.interviews.names import all_names, finder_of
from quaestor.study.interviews.room import Interviews

_WRITTEN = {NOTE: ("text",), TICK: ("other",), "participant": ("role", "field")}
"""What people write in their own words, by the kind of an entry."""


def replace_written(interviews: Interviews, actor: str | None = None) -> int:
    """Put what is shown in the place of every known name that somebody wrote, as the lead; how many texts it changed.

    It cannot be taken back: nothing remembers what stood there.
    """
    lead = require_lead(interviews.coding, actor, "take names out of what was written")
    changed = _changed(interviews, finder_of(interviews).sure_in)
    if changed:
        interviews.coding.act(lambda state: NewAct(REWORD_ACT, lead, {"texts": changed}))
    return changed


def take_names_out(interviews: Interviews, names: Collection[str]) -> int:
    """The same of the names of who withdraws, also where it is in doubt: soon nobody knows what to look for."""
    finder = Finder(one for one in all_names(interviews) if one.id in names)
    return _changed(interviews, lambda text: resolved(finder.candidates(text)))


def _changed(interviews: Interviews, find: Callable[[str], Sequence[Found]]) -> int:
    def without(text: str) -> str:
        for one in reversed(find(text)):
            text = f"{text[: one.start]}{one.shown}{text[one.end :]}"
        return text

    return interviews.file.reword(_WRITTEN, without) + interviews.file.words.change(without)
