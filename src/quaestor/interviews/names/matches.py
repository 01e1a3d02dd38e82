"""Proposes names found in transcripts for replacement; a person confirms or refuses each one.

A refused proposal stays refused. When a name is added, all transcripts are searched again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from quaestor.base.errors import InputError
from quaestor.coding.session import require_lead
from quaestor.deidentify.contact_patterns import REPLACEMENTS
from quaestor.deidentify.finder import Finder, NameMatch, group_overlapping, join_alternatives
from quaestor.interviews.model.records import Replacement, SpokenTurn, Transcript, Voice
from quaestor.interviews.names.known_names import INTERVIEWER, REPLACE, find_name, get_finder, list_all_names
from quaestor.interviews.repository import Interviews
from quaestor.interviews.transcripts.import_file import list_entries_since_import
from quaestor.store.sealed_file import SealedEntry

OPEN, CONFIRMED, REFUSED = "open", "confirmed", "refused"
STATES = (OPEN, CONFIRMED, REFUSED)
LOOKED = "looked"
_AROUND = 90
_PSEUDONYM = re.compile(r"P\d+")
_Place = tuple[int, int, str]
"""Start and end in a turn, and the id of the name."""


@dataclass(frozen=True)
class Proposal:
    """A place in a transcript that is or may be a name; for the lead only."""

    interview: str
    turn: int
    start: int
    end: int
    name: str
    """The id of the name; for an address found by its pattern, the kind of pattern."""
    shown: str
    sure: bool
    why: str
    state: str
    voice: Voice
    words: str = field(repr=False, default="")
    before: str = field(repr=False, default="")
    after: str = field(repr=False, default="")
    also: tuple[str, ...] = ()
    """The replacements of other people with the same name: nobody has decided yet whose it is here."""
    named: bool = False
    """Whether the name must be part of the place's identifier, because several proposals share the position."""

    @property
    def at(self) -> str:
        """The position: `P1/00012:4-11`."""
        return f"{self.interview}/{self.turn:05d}:{self.start}-{self.end}"

    @property
    def place(self) -> str:
        """The identifier: the position, plus the name if several proposals share it: `P1/00012:4-11=P2`."""
        return f"{self.at}={self.name}" if self.named else self.at


@dataclass(frozen=True)
class Progress:
    """Counts of proposals by state, for a transcript or a name."""

    open: int = 0
    """Unanswered places that are certainly names."""
    doubtful: int = 0
    """Unanswered places that may not be names."""
    confirmed: int = 0
    refused: int = 0
    looked: bool = False
    """Whether the lead has marked the transcript as read for other names."""

    @property
    def done(self) -> bool:
        """Whether every place is answered and the lead has read the transcript for other names."""
        return self.looked and not self.waiting

    @property
    def waiting(self) -> int:
        """Unanswered places."""
        return self.open + self.doubtful

    @property
    def found(self) -> int:
        return self.open + self.doubtful + self.confirmed + self.refused

    @property
    def answered(self) -> int:
        return self.confirmed + self.refused


def list_proposals(
    interviews: Interviews, interview: str = "", name: str = "", state: str = OPEN, actor: str | None = None
) -> list[Proposal]:
    """Returns the proposals in one state with the words around them, in one or all transcripts, of one or all names."""
    require_lead(interviews.coding, actor, "see the names in transcripts")
    if state not in STATES:
        raise InputError(f"there is no state {state!r} of a place: use open, confirmed or refused")
    name_id = name if name in REPLACEMENTS or not name else find_name(interviews, name).id
    chosen = [interviews.transcript(interview)] if interview else interviews.transcripts()
    places = [place for talk in chosen for place in list_places(interviews, talk)]
    return [place for place in places if place.state == state and name_id in ("", place.name)]


def count_progress(interviews: Interviews, interview: str) -> Progress:
    """Counts the proposals of a transcript by state; the result contains no name."""
    places = list_places(interviews, interviews.transcript(interview))
    entries = list_entries_since_import(interviews.file.read_entries(about=interview))
    return replace(_count_states(places), looked=any(entry.kind == LOOKED for entry in entries))


def count_progress_by_name(interviews: Interviews, actor: str | None = None) -> dict[str, Progress]:
    """Counts the proposals by state for each name id and each kind of address."""
    require_lead(interviews.coding, actor, "see the names in transcripts")
    transcripts = [place for talk in interviews.transcripts() for place in list_places(interviews, talk)]
    ids = dict.fromkeys([*(name.id for name in list_all_names(interviews)), *(place.name for place in transcripts)])
    return {name: _count_states([place for place in transcripts if place.name == name]) for name in ids}


def list_places(interviews: Interviews, talk: Transcript, finder: Finder | None = None) -> list[Proposal]:
    """Returns every proposal of a transcript in order, for all known names or for those of a finder."""
    entries = list_entries_since_import(interviews.file.read_entries(about=talk.interview))
    finder = finder or get_finder(interviews)
    mark = (entries[0].number if entries else 0, finder)
    candidates_by_turn = interviews.remembered(
        f"found/{talk.interview}", mark, lambda: [finder.find_candidates(turn.raw) for turn in talk.turns]
    )
    refused = _list_refused(entries)
    proposals = []
    for turn, candidates in zip(talk.turns, candidates_by_turn, strict=True):
        none = refused.get(turn.number, {})
        if candidates or turn.replacements or none:
            proposals += _list_in_turn(talk.interview, turn, candidates, none)
    return proposals


def _list_refused(entries: Iterable[SealedEntry]) -> dict[int, dict[_Place, str]]:
    """Maps each turn to the places that a person said are not that name, with the replacement that was proposed."""
    refused_places: dict[int, dict[_Place, str]] = {}
    for entry in entries:
        for place in entry.content["places"] if entry.kind == REPLACE else ():
            here, at = refused_places.setdefault(place["turn"], {}), (place["start"], place["end"], place["name"])
            here.pop(at, None)
            if not place["confirmed"]:
                here[at] = place["shown"]
    return refused_places


def _list_in_turn(
    interview: str, turn: SpokenTurn, candidates: Sequence[NameMatch], refused: Mapping[_Place, str]
) -> list[Proposal]:
    candidates = [candidate for candidate in candidates if not _is_refused(candidate, refused)]
    replacements = tuple(replacement for replacement in turn.replacements if not _is_outdated(replacement, candidates))
    turn = replace(turn, replacements=replacements)
    grown = [_extend_candidate(candidate, turn) for candidate in candidates]
    proposals = []
    for fit in group_overlapping(candidate for candidate in grown if candidate is not None):
        alternatives = [_build_proposal(interview, turn, candidate, OPEN) for candidate in fit]
        proposals += (
            alternatives
            if len(alternatives) == 1
            else [_share_name(alternative, alternatives) for alternative in alternatives]
        )
    occupied = {(proposal.start, proposal.end) for proposal in proposals}
    replaced = [
        NameMatch(replacement.start, replacement.end, replacement.name, replacement.shown, True, "")
        for replacement in replacements
    ]
    proposals += [_build_proposal(interview, turn, match, CONFIRMED) for match in replaced]
    answered = [
        at
        for at in refused
        if not any(replacement.start <= at[0] and at[1] <= replacement.end for replacement in replacements)
    ]
    counts = Counter((start, end) for start, end, _ in answered)
    for start, end, name in answered:
        proposal = _build_proposal(
            interview, turn, NameMatch(start, end, name, refused[start, end, name], True, ""), REFUSED
        )
        proposals.append(replace(proposal, named=(start, end) in occupied or counts[start, end] > 1))
    return sorted(proposals, key=lambda each: each.start)


def _share_name(proposal: Proposal, proposals: Sequence[Proposal]) -> Proposal:
    """Returns a proposal for a name shared by several people, as the name of one of them."""
    also = tuple(each.shown for each in proposals if each is not proposal)
    words = f"also the name of {join_alternatives(also)}"
    return replace(proposal, also=also, named=True, why=words if proposal.sure else f"{proposal.why}, {words}")


def _is_refused(match: NameMatch, refused: Iterable[_Place]) -> bool:
    """Whether a person refused this name here, or at a longer place that contains this one."""
    return any(name == match.name and start <= match.start and match.end <= end for start, end, name in refused)


def _is_outdated(replacement: Replacement, candidates: Sequence[NameMatch]) -> bool:
    """Whether a replacement follows from a speaker's voice and is somebody else's name now, so that it is open again.

    Otherwise swapping two voices would leave participants shown as the interviewer.
    """
    if replacement.name != INTERVIEWER and not _PSEUDONYM.fullmatch(replacement.name):
        return False
    here = [candidate for candidate in candidates if candidate.overlaps(replacement.start, replacement.end)]
    again = any((match.start, match.end, match.sure) == (replacement.start, replacement.end, True) for match in here)
    return again and all(match.name not in (replacement.name, *REPLACEMENTS) for match in here)


def _extend_candidate(match: NameMatch, turn: SpokenTurn) -> NameMatch | None:
    """Extends a candidate by the replacements it overlaps; None if they already cover it."""
    start, end = match.start, match.end
    covered: set[int] = set()
    for replacement in turn.replacements:
        if match.overlaps(replacement.start, replacement.end):
            start, end = min(start, replacement.start), max(end, replacement.end)
            covered.update(range(replacement.start, replacement.end))
    if covered and not any(
        turn.raw[place].isalnum() for place in range(match.start, match.end) if place not in covered
    ):
        return None
    return replace(match, start=start, end=end)


def _build_proposal(interview: str, turn: SpokenTurn, match: NameMatch, state: str) -> Proposal:
    raw, low, high = turn.raw, max(match.start - _AROUND, 0), min(match.end + _AROUND, len(turn.raw))
    before = ("… " if low else "") + (raw[low : match.start].split(" ", 1)[-1] if low else raw[: match.start])
    cut = high < len(raw)
    after = (raw[match.end : high].rsplit(" ", 1)[0] if cut else raw[match.end :]) + (" …" if cut else "")
    return Proposal(
        interview, turn.number, match.start, match.end, match.name, match.shown, match.sure, match.why, state,
        turn.voice, raw[match.start : match.end], before, after,
    )  # fmt: skip


def _count_states(proposals: Iterable[Proposal]) -> Progress:
    states = {
        ("doubtful" if proposal.state == OPEN and not proposal.sure else proposal.state, proposal.at)
        for proposal in proposals
    }
    counts = Counter(state for state, _ in states)
    return Progress(counts[OPEN], counts["doubtful"], counts[CONFIRMED], counts[REFUSED])


def merge_shared_names(proposals: Iterable[Proposal]) -> Iterator[Proposal]:
    """Yields every place once; a name shared by several people is shown as either of them."""
    seen_places: set[str] = set()
    for proposal in proposals:
        if not proposal.also:
            yield proposal
        elif proposal.at not in seen_places:
            seen_places.add(proposal.at)
            yield replace(proposal, shown=join_alternatives((proposal.shown, *proposal.also)))


def list_open_places(interviews: Interviews) -> Iterator[Proposal]:
    """Yields unanswered places that are certainly names, for checks that refuse because of them."""
    for talk in interviews.transcripts():
        yield from merge_shared_names(
            place for place in list_places(interviews, talk) if place.state == OPEN and place.sure
        )
