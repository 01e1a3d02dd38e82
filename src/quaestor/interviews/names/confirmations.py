"""Records what the lead decides about names found in transcripts: replace, not a name, or no other names left."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or
from quaestor.coding.session import require_lead
from quaestor.deidentify.name_forms import KnownName
from quaestor.interviews.model.records import Replacement, Transcript
from quaestor.interviews.names.known_names import REPLACE, change_name, list_all_names, store_derived_name
from quaestor.interviews.names.matches import LOOKED, OPEN, Proposal, list_places, list_proposals
from quaestor.interviews.repository import Interviews
from quaestor.store.sealed_file import NewEntry

_PLACE = re.compile(r"(?P<at>(?P<interview>P\d{1,9}(?:-\d{1,9})?)/\d{1,9}:\d{1,9}-\d{1,9})(?:=(?P<name>[\w-]{1,60}))?")


def answer_places(interviews: Interviews, places: Iterable[str], confirmed: bool, actor: str | None = None) -> int:
    """Replaces the names at these places, or records that they are not names; returns how many places it answered."""
    lead = require_lead(interviews.coding, actor, "confirm which names are replaced")
    by_interview: dict[str, set[str]] = {}
    for place in places:
        by_interview.setdefault(_parse_place(place)[0], set()).add(place)
    chosen = []
    for name, chosen_places in by_interview.items():
        current = list_places(interviews, interviews.transcript(name))
        chosen += [_find_proposal(current, place) for place in sorted(chosen_places)]
    return _record_answers(interviews, chosen, confirmed, lead)


def answer_all_places(
    interviews: Interviews,
    confirmed: bool,
    interview: str = "",
    name: str = "",
    doubtful: bool = False,
    actor: str | None = None,
) -> int:
    """Answers all open places of a transcript or of a name; doubtful ones only if `doubtful` is set.

    A name shared by several people is replaced only if `name` says whose it is and `doubtful` is set.
    """
    lead = require_lead(interviews.coding, actor, "confirm which names are replaced")
    chosen = [
        proposal for proposal in list_proposals(interviews, interview, name, OPEN, lead) if proposal.sure or doubtful
    ]
    if confirmed and not (name and doubtful):
        chosen = [proposal for proposal in chosen if not proposal.also]
    return _record_answers(interviews, chosen, confirmed, lead)


def mark_as_read(interviews: Interviews, interview: str, actor: str | None = None) -> None:
    """Records that the lead has read a transcript for names and that no others are left in it."""
    lead = require_lead(interviews.coding, actor, "mark a transcript as read for names")
    talk = interviews.transcript(interview)
    if any(place.state == OPEN for place in list_places(interviews, talk)):
        raise InputError(f"{interview} still has open places: answer them first")
    interviews.file.add(NewEntry(LOOKED, lead, {}, talk.participant, interview, interviews.now()))


def change_replacement(interviews: Interviews, name: str, shown: str, actor: str | None = None) -> KnownName:
    """Changes what is shown instead of a name, also where it has already been replaced."""
    lead = require_lead(interviews.coding, actor, "choose which names are replaced")
    changed_name = change_name(interviews, name, shown=shown, actor=lead)
    for talk in interviews.transcripts():
        turns = [
            replacement
            for turn in talk.turns
            for replacement in turn.replacements
            if replacement.name == changed_name.id
        ]
        if turns:
            _write_answers(
                interviews,
                talk,
                lead,
                [_build_answer(replacement, changed_name.shown, confirmed=True) for replacement in turns],
            )
    return changed_name


def _find_proposal(proposals: Sequence[Proposal], place: str) -> Proposal:
    """Finds the proposal at a place, open ones first; raises InputError if several open ones share it."""
    _, at, name = _parse_place(place)
    matches = [proposal for proposal in proposals if proposal.at == at and name in ("", proposal.name)]
    matches = [proposal for proposal in matches if proposal.state == OPEN] or matches
    if not matches:
        raise InputError(f"there is no name at {place} any more: reload the list")
    if len(matches) > 1:
        whose = join_with_or(proposal.shown for proposal in matches)
        raise InputError(f"the words at {at} are the name of {whose}: choose one, as in {at}={matches[0].name}")
    return matches[0]


def _record_answers(interviews: Interviews, chosen: Sequence[Proposal], confirmed: bool, lead: str) -> int:
    """Records answers and returns the number of places; if a place has several names, the first counts."""
    if confirmed:
        chosen = list({proposal.at: proposal for proposal in reversed(chosen)}.values())[::-1]
    names = {name.id: name for name in reversed(list_all_names(interviews))}
    for known in {proposal.name for proposal in chosen if confirmed}:
        if known in names:
            store_derived_name(interviews, names[known], lead)
    for interview in dict.fromkeys(proposal.interview for proposal in chosen):
        talk = interviews.transcript(interview)
        _write_answers(
            interviews,
            talk,
            lead,
            build_answers(talk, [proposal for proposal in chosen if proposal.interview == interview], confirmed),
        )
    return len({proposal.at for proposal in chosen})


def build_answers(talk: Transcript, chosen: Iterable[Proposal], confirmed: bool) -> list[dict[str, Any]]:
    """Builds the recorded answers for places of a transcript that are replaced, or that are not names."""
    answers: list[dict[str, Any]] = []
    for proposal in chosen:
        inside = [
            replacement
            for replacement in talk.turns[proposal.turn].replacements
            if proposal.start <= replacement.start
            and replacement.end <= proposal.end
            and (replacement.start, replacement.end) != (proposal.start, proposal.end)
        ]
        answers += [
            _build_answer(replacement, replacement.shown, confirmed=False) for replacement in inside if confirmed
        ]
        answers.append(
            _build_answer(
                Replacement(proposal.turn, proposal.start, proposal.end, proposal.shown, proposal.name),
                proposal.shown,
                confirmed,
            )
        )
    return answers


def _build_answer(replacement: Replacement, shown: str, confirmed: bool) -> dict[str, Any]:
    place = {"turn": replacement.turn, "start": replacement.start, "end": replacement.end}
    return {**place, "shown": shown, "name": replacement.name, "confirmed": confirmed}


def _write_answers(interviews: Interviews, talk: Transcript, lead: str, answers: Sequence[Mapping[str, Any]]) -> None:
    about = (talk.participant, talk.interview, interviews.now())
    interviews.file.add(NewEntry(REPLACE, lead, {"places": list(answers)}, *about))


def _parse_place(place: str) -> tuple[str, str, str]:
    """Splits a place into the interview, the position, and the name, which may be empty."""
    match = _PLACE.fullmatch(place)
    if match is None:
        raise InputError(f"{place[:60]!r} is not a place in a transcript: write it as P1/00012:4-11")
    return match["interview"], match["at"], match["name"] or ""
