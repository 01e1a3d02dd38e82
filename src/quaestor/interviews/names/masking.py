"""What anybody but the lead reads of interviews: no known name stands in it, whether or not somebody confirmed it yet.

Whoever codes counts in the words that a page showed. So what a page hides before anybody confirmed it is kept beside
the transcript, in entries that have places and what is shown there, and no name: the number of an entry tells for ever
which words a page showed, whatever is confirmed, refused, added or removed since.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from quaestor.base.errors import StateError
from quaestor.interviews.model.records import Replacement, SpokenTurn, Transcript
from quaestor.interviews.names.known_names import REPLACE, InterviewNames, finder_of
from quaestor.interviews.names.matches import OPEN, each_once, places_in
from quaestor.interviews.repository import Interviews, spoken_turns
from quaestor.interviews.transcripts.import_file import since_import
from quaestor.store.sealed_file import Entry, NewEntry

HIDE = "hide"
_Places = dict[tuple[int, int, int], Replacement]
"""What is shown from where to where in which turn."""


@dataclass(frozen=True)
class Shown:
    """A transcript as a page shows it."""

    transcript: Transcript
    seen: int
    """Tells these very words later."""


def shown_now(interviews: Interviews, name: str) -> Shown:
    """A transcript for those who code, worked out once for a state of it and of the names."""
    mark = (interviews.file.head(name), finder_of(interviews))
    return interviews.remembered(f"shown/{name}", mark, lambda: _shown(interviews, name))


def shown_then(interviews: Interviews, name: str, seen: int = 0) -> Transcript:
    """The same as a page showed it, whatever was said about it since; 0 for the words of now."""
    now = shown_now(interviews, name)
    if seen in (0, now.seen):
        return now.transcript

    def made() -> Transcript:
        entries = interviews.file.entries(about=name)
        if any(entry.kind == "transcript" and entry.number > seen for entry in entries):
            raise StateError(f"the transcript of {name} was replaced since this page was opened: load it again")
        return _at(interviews, name, [entry for entry in entries if entry.number <= seen])

    return interviews.remembered(f"shown then/{name}", (seen, interviews.file.head(name)), made)


def masked(interviews: Interviews, talk: Transcript) -> Transcript:
    """A transcript in which what surely is a name is replaced, whether or not it was confirmed."""
    mark = (talk, interviews.file.head(talk.interview), finder_of(interviews))
    return interviews.remembered(f"masked/{talk.interview}", mark, lambda: _without_names(interviews, talk))


def masked_words(interviews: Interviews, text: str) -> str:
    """Any other text for anybody but the lead."""
    return masker(interviews)(text)


def masker(interviews: Interviews) -> Callable[[str], str]:
    """The same for many texts, for which names are looked up once."""
    return InterviewNames(finder_of(interviews)).mask


def read_by(interviews: Interviews, name: str, actor: str | None) -> Transcript:
    """A transcript for somebody who only reads it; the lead sees what is not confirmed yet."""
    talk = interviews.transcript(name)
    return talk if actor in (None, interviews.coding.lead) else masked(interviews, talk)


def _shown(interviews: Interviews, name: str) -> Shown:
    """What a page shows now; where that follows from nothing on record, it is put there first."""
    talk = interviews.transcript(name)
    wanted_transcript = masked(interviews, talk)
    entries = interviews.file.entries(about=name)
    recorded = _at(interviews, name, entries)
    if recorded.turns != wanted_transcript.turns:
        places = [
            {
                "turn": replacement.turn,
                "start": replacement.start,
                "end": replacement.end,
                "shown": replacement.shown,
                "name": replacement.name,
            }
            for turn, before in zip(wanted_transcript.turns, talk.turns, strict=True)
            for replacement in turn.replacements
            if replacement not in before.replacements
        ]
        (kept,) = interviews.file.add(NewEntry(HIDE, "", {"places": places}, talk.participant, name, interviews.now()))
        entries = [entry for entry in interviews.file.entries(about=name) if entry.number <= kept.number]
        recorded = _at(interviews, name, entries)
    return Shown(recorded, entries[-1].number)


def _at(interviews: Interviews, name: str, entries: Sequence[Entry]) -> Transcript:
    """A transcript as the first of its entries tell it: what was confirmed by then, and what was hidden besides."""
    interview = interviews.interview(name)
    turns = spoken_turns(interviews.file.pieces(name), entries, interviews.guide_of(interview))
    hidden: dict[int, list[Replacement]] = {}
    for replacement in _hidden(entries).values():
        hidden.setdefault(replacement.turn, []).append(replacement)
    shown_turns = tuple(_covered(turn, hidden[turn.number]) if turn.number in hidden else turn for turn in turns)
    return Transcript(name, interview.participant, interview.guide, interview.version, shown_turns)


def _hidden(entries: Sequence[Entry]) -> _Places:
    """The last word on what is hidden unconfirmed, but for the places that a person answered after it."""
    hidden: _Places = {}
    for entry in since_import(entries):
        if entry.kind not in (HIDE, REPLACE):
            continue
        places = {(place["turn"], place["start"], place["end"]): place for place in entry.said["places"]}
        if entry.kind == HIDE:
            hidden = {at: Replacement(*at, place["shown"], place["name"]) for at, place in places.items()}
        else:
            hidden = {at: replacement for at, replacement in hidden.items() if at not in places}
    return hidden


def _without_names(interviews: Interviews, talk: Transcript) -> Transcript:
    replacements: dict[int, list[Replacement]] = {}
    for place in each_once(places_in(interviews, talk)):
        if place.state == OPEN and place.sure:
            replacements.setdefault(place.turn, []).append(
                Replacement(place.turn, place.start, place.end, place.shown, place.name)
            )
    turns = [_covered(turn, replacements[turn.number]) if turn.number in replacements else turn for turn in talk.turns]
    return replace(talk, turns=tuple(turns)) if replacements else talk


def _covered(turn: SpokenTurn, more: Sequence[Replacement]) -> SpokenTurn:
    replacements = [
        replacement
        for replacement in turn.replacements
        if not any(new.start < replacement.end and replacement.start < new.end for new in more)
    ]
    return replace(turn, replacements=tuple(sorted((*replacements, *more), key=lambda replacement: replacement.start)))
