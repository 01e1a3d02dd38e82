"""A conversation from its entries: the clock with its pauses, notes that nobody overwrites, ticks, the protocol."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from tests.support.small_interviews import a_study, with_interview, with_participant

from quaestor.base.errors import InputError, StateError
from quaestor.coding.rating_files import WrongStudy
from quaestor.interviews.conduct.acts import LONGEST, Stamp, mark_question, move_clock, take_note, tick_item
from quaestor.interviews.conduct.conversation_state import Conversation, read_conversation
from quaestor.interviews.conduct.desk_sheet import build_desk_sheet, list_changes_since, list_stops
from quaestor.interviews.conduct.protocol import Protocol, build_protocol, build_protocol_json, format_protocol
from quaestor.interviews.participants.consent import record_consent
from quaestor.interviews.participants.people import add_participant
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.interviews.withdrawal import withdraw

BEGAN = datetime(2030, 1, 1, 12, tzinfo=UTC).timestamp()


class Held:
    """An interview in which time passes when a test says so."""

    def __init__(self, interviews: Interviews) -> None:
        self.interviews = interviews

    def at(self, seconds: float, who: str = "lead", key: str = "") -> Stamp:
        return Stamp(who, key, BEGAN + seconds)

    def clock(self, seconds: float, what: str, section: str = "", who: str = "lead") -> bool:
        return move_clock(self.interviews, "P1", self.at(seconds, who), what, section) is not None

    def note(self, seconds: float, text: str, question: str = "stages", who: str = "lead", **more: str) -> str:
        made = take_note(self.interviews, "P1", self.at(seconds, who, more.pop("key", "")), text, question, **more)
        return made.key if made else ""

    @property
    def told(self) -> Conversation:
        return read_conversation(self.interviews, "P1")

    @property
    def written(self) -> Protocol:
        return build_protocol(self.interviews, "P1")


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    with open_interviews(a_study(tmp_path / "study")) as interviews:
        with_interview(interviews)
        later = datetime.fromtimestamp(BEGAN + 36_000, UTC)
        monkeypatch.setattr(interviews.coding.journal, "clock", lambda: later)
        yield Held(interviews)


def test_pauses_do_not_count_and_each_section_has_a_time(held: Held) -> None:
    held.clock(0, "start")
    held.clock(60, "section", "practice")
    held.clock(120, "pause")
    held.clock(720, "go on")
    held.clock(780, "section", "legitimacy")
    held.clock(900, "section", "practice")
    held.clock(930, "end")
    clock = held.told.clock
    assert (clock.status, clock.talked) == ("ended", 330)
    assert clock.spent == {"welcome": 60, "practice": 150, "legitimacy": 120}
    assert held.written.paused == 600
    assert held.written.hours == "12:00 to 12:15 UTC"
    one = held.interviews.interview("P1")
    assert (one.status, one.seconds, one.length) == ("held", 330, "6 minutes")


def test_an_interview_ended_too_early_can_continue(held: Held) -> None:
    held.clock(0, "start")
    held.clock(60, "end")
    assert held.clock(90, "go on")
    assert held.interviews.interview("P1").status == "under way"
    held.clock(100, "end")
    assert held.told.clock.talked == 70
    assert (held.interviews.interview("P1").seconds, held.interviews.interview("P1").length) == (70, "1 minute")


def test_a_button_pressed_by_two_people_acts_once(held: Held) -> None:
    assert not held.clock(0, "pause")
    assert held.clock(0, "start")
    assert not held.clock(1, "start", who="second")
    assert held.clock(10, "pause")
    assert not held.clock(11, "pause", who="second")
    assert held.clock(20, "end")
    assert not held.clock(21, "end", who="second")
    assert held.told.clock.talked == 10


def test_the_clock_is_led_by_one_person_until_another_takes_over(held: Held) -> None:
    held.clock(0, "start")
    assert held.told.clock.by == "lead"
    held.clock(10, "section", "practice", who="second")
    assert (held.told.clock.by, held.told.clock.section) == ("second", "practice")
    assert build_desk_sheet(held.interviews, "P1", "second").leads_the_way
    assert not build_desk_sheet(held.interviews, "P1", "lead").leads_the_way


def test_a_late_entry_keeps_the_time_at_which_it_was_made(held: Held) -> None:
    held.clock(0, "start")
    held.clock(300, "section", "practice")
    held.note(310, "written with a line")
    held.note(20, "written without a line")
    held.clock(100, "pause")
    assert [(note.text, note.at) for note in held.told.notes] == [
        ("written without a line", 20),
        ("written with a line", 310),
    ]
    assert held.told.clock.talked == 100
    assert held.told.clock.spent["welcome"] == 100


def test_a_late_offline_button_press_does_not_rewind_the_clock(held: Held) -> None:
    held.clock(0, "start")
    held.clock(600, "end")
    assert not held.clock(100, "pause", who="second")
    assert held.told.clock.talked == held.interviews.interview("P1").seconds == 600


def test_changes_sent_to_a_page_reflect_the_current_state(held: Held) -> None:
    held.clock(0, "start")
    for seconds, on in ((20, True), (30, False)):
        tick_item(held.interviews, "P1", held.at(seconds), "factors", "data", on=on)
        mark_question(held.interviews, "P1", held.at(seconds), "stages", "skipped", on)
    head = held.interviews.file.read_head("P1")
    tick_item(held.interviews, "P1", held.at(10, "second"), "factors", "data")
    mark_question(held.interviews, "P1", held.at(10, "second"), "stages", "skipped")
    late = list_changes_since(held.interviews, "P1", head)["entries"]
    assert [(one["act"], one["on"]) for one in late] == [("tick", False), ("mark", False)]
    assert not held.told.ticked("factors")


def test_the_protocol_shows_times_and_authors_even_without_a_clock(held: Held) -> None:
    tick_item(held.interviews, "P1", held.at(20, "second"), "factors", "data")
    assert held.interviews.interview("P1").status == "under way"
    assert (held.written.begun, held.written.clock.began) == (True, None)
    held.clock(30, "start")
    mark_question(held.interviews, "P1", held.at(95), "stages", "skipped")
    held.note(100, "a note")
    held.interviews.coding.journal.clock = lambda: datetime.fromtimestamp(BEGAN + 130, UTC)
    shown = format_protocol(held.written)
    assert "- Consent: accepted, version 1, spoken, " in shown
    assert "*skipped, 1:05, lead*" in shown
    assert "(0:00, second)" in shown
    protocol_json = build_protocol_json(held.written)
    line = next(one for part in protocol_json["sections"] for one in part["questions"] if one["question"] == "stages")
    assert line["marked"] == {"by": "lead", "at": 65.0}
    assert protocol_json["talked"] == sum(one["used"] for one in protocol_json["sections"]) == 100


def test_an_interview_is_dated_by_its_start_even_if_entered_late(held: Held) -> None:
    held.clock(-86_400 + 60, "pause")
    held.clock(-86_400, "start")
    held.clock(-86_400 + 1_800, "end")
    found = held.interviews.interview("P1")
    assert (found.day, found.began) == ("2029-12-31", "2029-12-31T12:00:00.000+00:00")


def test_entries_are_not_dated_before_the_plan_or_in_the_future(held: Held) -> None:
    held.clock(0, "start")
    held.note(10**9, "a clock that goes wrong")
    held.note(-(10**9), "another")
    assert [(note.text, note.at) for note in held.told.notes] == [("another", 0), ("a clock that goes wrong", 36_000)]


def test_a_synthetic_interview_keeps_its_given_times(held: Held) -> None:
    room = held.interviews
    made_up = add_participant(room, synthetic=True).pseudonym
    record_consent(room, made_up, "accepted", "spoken")
    with_interview(room, made_up)
    move_clock(room, made_up, held.at(100_000), "start")
    move_clock(room, made_up, held.at(101_800), "end")
    assert room.interview(made_up).seconds == 1_800


def test_a_note_with_a_repeated_key_is_recorded_once(held: Held) -> None:
    assert held.note(5, "data first", key="k1") == held.note(5, "data first", key="k1") == "k1"
    held.clock(6, "start")  # what a repetition would be stamped with has changed meanwhile
    assert held.note(500, "data first", key="k1") == "k1"
    assert [note.text for note in held.told.notes] == ["data first"]
    with pytest.raises(StateError, match="used for something else"):
        held.note(5, "another", key="k1")
    with pytest.raises(StateError, match="used for something else"):
        held.note(5, "data first", key="k1", who="second")


def test_amending_a_note_keeps_its_earlier_versions(held: Held) -> None:
    first = held.note(5, "data frist")
    held.note(9, "data first", amends=first)
    held.note(12, "data comes first", amends=first)
    (note,) = held.told.notes
    assert (note.text, note.at, note.amended) == ("data comes first", 0, True)
    assert [version.text for version in note.versions] == ["data frist", "data first", "data comes first"]
    with pytest.raises(StateError, match="by lead"):
        held.note(20, "mine", amends=first, who="second")
    with pytest.raises(InputError, match="stays with its question"):
        held.note(20, "elsewhere", "illegal", amends=first)
    with pytest.raises(InputError, match="not in this interview"):
        held.note(20, "whose", amends="unknown")
    held.note(30, "", amends=first)
    assert held.told.notes_on("stages") == []
    assert len(held.told.notes[0].versions) == 4
    assert len([entry for entry in held.interviews.file.read_entries(about="P1") if entry.kind == "note"]) == 4


def test_the_last_tick_of_an_item_counts_and_other_items_can_be_added(held: Held) -> None:
    room = held.interviews
    tick_item(room, "P1", held.at(1), "factors", "data")
    tick_item(room, "P1", held.at(2), "factors", "time")
    tick_item(room, "P1", held.at(3, "second"), "factors", other="  who   maintains it ")
    assert tick_item(room, "P1", held.at(4, "second"), "factors", "data") is None
    tick_item(room, "P1", held.at(5, "second"), "factors", "time", on=False)
    assert [(tick.item, tick.other, tick.by) for tick in held.told.ticked("factors")] == [
        ("data", "", "lead"),
        ("", "who maintains it", "second"),
    ]
    line = next(one for one in held.written.lines() if one.question.id == "factors")
    assert [tick.label for tick in line.ticks] == ["Size of the data", "who maintains it"]
    for wrong in ({"item": "none"}, {}, {"item": "data", "other": "both"}, {"other": "x" * 301}):
        with pytest.raises(InputError):
            tick_item(room, "P1", held.at(6), "factors", **wrong)
    with pytest.raises(InputError, match="allows only the items of the guide"):
        tick_item(room, "P1", held.at(6), "stages", other="words")


def test_a_question_is_asked_skipped_added_or_not_reached(held: Held) -> None:
    room = held.interviews
    held.note(3, "in three stages")
    mark_question(room, "P1", held.at(4), "factors", "skipped")
    mark_question(room, "P1", held.at(5), "illegal", "skipped")
    mark_question(room, "P1", held.at(6), "illegal", "skipped", on=False)
    take_note(room, "P1", held.at(7), "And on a small machine?", "stages", follow_up=True)
    states = {line.question.id: line.state for line in held.written.lines()}
    assert states == {"stages": "asked", "factors": "skipped", "illegal": "not reached"}
    assert held.written.added == 1
    assert [note.follow_up for note in held.told.notes_on("stages")] == [False, True]
    with pytest.raises(InputError, match="cannot be marked"):
        mark_question(room, "P1", held.at(8), "stages", "forgotten")


def test_invalid_notes_and_clock_actions_are_refused(held: Held) -> None:
    for text, question, section in (
        ("", "stages", ""),
        ("x" * (LONGEST + 1), "stages", ""),
        ("x", "no", ""),
        ("x", "", ""),
    ):
        with pytest.raises(InputError):
            take_note(held.interviews, "P1", held.at(1), text, question, section)
    with pytest.raises(InputError, match="the clock has no action"):
        held.clock(1, "stop")
    with pytest.raises(InputError, match="no section"):
        held.clock(1, "section", "nowhere")
    with pytest.raises(WrongStudy):
        take_note(held.interviews, "P1", Stamp("lead", opened="elsewhere"), "x", "stages")
    take_note(held.interviews, "P1", held.at(1), "half a pair: \ud83d \x00", "stages")
    assert held.told.notes[0].text == "half a pair: \N{REPLACEMENT CHARACTER}"


def test_notes_need_consent_and_are_refused_after_a_withdrawal(held: Held) -> None:
    room = held.interviews
    with_interview(room, with_participant(room, consent=False))
    for act in (
        lambda: take_note(room, "P2", held.at(1), "x", "stages"),
        lambda: move_clock(room, "P2", held.at(1), "start"),
    ):
        with pytest.raises(StateError, match="has not agreed yet"):
            act()
    held.note(1, "a secret of P1")
    withdraw(room, "P1")
    with pytest.raises(StateError, match="P1 withdrew on"):
        held.note(2, "too late")
    assert b"a secret" not in room.file.path.read_bytes()


def test_changes_since_an_entry_include_those_of_other_interviewers(held: Held) -> None:
    held.clock(0, "start")
    seen = list_changes_since(held.interviews, "P1", 0)
    assert [entry["act"] for entry in seen["entries"]] == ["clock"]
    assert (seen["clock"]["runs"], seen["clock"]["elapsed"]) == (True, 36_000)
    key = held.note(5, "noted", who="second")
    later = list_changes_since(held.interviews, "P1", seen["head"])
    assert [(entry["by"], entry["key"], entry["text"], entry["follow_up"]) for entry in later["entries"]] == [
        ("second", key, "noted", False)
    ]
    assert list_changes_since(held.interviews, "P1", later["head"])["entries"] == []
    with pytest.raises(InputError):
        list_changes_since(held.interviews, "P9", 0)


def test_a_guide_has_a_stop_for_each_opening_and_question(held: Held) -> None:
    stops = list_stops(held.interviews.guide("guide"))
    assert [(stop.title, stop.says) for stop in stops] == [
        ("Welcome", True),
        ("Which stages does your work have?", True),
        ("Which factors do you weigh?", False),
        ("When do you call a model illegal?", True),
        ("Thanks", True),
    ]
    assert [stop.number for stop in stops] == list(range(5))


def test_the_markdown_protocol_escapes_markup_in_notes(held: Held) -> None:
    held.clock(0, "start")
    held.note(61, "# <b>not</b> *bold* [link](x)\n1. one | two\n- three", who="second")
    held.clock(125, "end")
    held.note(500, "remembered on the way home")
    text = format_protocol(held.written)
    assert "- Talked: 2:05 of 10 minutes planned" in text
    assert "- **1:01** second:" in text
    assert "- **afterwards** lead: remembered on the way home" in text
    page = MarkdownIt("commonmark").enable("table").render(text)
    assert "# &lt;b&gt;not&lt;/b&gt; *bold* [link](x)<br />\n1. one | two<br />\n- three" in page
    assert "<td>Practice</td>" in page
    protocol_json = build_protocol_json(held.written)
    assert protocol_json["sections"][1]["questions"][0]["notes"][0]["at"] == 61
    assert (protocol_json["status"], protocol_json["people"]) == ("held", ["lead", "second"])
