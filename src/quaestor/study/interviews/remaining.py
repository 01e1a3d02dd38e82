"""Whether a known name remains anywhere that may be published: transcripts, what was written, guides, items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from quaestor.base.errors import StateError
from quaestor.study.coding import Where, study_of
from quaestor.study.interviews.code_names import ID
from quaestor.study.interviews.files import interviews_path
from quaestor.study.interviews.name_places import still_open
from quaestor.study.interviews.names import all_names, finder_of, is_own_word
from quaestor.study.interviews.older_items import older_items
from quaestor.study.interviews.room import Interviews, open_interviews
from quaestor.study.interviews.searched_texts import (
    CODE,
    DECIDED,
    GUIDE,
    MEMO,
    NOTE,
    PARTICIPANT,
    STUDY,
    WRITTEN,
    texts_of,
)

__all__ = ["TRANSCRIPT", "WRITTEN", "Remaining", "found_in", "refuse_names", "refuse_names_in", "remaining"]

TRANSCRIPT, SHOWN, ITEMS = "transcript", "shown", "items"
_WITH_ADDRESSES = (SHOWN, NOTE, PARTICIPANT, MEMO)
"""Where an address is somebody's; a definition, a guide or a title may say where it is from."""
_TOLD = 3
_WRITTEN = "replace them in what was written (page Names, or `quaestor interview names replace-written`)"
_MENDS = {
    TRANSCRIPT: "answer them on the page Names of the interviews",
    SHOWN: "show something else instead of that name",
    NOTE: _WRITTEN,
    PARTICIPANT: _WRITTEN,
    MEMO: _WRITTEN,
    GUIDE: f"take them out of the guide for interviews to come, and {_WRITTEN}",
    STUDY: "change study.toml",
    DECIDED: "decide it again in other words",
    CODE: "rename or redefine the code",
    ID: "an id stays as it is, so merge the code into a new one (`quaestor codebook merge`)",
    ITEMS: "make the items again",
}


@dataclass(frozen=True)
class Remaining:
    """A place where a known name stands; the name itself is not told, only what is shown instead of it."""

    kind: str
    where: str
    shown: str


def remaining(interviews: Interviews) -> list[Remaining]:
    """Every place where a known name remains, and items that are older than the names."""
    found = dict.fromkeys(older_items(interviews))
    mend = "older than the names: run `quaestor interview items`, `quaestor ingest turns`, `quaestor funnel`"
    return [
        *_in_words(interviews),
        *(Remaining(ITEMS, f"the items of {one.interview}, which are {mend}", one.shown) for one in found),
    ]


def _in_words(interviews: Interviews) -> list[Remaining]:
    """The same of what people say and write, from which items are made."""
    found = [
        Remaining(TRANSCRIPT, f"the turn {one.place.partition(':')[0]}", one.shown) for one in still_open(interviews)
    ]
    finder = finder_of(interviews)
    for kind, where, text in [*_shown(interviews), *texts_of(interviews, finder)]:
        named = finder.names_in(text)
        if kind in _WITH_ADDRESSES:
            named += [one for one in finder.sure_in(text) if not any(one.overlaps(n.start, n.end) for n in named)]
        found += [Remaining(kind, where, one) for one in dict.fromkeys(each.shown for each in named)]
    return found


def found_in(interviews: Interviews, texts: Iterable[tuple[str, str]], kind: str) -> list[Remaining]:
    """Known names in any other texts, given as (where, text), such as the cells of a table."""
    finder = finder_of(interviews)
    return [Remaining(kind, where, one.shown) for where, text in texts for one in finder.names_in(text)]


def refuse_names(where: Where) -> None:
    """Nothing of a study is published while a known name remains in its interviews."""
    if not interviews_path(study_of(where)).exists():
        return
    with open_interviews(where) as interviews:
        _refuse(remaining(interviews))


def refuse_names_in(interviews: Interviews) -> None:
    """The same, for what is made of the interviews themselves, however old the items are."""
    _refuse(_in_words(interviews))


def refuse_names_said(interviews: Interviews) -> None:
    """The same, for what is made of transcripts and the questions asked in them alone."""
    _refuse([one for one in _in_words(interviews) if one.kind in (TRANSCRIPT, SHOWN, GUIDE)])


def _refuse(found: Sequence[Remaining]) -> None:
    if not found:
        return
    told = "; ".join(f"{one.where} ({one.shown})" for one in found[:_TOLD])
    more = f"; and {len(found) - _TOLD:,} more" if len(found) > _TOLD else ""
    places = "a known name remains" if len(found) == 1 else f"known names remain in {len(found):,} places"
    mends = ", ".join(dict.fromkeys(_MENDS[one.kind] for one in found))
    raise StateError(
        f"nothing is published while {places}: {told}{more}. To mend it: {mends}; "
        "`quaestor interview names remaining` lists all"
    )


def _shown(interviews: Interviews) -> Iterator[tuple[str, str, str]]:
    """What is shown instead of names; where a name is known no more, what stands in transcripts."""
    told = {one.shown: one.id for one in all_names(interviews) if not is_own_word(one.id, one.shown)}
    for shown, name in told.items():
        yield SHOWN, f"what is shown instead of the name {name}", shown
    for talk in interviews.transcripts():
        theirs = [one.shown for turn in talk.turns for one in turn.replacements if not is_own_word(one.name, one.shown)]
        for shown in dict.fromkeys(theirs):
            if shown not in told:
                yield SHOWN, f"what is shown in the transcript {talk.interview}", shown
