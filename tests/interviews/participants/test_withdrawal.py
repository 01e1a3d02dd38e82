"""After a withdrawal no file of the study contains anything of the participant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.small_interviews import a_study, with_interview, with_participant, with_transcript

from quaestor.base.errors import InputError, SettingsError, StateError
from quaestor.evidence.funnel import read_passed, run_funnel
from quaestor.evidence.item_texts import read_item_texts
from quaestor.interviews.conduct.acts import Stamp, tick_item
from quaestor.interviews.conduct.conversation_state import read_conversation
from quaestor.interviews.items import make_items
from quaestor.interviews.names.remaining import find_remaining_names
from quaestor.interviews.participants.consent import ACCEPTED, ON_PAPER, find_consent_request, make_link, record_consent
from quaestor.interviews.participants.people import Contact, add_participant, set_contact
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.interviews.withdrawal import withdraw, withdraw_by_link
from quaestor.store.sealed_file import NewEntry, SealedFile
from quaestor.study.folder import open_study

WORDS = "The zygomorphic tensor was quixotic."
NAMED = Contact("Wilhelmina Xanthe", "w.xanthe@example.org", "+41 555 0199", "Prefers mornings.")
SAID = (b"zygomorphic", b"quixotic", b"Xanthe", b"w.xanthe", b"555 0199", b"mornings", b"haruspex")


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Interviews]:
    with open_interviews(a_study(tmp_path)) as opened:
        first = with_participant(opened, role="haruspex")
        with_transcript(opened, with_interview(opened, first).id, [("Interviewer", "And?"), ("Guest", WORDS)])
        opened.file.add(NewEntry("note", "lead", {"question": "stages", "text": WORDS}, first, "P1", opened.now()))
        set_contact(opened, first, NAMED)
        with_transcript(opened)
        yield opened


def blobs(file: SealedFile, participant: str) -> list[bytes]:
    with file._file.reading() as reading:
        return [
            bytes(said)
            for table in ("entries", "pieces")
            for (said,) in reading.execute(f"SELECT said FROM {table} WHERE participant = ?", (participant,))  # noqa: S608
        ]


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_withdrawal_leaves_no_plain_or_encrypted_byte(room: Interviews, tmp_path: Path) -> None:
    sealed = [*blobs(room.file, "P1"), *blobs(room.identities, "P1")]
    assert len(sealed) >= 8
    assert any(blob in held for blob in sealed for held in files(tmp_path).values()), "they were there"
    done = withdraw(room, "P1")
    assert (done.participant, done.interviews, done.published) == ("P1", ("P1",), False)
    for path, held in files(tmp_path).items():
        assert not [word for word in SAID if word in held], path
        assert not [blob for blob in sealed if blob in held], path


def test_a_withdrawal_erases_everything_while_another_process_has_the_files_open(
    room: Interviews, tmp_path: Path
) -> None:
    sealed = [*blobs(room.file, "P1"), *blobs(room.identities, "P1")]
    with open_interviews(room.study) as other:
        assert other.transcript("P1").turns[1].text == WORDS
        withdraw(room, "P1")
        assert [interview.id for interview in other.interviews()] == ["P2"]
        with pytest.raises(StateError, match="P1 withdrew on"):
            other.transcript("P1")
        assert not [blob for blob in sealed for held in files(tmp_path).values() if blob in held]


def test_a_withdrawal_keeps_other_participants_and_never_reuses_the_pseudonym(room: Interviews) -> None:
    before = room.transcript("P2")
    withdraw(room, "P1")
    assert room.transcript("P2") == before
    assert [participant.pseudonym for participant in room.participants()] == ["P2"]
    assert with_participant(room) == "P3"
    with pytest.raises(StateError, match="P1 withdrew on"):
        room.participant("P1")
    with pytest.raises(StateError, match="P1 has withdrawn: nothing"):
        room.file.put_pieces("P1", "P1", [{"speaker": "Guest", "text": WORDS}])


def test_a_withdrawal_is_recorded_once_with_only_the_pseudonym(room: Interviews) -> None:
    withdraw(room, "P1")
    withdraw(room, "P1")
    with room.coding.locked_state() as state:
        acts = [act for act in state.unhandled_acts if act.kind == "interview.withdraw"]
    assert [(act.actor, act.payload) for act in acts] == [("lead", {"participant": "P1", "how": "asked"})]


def test_remains_of_an_interrupted_withdrawal_are_erased_by_the_next(room: Interviews) -> None:
    room.file.erase("P1", room.today())
    assert blobs(room.identities, "P1")
    withdraw(room, "P1")
    assert not blobs(room.identities, "P1")


def test_a_participant_can_withdraw_by_link_and_the_link_ends(room: Interviews) -> None:
    link = make_link(room, "P2")
    assert withdraw_by_link(room, link.code).participant == "P2"
    assert find_consent_request(room, link.code) is None
    with room.coding.locked_state() as state:
        assert [act.actor for act in state.unhandled_acts if act.kind == "interview.withdraw"] == ["P2"]
    with pytest.raises(InputError, match="is not valid"):
        withdraw_by_link(room, link.code)


def test_a_withdrawal_removes_published_results_that_may_quote_the_participant(room: Interviews) -> None:
    quiet = add_participant(room)
    record_consent(room, quiet.pseudonym, ACCEPTED, ON_PAPER)
    page = room.study.published / "report" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(WORDS)
    assert not withdraw(room, quiet.pseudonym).published
    assert page.exists()
    assert withdraw(room, "P1").published
    assert not page.exists()


def test_a_withdrawal_removes_published_results_with_ticks_or_notes_of_the_participant(room: Interviews) -> None:
    page = room.study.published / "report" / "index.html"
    for what in ("tick", "note"):
        name = with_interview(room).id
        if what == "tick":
            tick_item(room, name, Stamp("lead"), "factors", "", WORDS)
        else:
            room.file.add(NewEntry("note", "lead", {"question": "stages", "text": WORDS}, name, name, room.now()))
        page.parent.mkdir(parents=True)
        page.write_text(WORDS)
        assert withdraw(room, name).published, what
        assert not page.exists()


def test_a_withdrawn_name_said_by_others_is_not_published(room: Interviews) -> None:
    said = [
        ("Guest", "I learnt it from Wilhelmina Xanthe, or from Xanth."),
        ("Guest", "Write to w.xanthe@example.org."),
    ]
    other = with_transcript(room, with_interview(room).id, said)
    noted = {"question": "stages", "text": "Learnt from Wilhelmina Xanthe."}
    room.file.add(NewEntry("note", "lead", noted, other.participant, other.interview, room.now()))
    tick_item(room, other.interview, Stamp("lead"), "factors", "", "what Xanthe says")
    assert {remaining_name.kind for remaining_name in find_remaining_names(room)} == {"transcript", "note"}
    withdraw(room, "P1")
    shown = " ".join(turn.text for turn in room.transcript(other.interview).turns)
    assert "anth" not in shown
    assert "I learnt it from P1" in shown
    held = read_conversation(room, other.interview)
    assert [note.text for note in held.notes] == ["Learnt from P1."]
    assert [tick.other for tick in held.ticks] == ["what P1 says"]
    assert find_remaining_names(room) == []


def test_a_withdrawal_by_link_is_recorded_as_the_author_of_name_replacements(room: Interviews) -> None:
    other = with_transcript(room, with_interview(room).id, [("Guest", "I learnt it from Wilhelmina Xanthe.")])
    withdraw_by_link(room, make_link(room, "P1").code)
    assert [entry.actor for entry in room.file.read_entries(about=other.interview) if entry.kind == "replace"] == ["P1"]


def test_only_the_lead_erases_an_existing_participant(room: Interviews) -> None:
    with pytest.raises(StateError, match="is not the lead"):
        withdraw(room, "P1", "interviewer")
    with pytest.raises(InputError, match="there is no participant 'P9'"):
        withdraw(room, "P9")


def test_a_withdrawal_removes_the_turns_from_items_and_funnel(room: Interviews, tmp_path: Path) -> None:
    make_items(room)
    study = open_study(tmp_path)
    run_funnel(study)
    items = list(read_passed(study, -1))
    assert "quixotic" in str(read_item_texts(study, items))
    withdraw(room, "P1")
    assert list(read_passed(study, -1)) == [item for item in items if not item.startswith("P1/")]
    left = str(read_item_texts(study, items))
    assert "quixotic" not in left
    assert "my threshold" in left, "what the others said is still there"
    assert not [path for path, held in files(tmp_path).items() if b"quixotic" in held]


def test_a_withdrawal_that_cannot_reach_a_copy_erases_nothing_and_can_be_repeated(
    room: Interviews, tmp_path: Path
) -> None:
    make_items(room)
    link = make_link(room, "P1")
    whole = (tmp_path / "study.toml").read_text("utf-8")
    (tmp_path / "study.toml").write_text("[study", "utf-8")
    with pytest.raises(SettingsError):
        withdraw_by_link(room, link.code)
    assert room.transcript("P1").turns[1].text == WORDS
    (tmp_path / "study.toml").write_text(whole, "utf-8")
    withdraw_by_link(room, link.code)
    assert not [path for path, held in files(tmp_path).items() if b"quixotic" in held]
