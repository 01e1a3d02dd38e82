"""Participants have a pseudonym from the start, and their contact data is only in the sealed file."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.small_interviews import a_study

from quaestor.base.errors import InputError, StateError
from quaestor.interviews.participants.people import (
    Contact,
    add_participant,
    change_participant,
    list_reachable,
    parse_years,
    read_contact,
    set_contact,
)
from quaestor.interviews.repository import Interviews, open_interviews

SOMEBODY = Contact("Wilhelmina Xanthe", "w.xanthe@example.org", "+41 555 0199", "Prefers mornings.")


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Interviews]:
    with open_interviews(a_study(tmp_path)) as opened:
        yield opened


def test_participants_get_consecutive_pseudonyms_that_are_never_reused(room: Interviews) -> None:
    assert [add_participant(room, "engineer").pseudonym for _ in range(3)] == ["P1", "P2", "P3"]
    room.file.erase("P3", "2026-01-01")
    room.file.erase("P1", "2026-01-01")
    assert add_participant(room).pseudonym == "P4"
    assert [participant.pseudonym for participant in room.participants()] == ["P2", "P4"]


def test_participants_added_concurrently_get_different_pseudonyms(room: Interviews) -> None:
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.append(add_participant(room).pseudonym)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == sorted(f"P{number}" for number in range(1, 13))


def test_a_form_sent_twice_adds_one_participant(room: Interviews) -> None:
    first = add_participant(room, "lead developer", 7, "compilers", key="k" * 32)
    assert add_participant(room, "lead developer", 7, "compilers", key="k" * 32) == first
    assert room.participants() == [first]


def test_changing_a_detail_keeps_the_others(room: Interviews) -> None:
    add_participant(room, "engineer", 5, "compilers")
    changed = change_participant(room, "P1", years=6.5)
    assert (changed.role, changed.years, changed.field) == ("engineer", 6.5, "compilers")
    assert change_participant(room, "P1", role="  staff\nengineer ", years="").years is None
    assert room.participant("P1").role == "staff engineer"


@pytest.mark.parametrize(("typed", "years"), [("7", 7.0), (" 2,5 ", 2.5), ("", None)])
def test_years_are_parsed_in_usual_notations(typed: str, years: float | None) -> None:
    assert parse_years(typed) == years


def test_a_missing_interview_gives_an_error_with_the_command_to_plan_it(room: Interviews) -> None:
    name = add_participant(room).pseudonym
    with pytest.raises(InputError, match=f"interviews: none yet; plan it with `quaestor interview plan {name}`"):
        room.interview(name)
    with pytest.raises(InputError, match=r": none yet$"):
        room.interview("P9")


def test_invalid_participant_details_are_refused(room: Interviews) -> None:
    with pytest.raises(InputError, match="'seven' is not a number of years"):
        parse_years("seven")
    with pytest.raises(InputError, match="0 to 99"):
        add_participant(room, years=-1)
    with pytest.raises(InputError, match="the role has 201 characters"):
        add_participant(room, "x" * 201)
    with pytest.raises(InputError, match="there is no participant 'P9'"):
        change_participant(room, "P9", role="engineer")


def test_contact_details_are_encrypted_and_only_for_the_lead(room: Interviews, tmp_path: Path) -> None:
    add_participant(room)
    set_contact(room, "P1", SOMEBODY)
    assert read_contact(room, "P1") == SOMEBODY
    assert list_reachable(room) == {"P1"}
    with pytest.raises(StateError, match="is not the lead"):
        read_contact(room, "P1", "interviewer")
    with pytest.raises(StateError, match="is not the lead"):
        set_contact(room, "P1", Contact(), "interviewer")
    assert repr(SOMEBODY) == "Contact()"
    for path in tmp_path.rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            assert not [one for one in (b"Xanthe", b"w.xanthe", b"555 0199", b"mornings") if one in held], path


def test_replaced_contact_details_leave_no_trace(room: Interviews, tmp_path: Path) -> None:
    add_participant(room)
    set_contact(room, "P1", SOMEBODY)
    sealed = _blobs(room)
    set_contact(room, "P1", Contact(email="new@example.org"))
    assert read_contact(room, "P1") == Contact(email="new@example.org")
    set_contact(room, "P1", Contact())
    assert read_contact(room, "P1").is_empty
    assert list_reachable(room) == frozenset()
    held = b"".join(path.read_bytes() for path in tmp_path.glob("identities.db*"))
    assert sealed
    assert not [blob for blob in sealed if blob in held]


def test_an_error_does_not_repeat_the_refused_address(room: Interviews) -> None:
    add_participant(room)
    with pytest.raises(InputError) as refused:
        set_contact(room, "P1", Contact("Wilhelmina Xanthe", "w.xanthe at example"))
    assert "xanthe" not in str(refused.value).lower()
    assert read_contact(room, "P1").is_empty


def _blobs(room: Interviews) -> list[bytes]:
    with room.identities._file.reading() as reading:
        return [bytes(said) for (said,) in reading.execute("SELECT said FROM entries")]
