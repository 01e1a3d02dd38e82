"""What a person says to the names that were found in transcripts: replaced, no name at all, or no other left."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or
from quaestor.coding.session import require_lead
from quaestor.deidentify.name_forms import KnownName
from quaestor.interviews.model.records import Replacement, Transcript
from quaestor.interviews.names.known_names import REPLACE, all_names, change_name, keep_if_new
from quaestor.interviews.names.matches import LOOKED, OPEN, Proposal, places_in, proposals
from quaestor.interviews.repository import Interviews
from quaestor.store.sealed_file import NewEntry

_PLACE = re.compile(r"(?P<at>(?P<interview>P\d{1,9}(?:-\d{1,9})?)/\d{1,9}:\d{1,9}-\d{1,9})(?:=(?P<name>[\w-]{1,60}))?")


def answer(interviews: Interviews, places: Iterable[str], confirmed: bool, actor: str | None = None) -> int:
    """Replace the names at these places, or say that they are none; how many it were."""
    lead = require_lead(interviews.coding, actor, "confirm which names are replaced")
    by_interview: dict[str, set[str]] = {}
    for place in places:
        by_interview.setdefault(_parsed(place)[0], set()).add(place)
    chosen = []
    for name, chosen_places in by_interview.items():
        current = places_in(interviews, interviews.transcript(name))
        chosen += [_meant(current, place) for place in sorted(chosen_places)]
    return _record(interviews, chosen, confirmed, lead)


def answer_all(
    interviews: Interviews,
    confirmed: bool,
    interview: str = "",
    name: str = "",
    doubtful: bool = False,
    actor: str | None = None,
) -> int:
    """The same of all open places, of a transcript or of a name; doubtful ones only where that is said.

    A name that several have is replaced only where one of them is named and doubtful ones are meant too.
    """
    lead = require_lead(interviews.coding, actor, "confirm which names are replaced")
    chosen = [proposal for proposal in proposals(interviews, interview, name, OPEN, lead) if proposal.sure or doubtful]
    if confirmed and not (name and doubtful):
        chosen = [proposal for proposal in chosen if not proposal.also]
    return _record(interviews, chosen, confirmed, lead)


def looked_through(interviews: Interviews, interview: str, actor: str | None = None) -> None:
    """Put on record that the lead has read a transcript for names, and that there are no others in it."""
    lead = require_lead(interviews.coding, actor, "say that a transcript holds no other names")
    talk = interviews.transcript(interview)
    if any(place.state == OPEN for place in places_in(interviews, talk)):
        raise InputError(f"places of {interview} are still open: answer them first")
    interviews.file.add(NewEntry(LOOKED, lead, {}, talk.participant, interview, interviews.now()))


def show_as(interviews: Interviews, name: str, shown: str, actor: str | None = None) -> KnownName:
    """Other words for a name, in the places too where it has been replaced."""
    lead = require_lead(interviews.coding, actor, "say which names are replaced")
    changed_name = change_name(interviews, name, shown=shown, actor=lead)
    for talk in interviews.transcripts():
        turns = [
            replacement
            for turn in talk.turns
            for replacement in turn.replacements
            if replacement.name == changed_name.id
        ]
        if turns:
            _write(
                interviews,
                talk,
                lead,
                [_said(replacement, changed_name.shown, confirmed=True) for replacement in turns],
            )
    return changed_name


def _meant(proposals: Sequence[Proposal], place: str) -> Proposal:
    """What is called so: an open place before one that is answered, and no guess where several are open there."""
    _, at, name = _parsed(place)
    matches = [proposal for proposal in proposals if proposal.at == at and name in ("", proposal.name)]
    matches = [proposal for proposal in matches if proposal.state == OPEN] or matches
    if not matches:
        raise InputError(f"nothing is found at {place} any more: look again")
    if len(matches) > 1:
        whose = join_with_or(proposal.shown for proposal in matches)
        raise InputError(f"what stands at {at} is the name of {whose}: say which, as in {at}={matches[0].name}")
    return matches[0]


def _record(interviews: Interviews, chosen: Sequence[Proposal], confirmed: bool, lead: str) -> int:
    """Put answers on record; of a place that is said to be several names the first counts. How many places it were."""
    if confirmed:
        chosen = list({proposal.at: proposal for proposal in reversed(chosen)}.values())[::-1]
    names = {name.id: name for name in reversed(all_names(interviews))}
    for known in {proposal.name for proposal in chosen if confirmed}:
        if known in names:
            keep_if_new(interviews, names[known], lead)
    for interview in dict.fromkeys(proposal.interview for proposal in chosen):
        talk = interviews.transcript(interview)
        _write(
            interviews,
            talk,
            lead,
            answers_of(talk, [proposal for proposal in chosen if proposal.interview == interview], confirmed),
        )
    return len({proposal.at for proposal in chosen})


def answers_of(talk: Transcript, chosen: Iterable[Proposal], confirmed: bool) -> list[dict[str, Any]]:
    """What is recorded where these places of a transcript are replaced, or said to be no names."""
    answers: list[dict[str, Any]] = []
    for proposal in chosen:
        inside = [
            replacement
            for replacement in talk.turns[proposal.turn].replacements
            if proposal.start <= replacement.start
            and replacement.end <= proposal.end
            and (replacement.start, replacement.end) != (proposal.start, proposal.end)
        ]
        answers += [_said(replacement, replacement.shown, confirmed=False) for replacement in inside if confirmed]
        answers.append(
            _said(
                Replacement(proposal.turn, proposal.start, proposal.end, proposal.shown, proposal.name),
                proposal.shown,
                confirmed,
            )
        )
    return answers


def _said(replacement: Replacement, shown: str, confirmed: bool) -> dict[str, Any]:
    place = {"turn": replacement.turn, "start": replacement.start, "end": replacement.end}
    return {**place, "shown": shown, "name": replacement.name, "confirmed": confirmed}


def _write(interviews: Interviews, talk: Transcript, lead: str, said: Sequence[Mapping[str, Any]]) -> None:
    about = (talk.participant, talk.interview, interviews.now())
    interviews.file.add(NewEntry(REPLACE, lead, {"places": list(said)}, *about))


def _parsed(place: str) -> tuple[str, str, str]:
    """The interview, the place itself, and the name that is meant, where that is said."""
    match = _PLACE.fullmatch(place)
    if match is None:
        raise InputError(f"{place[:60]!r} is no place in a transcript: it would be P1/00012:4-11")
    return match["interview"], match["at"], match["name"] or ""
