"""Consent: the answered version, the way of answering, and what requires it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.small_interviews import AGREEMENT, SMALL, a_study

from quaestor.base.errors import InputError, StateError
from quaestor.interviews.names.known_names import add_name
from quaestor.interviews.names.rewording import replace_names_in_texts
from quaestor.interviews.participants.consent import (
    ACCEPTED,
    BY_LINK,
    DECLINED,
    ON_PAPER,
    answer_by_link,
    find_consent,
    find_consent_request,
    list_consent_form_versions,
    list_consents,
    make_link,
    put_consent_form_in_force,
    read_consent_form,
    record_consent,
    require_consent,
)
from quaestor.interviews.participants.people import add_participant
from quaestor.interviews.repository import Interviews, open_interviews


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Interviews]:
    with open_interviews(a_study(tmp_path)) as opened:
        add_participant(opened, "engineer")
        yield opened


def test_consent_is_required_before_an_interview(room: Interviews) -> None:
    with pytest.raises(StateError, match="P1 has not agreed yet, so you cannot take notes"):
        require_consent(room, "P1", "take notes")
    consent = record_consent(room, "P1", ACCEPTED, ON_PAPER, "interviewer")
    assert (consent.accepted, consent.version, consent.how, consent.day) == (True, 1, ON_PAPER, room.today())
    assert require_consent(room, "P1", "take notes") == consent


def test_the_last_consent_answer_counts(room: Interviews) -> None:
    record_consent(room, "P1", ACCEPTED, ON_PAPER)
    record_consent(room, "P1", DECLINED, ON_PAPER)
    with pytest.raises(StateError, match=r"P1 declined on .*you cannot import"):
        require_consent(room, "P1", "import a transcript")


def test_a_new_version_asks_again_and_earlier_consent_stays_valid(room: Interviews, tmp_path: Path) -> None:
    record_consent(room, "P1", ACCEPTED, ON_PAPER)
    (tmp_path / "instruments" / "agreement.md").write_text(f"{AGREEMENT}\nWe record the talk.\n", "utf-8")
    assert read_consent_form(room).changed
    assert find_consent(room, "P1").newest == 1, "a file that is being written is not in force"
    assert put_consent_form_in_force(room).version == 2
    assert put_consent_form_in_force(room).version == 2
    found = list_consents(room)["P1"]
    assert (found.accepted, found.asks_again, found.words) == (True, True, "accepted, version 1, ask again for 2")
    assert [consent_form_version.version for consent_form_version in list_consent_form_versions(room)] == [1, 2]
    with room.coding.locked_state() as state:
        assert [act.payload["version"] for act in state.unhandled_acts if act.kind == "interview.agreement"] == [1, 2]
    assert not record_consent(room, "P1", ACCEPTED, ON_PAPER).asks_again


def test_a_consent_link_is_stored_only_as_a_hash(room: Interviews, tmp_path: Path) -> None:
    link = make_link(room, "P1")
    assert link.code not in repr(link)
    met = find_consent_request(room, link.code)
    assert met is not None
    assert (met.participant, met.agreement.text, met.consent.words) == ("P1", AGREEMENT, "link made")
    assert answer_by_link(room, link.code, ACCEPTED, 1).how == BY_LINK
    held = [path for path in tmp_path.rglob("*") if path.is_file() and link.code.encode() in path.read_bytes()]
    assert held == []
    assert link.code not in str([entry.content for entry in room.file.read_entries()])


def test_a_new_link_replaces_the_earlier_one_and_a_wrong_one_is_refused(room: Interviews) -> None:
    first, second = make_link(room, "P1"), make_link(room, "P1")
    assert find_consent_request(room, first.code) is None
    assert find_consent_request(room, second.code) is not None
    assert find_consent_request(room, "") is None
    assert find_consent_request(None, second.code) is None
    with pytest.raises(InputError, match="is not valid"):
        answer_by_link(room, first.code, ACCEPTED, 1)


def test_only_the_shown_version_can_be_accepted(room: Interviews, tmp_path: Path) -> None:
    link = make_link(room, "P1")
    (tmp_path / "instruments" / "agreement.md").write_text("Another text.", "utf-8")
    put_consent_form_in_force(room)
    with pytest.raises(StateError, match="has changed since you opened this page"):
        answer_by_link(room, link.code, ACCEPTED, 1)
    assert not find_consent(room, "P1").accepted


def test_only_the_lead_creates_links_and_new_versions(room: Interviews) -> None:
    for refused in (
        lambda: make_link(room, "P1", "interviewer"),
        lambda: put_consent_form_in_force(room, "interviewer"),
    ):
        with pytest.raises(StateError, match="is not the lead"):
            refused()


def test_unknown_consent_answers_are_refused(room: Interviews) -> None:
    with pytest.raises(InputError, match="use accepted or declined"):
        record_consent(room, "P1", "maybe", ON_PAPER)
    with pytest.raises(InputError, match="'by link' is recorded when they use their link"):
        record_consent(room, "P1", ACCEPTED, "By link")
    with pytest.raises(InputError, match="not known how consent was given: describe it, for example on paper"):
        record_consent(room, "P1", ACCEPTED, "  ")
    with pytest.raises(InputError, match="the way in which consent was given has 300 characters"):
        record_consent(room, "P1", ACCEPTED, "x" * 300)


def test_the_way_in_which_consent_was_given_is_described_in_any_words(room: Interviews) -> None:
    record_consent(room, "P1", ACCEPTED, " e-mail of  3 May, from Xanthe ")
    assert find_consent(room, "P1").how == "e-mail of 3 May, from Xanthe"
    add_name(room, "person", ["Xanthe"], "[a person]")
    replace_names_in_texts(room)
    assert find_consent(room, "P1").how == "e-mail of 3 May, from [a person]"


def test_a_study_without_a_consent_form_asks_for_one(room: Interviews, tmp_path: Path) -> None:
    (tmp_path / "instruments" / "agreement.md").unlink()
    with pytest.raises(StateError, match=r"write instruments/agreement\.md"):
        record_consent(room, "P1", ACCEPTED, ON_PAPER)


def test_guides_with_different_consent_forms_are_refused(room: Interviews, tmp_path: Path) -> None:
    other = SMALL.replace('agreement = "agreement.md"', 'agreement = "other.md"')
    (tmp_path / "instruments" / "second.md").write_text(other, "utf-8")
    with pytest.raises(InputError, match=r"different consent forms, agreement\.md or other\.md"):
        read_consent_form(room)
    (tmp_path / "instruments" / "guide.md").write_text(SMALL.replace('"agreement.md"', '"../study.toml"'), "utf-8")
    (tmp_path / "instruments" / "second.md").unlink()
    with pytest.raises(InputError, match="name a file in the guide's folder"):
        read_consent_form(room)
