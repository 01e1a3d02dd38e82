"""Erases the names of a withdrawn participant from what others said and wrote.

Positions in a transcript are character offsets in its recorded text, also in the append-only journal. Therefore the
recorded text keeps its length: each character of a name is overwritten with a filler, in the same transaction that
records a replacement showing the pseudonym there. No position moves, and no coded passage loses its text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from quaestor.deidentify.contact_patterns import REPLACEMENTS
from quaestor.deidentify.finder import Finder, NameMatch, resolve_overlaps
from quaestor.deidentify.folded_text import fold
from quaestor.deidentify.match_confidence import SHORT
from quaestor.deidentify.name_forms import ORDINARY, KnownName
from quaestor.interviews.model.records import Transcript
from quaestor.interviews.names.confirmations import build_answers
from quaestor.interviews.names.known_names import REPLACE, list_all_names
from quaestor.interviews.names.masking import HIDE
from quaestor.interviews.names.matches import OPEN, REFUSED, Proposal, list_places
from quaestor.interviews.names.rewording import erase_names_in_texts, replace_matches
from quaestor.interviews.repository import Interviews
from quaestor.store.records import to_canonical_json
from quaestor.store.sealed_file import NewEntry, SealedChanges, SealedEntry

FILLER = "█"
"""Overwrites each character of an erased name; it is not a letter, so that no search takes it for a name."""


@dataclass(frozen=True)
class ErasedNames:
    """The names of a participant, and the search for them."""

    participant: str
    names: tuple[KnownName, ...]

    @cached_property
    def ids(self) -> frozenset[str]:
        return frozenset(name.id for name in self.names)

    @cached_property
    def finder(self) -> Finder:
        return Finder(self.names)

    def find_own(self, text: str) -> list[NameMatch]:
        """Finds all places that are or may be one of these names."""
        candidates = self.finder.find_candidates(text)
        return [
            candidate for candidate in candidates if candidate.name in self.ids and not _is_ordinary(text, candidate)
        ]

    def find(self, text: str) -> list[NameMatch]:
        """Finds what must be replaced in a text: the names, and addresses that contain one."""
        own = self.find_own(text)
        if not own:
            return []
        return [
            match
            for match in resolve_overlaps(self.finder.find_candidates(text))
            if not _is_ordinary(text, match) and any(each.overlaps(match.start, match.end) for each in own)
        ]


def list_names_of_participant(interviews: Interviews, participant: str) -> ErasedNames:
    """Returns every known name of a participant; call it before the names are erased."""
    return ErasedNames(
        participant, tuple(name for name in list_all_names(interviews) if name.participant == participant)
    )


def erase_names(interviews: Interviews, erased: ErasedNames, actor: str, time: str) -> bool:
    """Erases names from other transcripts and from all written texts; returns whether it found any."""
    if not erased.names:
        return False
    others = [name for name in list_all_names(interviews) if name.id not in erased.ids]
    finder = Finder([*erased.names, *others])
    talks = [
        interview.id
        for interview in interviews.interviews()
        if interview.participant != erased.participant and interview.transcript
    ]
    changed = [_erase_in_transcript(interviews, name, erased, finder, (actor, time)) for name in talks]
    return bool(erase_names_in_texts(interviews, erased.find)) or any(changed)


def _erase_in_transcript(
    interviews: Interviews, name: str, erased: ErasedNames, finder: Finder, by: tuple[str, str]
) -> bool:
    def decide() -> SealedChanges:
        talk = interviews.transcript(name)
        pieces, entries = interviews.file.read_pieces(name), interviews.file.read_entries(about=name)
        chosen = [
            place
            for place in list_places(interviews, talk, finder)
            if _is_erased(place, talk, erased) and set(talk.turns[place.turn].raw[place.start : place.end]) != {FILLER}
        ]
        labels = _mask_labels(dict.fromkeys(piece["speaker"] for piece in pieces), erased)
        changed = {}
        for number, piece in enumerate(pieces):
            text = _overwrite(piece["text"], [place for place in chosen if place.turn == number])
            content = {**piece, "text": text, "speaker": labels.get(piece["speaker"], piece["speaker"])}
            if content != piece:
                changed[number] = content
        return SealedChanges(
            {
                entry.number: content
                for entry in entries
                if (content := _mask_entry(entry, labels, erased)) != entry.content
            },
            changed,
            [_build_replacement(talk, chosen, *by)] if chosen else [],
        )

    return interviews.file.change_content(name, decide)


def _is_erased(proposal: Proposal, talk: Transcript, erased: ErasedNames) -> bool:
    """Whether a place is one of the names or an address that contains one, unless a person rejected the match."""
    if proposal.state == REFUSED:
        return False
    if proposal.name in erased.ids:
        return proposal.state != OPEN or proposal.sure or not _is_ordinary_word(proposal.words)
    return proposal.name in REPLACEMENTS and any(
        own.overlaps(proposal.start, proposal.end) for own in erased.find_own(talk.turns[proposal.turn].raw)
    )


def _is_ordinary(text: str, match: NameMatch) -> bool:
    """Whether a doubtful match is an ordinary word: it reveals nobody's name and stays."""
    return not match.sure and _is_ordinary_word(text[match.start : match.end])


def _is_ordinary_word(words: str) -> bool:
    return fold(words) in ORDINARY or len(fold(words)) <= SHORT


def _overwrite(text: str, places: Iterable[Proposal]) -> str:
    for place in places:
        text = text[: place.start] + FILLER * (place.end - place.start) + text[place.end :]
    return text


def _mask_labels(labels: Iterable[str], erased: ErasedNames) -> dict[str, str]:
    """Returns new labels for the speakers whose label contains a name, each of them unique."""
    known = set(labels)
    masked_labels: dict[str, str] = {}
    for label in labels:
        new = replace_matches(label, erased.find)
        if new == label:
            continue
        number = 1
        while new in known:
            new, number = f"Speaker {number}", number + 1
        known.add(new)
        masked_labels[label] = new
    return masked_labels


def _mask_entry(entry: SealedEntry, labels: dict[str, str], erased: ErasedNames) -> dict[str, Any]:
    """Returns the content of an entry about a transcript with the new labels and without the names in replacements."""
    content = entry.content
    if entry.kind == "speaker":
        return {**content, "speaker": labels.get(content["speaker"], content["speaker"])}
    if entry.kind in (REPLACE, HIDE):
        return {
            **content,
            "places": [{**place, "shown": replace_matches(place["shown"], erased.find)} for place in content["places"]],
        }
    return content


def _build_replacement(talk: Transcript, chosen: Sequence[Proposal], actor: str, time: str) -> NewEntry:
    """Builds the entry that shows the pseudonym; its key is a hash of the places, so that it is recorded only once."""
    content = {"places": build_answers(talk, chosen, confirmed=True)}
    key = hashlib.sha256(f"{talk.interview}\0{to_canonical_json(content, REPLACE)}".encode()).hexdigest()[:32]
    return NewEntry(REPLACE, actor, content, talk.participant, talk.interview, time, key)
