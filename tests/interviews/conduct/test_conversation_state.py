"""An interview computed from its entries: clock and pauses, notes, ticks and the protocol."""

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


class Talk:
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
    def conversation(self) -> Conversation:
        return read_conversation(self.interviews, "P1")

    @property
    def written(self) -> Protocol:
        return build_protocol(self.interviews, "P1")


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Talk]:
    with open_interviews(a_study(tmp_path / "study")) as interviews:
        with_interview(interviews)
        later = datetime.fromtimestamp(BEGAN + 36_000, UTC)
        monkeypatch.setattr(interviews.coding.journal, "clock", lambda: later)
        yield Talk(interviews)


def test_pauses_do_not_count_and_each_section_has_a_time(talk: Talk) -> None:
    talk.clock(0, "start")
    talk.clock(60, "section", "practice")
    talk.clock(120, "pause")
    talk.clock(720, "go on")
    talk.clock(780, "section", "legitimacy")
    talk.clock(900, "section", "practice")
    talk.clock(930, "end")
    clock = talk.conversation.clock
    assert (clock.status, clock.talked) == ("ended", 330)
    assert clock.spent == {"welcome": 60, "practice": 150, "legitimacy": 120}
    assert talk.written.paused == 600
    assert talk.written.hours == "12:00 to 12:15 UTC"
    one = talk.interviews.interview("P1")
    assert (one.status, one.seconds, one.length) == ("held", 330, "6 minutes")


def test_an_interview_ended_too_early_can_continue(talk: Talk) -> None:
    talk.clock(0, "start")
    talk.clock(60, "end")
    assert talk.clock(90, "go on")
    assert talk.interviews.interview("P1").status == "under way"
    talk.clock(100, "end")
    assert talk.conversation.clock.talked == 70
    assert (talk.interviews.interview("P1").seconds, talk.interviews.interview("P1").length) == (70, "1 minute")


def test_a_button_pressed_by_two_people_acts_once(talk: Talk) -> None:
    assert not talk.clock(0, "pause")
    assert talk.clock(0, "start")
    assert not talk.clock(1, "start", who="second")
    assert talk.clock(10, "pause")
    assert not talk.clock(11, "pause", who="second")
    assert talk.clock(20, "end")
    assert not talk.clock(21, "end", who="second")
    assert talk.conversation.clock.talked == 10


def test_the_clock_is_led_by_one_person_until_another_takes_over(talk: Talk) -> None:
    talk.clock(0, "start")
    assert talk.conversation.clock.by == "lead"
    talk.clock(10, "section", "practice", who="second")
    assert (talk.conversation.clock.by, talk.conversation.clock.section) == ("second", "practice")
    assert build_desk_sheet(talk.interviews, "P1", "second").leads_the_way
    assert not build_desk_sheet(talk.interviews, "P1", "lead").leads_the_way


def test_a_late_entry_keeps_the_time_at_which_it_was_made(talk: Talk) -> None:
    talk.clock(0, "start")
    talk.clock(300, "section", "practice")
    talk.note(310, "written with a line")
    talk.note(20, "written without a line")
    talk.clock(100, "pause")
    assert [(note.text, note.at) for note in talk.conversation.notes] == [
        ("written without a line", 20),
        ("written with a line", 310),
    ]
    assert talk.conversation.clock.talked == 100
    assert talk.conversation.clock.spent["welcome"] == 100


def test_a_late_offline_button_press_does_not_rewind_the_clock(talk: Talk) -> None:
    talk.clock(0, "start")
    talk.clock(600, "end")
    assert not talk.clock(100, "pause", who="second")
    assert talk.conversation.clock.talked == talk.interviews.interview("P1").seconds == 600


def test_changes_sent_to_a_page_reflect_the_current_state(talk: Talk) -> None:
    talk.clock(0, "start")
    for seconds, on in ((20, True), (30, False)):
        tick_item(talk.interviews, "P1", talk.at(seconds), "factors", "data", on=on)
        mark_question(talk.interviews, "P1", talk.at(seconds), "stages", "skipped", on)
    head = talk.interviews.file.read_head("P1")
    tick_item(talk.interviews, "P1", talk.at(10, "second"), "factors", "data")
    mark_question(talk.interviews, "P1", talk.at(10, "second"), "stages", "skipped")
    late = list_changes_since(talk.interviews, "P1", head)["entries"]
    assert [(one["act"], one["on"]) for one in late] == [("tick", False), ("mark", False)]
    assert not talk.conversation.ticked("factors")


def test_the_protocol_shows_times_and_authors_even_without_a_clock(talk: Talk) -> None:
    tick_item(talk.interviews, "P1", talk.at(20, "second"), "factors", "data")
    assert talk.interviews.interview("P1").status == "under way"
    assert (talk.written.begun, talk.written.clock.began) == (True, None)
    talk.clock(30, "start")
    mark_question(talk.interviews, "P1", talk.at(95), "stages", "skipped")
    talk.note(100, "a note")
    talk.interviews.coding.journal.clock = lambda: datetime.fromtimestamp(BEGAN + 130, UTC)
    shown = format_protocol(talk.written)
    assert "- Consent: accepted, version 1, spoken, " in shown
    assert "*skipped, 1:05, lead*" in shown
    assert "(0:00, second)" in shown
    protocol_json = build_protocol_json(talk.written)
    line = next(one for part in protocol_json["sections"] for one in part["questions"] if one["question"] == "stages")
    assert line["marked"] == {"by": "lead", "at": 65.0}
    assert protocol_json["talked"] == sum(one["used"] for one in protocol_json["sections"]) == 100


def test_an_interview_is_dated_by_its_start_even_if_entered_late(talk: Talk) -> None:
    talk.clock(-86_400 + 60, "pause")
    talk.clock(-86_400, "start")
    talk.clock(-86_400 + 1_800, "end")
    found = talk.interviews.interview("P1")
    assert (found.day, found.began) == ("2029-12-31", "2029-12-31T12:00:00.000+00:00")


def test_entries_are_not_dated_before_the_plan_or_in_the_future(talk: Talk) -> None:
    talk.clock(0, "start")
    talk.note(10**9, "a clock that goes wrong")
    talk.note(-(10**9), "another")
    assert [(note.text, note.at) for note in talk.conversation.notes] == [
        ("another", 0),
        ("a clock that goes wrong", 36_000),
    ]


def test_a_synthetic_interview_keeps_its_given_times(talk: Talk) -> None:
    room = talk.interviews
    made_up = add_participant(room, synthetic=True).pseudonym
    record_consent(room, made_up, "accepted", "spoken")
    with_interview(room, made_up)
    move_clock(room, made_up, talk.at(100_000), "start")
    move_clock(room, made_up, talk.at(101_800), "end")
    assert room.interview(made_up).seconds == 1_800


def test_a_note_with_a_repeated_key_is_recorded_once(talk: Talk) -> None:
    assert talk.note(5, "data first", key="k1") == talk.note(5, "data first", key="k1") == "k1"
    talk.clock(6, "start")  # what a repetition would be stamped with has changed meanwhile
    assert talk.note(500, "data first", key="k1") == "k1"
    assert [note.text for note in talk.conversation.notes] == ["data first"]
    with pytest.raises(StateError, match="used for something else"):
        talk.note(5, "another", key="k1")
    with pytest.raises(StateError, match="used for something else"):
        talk.note(5, "data first", key="k1", who="second")


def test_amending_a_note_keeps_its_earlier_versions(talk: Talk) -> None:
    first = talk.note(5, "data frist")
    talk.note(9, "data first", amends=first)
    talk.note(12, "data comes first", amends=first)
    (note,) = talk.conversation.notes
    assert (note.text, note.at, note.amended) == ("data comes first", 0, True)
    assert [version.text for version in note.versions] == ["data frist", "data first", "data comes first"]
    with pytest.raises(StateError, match="by lead"):
        talk.note(20, "mine", amends=first, who="second")
    with pytest.raises(InputError, match="stays with its question"):
        talk.note(20, "elsewhere", "illegal", amends=first)
    with pytest.raises(InputError, match="not in this interview"):
        talk.note(20, "whose", amends="unknown")
    talk.note(30, "", amends=first)
    assert talk.conversation.notes_on("stages") == []
    assert len(talk.conversation.notes[0].versions) == 4
    assert len([entry for entry in talk.interviews.file.read_entries(about="P1") if entry.kind == "note"]) == 4


def test_the_last_tick_of_an_item_counts_and_other_items_can_be_added(talk: Talk) -> None:
    room = talk.interviews
    tick_item(room, "P1", talk.at(1), "factors", "data")
    tick_item(room, "P1", talk.at(2), "factors", "time")
    tick_item(room, "P1", talk.at(3, "second"), "factors", other="  who   maintains it ")
    assert tick_item(room, "P1", talk.at(4, "second"), "factors", "data") is None
    tick_item(room, "P1", talk.at(5, "second"), "factors", "time", on=False)
    assert [(tick.item, tick.other, tick.by) for tick in talk.conversation.ticked("factors")] == [
        ("data", "", "lead"),
        ("", "who maintains it", "second"),
    ]
    line = next(one for one in talk.written.lines() if one.question.id == "factors")
    assert [tick.label for tick in line.ticks] == ["Size of the data", "who maintains it"]
    for wrong in ({"item": "none"}, {}, {"item": "data", "other": "both"}, {"other": "x" * 301}):
        with pytest.raises(InputError):
            tick_item(room, "P1", talk.at(6), "factors", **wrong)
    with pytest.raises(InputError, match="allows only the items of the guide"):
        tick_item(room, "P1", talk.at(6), "stages", other="words")


def test_a_question_is_asked_skipped_added_or_not_reached(talk: Talk) -> None:
    room = talk.interviews
    talk.note(3, "in three stages")
    mark_question(room, "P1", talk.at(4), "factors", "skipped")
    mark_question(room, "P1", talk.at(5), "illegal", "skipped")
    mark_question(room, "P1", talk.at(6), "illegal", "skipped", on=False)
    take_note(room, "P1", talk.at(7), "And on a small machine?", "stages", follow_up=True)
    states = {line.question.id: line.state for line in talk.written.lines()}
    assert states == {"stages": "asked", "factors": "skipped", "illegal": "not reached"}
    assert talk.written.added == 1
    assert [note.follow_up for note in talk.conversation.notes_on("stages")] == [False, True]
    with pytest.raises(InputError, match="cannot be marked"):
        mark_question(room, "P1", talk.at(8), "stages", "forgotten")


def test_invalid_notes_and_clock_actions_are_refused(talk: Talk) -> None:
    for text, question, section in (
        ("", "stages", ""),
        ("x" * (LONGEST + 1), "stages", ""),
        ("x", "no", ""),
        ("x", "", ""),
    ):
        with pytest.raises(InputError):
            take_note(talk.interviews, "P1", talk.at(1), text, question, section)
    with pytest.raises(InputError, match="the clock has no action"):
        talk.clock(1, "stop")
    with pytest.raises(InputError, match="no section"):
        talk.clock(1, "section", "nowhere")
    with pytest.raises(WrongStudy):
        take_note(talk.interviews, "P1", Stamp("lead", opened="elsewhere"), "x", "stages")
    take_note(talk.interviews, "P1", talk.at(1), "half a pair: \ud83d \x00", "stages")
    assert talk.conversation.notes[0].text == "half a pair: \N{REPLACEMENT CHARACTER}"


def test_notes_need_consent_and_are_refused_after_a_withdrawal(talk: Talk) -> None:
    room = talk.interviews
    with_interview(room, with_participant(room, consent=False))
    for act in (
        lambda: take_note(room, "P2", talk.at(1), "x", "stages"),
        lambda: move_clock(room, "P2", talk.at(1), "start"),
    ):
        with pytest.raises(StateError, match="has not agreed yet"):
            act()
    talk.note(1, "a secret of P1")
    withdraw(room, "P1")
    with pytest.raises(StateError, match="P1 withdrew on"):
        talk.note(2, "too late")
    assert b"a secret" not in room.file.path.read_bytes()


def test_changes_since_an_entry_include_those_of_other_interviewers(talk: Talk) -> None:
    talk.clock(0, "start")
    seen = list_changes_since(talk.interviews, "P1", 0)
    assert [entry["act"] for entry in seen["entries"]] == ["clock"]
    assert (seen["clock"]["runs"], seen["clock"]["elapsed"]) == (True, 36_000)
    key = talk.note(5, "noted", who="second")
    later = list_changes_since(talk.interviews, "P1", seen["head"])
    assert [(entry["by"], entry["key"], entry["text"], entry["follow_up"]) for entry in later["entries"]] == [
        ("second", key, "noted", False)
    ]
    assert list_changes_since(talk.interviews, "P1", later["head"])["entries"] == []
    with pytest.raises(InputError):
        list_changes_since(talk.interviews, "P9", 0)


def test_a_guide_has_a_stop_for_each_opening_and_question(talk: Talk) -> None:
    stops = list_stops(talk.interviews.guide("guide"))
    assert [(stop.title, stop.says) for stop in stops] == [
        ("Welcome", True),
        ("Which stages does your work have?", True),
        ("Which factors do you weigh?", False),
        ("When do you call a model illegal?", True),
        ("Thanks", True),
    ]
    assert [stop.number for stop in stops] == list(range(5))


def test_the_markdown_protocol_escapes_markup_in_notes(talk: Talk) -> None:
    talk.clock(0, "start")
    talk.note(61, "# <b>not</b> *bold* [link](x)\n1. one | two\n- three", who="second")
    talk.clock(125, "end")
    talk.note(500, "remembered on the way home")
    text = format_protocol(talk.written)
    assert "- Talked: 2:05 of 10 minutes planned" in text
    assert "- **1:01** second:" in text
    assert "- **afterwards** lead: remembered on the way home" in text
    page = MarkdownIt("commonmark").enable("table").render(text)
    assert "# &lt;b&gt;not&lt;/b&gt; *bold* [link](x)<br />\n1. one | two<br />\n- three" in page
    assert "<td>Practice</td>" in page
    protocol_json = build_protocol_json(talk.written)
    assert protocol_json["sections"][1]["questions"][0]["notes"][0]["at"] == 61
    assert (protocol_json["status"], protocol_json["people"]) == ("held", ["lead", "second"])
