"""What the interviewer's desk sends: one act at a time from a script, or all that was filled in by a form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import InputError
from quaestor.store.sealed_file import Entry
from quaestor.study.interviews.conducting import DeskSheet, Stop, desk_sheet
from quaestor.study.interviews.conversation import ASKED, PAUSED, RUNNING, SECTION, SKIPPED
from quaestor.study.interviews.conversation_acts import Stamp, mark, move_clock, take_note, tick
from quaestor.study.interviews.room import Interviews

SAVE, NEXT, SKIP, ASK_AFTER_ALL = "save", "next", "skip", "ask"
OTHER = "other:"
"""Goes before words that stand for an item which the guide does not name."""


@dataclass(frozen=True)
class StepSent:
    """A form of one stop as it was filled in."""

    stop: int
    do: str
    """`save`, `next`, `skip`, or `ask` where a question was skipped too early."""
    note: str = ""
    follow_up: bool = False
    amends: str = ""
    items: frozenset[str] = frozenset()
    """What is ticked: codes, and `other:` with words."""
    was: frozenset[str] = frozenset()
    """What was ticked when the form was shown: what somebody else ticked since stays."""
    other: str = ""


def carry_out(interviews: Interviews, name: str, stamp: Stamp, told: Mapping[str, Any]) -> Entry | None:
    """Do one act as a script tells it; None where it changes nothing."""

    def words(part: str) -> str:
        return str(told.get(part, ""))

    question, on = words("question"), bool(told.get("on", True))
    match told.get("act"):
        case "note":
            follow_up = bool(told.get("follow_up"))
            place = (question, words("section"), follow_up)
            return take_note(interviews, name, stamp, words("text"), *place, words("amends"))
        case "tick":
            return tick(interviews, name, stamp, question, words("item"), words("other"), on)
        case "mark":
            return mark(interviews, name, stamp, question, words("what"), on)
        case "clock":
            return move_clock(interviews, name, stamp, words("what"), words("section"))
        case unknown:
            raise InputError(f"nothing is called {str(unknown)[:60]!r} here: load the page again")


def take_step(interviews: Interviews, name: str, stamp: Stamp, sent: StepSent) -> int:
    """Keep all that a form says and go where its button leads; the number of the stop to show."""
    sheet = desk_sheet(interviews, name, stamp.actor)
    stop = sheet.at(sent.stop)
    question = stop.question.id if stop.question else ""
    for value in sorted(sent.items ^ sent.was) if question else ():
        place = {"other": value.removeprefix(OTHER)} if value.startswith(OTHER) else {"item": value}
        tick(interviews, name, _part(stamp, value), question, on=value in sent.items, **place)
    if question and sent.other.strip():
        tick(interviews, name, _part(stamp, "other"), question, other=sent.other)
    if sent.note.strip() or sent.amends:
        follow_up = sent.follow_up
        if sent.amends and (amended := sheet.note(sent.amends)):
            follow_up = amended.follow_up
        words, section = sent.note, "" if question else stop.section.id
        take_note(interviews, name, _part(stamp, "note"), words, question, section, follow_up, sent.amends)
    return _moved(interviews, name, stamp, sheet, stop, sent.do)


def _moved(interviews: Interviews, name: str, stamp: Stamp, sheet: DeskSheet, stop: Stop, do: str) -> int:
    leads = sheet.clock.status in (RUNNING, PAUSED) and sheet.leads_the_way
    if stop.question and do in (SKIP, ASK_AFTER_ALL):
        mark(interviews, name, _part(stamp, SKIPPED), stop.question.id, SKIPPED, on=do == SKIP)
    if stop.question and do == NEXT and leads and sheet.state_of(stop) != SKIPPED:
        mark(interviews, name, _part(stamp, ASKED), stop.question.id, ASKED)
    if do not in (NEXT, SKIP) or stop.number + 1 == len(sheet.stops):
        return stop.number
    following = sheet.stops[stop.number + 1]
    if leads and following.section.id != sheet.clock.section:
        move_clock(interviews, name, _part(stamp, SECTION), SECTION, following.section.id)
    return following.number


def _part(stamp: Stamp, part: str) -> Stamp:
    """One act of several that a form stands for: sent twice, each is the same again."""
    return Stamp(stamp.actor, f"{stamp.key} {part}" if stamp.key else "", stamp.when, stamp.opened)
