"""A withdrawn participant's name is removed from other transcripts, and no coded passage moves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.support.coded_interviews import ROUND, code_all, coded_study, copy_of, on_record, stretch
from tests.support.killing import killed, moments
from tests.support.small_interviews import SMALL, a_study, with_interview, with_transcript

from quaestor.coding.agreement import compute_round_agreement
from quaestor.coding.model.records import read_passages
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name
from quaestor.coding.session import open_coding
from quaestor.interviews.coding.decided_passages import read_passage_text
from quaestor.interviews.conduct.acts import Stamp, take_note
from quaestor.interviews.conduct.conversation_state import read_conversation
from quaestor.interviews.model.records import SpokenTurn
from quaestor.interviews.names.confirmations import answer_places
from quaestor.interviews.names.known_names import list_all_names
from quaestor.interviews.names.masking import show_transcript, show_transcript_at
from quaestor.interviews.names.matches import list_proposals
from quaestor.interviews.names.remaining import find_remaining_names
from quaestor.interviews.participants.people import Contact, read_contact, set_contact
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.interviews.withdrawal import withdraw
from quaestor.store.sealed_file import NewEntry
from quaestor.study.backup import back_up_study, restore_study
from quaestor.study.folder import Study, open_study

CONTACT = Contact("Wilhelmina Xanthe", "w.xanthe@obviax.example", "+41 555 0199")
OWN = (("Interviewer", "And?"), ("Guest", "The tensor was quixotic."))
SAID = (
    "I learnt it from Wilhelmina Xanthe, from W. Xanthe's book and from XANTHE; Xanthem or Xanth may be wrong.",
    "Write to w.xanthe@obviax.example or wxanthe, call +41 555 0199, see https://obviax.example/people/wxanthe now.",
    "Xan\u00adthe and Xanthe\u0301 and Wilhelmi-\nna were here. A threshold of 10 is mine.",
)
TALK = (
    ("Interviewer", "Which stages does your work have?"),
    ("Guest", SAID[0]),
    ("Interviewer", "So Wilhelmina said that?"),
    ("Guest", SAID[1]),
    ("Wilhelmina Xanthe", "I join in."),
    ("Guest", SAID[2]),
)
UNKNOWN = (*TALK[:3], ("Guest", "Write to me."), ("Colleague", "I join in."), TALK[5])
"""The same without what tells by its shape or by its label that somebody is named."""
TRACES = ("xanth", "wilhelmi", "w.x", "555 0199", "xan\u00adthe")


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """P2 mentions P1 in many forms, also in evidence; two raters coded P2 and wrote the name in memos."""
    study = coded_study(tmp_path_factory.mktemp("made"), (OWN, UNKNOWN))
    codes = {
        "rater-1": {"P2/00001": [stretch(45, 61, "practice/data", memo="as Xanthe has it")]},
        "rater-2": {"P2/00001": [stretch(0, 33, "practice/data")], "P2/00005": [stretch(52, 71, "shapes")]},
    }
    code_all(study, codes)
    with open_interviews(study) as room:
        take_note(room, "P2", Stamp("lead"), "Ask Xanthe again.", "stages")
        take_note(room, "P2", Stamp("lead"), "What does Wilhelmina do?", "stages", follow_up=True)
        known = [one for one in room.file.read_entries(about="P2") if one.kind in ("transcript", "speaker", "match")]
        known[0].content["left_out"] = ["NOTE recorded by Wilhelmina Xanthe"]
        said = [(one.kind, one.content) for one in known]
        said.append(("speaker", {"speaker": "Wilhelmina Xanthe", "voice": "other"}))
        pieces = [{"speaker": speaker, "text": words} for speaker, words in TALK]
        again = [NewEntry(kind, "lead", words, "P2", "P2", room.now()) for kind, words in said]
        room.file.put_pieces("P2", "P2", pieces, *again)
        set_contact(room, "P1", CONTACT)
        set_contact(room, "P2", Contact("Somebody Else", more="a friend of Wilhelmina Xanthe"))
    return study


@pytest.fixture
def study(study_template: Study, tmp_path: Path) -> Study:
    return copy_of(study_template, tmp_path / "study")


@pytest.fixture
def room(study: Study) -> Iterator[Interviews]:
    with open_interviews(study) as opened:
        yield opened


def everything_kept(study: Study) -> list[str]:
    """All that the two files say, opened."""
    with open_interviews(study) as room:
        found: list[Any] = [entry.content for file in (room.file, room.identities) for entry in file.read_entries()]
        found += [piece for interview in room.interviews() for piece in room.file.read_pieces(interview.id)]
        with room.file._file.reading() as reading:
            found += [text for (text,) in reading.execute("SELECT text FROM texts")]
            acts = [act for (act,) in reading.execute("SELECT DISTINCT act FROM words")]
        found += [room.file.words.read_texts(act) for act in acts]
    return [json.dumps(one, ensure_ascii=False) for one in found]


def traces(texts: list[str]) -> list[str]:
    return [
        text for text in texts if any(trace in text.lower().replace("\\n", "").replace("-", "") for trace in TRACES)
    ]


def rows_in_evidence(folder: Path) -> list[str]:
    return [str(pq.read_table(path).to_pylist()) for path in folder.rglob("*.parquet")]


def plain_files(folder: Path) -> list[str]:
    return [path.read_bytes().decode("utf-8", "ignore") for path in sorted(folder.rglob("*")) if path.is_file()]


def sealed_rows(study: Study) -> dict[bytes, str]:
    """Every sealed row of the two files, with where it lies."""
    found = {}
    for name, tables in (("interviews.db", ("entries", "pieces", "words")), ("identities.db", ("entries",))):
        with closing(sqlite3.connect(study.root / name)) as file:
            for table in tables:
                for (said,) in file.execute(f"SELECT said FROM {table}"):  # noqa: S608
                    found[bytes(said)] = f"{name}/{table}"
    return found


def turns(room: Interviews) -> tuple[SpokenTurn, ...]:
    return room.transcript("P2").turns


def test_a_withdrawal_removes_every_form_of_the_name_from_other_transcripts(study: Study, room: Interviews) -> None:
    assert len(traces(everything_kept(study))) > 8
    assert traces(rows_in_evidence(study.root)) == [], "words of turns are not copied"
    before = sealed_rows(study)
    withdraw(room, "P1")
    assert traces([turn.raw for turn in turns(room)]) == []
    assert traces([turn.text for turn in turns(room)]) == []
    assert traces(everything_kept(study)) == []
    assert traces(rows_in_evidence(study.root)) == []
    assert traces(plain_files(study.root)) == []
    gone = before.keys() - sealed_rows(study).keys()
    assert {"interviews.db/pieces", "interviews.db/words"} <= {before[row] for row in gone}
    held = b"".join(path.read_bytes() for path in study.root.rglob("*") if path.is_file())
    assert not [before[row] for row in gone if row in held], "what a row was before is overwritten"
    assert find_remaining_names(room) == []
    assert read_contact(room, "P2").more == "a friend of P1"


def test_after_a_withdrawal_the_pseudonym_is_shown_and_positions_are_unchanged(room: Interviews) -> None:
    before = turns(room)
    seen = show_transcript(room, "P2")
    withdraw(room, "P1")
    after = turns(room)
    assert [len(turn.raw) for turn in after] == [len(turn.raw) for turn in before]
    assert [turn.voice for turn in after] == [turn.voice for turn in before]
    assert [turn.question for turn in after] == [turn.question for turn in before]
    assert after[1].text == "I learnt it from P1, from P1's book and from P1; P1 or P1 may be wrong."
    assert after[2].text == "So P1 said that?"
    assert after[3].text == "Write to P1 or P1, call P1, see [web address] now."
    assert after[5].text == "P1 and P1 and P1 were here. A threshold of 10 is mine."
    kept = [(place, letter) for place, letter in enumerate(after[1].raw) if letter.isalnum()]
    assert all(before[1].raw[place] == letter for place, letter in kept), "what is left is what was said"
    then = show_transcript_at(room, "P2", seen.seen)
    assert [turn.to_raw(0, len(turn.text)) for turn in then.turns] == [(0, len(turn.raw)) for turn in after]
    notes = [note.text for note in read_conversation(room, "P2").notes]
    assert notes == ["Ask P1 again.", "What does P1 do?"]


def test_a_withdrawal_keeps_codings_of_others_and_their_agreement(study: Study) -> None:
    quoted = "A threshold of 10 is"
    with open_interviews(study) as room:
        at = turns(room)[5].raw.index(quoted)
        code = [stretch(at, at + len(quoted), "shapes")]
        with open_coding(study) as coding:
            rate(coding, ROUND, "rater-2", "P2/00005", {"themes": code})
        close_by_name(study, ROUND, None)
        before = compute_round_agreement(room.coding.state, ROUND, "themes")
        withdraw(room, "P1")
    stored = on_record(study, "rater-2", "P2/00005")
    with open_interviews(study) as room:
        turn = turns(room)[5]
        assert turn.raw[stored[0]["start"] : stored[0]["end"]] == quoted
        (first,) = on_record(study, "rater-1", "P2/00001")
        assert first["memo"] == "as P1 has it"
        assert (first["start"], first["end"]) == (45, 61)
        after = compute_round_agreement(room.coding.state, ROUND, "themes")
        own = sum(item.startswith("P1/") for item in room.coding.state.round(ROUND).plan.items)
        assert (after.n, own > 0) == (before.n - own, True), "only what others said is compared"


def test_a_repeated_withdrawal_changes_nothing(study: Study, room: Interviews) -> None:
    withdraw(room, "P1")
    before = everything_kept(study)
    withdraw(room, "P1")
    assert everything_kept(study) == before


def test_a_withdrawal_keeps_ordinary_words_that_equal_the_name(tmp_path: Path) -> None:
    with open_interviews(a_study(tmp_path)) as room:
        with_transcript(room, turns=OWN)
        said = "I will mark it; Mark knew, and the Vexil filter too, says mark."
        with_transcript(room, turns=(("Interviewer", "And?"), ("Guest", said)))
        set_contact(room, "P1", Contact("Mark Vexil"))
        refused, confirmed = (
            next(one.place for one in list_proposals(room, "P2") if one.words == words and one.start >= start)
            for words, start in (("Vexil", 0), ("mark", 20))
        )
        answer_places(room, [refused], False)
        answer_places(room, [confirmed], True)
        withdraw(room, "P1")
        assert room.transcript("P2").turns[1].text == "I will mark it; P1 knew, and the Vexil filter too, says P1."
        assert room.transcript("P2").turns[1].raw.lower().count("mark") == 1


def test_a_speaker_of_another_transcript_keeps_voice_and_turns(room: Interviews) -> None:
    withdraw(room, "P1")
    labels = [piece["speaker"] for piece in room.file.read_pieces("P2")]
    assert labels == ["Interviewer", "Guest", "Interviewer", "Guest", "P1", "Guest"]
    assert [known_name.forms for known_name in list_all_names(room)] == [("Somebody Else",)]


def test_a_withdrawal_removes_the_name_from_used_guides(tmp_path: Path) -> None:
    guide = SMALL.replace("Which stages does your work have?", "Which stages does Wilhelmina's work have?")
    study = a_study(tmp_path, guide=guide)
    with open_interviews(study) as room:
        with_transcript(room, turns=OWN)
        with_interview(room)
        set_contact(room, "P1", CONTACT)
        withdraw(room, "P1")
        assert "P1's work" in room.guide("guide", 1).questions().__next__().text
    assert traces(everything_kept(study)) == []


@pytest.mark.slow
def test_a_killed_withdrawal_is_finished_by_the_next(study_template: Study, tmp_path: Path) -> None:
    def copied(name: str) -> Study:
        return copy_of(study_template, tmp_path / name)

    def work(study: Study) -> None:
        with open_interviews(study) as room:
            withdraw(room, "P1")

    first, unfinished = copied("first"), 0
    for number, after in enumerate(moments(lambda: work(first), 8)):
        study = copied(f"there-{number}")
        with open_interviews(study) as room:
            lengths = [len(turn.raw) for turn in turns(room)]
        unfinished += killed(lambda study=study: work(study), after)  # type: ignore[misc]
        with open_interviews(study) as room:
            assert [len(turn.raw) for turn in turns(room)] == lengths
            assert all(turn.text.count("█") == 0 for turn in turns(room)), "what is overwritten is replaced on top"
        work(study)
        assert traces(everything_kept(study)) == []
        assert traces(rows_in_evidence(study.root)) == []
    assert unfinished > 0


def test_a_withdrawal_killed_before_the_erasure_can_be_repeated(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        with open_interviews(study) as room:
            withdraw(room, "P1")

    with monkeypatch.context() as patched:
        patched.setattr(
            "quaestor.store.sealed_file.SealedFile.erase", lambda *given: os.kill(os.getpid(), signal.SIGKILL)
        )
        assert killed(work, None)
    work()
    assert traces(everything_kept(study)) == []


@pytest.mark.parametrize("lost", [False, True])
def test_restoring_an_older_backup_does_not_restore_the_name(study: Study, tmp_path: Path, lost: bool) -> None:
    backup = back_up_study(study, tmp_path / "one.backup").file
    with open_interviews(study) as room:
        withdraw(room, "P1")
        expected = [turn.text for turn in turns(room)]
    if lost:
        for path in study.root.glob("*.db*"):
            path.unlink()
    done = restore_study(study, backup, replacing=True)
    assert done.participants == ("P1",)
    assert traces(everything_kept(study)) == []
    with open_interviews(study) as room:
        assert [turn.text for turn in turns(room)] == expected
        assert find_remaining_names(room) == []
    before = sealed_rows(study)
    restore_study(study, backup)
    assert sealed_rows(study) == before, "once more it is the same"


def test_a_restored_withdrawal_removes_the_name_from_this_study(
    study: Study, study_template: Study, tmp_path: Path
) -> None:
    other = copy_of(study_template, tmp_path / "other")
    with open_interviews(study) as room:
        withdraw(room, "P1")
    later = back_up_study(study, tmp_path / "later.backup").file
    kept = restore_study(other, later, replacing=True).journal.kept
    assert traces(everything_kept(other)) == []
    assert traces(rows_in_evidence(other.root)) == []
    third = open_study(shutil.copytree(study_template.root, tmp_path / "third"))
    assert kept is not None
    restore_study(third, kept, replacing=True)
    assert traces(everything_kept(third)) == [], "nor in what is kept of before"


def test_a_coded_passage_over_a_name_shows_the_pseudonym(study: Study) -> None:
    with open_interviews(study) as room:
        withdraw(room, "P1")
        stretches = read_passages(on_record(study, "rater-2", "P2/00001"))
        assert read_passage_text(turns(room)[1], stretches[0]) == "I learnt it from P1"
