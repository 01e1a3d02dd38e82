"""Names found in transcripts, proposed to be replaced, and what a person says to each: nothing is replaced unseen.

A proposal that was refused stays refused. A name that is added later is looked for in all transcripts again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quaestor.base.errors import InputError
from quaestor.instruments.interviews.name_patterns import SHOWN
from quaestor.instruments.interviews.name_search import Found, resolved
from quaestor.instruments.interviews.records import KnownName, Replacement, SpokenTurn, Transcript, Voice
from quaestor.store.sealed_file import Entry, NewEntry
from quaestor.study.coding import require_lead
from quaestor.study.interviews.names import REPLACE, all_names, change_name, finder_of, keep_if_new, name_called
from quaestor.study.interviews.room import Interviews
from quaestor.study.interviews.transcripts import since_import

OPEN, CONFIRMED, REFUSED = "open", "confirmed", "refused"
STATES = (OPEN, CONFIRMED, REFUSED)
LOOKED = "looked"
_AROUND = 90
_Place = tuple[int, int, str]
"""Where something stands in a turn, and which name it is or would be."""
_PLACE = re.compile(r"(P\d{1,9}(?:-\d{1,9})?)/(\d{1,9}):(\d{1,9})-(\d{1,9})")


@dataclass(frozen=True)
class Proposal:
    """A place in a transcript that is a name, or may be one; for the lead alone."""

    interview: str
    turn: int
    start: int
    end: int
    name: str
    """Its id; for what has the shape of an address, which shape."""
    shown: str
    sure: bool
    why: str
    state: str
    voice: Voice
    words: str = field(repr=False, default="")
    before: str = field(repr=False, default="")
    after: str = field(repr=False, default="")

    @property
    def place(self) -> str:
        """What it is called by: `P1/00012:4-11`."""
        return f"{self.interview}/{self.turn:05d}:{self.start}-{self.end}"


@dataclass(frozen=True)
class Progress:
    """How far the names of transcripts have come."""

    open: int = 0
    """Places that nobody has answered, and that are surely names."""
    doubtful: int = 0
    """The same of those that may be none."""
    confirmed: int = 0
    refused: int = 0
    looked: bool = False
    """Whether the lead said that there are no other names in it."""

    @property
    def done(self) -> bool:
        """Whether every place is answered, and somebody has looked."""
        return not self.open and not self.doubtful and bool(self.looked or self.confirmed or self.refused)

    @property
    def found(self) -> int:
        return self.open + self.doubtful + self.confirmed + self.refused

    @property
    def answered(self) -> int:
        return self.confirmed + self.refused


def proposals(
    interviews: Interviews, interview: str = "", name: str = "", state: str = OPEN, actor: str | None = None
) -> list[Proposal]:
    """Places of one state with the words around them: in all transcripts or one, of all names or one."""
    require_lead(interviews.coding, actor, "see the names in transcripts")
    if state not in STATES:
        raise InputError(f"there is no state {state!r} of a place: it is open, confirmed or refused")
    wanted = name if name in SHOWN or not name else name_called(interviews, name).id
    chosen = [interviews.transcript(interview)] if interview else interviews.transcripts()
    found = [one for talk in chosen for one in _places(interviews, talk)]
    return [one for one in found if one.state == state and wanted in ("", one.name)]


def progress_of(interviews: Interviews, interview: str) -> Progress:
    """How far the names of one transcript have come; it tells no name."""
    found = _places(interviews, interviews.transcript(interview))
    entries = since_import(interviews.file.entries(about=interview))
    return replace(_counted(found), looked=any(one.kind == LOOKED for one in entries))


def progress_by_name(interviews: Interviews, actor: str | None = None) -> dict[str, Progress]:
    """The same of each name, by its id, and of each shape of addresses."""
    require_lead(interviews.coding, actor, "see the names in transcripts")
    found = [one for talk in interviews.transcripts() for one in _places(interviews, talk)]
    ids = dict.fromkeys([*(one.id for one in all_names(interviews)), *(one.name for one in found)])
    return {name: _counted([one for one in found if one.name == name]) for name in ids}


def answer(interviews: Interviews, places: Iterable[str], confirmed: bool, actor: str | None = None) -> int:
    """Replace the names at these places, or say that they are none; how many it were."""
    lead = require_lead(interviews.coding, actor, "confirm which names are replaced")
    by_interview: dict[str, set[str]] = {}
    for place in places:
        by_interview.setdefault(_parsed(place), set()).add(place)
    chosen = []
    for name, wanted in by_interview.items():
        held = _places(interviews, interviews.transcript(name))
        found = {one.place: one for one in sorted(held, key=lambda each: each.state == OPEN)}
        for place in sorted(wanted):
            if place not in found:
                raise InputError(f"nothing is found at {place} any more: look again")
            chosen.append(found[place])
    _record(interviews, chosen, confirmed, lead)
    return len(chosen)


def answer_all(
    interviews: Interviews,
    confirmed: bool,
    interview: str = "",
    name: str = "",
    doubtful: bool = False,
    actor: str | None = None,
) -> int:
    """The same of all open places, of a transcript or of a name; doubtful ones only where that is said."""
    lead = require_lead(interviews.coding, actor, "confirm which names are replaced")
    chosen = [one for one in proposals(interviews, interview, name, OPEN, lead) if one.sure or doubtful]
    _record(interviews, chosen, confirmed, lead)
    return len(chosen)


def looked_through(interviews: Interviews, interview: str, actor: str | None = None) -> None:
    """Put on record that the lead has read a transcript for names, and that there are no others in it."""
    lead = require_lead(interviews.coding, actor, "say that a transcript holds no other names")
    talk = interviews.transcript(interview)
    if any(one.state == OPEN for one in _places(interviews, talk)):
        raise InputError(f"places of {interview} are still open: answer them first")
    interviews.file.add(NewEntry(LOOKED, lead, {}, talk.participant, interview, interviews.now()))


def show_as(interviews: Interviews, name: str, shown: str, actor: str | None = None) -> KnownName:
    """Other words for a name, in the places too where it has been replaced."""
    lead = require_lead(interviews.coding, actor, "say which names are replaced")
    made = change_name(interviews, name, shown=shown, actor=lead)
    for talk in interviews.transcripts():
        held = [one for turn in talk.turns for one in turn.replacements if one.name == made.id]
        if held:
            _write(interviews, talk, lead, [_said(one, made.shown, confirmed=True) for one in held])
    return made


def _record(interviews: Interviews, chosen: Sequence[Proposal], confirmed: bool, lead: str) -> None:
    names = {one.id: one for one in reversed(all_names(interviews))}
    for known in {one.name for one in chosen if confirmed}:
        if known in names:
            keep_if_new(interviews, names[known], lead)
    for interview in dict.fromkeys(one.interview for one in chosen):
        talk = interviews.transcript(interview)
        said: list[dict[str, Any]] = []
        for one in (each for each in chosen if each.interview == interview):
            inside = [
                held
                for held in talk.turns[one.turn].replacements
                if one.start <= held.start and held.end <= one.end and (held.start, held.end) != (one.start, one.end)
            ]
            said += [_said(held, held.shown, confirmed=False) for held in inside if confirmed]
            said.append(_said(Replacement(one.turn, one.start, one.end, one.shown, one.name), one.shown, confirmed))
        _write(interviews, talk, lead, said)


def _said(one: Replacement, shown: str, confirmed: bool) -> dict[str, Any]:
    place = {"turn": one.turn, "start": one.start, "end": one.end}
    return {**place, "shown": shown, "name": one.name, "confirmed": confirmed}


def _write(interviews: Interviews, talk: Transcript, lead: str, said: Sequence[Mapping[str, Any]]) -> None:
    about = (talk.participant, talk.interview, interviews.now())
    interviews.file.add(NewEntry(REPLACE, lead, {"places": list(said)}, *about))


def _places(interviews: Interviews, talk: Transcript) -> list[Proposal]:
    """Every place of a transcript with its state, in their order."""
    entries = since_import(interviews.file.entries(about=talk.interview))
    finder = finder_of(interviews)
    mark = (entries[0].number if entries else 0, finder)
    found = interviews.remembered(
        f"found/{talk.interview}", mark, lambda: [finder.candidates(turn.raw) for turn in talk.turns]
    )
    refused = _refused(entries)
    made = []
    for turn, candidates in zip(talk.turns, found, strict=True):
        none = refused.get(turn.number, {})
        if candidates or turn.replacements or none:
            made += _of_turn(talk.interview, turn, candidates, none)
    return made


def _refused(entries: Iterable[Entry]) -> dict[int, dict[_Place, str]]:
    """By turn the places of which a person said that they are not that name, with what would have been shown."""
    found: dict[int, dict[_Place, str]] = {}
    for entry in entries:
        for one in entry.said["places"] if entry.kind == REPLACE else ():
            here, at = found.setdefault(one["turn"], {}), (one["start"], one["end"], one["name"])
            here.pop(at, None)
            if not one["confirmed"]:
                here[at] = one["shown"]
    return found


def _of_turn(
    interview: str, turn: SpokenTurn, candidates: Sequence[Found], refused: Mapping[_Place, str]
) -> list[Proposal]:
    held = turn.replacements
    grown = [_beside(one, turn) for one in candidates if not _is_refused(one, refused)]
    found = [(one, OPEN) for one in resolved(one for one in grown if one is not None)]
    found += [(Found(one.start, one.end, one.name, one.shown, True, ""), CONFIRMED) for one in held]
    for (start, end, name), shown in refused.items():
        if not any(one.start <= start and end <= one.end for one in held):
            found.append((Found(start, end, name, shown, True, ""), REFUSED))
    return [_told(interview, turn, one, state) for one, state in sorted(found, key=lambda pair: pair[0].start)]


def _is_refused(one: Found, refused: Iterable[_Place]) -> bool:
    """Whether a person said so of this name, here or of a longer place that this is part of."""
    return any(name == one.name and start <= one.start and one.end <= end for start, end, name in refused)


def _beside(one: Found, turn: SpokenTurn) -> Found | None:
    """What a candidate would replace beside what is replaced already: nothing, itself, or all of both."""
    start, end = one.start, one.end
    covered: set[int] = set()
    for held in turn.replacements:
        if one.overlaps(held.start, held.end):
            start, end = min(start, held.start), max(end, held.end)
            covered.update(range(held.start, held.end))
    if covered and not any(turn.raw[place].isalnum() for place in range(one.start, one.end) if place not in covered):
        return None
    return replace(one, start=start, end=end)


def _told(interview: str, turn: SpokenTurn, one: Found, state: str) -> Proposal:
    raw, low, high = turn.raw, max(one.start - _AROUND, 0), min(one.end + _AROUND, len(turn.raw))
    before = ("… " if low else "") + (raw[low : one.start].split(" ", 1)[-1] if low else raw[: one.start])
    cut = high < len(raw)
    after = (raw[one.end : high].rsplit(" ", 1)[0] if cut else raw[one.end :]) + (" …" if cut else "")
    return Proposal(
        interview, turn.number, one.start, one.end, one.name, one.shown, one.sure, one.why, state, turn.voice,
        raw[one.start : one.end], before, after,
    )  # fmt: skip


def _counted(found: Iterable[Proposal]) -> Progress:
    counts = dict.fromkeys((*STATES, "doubtful"), 0)
    for one in found:
        counts["doubtful" if one.state == OPEN and not one.sure else one.state] += 1
    return Progress(counts[OPEN], counts["doubtful"], counts[CONFIRMED], counts[REFUSED])


def _parsed(place: str) -> str:
    found = _PLACE.fullmatch(place)
    if found is None:
        raise InputError(f"{place[:60]!r} is no place in a transcript: it would be P1/00012:4-11")
    return found[1]


def masked(interviews: Interviews, talk: Transcript) -> Transcript:
    """A transcript for anybody but the lead: what surely is a name is replaced, whether or not it was confirmed."""
    found: dict[int, list[Replacement]] = {}
    for one in _places(interviews, talk):
        if one.state == OPEN and one.sure:
            found.setdefault(one.turn, []).append(Replacement(one.turn, one.start, one.end, one.shown, one.name))
    turns = [_masked(turn, found[turn.number]) if turn.number in found else turn for turn in talk.turns]
    return replace(talk, turns=tuple(turns)) if found else talk


def _masked(turn: SpokenTurn, more: Sequence[Replacement]) -> SpokenTurn:
    held = [one for one in turn.replacements if not any(new.start < one.end and one.start < new.end for new in more)]
    return replace(turn, replacements=tuple(sorted((*held, *more), key=lambda one: one.start)))


def masked_words(interviews: Interviews, text: str) -> str:
    """Any other text for anybody but the lead."""
    for one in reversed(finder_of(interviews).sure_in(text)):
        text = f"{text[: one.start]}{one.shown}{text[one.end :]}"
    return text


def still_open(interviews: Interviews) -> Iterator[Proposal]:
    """Places that surely are names and that nobody has answered, for whatever refuses because of them."""
    for talk in interviews.transcripts():
        yield from (one for one in _places(interviews, talk) if one.state == OPEN and one.sure)
