"""A conversation as it goes: where the clock stands, what was noted, ticked and skipped, worked out from what is kept.

Nothing here is ever changed: a note that its author words anew is followed by another, and both stay on record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from quaestor.interviews.repository import Interviews
from quaestor.store.sealed_file import Entry

CLOCK, NOTE, TICK, MARK = "clock", "note", "tick", "mark"
KINDS = (CLOCK, NOTE, TICK, MARK)
START, PAUSE, GO_ON, SECTION, END = "start", "pause", "go on", "section", "end"
ASKED, SKIPPED, FOLLOW_UP = "asked", "skipped", "follow-up"
PLANNED, RUNNING, PAUSED, ENDED = "planned", "running", "paused", "ended"
_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Clock:
    """How long was talked, overall and in each section; pauses do not count."""

    status: str = PLANNED
    section: str = ""
    by: str = ""
    """Whose way through the guide moves the clock from section to section."""
    talked: float = 0.0
    """Seconds up to the moment since which it runs, or at which it stopped."""
    spent: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    since: float = 0.0
    began: float | None = None
    stopped: float | None = None
    """When it ended."""

    def elapsed(self, moment: float) -> float:
        """Seconds of talk at a moment, in seconds since 1970."""
        return self.talked + self._running(moment)

    def in_section(self, section: str, moment: float) -> float:
        return self.spent.get(section, 0.0) + (self._running(moment) if section == self.section else 0.0)

    def _running(self, moment: float) -> float:
        return max(moment - self.since, 0.0) if self.status == RUNNING else 0.0

    def after(self, entry: Entry) -> Clock:
        """The clock after one of its entries; one that changes nothing is passed over."""
        moment, what = moment_of(entry), entry.said["what"]
        section = entry.said.get("section", "") or self.section
        if not changes_clock(self, what, section, entry.actor):
            return self
        spent = (
            {**self.spent, self.section: self.in_section(self.section, moment)}
            if self.began is not None
            else self.spent
        )
        status = {START: RUNNING, GO_ON: RUNNING, PAUSE: PAUSED, END: ENDED}.get(what, self.status)
        return Clock(
            status,
            section,
            entry.actor if what in (START, SECTION) else self.by,
            self.elapsed(moment),
            spent,
            moment,
            moment if self.began is None else self.began,
            moment if status == ENDED else None,
        )


@dataclass(frozen=True)
class Version:
    """The words of a note as its author left them once."""

    text: str
    at: float
    """Seconds of talk when they were written."""
    wall: str
    """When that was."""


@dataclass(frozen=True)
class Note:
    """A note, or a question that was asked beyond the guide, with all that its author made of it."""

    key: str
    by: str
    section: str
    question: str
    """Empty where it belongs to a section as a whole."""
    follow_up: bool
    versions: tuple[Version, ...]
    afterwards: bool = False
    """Whether it was written when the conversation had ended."""

    @property
    def text(self) -> str:
        """What it says now; empty where its author took it back."""
        return self.versions[-1].text

    @property
    def at(self) -> float:
        return self.versions[0].at

    @property
    def wall(self) -> str:
        return self.versions[0].wall

    @property
    def amended(self) -> bool:
        return len(self.versions) > 1


@dataclass(frozen=True)
class Tick:
    """An item that an interviewee referred to; `other` is one that the guide does not name."""

    question: str
    item: str
    other: str
    on: bool
    by: str
    at: float


@dataclass(frozen=True)
class Mark:
    """That a question was asked or skipped, as somebody said it."""

    question: str
    what: str
    by: str
    at: float


@dataclass(frozen=True)
class Conversation:
    """All of it, as it stands."""

    clock: Clock = field(default_factory=Clock)
    notes: tuple[Note, ...] = ()
    """In the order in which they were written; those that were taken back too."""
    ticks: tuple[Tick, ...] = ()
    """The last word on each item."""
    marks: Mapping[tuple[str, str], Mark] = field(default_factory=lambda: MappingProxyType({}))
    """By question and what it is marked as, `asked` or `skipped`: those that hold."""
    people: tuple[str, ...] = ()
    """Who wrote anything, in the order in which they first did."""

    def notes_on(self, question: str, section: str = "") -> list[Note]:
        """What is noted on a question, or on a section as a whole."""
        return [
            note
            for note in self.notes
            if note.text and note.question == question and (question or note.section == section)
        ]

    def ticked(self, question: str) -> list[Tick]:
        return [tick for tick in self.ticks if tick.on and tick.question == question]

    def state_of(self, question: str) -> str:
        """`skipped`, `asked`, or nothing where nobody got there; what has an answer was asked."""
        if (question, SKIPPED) in self.marks:
            return SKIPPED
        if (question, ASKED) in self.marks or self.notes_on(question) or self.ticked(question):
            return ASKED
        return ""


def conversation(interviews: Interviews, name: str) -> Conversation:
    """The conversation of an interview."""
    interviews.interview(name)
    return conversation_in(interviews.file.entries(about=name))


def conversation_in(entries: Sequence[Entry]) -> Conversation:
    """A conversation from what was kept of it."""
    conversation_entries = sorted(
        (entry for entry in entries if entry.kind in KINDS),
        key=lambda entry_key: (moment_of(entry_key), entry_key.number),
    )
    clock = clock_in(conversation_entries)
    ticks: dict[tuple[str, str, str], Tick] = {}
    marks: dict[tuple[str, str], Mark] = {}
    for one in conversation_entries:
        content = one.said
        if one.kind == TICK:
            item, other = content.get("item", ""), content.get("other", "")
            tick = Tick(content["question"], item, other, content["on"], one.actor, content.get("at", 0.0))
            ticks[tick.question, tick.item, tick.other] = tick
        elif one.kind == MARK and content["what"] != FOLLOW_UP:
            place = (content["question"], content["what"])
            marks.pop(place, None)
            if content["on"]:
                marks[place] = Mark(*place, one.actor, content.get("at", 0.0))
    people = tuple(dict.fromkeys(entry.actor for entry in conversation_entries))
    return Conversation(clock, _notes(conversation_entries, clock), tuple(ticks.values()), marks, people)


def clock_in(entries: Iterable[Entry], until: float | None = None) -> Clock:
    """The clock as its entries left it, all of them or those up to a moment."""
    clock_entries = [entry for entry in entries if entry.kind == CLOCK and (until is None or moment_of(entry) <= until)]
    clock = Clock()
    for one in sorted(clock_entries, key=lambda one: (moment_of(one), one.number)):
        clock = clock.after(one)
    return clock


def changes_clock(clock: Clock, what: str, section: str, actor: str) -> bool:
    """Whether an act would do anything: two who press the same button at once mean it once."""
    match what:
        case "start":
            return clock.status == PLANNED
        case "pause":
            return clock.status == RUNNING
        case "go on":
            return clock.status in (PAUSED, ENDED)
        case "end":
            return clock.status in (RUNNING, PAUSED)
        case _:
            return clock.status in (RUNNING, PAUSED) and (section, actor) != (clock.section, clock.by)


def is_note(entry: Entry) -> bool:
    """Whether an entry holds words: a note, or a question that was asked beyond the guide."""
    return entry.kind == NOTE or (entry.kind == MARK and entry.said["what"] == FOLLOW_UP)


def moment_of(entry: Entry) -> float:
    """When something was written, which is before it came in where the line was cut; in seconds since 1970."""
    return datetime.fromisoformat(entry.said.get("wall") or entry.time).timestamp()


def _notes(entries: Sequence[Entry], clock: Clock) -> tuple[Note, ...]:
    notes: dict[str, Note] = {}
    for one in sorted((entry for entry in entries if is_note(entry)), key=lambda entry: entry.number):
        content = one.said
        version = Version(content.get("text", ""), float(content.get("at", 0.0)), content.get("wall") or one.time)
        first = notes.get(content.get("amends", ""))
        versions = (*first.versions, version) if first else (version,)
        if first:
            fields = (first.key, first.by, first.section, first.question, first.follow_up, versions, first.afterwards)
        else:
            late = clock.stopped is not None and moment_of(one) > clock.stopped
            place = (content.get("section", ""), content["question"])
            fields = (one.key, one.actor, *place, one.kind == MARK, versions, late)
        notes[fields[0]] = Note(*fields)
    return tuple(sorted(notes.values(), key=lambda note: datetime.fromisoformat(note.wall)))
