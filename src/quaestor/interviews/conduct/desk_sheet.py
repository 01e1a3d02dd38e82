"""The interviewer's page: the guide stop by stop with what is recorded at each, and the changes since a page load."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from quaestor.interviews.conduct.conversation_state import (
    CLOCK,
    FOLLOW_UP,
    KINDS,
    MARK,
    RUNNING,
    TICK,
    Clock,
    Conversation,
    Note,
    build_conversation,
)
from quaestor.interviews.model.records import Guide, GuideQuestion, GuideSection, Interview
from quaestor.interviews.participants.consent import ParticipantConsent, find_consent
from quaestor.interviews.repository import Interviews
from quaestor.store.sealed_file import SealedEntry


@dataclass(frozen=True)
class Stop:
    """A step through a guide: a question, or a text that is read to everybody."""

    number: int
    section: GuideSection
    question: GuideQuestion | None = None
    says: bool = False
    """Whether the script of its section is read here."""

    @property
    def title(self) -> str:
        return self.question.text if self.question else self.section.title


@dataclass(frozen=True)
class SectionClock:
    """A section with its planned and used time."""

    section: GuideSection
    used: float
    stops: tuple[Stop, ...]

    @property
    def planned(self) -> float:
        return self.section.minutes * 60


@dataclass(frozen=True)
class DeskSheet:
    """Everything that the interviewer's page shows to one person."""

    interview: Interview
    guide: Guide
    consent: ParticipantConsent
    opened: str
    actor: str
    conversation: Conversation
    stops: tuple[Stop, ...]
    sections: tuple[SectionClock, ...]
    head: int
    moment: float
    """Seconds since 1970."""

    @property
    def clock(self) -> Clock:
        return self.conversation.clock

    @property
    def elapsed(self) -> float:
        return self.clock.elapsed(self.moment)

    @property
    def leads_the_way(self) -> bool:
        """Whether the clock follows this person from section to section."""
        return self.clock.by in ("", self.actor)

    def at(self, number: int | None) -> Stop:
        """Returns the requested stop; without one, the first open stop of the clock's section, or the first stop."""
        if number is not None and 0 <= number < len(self.stops):
            return self.stops[number]
        here = [stop for stop in self.stops if stop.section.id == self.clock.section]
        return next((stop for stop in here if not self.state_of(stop)), (here or self.stops)[0])

    def state_of(self, stop: Stop) -> str:
        return self.conversation.state_of(stop.question.id) if stop.question else ""

    def notes_at(self, stop: Stop) -> list[Note]:
        return self.conversation.notes_on(stop.question.id if stop.question else "", stop.section.id)

    def note(self, key: str) -> Note | None:
        """Returns the actor's own note with this key, to amend it."""
        return next((note for note in self.conversation.notes if note.key == key and note.by == self.actor), None)


def list_stops(guide: Guide) -> tuple[Stop, ...]:
    """Lists the stops of a guide; openings and closings are stops of their own, other scripts precede a question."""
    stops: list[Stop] = []
    for section in guide.sections:
        alone = bool(section.part) or not section.questions
        if alone:
            stops.append(Stop(len(stops), section, None, says=True))
        for question in section.questions:
            first = question is section.questions[0] and not alone
            stops.append(Stop(len(stops), section, question, says=first))
    return tuple(stops)


def build_desk_sheet(interviews: Interviews, name: str, actor: str) -> DeskSheet:
    """Builds the interviewer's page as of now."""
    interview, entries = interviews.interview(name), interviews.file.read_entries(about=name)
    guide, conversation, moment = interviews.guide_of(interview), build_conversation(entries), _moment(interviews)
    stops = list_stops(guide)
    sections = tuple(
        SectionClock(
            section,
            conversation.clock.in_section(section.id, moment),
            tuple(stop for stop in stops if stop.section.id == section.id),
        )
        for section in guide.sections
    )
    return DeskSheet(
        interview,
        guide,
        find_consent(interviews, interview.participant),
        next(entry.key for entry in entries if entry.kind == "interview"),
        actor,
        conversation,
        stops,
        sections,
        entries[-1].number,
        moment,
    )


def list_changes_since(interviews: Interviews, name: str, after: int) -> dict[str, Any]:
    """Returns the entries after a number and the current clock; pages poll this."""
    head = interviews.file.read_head(name)
    if not head:
        interviews.interview(name)
    entries = interviews.file.read_entries(about=name)
    conversation = build_conversation(entries)
    return {
        "head": max(head, after),
        "clock": build_clock_json(conversation.clock, _moment(interviews)),
        "entries": [
            build_entry_json(entry) | _find_effect(conversation, entry)
            for entry in entries
            if entry.number > after and entry.kind in KINDS
        ],
    }


def build_clock_json(clock: Clock, moment: float) -> dict[str, Any]:
    """Returns the state of a clock at a moment."""
    spent = {name: round(clock.in_section(name, moment), 1) for name in {*clock.spent, clock.section} if name}
    return {
        "status": clock.status,
        "section": clock.section,
        "by": clock.by,
        "elapsed": round(clock.elapsed(moment), 1),
        "spent": spent,
        "runs": clock.status == RUNNING,
        "now": moment,
    }


def build_entry_json(entry: SealedEntry) -> dict[str, Any]:
    """Returns an entry of a conversation as pages and programs receive it."""
    act = "clock" if entry.kind == CLOCK else "note" if entry.content.get("what") == "follow-up" else entry.kind
    change = {"number": entry.number, "key": entry.key, "by": entry.actor, "act": act, **entry.content}
    return change | {"follow_up": entry.content.get("what") == "follow-up"} if act == "note" else change


def _find_effect(conversation: Conversation, entry: SealedEntry) -> dict[str, bool]:
    """Whether a tick or a mark is in effect: one that arrives late may already have been undone."""
    content = entry.content
    if entry.kind == TICK:
        ticked = {(tick.item, tick.other) for tick in conversation.ticked(content["question"])}
        return {"on": (content.get("item", ""), content.get("other", "")) in ticked}
    if entry.kind == MARK and content["what"] != FOLLOW_UP:
        return {"on": (content["question"], content["what"]) in conversation.marks}
    return {}


def _moment(interviews: Interviews) -> float:
    return datetime.fromisoformat(interviews.now()).timestamp()
