"""Records what happens in an interview: notes, ticks, marks, the clock; each is on disk before it is acknowledged.

Each act has a key: sent again after a lost connection, it is the same act. Each has the moment when it was done, which
may be before it arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or, suggest
from quaestor.coding.rating_files import WrongStudy
from quaestor.interviews.conduct.conversation_state import (
    ASKED,
    CLOCK,
    END,
    FOLLOW_UP,
    GO_ON,
    MARK,
    NOTE,
    PAUSE,
    PAUSED,
    RUNNING,
    SECTION,
    SKIPPED,
    START,
    TICK,
    build_conversation,
    changes_clock,
    compute_clock,
    is_note,
    parse_moment,
)
from quaestor.interviews.conduct.desk_sheet import DeskSheet, Stop, build_desk_sheet
from quaestor.interviews.model.records import Guide, GuideQuestion
from quaestor.interviews.participants.consent import require_consent
from quaestor.interviews.repository import Interviews
from quaestor.store.records import new_key
from quaestor.store.sealed_file import NewEntry, SealedEntry

LONGEST = 10_000
"""Most characters of a note."""
LONGEST_OTHER = 300
_CLOCK = (START, PAUSE, GO_ON, SECTION, END)
_MARKS = (ASKED, SKIPPED)
Changes = Callable[[Sequence[SealedEntry], float], bool]
"""Whether an act changes anything, given the recorded entries and its moment; raises an error if it is invalid."""


@dataclass(frozen=True)
class Stamp:
    """The author and time of an act; an act sent twice has the same key."""

    actor: str
    key: str = ""
    when: float | None = None
    """Seconds since 1970; None for now."""
    opened: str = ""
    """The key of the interview: another study at the same address may have an interview of the same name."""


def take_note(
    interviews: Interviews,
    name: str,
    stamp: Stamp,
    text: str,
    question: str = "",
    section: str = "",
    follow_up: bool = False,
    amends: str = "",
) -> SealedEntry | None:
    """Records a note, or a question asked beyond the guide.

    `amends` is the key of an earlier note by the same author: the new text replaces it, and the old one stays in the
    history; an empty text withdraws the note.
    """
    guide = _find_guide(interviews, name)
    words = _clean_text(text, LONGEST, "a note")
    if question:
        guide_section = guide.section_of(_find_question(guide, question).id)
        section = guide_section.id if guide_section else ""
    else:
        _require_section(guide, section)
    if not words and not amends:
        raise InputError("the note is empty: write what was said")
    content: dict[str, Any] = {"question": question, "section": section, "text": words}
    if follow_up:
        content |= {"what": FOLLOW_UP, "on": bool(words)}
    if amends:
        content["amends"] = amends

    def changes(known: Sequence[SealedEntry], moment: float) -> bool:
        first = next((entry for entry in known if entry.key == amends and is_note(entry)), None)
        if amends and (first is None or first.content.get("amends")):
            raise InputError("the note to amend is not in this interview: reload the page")
        if first is not None and first.actor != stamp.actor:
            raise StateError(f"this note is by {first.actor}: only they can amend it; add a note of your own")
        if first is not None and (first.content["question"], first.kind == MARK) != (question, follow_up):
            raise InputError("an amended note stays with its question: write a new note for another question")
        return (
            first is None or next(note for note in build_conversation(known).notes if note.key == amends).text != words
        )

    return _record_entry(interviews, name, MARK if follow_up else NOTE, content, stamp, changes)


def tick_item(
    interviews: Interviews, name: str, stamp: Stamp, question: str, item: str = "", other: str = "", on: bool = True
) -> SealedEntry | None:
    """Records that the interviewee refers to an item of a question, or to one that the guide does not list."""
    guide_question = _find_question(_find_guide(interviews, name), question)
    words = " ".join(_clean_text(other, LONGEST_OTHER, "another item").split())
    if bool(item) == bool(words):
        raise InputError(f"nothing was ticked in {question!r}: name one of its items, or describe another one")
    codes = [reference_item.code for reference_item in guide_question.items]
    if item and item not in codes:
        options = suggest(item, codes) or "none"
        raise InputError(f"there is no item {item[:60]!r} in the question {question!r}; choose from: {options}")
    if words and not guide_question.other:
        raise InputError(f"the question {question!r} allows only the items of the guide: write a note instead")
    content = {"question": question, "item": item, "other": words, "on": on}

    def changes(known: Sequence[SealedEntry], moment: float) -> bool:
        now = [(ticked.item, ticked.other) for ticked in build_conversation(known).ticked(question)]
        return ((item, words) in now) != on

    return _record_entry(interviews, name, TICK, content, stamp, changes)


def mark_question(
    interviews: Interviews, name: str, stamp: Stamp, question: str, what: str, on: bool = True
) -> SealedEntry | None:
    """Records that a question was asked or skipped, or takes that back."""
    _find_question(_find_guide(interviews, name), question)
    if what not in _MARKS:
        raise InputError(f"a question cannot be marked as {what[:40]!r}: use {join_with_or(_MARKS)}")
    content = {"question": question, "what": what, "on": on}

    def changes(known: Sequence[SealedEntry], moment: float) -> bool:
        return ((question, what) in build_conversation(known).marks) != on

    return _record_entry(interviews, name, MARK, content, stamp, changes)


def move_clock(interviews: Interviews, name: str, stamp: Stamp, what: str, section: str = "") -> SealedEntry | None:
    """Starts, pauses, resumes or ends the clock, or moves it to another section."""
    guide = _find_guide(interviews, name)
    if what not in _CLOCK:
        raise InputError(f"the clock has no action {what[:40]!r}: use {join_with_or(_CLOCK)}")
    if what == START and not section:
        section = guide.sections[0].id
    if what in (START, SECTION):
        _require_section(guide, section)
    content = {"what": what, "section": section}

    def changes(known: Sequence[SealedEntry], moment: float) -> bool:
        if any(entry.kind == CLOCK and entry.actor != stamp.actor and parse_moment(entry) > moment for entry in known):
            return False  # pressed offline while others went on: their clock counts
        return changes_clock(compute_clock(known, moment), what, section, stamp.actor)

    return _record_entry(interviews, name, CLOCK, content, stamp, changes)


def _record_entry(
    interviews: Interviews, name: str, kind: str, content: Mapping[str, Any], stamp: Stamp, changes: Changes
) -> SealedEntry | None:
    """Records an act in one transaction; returns None if it would change nothing."""
    participant = interviews.interview(name).participant
    made_up = interviews.participant(participant).synthetic  # the times of a synthetic participant are made up too
    require_consent(interviews, participant, "take notes")

    def decide(known: Sequence[SealedEntry]) -> list[NewEntry]:
        planned = next((entry for entry in known if entry.kind == "interview"), None)
        if planned is None:
            raise StateError(f"{participant} has withdrawn: nothing can be recorded about them")
        if stamp.opened not in ("", planned.key):
            raise WrongStudy(f"this was written in another interview that is also called {name}")
        sent = next((entry for entry in known if stamp.key and entry.key == stamp.key), None)
        if sent is not None:
            same = (sent.kind, sent.actor) == (kind, stamp.actor)
            if not same or any(sent.content.get(part) != value for part, value in content.items()):
                raise StateError(f"the key of this {kind} has already been used for something else")
            return [NewEntry(kind, sent.actor, sent.content, participant, name, sent.time, sent.key)]
        now = interviews.now()
        present = datetime.fromisoformat(now).timestamp()
        moment = (
            stamp.when
            if made_up and stamp.when is not None
            else _limit_moment(stamp.when, parse_moment(planned), present)
        )
        try:
            wall = datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")
        except (ValueError, OverflowError, OSError):
            raise InputError(f"{moment:g} is not a valid time: give it in seconds since 1970") from None
        if not changes(known, moment):
            return []
        at = round(compute_clock(known, moment).elapsed(moment), 1)
        stamped = {**content, "at": at, "wall": wall}
        return [NewEntry(kind, stamp.actor, stamped, participant, name, now, stamp.key or new_key())]

    return next(iter(interviews.file.add_computed(decide, about=name)), None)


def _limit_moment(when: float | None, planned: float, now: float) -> float:
    """Limits a moment to the time between planning the interview and now."""
    return now if when is None or not when < now else max(when, planned)


def _find_guide(interviews: Interviews, name: str) -> Guide:
    return interviews.guide_of(interviews.interview(name))


def _find_question(guide: Guide, name: str) -> GuideQuestion:
    guide_question = guide.question(name)
    if guide_question is None:
        options = suggest(name, [question.id for question in guide.questions()])
        raise InputError(f"there is no question {name[:60]!r} in the guide {guide.id!r}; choose from: {options}")
    return guide_question


def _require_section(guide: Guide, name: str) -> None:
    known = [section.id for section in guide.sections]
    if name not in known:
        options = suggest(name, known)
        raise InputError(f"there is no section {name[:60]!r} in the guide {guide.id!r}; choose from: {options}")


def _clean_text(text: str, most: int, what: str) -> str:
    """Returns a typed text without characters that a file cannot store."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\r\n", "\n").replace("\0", "")
    if len(whole.strip()) > most:
        raise InputError(f"{what} has {len(whole):,} characters: use fewer than {most:,}, or split it in two")
    return whole.strip()


SAVE, NEXT, SKIP, ASK_AFTER_ALL = "save", "next", "skip", "ask"
OTHER = "other:"
"""The prefix of an item that the guide does not list."""


@dataclass(frozen=True)
class StopForm:
    """The form of one stop as it was submitted."""

    stop: int
    do: str
    """`save`, `next`, `skip`, or `ask` to undo a skip."""
    note: str = ""
    follow_up: bool = False
    amends: str = ""
    items: frozenset[str] = frozenset()
    """What is ticked: codes, and `other:` with a text."""
    was: frozenset[str] = frozenset()
    """What was ticked when the form was shown, so that what others ticked since then stays."""
    other: str = ""


def record_act(interviews: Interviews, name: str, stamp: Stamp, act: Mapping[str, Any]) -> SealedEntry | None:
    """Carries out an act sent by a script; returns None if it changes nothing."""

    def words(part: str) -> str:
        return str(act.get(part, ""))

    question, on = words("question"), bool(act.get("on", True))
    match act.get("act"):
        case "note":
            follow_up = bool(act.get("follow_up"))
            place = (question, words("section"), follow_up)
            return take_note(interviews, name, stamp, words("text"), *place, words("amends"))
        case "tick":
            return tick_item(interviews, name, stamp, question, words("item"), words("other"), on)
        case "mark":
            return mark_question(interviews, name, stamp, question, words("what"), on)
        case "clock":
            return move_clock(interviews, name, stamp, words("what"), words("section"))
        case unknown:
            raise InputError(f"there is no action {str(unknown)[:60]!r}: reload the page")


def submit_stop(interviews: Interviews, name: str, stamp: Stamp, sent: StopForm) -> int:
    """Records everything in a form and follows its button; returns the number of the stop to show."""
    sheet = build_desk_sheet(interviews, name, stamp.actor)
    stop = sheet.at(sent.stop)
    question = stop.question.id if stop.question else ""
    for value in sorted(sent.items ^ sent.was) if question else ():
        place = {"other": value.removeprefix(OTHER)} if value.startswith(OTHER) else {"item": value}
        tick_item(interviews, name, _derive_stamp(stamp, value), question, on=value in sent.items, **place)
    if question and sent.other.strip():
        tick_item(interviews, name, _derive_stamp(stamp, "other"), question, other=sent.other)
    if sent.note.strip() or sent.amends:
        follow_up = sent.follow_up
        if sent.amends and (amended := sheet.note(sent.amends)):
            follow_up = amended.follow_up
        words, section = sent.note, "" if question else stop.section.id
        take_note(interviews, name, _derive_stamp(stamp, "note"), words, question, section, follow_up, sent.amends)
    return _move_on(interviews, name, stamp, sheet, stop, sent.do)


def _move_on(interviews: Interviews, name: str, stamp: Stamp, sheet: DeskSheet, stop: Stop, do: str) -> int:
    leads = sheet.clock.status in (RUNNING, PAUSED) and sheet.leads_the_way
    if stop.question and do in (SKIP, ASK_AFTER_ALL):
        mark_question(interviews, name, _derive_stamp(stamp, SKIPPED), stop.question.id, SKIPPED, on=do == SKIP)
    if stop.question and do == NEXT and leads and sheet.state_of(stop) != SKIPPED:
        mark_question(interviews, name, _derive_stamp(stamp, ASKED), stop.question.id, ASKED)
    if do not in (NEXT, SKIP) or stop.number + 1 == len(sheet.stops):
        return stop.number
    following = sheet.stops[stop.number + 1]
    if leads and following.section.id != sheet.clock.section:
        move_clock(interviews, name, _derive_stamp(stamp, SECTION), SECTION, following.section.id)
    return following.number


def _derive_stamp(stamp: Stamp, part: str) -> Stamp:
    """Returns a stamp for one of the acts in a form, with a key of its own, so that resending repeats nothing."""
    return Stamp(stamp.actor, f"{stamp.key} {part}" if stamp.key else "", stamp.when, stamp.opened)
