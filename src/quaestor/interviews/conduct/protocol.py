"""The protocol of an interview: questions asked, skipped and added, notes with their times, and time per section."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError
from quaestor.interviews.conduct.conversation_state import ASKED, SKIPPED, Clock, Note, TimeMark, read_conversation
from quaestor.interviews.model.records import (
    Guide,
    GuideQuestion,
    GuideSection,
    Interview,
    describe_participant,
    format_clock,
)
from quaestor.interviews.participants.consent import ParticipantConsent, find_consent
from quaestor.interviews.repository import Interviews

NOT_REACHED = "not reached"


@dataclass(frozen=True)
class TickedItem:
    """An item that the interviewee referred to, with its label."""

    item: str
    """Its code; empty if the guide does not list it."""
    label: str
    by: str
    at: float


@dataclass(frozen=True)
class ProtocolQuestion:
    """A question with its state, ticks and notes."""

    question: GuideQuestion
    state: str  # asked, skipped, not reached
    mark: TimeMark | None
    """By whom and when it was marked; None if the state follows from notes and ticks."""
    ticks: tuple[TickedItem, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class ProtocolSection:
    """A section with its time."""

    section: GuideSection
    used: float
    notes: tuple[Note, ...]
    """Notes on the section as a whole."""
    questions: tuple[ProtocolQuestion, ...]

    @property
    def planned(self) -> float:
        return self.section.minutes * 60

    @property
    def over(self) -> float:
        """Seconds beyond the plan; less than half a minute counts as none."""
        return self.used - self.planned if self.used - self.planned >= 30 else 0.0


@dataclass(frozen=True)
class Protocol:
    """The protocol of one interview."""

    interview: Interview
    guide: Guide
    about: str
    consent: ParticipantConsent
    clock: Clock
    talked: float
    """Seconds up to the end, or to now."""
    people: tuple[str, ...]
    sections: tuple[ProtocolSection, ...]

    @property
    def begun(self) -> bool:
        """Whether anything is recorded, with or without a clock."""
        return bool(self.people)

    @property
    def ended(self) -> bool:
        return self.clock.stopped is not None

    @property
    def paused(self) -> float:
        """Seconds of pauses between start and end."""
        if self.clock.began is None or self.clock.stopped is None:
            return 0.0
        return max(self.clock.stopped - self.clock.began - self.clock.talked, 0.0)

    @property
    def hours(self) -> str:
        """Start and end as times of day."""
        if self.clock.began is None:
            return ""
        began, stopped = _format_time_of_day(self.clock.began), _format_time_of_day(self.clock.stopped)
        return f"{began} to {stopped} UTC" if stopped else f"from {began} UTC"

    @property
    def longest(self) -> float:
        """The length of the widest bar in seconds."""
        return max((*(max(section.planned, section.used) for section in self.sections), 1.0))

    def lines(self) -> Iterator[ProtocolQuestion]:
        for section in self.sections:
            yield from section.questions

    def count(self, state: str) -> int:
        return sum(line.state == state for line in self.lines())

    @property
    def added(self) -> int:
        """The number of questions asked beyond the guide."""
        notes = [note for section in self.sections for note in section.notes]
        return sum(note.follow_up for note in [*notes, *(note for line in self.lines() for note in line.notes)])


def build_protocol(interviews: Interviews, name: str) -> Protocol:
    """Builds the protocol of an interview, as far as it has been held."""
    interview = interviews.interview(name)
    guide, talk = interviews.guide_of(interview), read_conversation(interviews, name)
    moment = datetime.fromisoformat(interviews.now()).timestamp()

    def line(question: GuideQuestion) -> ProtocolQuestion:
        labels = {item.code: item.label for item in question.items}
        ticked = talk.ticked(question.id)
        ticks = [TickedItem(tick.item, labels.get(tick.item, tick.other), tick.by, tick.at) for tick in ticked]
        order = list(labels)
        ticks.sort(key=lambda tick: order.index(tick.item) if tick.item else len(order))
        state = talk.state_of(question.id) or NOT_REACHED
        mark = talk.marks.get((question.id, state))
        return ProtocolQuestion(question, state, mark, tuple(ticks), tuple(talk.notes_on(question.id)))

    sections = tuple(
        ProtocolSection(
            section,
            talk.clock.in_section(section.id, moment),
            tuple(talk.notes_on("", section.id)),
            tuple(line(question) for question in section.questions),
        )
        for section in guide.sections
    )
    person = describe_participant(interviews.participant(interview.participant))
    consent, talked = find_consent(interviews, interview.participant), talk.clock.elapsed(moment)
    return Protocol(interview, guide, person, consent, talk.clock, talked, talk.people, sections)


def build_protocol_json(protocol: Protocol) -> dict[str, Any]:
    """Returns the protocol as plain values."""

    def note_json(note: Note) -> dict[str, Any]:
        versions = [{"text": version.text, "at": version.at, "time": version.wall} for version in note.versions]
        content = {"by": note.by, "at": note.at, "time": note.wall, "text": note.text, "follow_up": note.follow_up}
        return {**content, "afterwards": note.afterwards, "versions": versions}

    return {
        "interview": protocol.interview.id,
        "participant": protocol.interview.participant,
        "guide": protocol.interview.guide,
        "version": protocol.interview.version,
        "status": protocol.interview.status,
        "day": protocol.interview.day,
        "talked": round(protocol.talked, 1),
        "paused": round(protocol.paused, 1),
        "people": list(protocol.people),
        "sections": [
            {
                "section": section.section.id,
                "planned": section.planned,
                "used": round(section.used, 1),
                "notes": [note_json(note) for note in section.notes],
                "questions": [
                    {
                        "question": line.question.id,
                        "state": line.state,
                        "marked": {"by": line.mark.by, "at": line.mark.at} if line.mark else None,
                        "ticks": [asdict(tick) for tick in line.ticks],
                        "notes": [note_json(note) for note in line.notes],
                    }
                    for line in section.questions
                ],
            }
            for section in protocol.sections
        ],
    }


def format_protocol(protocol: Protocol) -> str:
    """Returns the protocol as Markdown to keep, print or edit."""
    interview, consent = protocol.interview, protocol.consent
    counts = [f"{protocol.count(state)} {state}" for state in (ASKED, SKIPPED, NOT_REACHED)]
    head = [
        f"# Protocol of the interview {interview.id}",
        "",
        *([f"{_escape_markdown(protocol.about)}", ""] if protocol.about else []),
        f"- Guide: {_escape_markdown(protocol.guide.title)} ({interview.guide}, version {interview.version})",
        *([f"- Consent: {consent.words}, {consent.how}, {consent.day}"] if consent.what else []),
        f"- Held: {' '.join(part for part in (interview.day, protocol.hours) if part) or 'not yet'}",
        f"- Talked: {format_clock(protocol.talked)} of {protocol.guide.minutes:g} minutes planned"
        + (f", {format_clock(protocol.paused)} of pauses not counted" if protocol.paused >= 1 else ""),
        f"- Questions: {', '.join(counts)}, {protocol.added} added",
        *([f"- Notes by: {', '.join(map(_escape_markdown, protocol.people))}"] if protocol.people else []),
        "",
        "| section | planned | used |",
        "| --- | ---: | ---: |",
        *(
            f"| {_escape_markdown(line.section.title)} | {format_clock(line.planned)} | {format_clock(line.used)} |"
            for line in protocol.sections
        ),
    ]
    return (
        "\n".join([*head, "", *(text for line in protocol.sections for text in _format_section(line))]).rstrip() + "\n"
    )


def write_protocol(protocol: Protocol, path: Path) -> None:
    """Writes the protocol to a file that only its owner can read, because it contains what was said."""
    text = format_protocol(protocol).encode()
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            path.chmod(0o600)
            file.write(text)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}): name a file in an existing folder") from None


def _format_section(line: ProtocolSection) -> Iterator[str]:
    yield f"## {_escape_markdown(line.section.title)}"
    yield ""
    yield from _format_notes(line.notes)
    for question in line.questions:
        yield f"### {_escape_markdown(question.question.text)}"
        yield ""
        if question.mark or question.state != ASKED:
            when = f", {format_clock(question.mark.at)}, {_escape_markdown(question.mark.by)}" if question.mark else ""
            yield f"*{question.state}{when}*"
            yield ""
        if question.ticks:
            tick_lines = (
                f"{_escape_markdown(tick.label)} ({format_clock(tick.at)}, {_escape_markdown(tick.by)})"
                for tick in question.ticks
            )
            yield "Referred to: " + "; ".join(tick_lines)
            yield ""
        yield from _format_notes(question.notes)


def _format_notes(notes: tuple[Note, ...]) -> Iterator[str]:
    for note in notes:
        when = "afterwards" if note.afterwards else format_clock(note.at)
        kind = " follow-up question:" if note.follow_up else ""
        words = "\\\n  ".join(_escape_markdown(text) for text in note.text.split("\n"))
        yield f"- **{when}** {_escape_markdown(note.by)}{' (amended)' if note.amended else ''}:{kind} {words}"
    if notes:
        yield ""


def _escape_markdown(text: str) -> str:
    """Escapes a text for Markdown, so that nothing in it is read as markup."""
    escaped = re.sub(r"([\\`*_\[\]<>|&])", r"\\\1", text)
    return re.sub(r"^(\s*\d*)([#+=~.)-])", r"\1\\\2", escaped)


def _format_time_of_day(moment: float | None) -> str:
    return "" if moment is None else datetime.fromtimestamp(moment, UTC).strftime("%H:%M")
