"""All names of a study on one page: the known names, their progress, and the places that need an answer."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.deidentify.contact_patterns import REPLACEMENTS
from quaestor.deidentify.name_forms import KnownName
from quaestor.interviews.names.known_names import INTERVIEWER, list_names
from quaestor.interviews.names.matches import (
    OPEN,
    Progress,
    Proposal,
    count_progress,
    count_progress_by_name,
    list_proposals,
)
from quaestor.interviews.names.remaining import TRANSCRIPT, WRITTEN, RemainingName, find_remaining_names
from quaestor.interviews.repository import Interviews

WINDOW = 40
"""Places per page."""


@dataclass(frozen=True)
class NameLine:
    """A name with all its entries and its progress."""

    id: str
    shown: str
    kind: str
    names: tuple[KnownName, ...]
    progress: Progress

    @property
    def forms(self) -> tuple[str, ...]:
        return tuple(form for name in self.names for form in name.forms)

    @property
    def endings(self) -> tuple[str, ...]:
        return tuple(ending for name in self.names for ending in name.endings)

    @property
    def given(self) -> bool:
        """Whether it can be changed here; a name derived from contact data or a transcript is changed there."""
        return bool(self.names) and self.id not in (self.names[0].participant, INTERVIEWER)


@dataclass(frozen=True)
class NamesSheet:
    """All names, with one page of places."""

    lines: tuple[NameLine, ...]
    transcripts: tuple[tuple[str, Progress], ...]
    places: tuple[Proposal, ...]
    of: int
    """The number of all matching places."""
    sure: int
    """How many of them are certainly the name of one person: those that can be replaced all at once."""
    page: int
    pages: int
    state: str
    name: str
    interview: str
    participants: tuple[str, ...]
    elsewhere: tuple[RemainingName, ...]
    """Known names left outside transcripts."""

    @property
    def written(self) -> int:
        """How many of them are in texts where names can be replaced."""
        return sum(place.kind in WRITTEN for place in self.elsewhere)

    @property
    def total(self) -> Progress:
        transcripts = [progress for _, progress in self.transcripts]
        return Progress(
            sum(progress.open for progress in transcripts),
            sum(progress.doubtful for progress in transcripts),
            sum(progress.confirmed for progress in transcripts),
            sum(progress.refused for progress in transcripts),
        )

    @property
    def all_read(self) -> bool:
        """Whether every transcript has been read for names."""
        return all(progress.done for _, progress in self.transcripts)

    def line(self, name: str) -> NameLine | None:
        return next((line for line in self.lines if line.id == name), None)


def build_names_sheet(
    interviews: Interviews,
    name: str = "",
    interview: str = "",
    state: str = OPEN,
    page: int = 1,
    actor: str | None = None,
) -> NamesSheet:
    """Builds the names page for the lead; a page number beyond the last one gives the last page."""
    lines = list_name_lines(interviews, actor)
    matches = list_proposals(interviews, interview, name, state, actor)
    pages = max(1, -(-len(matches) // WINDOW))
    page = min(page, pages)
    transcripts = tuple(
        (interview.id, count_progress(interviews, interview.id))
        for interview in interviews.interviews()
        if interview.transcript
    )
    elsewhere = tuple(place for place in find_remaining_names(interviews) if place.kind != TRANSCRIPT)
    shown = tuple(matches[(page - 1) * WINDOW : page * WINDOW])
    sure = sum(match.sure and not match.also for match in matches)
    people = tuple(participant.pseudonym for participant in interviews.participants())
    of = len({match.at for match in matches})
    return NamesSheet(
        tuple(lines), transcripts, shown, of, sure, page, pages, state, name, interview, people, elsewhere
    )


def list_name_lines(interviews: Interviews, actor: str | None = None) -> list[NameLine]:
    """Returns every name with its progress, followed by the kinds of addresses that were found."""
    by_id: dict[str, list[KnownName]] = {}
    for known_name in list_names(interviews, actor):
        by_id.setdefault(known_name.id, []).append(known_name)
    progress = count_progress_by_name(interviews, actor)
    lines = [
        NameLine(name, known[0].shown, known[0].kind, tuple(known), progress.get(name, Progress()))
        for name, known in by_id.items()
    ]
    shapes = [
        NameLine(kind, shown, "by its shape", (), progress[kind])
        for kind, shown in REPLACEMENTS.items()
        if kind in progress
    ]
    return [*lines, *shapes]
