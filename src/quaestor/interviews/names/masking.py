"""Masks known names in interviews for everybody but the lead, whether or not somebody confirmed them yet.

Raters count characters in the text that a page showed. Therefore each mask that nobody has confirmed yet is recorded
with the transcript, as an entry with positions and replacements but no name. The number of an entry identifies for
ever the text that a page showed, whatever is confirmed, refused, added or removed later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from quaestor.base.errors import StateError
from quaestor.interviews.model.records import Replacement, SpokenTurn, Transcript
from quaestor.interviews.names.known_names import REPLACE, InterviewNames, get_finder
from quaestor.interviews.names.matches import OPEN, list_places, merge_shared_names
from quaestor.interviews.repository import Interviews, build_spoken_turns
from quaestor.interviews.transcripts.import_file import list_entries_since_import
from quaestor.store.sealed_file import NewEntry, SealedEntry

HIDE = "hide"
_Places = dict[tuple[int, int, int], Replacement]
"""The replacements by turn, start and end."""


@dataclass(frozen=True)
class ShownTranscript:
    """A transcript as a page shows it."""

    transcript: Transcript
    seen: int
    """The number of the last entry: identifies exactly this text later."""


def show_transcript(interviews: Interviews, name: str) -> ShownTranscript:
    """Returns a transcript as raters see it, cached until the transcript or the names change."""
    mark = (interviews.file.read_head(name), get_finder(interviews))
    return interviews.remembered(f"shown/{name}", mark, lambda: _build_shown(interviews, name))


def show_transcript_at(interviews: Interviews, name: str, seen: int = 0) -> Transcript:
    """Returns a transcript as a page showed it at entry `seen`, or as it is shown now if that is 0."""
    now = show_transcript(interviews, name)
    if seen in (0, now.seen):
        return now.transcript

    def made() -> Transcript:
        entries = interviews.file.read_entries(about=name)
        if any(entry.kind == "transcript" and entry.number > seen for entry in entries):
            raise StateError(f"the transcript of {name} has been replaced since you opened this page: reload it")
        return _build_at(interviews, name, [entry for entry in entries if entry.number <= seen])

    return interviews.remembered(f"shown then/{name}", (seen, interviews.file.read_head(name)), made)


def mask_transcript(interviews: Interviews, talk: Transcript) -> Transcript:
    """Returns a transcript in which all certain names are replaced, confirmed or not."""
    mark = (talk, interviews.file.read_head(talk.interview), get_finder(interviews))
    return interviews.remembered(f"masked/{talk.interview}", mark, lambda: _mask_names(interviews, talk))


def mask_text(interviews: Interviews, text: str) -> str:
    """Masks the names in a single text."""
    return build_masker(interviews)(text)


def build_masker(interviews: Interviews) -> Callable[[str], str]:
    """Returns a function that masks names in many texts and looks the names up only once."""
    return InterviewNames(get_finder(interviews)).mask


def read_transcript_as(interviews: Interviews, name: str, actor: str | None) -> Transcript:
    """Returns a transcript for reading: with unconfirmed names for the lead, masked for everybody else."""
    talk = interviews.transcript(name)
    return talk if actor in (None, interviews.coding.lead) else mask_transcript(interviews, talk)


def _build_shown(interviews: Interviews, name: str) -> ShownTranscript:
    """Returns what a page shows now, and first records any mask that is not recorded yet."""
    talk = interviews.transcript(name)
    wanted_transcript = mask_transcript(interviews, talk)
    entries = interviews.file.read_entries(about=name)
    recorded = _build_at(interviews, name, entries)
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
        entries = [entry for entry in interviews.file.read_entries(about=name) if entry.number <= kept.number]
        recorded = _build_at(interviews, name, entries)
    return ShownTranscript(recorded, entries[-1].number)


def _build_at(interviews: Interviews, name: str, entries: Sequence[SealedEntry]) -> Transcript:
    """Returns a transcript as its first entries define it: with what was confirmed and masked by then."""
    interview = interviews.interview(name)
    turns = build_spoken_turns(interviews.file.read_pieces(name), entries, interviews.guide_of(interview))
    hidden: dict[int, list[Replacement]] = {}
    for replacement in _list_masks(entries).values():
        hidden.setdefault(replacement.turn, []).append(replacement)
    shown_turns = tuple(_cover(turn, hidden[turn.number]) if turn.number in hidden else turn for turn in turns)
    return Transcript(
        name, interview.participant, interview.guide, interview.version, shown_turns, interviews.item_prefix
    )


def _list_masks(entries: Sequence[SealedEntry]) -> _Places:
    """Returns the latest unconfirmed masks, except at places that a person answered afterwards."""
    hidden: _Places = {}
    for entry in list_entries_since_import(entries):
        if entry.kind not in (HIDE, REPLACE):
            continue
        places = {(place["turn"], place["start"], place["end"]): place for place in entry.content["places"]}
        if entry.kind == HIDE:
            hidden = {at: Replacement(*at, place["shown"], place["name"]) for at, place in places.items()}
        else:
            hidden = {at: replacement for at, replacement in hidden.items() if at not in places}
    return hidden


def _mask_names(interviews: Interviews, talk: Transcript) -> Transcript:
    replacements: dict[int, list[Replacement]] = {}
    for place in merge_shared_names(list_places(interviews, talk)):
        if place.state == OPEN and place.sure:
            replacements.setdefault(place.turn, []).append(
                Replacement(place.turn, place.start, place.end, place.shown, place.name)
            )
    turns = [_cover(turn, replacements[turn.number]) if turn.number in replacements else turn for turn in talk.turns]
    return replace(talk, turns=tuple(turns)) if replacements else talk


def _cover(turn: SpokenTurn, more: Sequence[Replacement]) -> SpokenTurn:
    replacements = [
        replacement
        for replacement in turn.replacements
        if not any(new.start < replacement.end and replacement.start < new.end for new in more)
    ]
    return replace(turn, replacements=tuple(sorted((*replacements, *more), key=lambda replacement: replacement.start)))
