"""The names of a study on one sheet: what is known, how far each has come, and the places that wait for an answer."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.deidentify.contact_patterns import SHOWN
from quaestor.deidentify.name_forms import KnownName
from quaestor.interviews.names.known_names import INTERVIEWER, names_of
from quaestor.interviews.names.matches import OPEN, Progress, Proposal, progress_by_name, progress_of, proposals
from quaestor.interviews.names.remaining import TRANSCRIPT, WRITTEN, Remaining, remaining
from quaestor.interviews.repository import Interviews

WINDOW = 40
"""Places of a page."""


@dataclass(frozen=True)
class NameLine:
    """One name, all that it is known by together, and how far it has come."""

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
        """Whether it can be changed here; what follows from contact data or a transcript is changed there."""
        return bool(self.names) and self.id not in (self.names[0].participant, INTERVIEWER)


@dataclass(frozen=True)
class NamesSheet:
    """All of it, with a page of places."""

    lines: tuple[NameLine, ...]
    transcripts: tuple[tuple[str, Progress], ...]
    places: tuple[Proposal, ...]
    of: int
    """How many places there are in all, of those that were asked for."""
    sure: int
    """How many of these are surely names, each of one alone: all that can be replaced together."""
    page: int
    pages: int
    state: str
    name: str
    interview: str
    participants: tuple[str, ...]
    elsewhere: tuple[Remaining, ...]
    """Known names outside transcripts."""

    @property
    def written(self) -> int:
        """How many of these are in words that can be replaced."""
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
        """Whether every transcript was read for names."""
        return all(progress.done for _, progress in self.transcripts)

    def line(self, name: str) -> NameLine | None:
        return next((line for line in self.lines if line.id == name), None)


def names_sheet(
    interviews: Interviews,
    name: str = "",
    interview: str = "",
    state: str = OPEN,
    page: int = 1,
    actor: str | None = None,
) -> NamesSheet:
    """The names and a page of their places, for the lead; a page beyond the last is the last."""
    lines = name_lines(interviews, actor)
    matches = proposals(interviews, interview, name, state, actor)
    pages = max(1, -(-len(matches) // WINDOW))
    page = min(page, pages)
    transcripts = tuple(
        (interview.id, progress_of(interviews, interview.id))
        for interview in interviews.interviews()
        if interview.transcript
    )
    elsewhere = tuple(place for place in remaining(interviews) if place.kind != TRANSCRIPT)
    shown = tuple(matches[(page - 1) * WINDOW : page * WINDOW])
    sure = sum(match.sure and not match.also for match in matches)
    people = tuple(participant.pseudonym for participant in interviews.participants())
    of = len({match.at for match in matches})
    return NamesSheet(
        tuple(lines), transcripts, shown, of, sure, page, pages, state, name, interview, people, elsewhere
    )


def name_lines(interviews: Interviews, actor: str | None = None) -> list[NameLine]:
    """Every name with how far it has come; shapes of addresses after them, where some were found."""
    by_id: dict[str, list[KnownName]] = {}
    for known_name in names_of(interviews, actor):
        by_id.setdefault(known_name.id, []).append(known_name)
    progress = progress_by_name(interviews, actor)
    lines = [
        NameLine(name, known[0].shown, known[0].kind, tuple(known), progress.get(name, Progress()))
        for name, known in by_id.items()
    ]
    shapes = [
        NameLine(kind, shown, "by its shape", (), progress[kind]) for kind, shown in SHOWN.items() if kind in progress
    ]
    return [*lines, *shapes]
