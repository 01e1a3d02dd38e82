"""The state of a conversation, computed from its entries: the clock, and what was noted, ticked and skipped.

Entries are never changed: an amended note is a further entry, and both are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from quaestor.interviews.repository import Interviews
from quaestor.store.sealed_file import SealedEntry

CLOCK, NOTE, TICK, MARK = "clock", "note", "tick", "mark"
KINDS = (CLOCK, NOTE, TICK, MARK)
START, PAUSE, GO_ON, SECTION, END = "start", "pause", "go on", "section", "end"
ASKED, SKIPPED, FOLLOW_UP = "asked", "skipped", "follow-up"
PLANNED, RUNNING, PAUSED, ENDED = "planned", "running", "paused", "ended"
_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Clock:
    """Talking time, overall and per section, without pauses."""

    status: str = PLANNED
    section: str = ""
    by: str = ""
    """The person whose progress through the guide moves the clock from section to section."""
    talked: float = 0.0
    """Seconds up to the moment since when it runs, or when it stopped."""
    spent: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    since: float = 0.0
    began: float | None = None
    stopped: float | None = None
    """When it ended."""

    def elapsed(self, moment: float) -> float:
        """Returns the seconds of talk at a moment, given in seconds since 1970."""
        return self.talked + self._running(moment)

    def in_section(self, section: str, moment: float) -> float:
        return self.spent.get(section, 0.0) + (self._running(moment) if section == self.section else 0.0)

    def _running(self, moment: float) -> float:
        return max(moment - self.since, 0.0) if self.status == RUNNING else 0.0

    def after(self, entry: SealedEntry) -> Clock:
        """Returns the clock after one of its entries; an entry that changes nothing is ignored."""
        moment, what = parse_moment(entry), entry.content["what"]
        section = entry.content.get("section", "") or self.section
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
class NoteVersion:
    """One version of a note's text."""

    text: str
    at: float
    """Seconds of talk when it was written."""
    wall: str
    """The time of day when it was written."""


@dataclass(frozen=True)
class Note:
    """A note, or a question asked beyond the guide, with all its versions."""

    key: str
    by: str
    section: str
    question: str
    """Empty if it belongs to a whole section."""
    follow_up: bool
    versions: tuple[NoteVersion, ...]
    afterwards: bool = False
    """Whether it was written after the conversation had ended."""

    @property
    def text(self) -> str:
        """The current text; empty if its author withdrew it."""
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
    """An item that an interviewee referred to; `other` is one that the guide does not list."""

    question: str
    item: str
    other: str
    on: bool
    by: str
    at: float


@dataclass(frozen=True)
class TimeMark:
    """A record that a question was asked or skipped."""

    question: str
    what: str
    by: str
    at: float


@dataclass(frozen=True)
class Conversation:
    """The current state of a conversation."""

    clock: Clock = field(default_factory=Clock)
    notes: tuple[Note, ...] = ()
    """In the order in which they were written, withdrawn ones included."""
    ticks: tuple[Tick, ...] = ()
    """The latest state of each item."""
    marks: Mapping[tuple[str, str], TimeMark] = field(default_factory=lambda: MappingProxyType({}))
    """The marks in effect, by question and `asked` or `skipped`."""
    people: tuple[str, ...] = ()
    """The authors, in the order of their first entry."""

    def notes_on(self, question: str, section: str = "") -> list[Note]:
        """Returns the notes on a question, or on a whole section."""
        return [
            note
            for note in self.notes
            if note.text and note.question == question and (question or note.section == section)
        ]

    def ticked(self, question: str) -> list[Tick]:
        return [tick for tick in self.ticks if tick.on and tick.question == question]

    def state_of(self, question: str) -> str:
        """Returns `skipped`, `asked`, or an empty text if not reached; a question with an answer was asked."""
        if (question, SKIPPED) in self.marks:
            return SKIPPED
        if (question, ASKED) in self.marks or self.notes_on(question) or self.ticked(question):
            return ASKED
        return ""


def read_conversation(interviews: Interviews, name: str) -> Conversation:
    """Returns the conversation of an interview."""
    interviews.interview(name)
    return build_conversation(interviews.file.read_entries(about=name))


def build_conversation(entries: Sequence[SealedEntry]) -> Conversation:
    """Computes a conversation from its entries."""
    conversation_entries = sorted(
        (entry for entry in entries if entry.kind in KINDS),
        key=lambda entry_key: (parse_moment(entry_key), entry_key.number),
    )
    clock = compute_clock(conversation_entries)
    ticks: dict[tuple[str, str, str], Tick] = {}
    marks: dict[tuple[str, str], TimeMark] = {}
    for entry in conversation_entries:
        content = entry.content
        if entry.kind == TICK:
            item, other = content.get("item", ""), content.get("other", "")
            tick = Tick(content["question"], item, other, content["on"], entry.actor, content.get("at", 0.0))
            ticks[tick.question, tick.item, tick.other] = tick
        elif entry.kind == MARK and content["what"] != FOLLOW_UP:
            place = (content["question"], content["what"])
            marks.pop(place, None)
            if content["on"]:
                marks[place] = TimeMark(*place, entry.actor, content.get("at", 0.0))
    people = tuple(dict.fromkeys(entry.actor for entry in conversation_entries))
    return Conversation(clock, _notes(conversation_entries, clock), tuple(ticks.values()), marks, people)


def compute_clock(entries: Iterable[SealedEntry], until: float | None = None) -> Clock:
    """Computes the clock from its entries, from all of them or those up to a moment."""
    clock_entries = [
        entry for entry in entries if entry.kind == CLOCK and (until is None or parse_moment(entry) <= until)
    ]
    clock = Clock()
    for entry in sorted(clock_entries, key=lambda entry: (parse_moment(entry), entry.number)):
        clock = clock.after(entry)
    return clock


def changes_clock(clock: Clock, what: str, section: str, actor: str) -> bool:
    """Whether an act would change anything: if two people press the same button at once, it counts once."""
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


def is_note(entry: SealedEntry) -> bool:
    """Whether an entry has a text: a note, or a question asked beyond the guide."""
    return entry.kind == NOTE or (entry.kind == MARK and entry.content["what"] == FOLLOW_UP)


def parse_moment(entry: SealedEntry) -> float:
    """Returns when an entry was written, in seconds since 1970; without a connection that is before it arrived."""
    return datetime.fromisoformat(entry.content.get("wall") or entry.time).timestamp()


def _notes(entries: Sequence[SealedEntry], clock: Clock) -> tuple[Note, ...]:
    notes: dict[str, Note] = {}
    for entry in sorted((entry for entry in entries if is_note(entry)), key=lambda entry: entry.number):
        content = entry.content
        version = NoteVersion(content.get("text", ""), float(content.get("at", 0.0)), content.get("wall") or entry.time)
        first = notes.get(content.get("amends", ""))
        versions = (*first.versions, version) if first else (version,)
        if first:
            fields = (first.key, first.by, first.section, first.question, first.follow_up, versions, first.afterwards)
        else:
            late = clock.stopped is not None and parse_moment(entry) > clock.stopped
            place = (content.get("section", ""), content["question"])
            fields = (entry.key, entry.actor, *place, entry.kind == MARK, versions, late)
        notes[fields[0]] = Note(*fields)
    return tuple(sorted(notes.values(), key=lambda note: datetime.fromisoformat(note.wall)))
