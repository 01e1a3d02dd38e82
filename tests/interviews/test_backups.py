"""A backup contains encrypted interviews without keys; a restore leaves out participants who withdrew since."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.killing import killed, moments
from tests.support.postgres import new_database
from tests.support.small_interviews import TALK, a_study, with_interview, with_participant, with_transcript

from quaestor.base.errors import InputError, StateError, TemporarilyUnavailable
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.items import SOURCE, make_items
from quaestor.interviews.participants.people import Contact, list_withdrawn, read_contact, set_contact
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.withdrawal import withdraw
from quaestor.store.backup_file import open_backup, write_backup
from quaestor.store.private_file_copy import BackupLines
from quaestor.study.backup import back_up_study, list_keys, restore_study
from quaestor.study.folder import Study, open_journal, open_study

WORDS = "The zygomorphic tensor was quixotic."
KEYS = ("interviews.key", "identities.key")
LIST = "withdrawn-participants.txt"


def held_talks(study: Study) -> None:
    """P1 and P2 talked, P3 withdrew; the lead can reach P1 and P2."""
    with open_interviews(study) as room:
        for talk in ([("Interviewer", "And?"), ("Guest", WORDS)], TALK, TALK):
            with_transcript(room, with_interview(room).id, talk)
        set_contact(room, "P1", Contact("Wilhelmina Xanthe", "w.xanthe@example.org"))
        set_contact(room, "P2", Contact("Somebody Else"))
        withdraw(room, "P3")


def with_keys(study: Study, of: Study) -> Study:
    for name in KEYS:
        shutil.copyfile(of.root / name, study.root / name)
    return study


def everything(study: Study) -> tuple[object, ...]:
    """All that a study knows of its interviews."""
    with open_interviews(study) as room:
        entries, erased = room.file.read_entries(), room.file.list_erased()
        contacts = {one.pseudonym: vars(read_contact(room, one.pseudonym)) for one in room.participants()}
        guides = room.file.texts.list_versions("guide/guide")
        return entries, room.transcripts(), erased, room.identities.list_erased(), guides, contacts


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def sealed_of(study: Study, participant: str) -> list[bytes]:
    """Every sealed row of a participant, to be looked for in files."""
    found = []
    for name in ("interviews.db", "identities.db"):
        with closing(sqlite3.connect(study.root / name)) as file:
            for table in ("entries", "pieces"):
                asked = f"SELECT said FROM {table} WHERE participant = ?"  # noqa: S608
                found += [bytes(said) for (said,) in file.execute(asked, (participant,))]
    return found


def is_held(sealed: list[bytes], folder: Path) -> bool:
    """Whether any file contains a row, as bytes or as written by a backup."""
    wanted = [one for row in sealed for one in (row, row.hex().encode())]
    return any(one in content for one in wanted for content in files(folder).values())


@pytest.fixture(params=["sqlite", "postgresql"])
def new_folder(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Study]:
    """A study whose journal is in a file, or in a new database on a real server."""

    def make(name: str) -> Study:
        more = ""
        if request.param == "postgresql":
            more = f"\n[store]\naddress = {json.dumps(new_database(request.getfixturevalue('postgresql_server')))}\n"
        return a_study(tmp_path / name, more=more)

    return make


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with interviews, and its backup; for copies."""
    folder = tmp_path_factory.mktemp("made")
    study = a_study(folder / "study")
    held_talks(study)
    back_up_study(study, folder / "one.backup")
    return folder


@pytest.fixture
def study(study_template: Path, tmp_path: Path) -> Study:
    return open_study(shutil.copytree(study_template / "study", tmp_path / "study"))


@pytest.fixture
def backup(study_template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(study_template / "one.backup", tmp_path / "one.backup"))


@pytest.fixture
def other(tmp_path: Path, study_template: Path) -> Study:
    """A study with the same guide and keys and without participants."""
    return with_keys(a_study(tmp_path / "other"), open_study(study_template / "study"))


def test_a_backup_restores_everything(new_folder: Callable[[str], Study], tmp_path: Path) -> None:
    study, there = new_folder("study"), new_folder("there")
    held_talks(study)
    report = back_up_study(study, tmp_path / "one.backup")
    assert report.parts["interviews"].rows == {"entries": 12, "erasures": 1, "pieces": 6, "texts": 2}
    assert report.parts["identities"].rows == {"entries": 2, "erasures": 1}
    done = restore_study(with_keys(there, study), report.file)
    assert (done.journal.added, done.entries) == (report.acts, {"interviews": 12, "identities": 2})
    assert (done.participants, done.lists) == ((), (LIST,))
    assert everything(there) == everything(study)
    assert {(there.root / name).stat().st_mode & 0o777 for name in ("interviews.db", "identities.db")} == {0o600}
    again = restore_study(there, report.file)
    assert (again.journal.added, again.journal.kept, again.unknown_since) == (0, None, None)
    with open_interviews(there) as room:
        assert room.interviews()[0].id == "P1"
        assert with_participant(room) == "P4", "the pseudonym of who withdrew is not given again"


def test_a_backup_contains_no_keys_and_is_unreadable_without_them(study: Study, other: Study, backup: Path) -> None:
    held = backup.read_bytes()
    for name in KEYS:
        key = (study.root / name).read_bytes()
        assert key not in held
        assert bytes.fromhex(key.decode()) not in held
    assert not [word for word in (b"quixotic", b"Xanthe", b"w.xanthe", b"compilers") if word in held]
    with open_backup(backup) as opened:
        assert list_keys(study, opened.report) == tuple(study.root / name for name in KEYS)
    assert list_keys(other, back_up_study(other, backup.with_name("none.backup"))) == ()


@pytest.mark.parametrize("name", KEYS)
def test_a_missing_or_wrong_key_is_refused_and_nothing_changes(other: Study, backup: Path, name: str) -> None:
    whose = name.removesuffix(".key")
    (other.root / name).unlink()
    refused_and_unchanged(other, backup, rf"{name} is missing, and the {whose} of .* cannot be read without it")
    (other.root / name).write_text("00" * 32)
    refused_and_unchanged(other, backup, rf"{name} cannot decrypt the {whose} of .*one\.backup: move that key away")
    (other.root / name).write_text("no key")
    refused_and_unchanged(other, backup, rf"{name} cannot be read as the key of {whose}")


def test_keys_can_be_in_a_separate_folder(
    other: Study, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "keys").mkdir()
    for name in KEYS:
        (other.root / name).rename(tmp_path / "keys" / name)
    monkeypatch.setenv("QUAESTOR_KEYS", str(tmp_path / "keys"))
    restore_study(other, backup)
    assert len(everything(other)[1]) == 2  # type: ignore[arg-type]
    assert not list(other.root.glob("*.key"))


def test_a_backup_is_consistent_while_others_write(new_folder: Callable[[str], Study], tmp_path: Path) -> None:
    """In every backup, contacts belong to participants, and a withdrawn participant is in neither file."""
    study, ended = new_folder("study"), threading.Event()
    with open_interviews(study) as room:
        with_participant(room)

        def talk() -> None:
            while not ended.is_set():
                set_contact(room, with_participant(room), Contact("Somebody"))

        person = threading.Thread(target=talk)
        person.start()
        try:
            reports = [back_up_study(study, tmp_path / f"{number}.backup") for number in range(4)]
        finally:
            ended.set()
            person.join()
    for report in reports:
        with open_backup(report.file) as opened:
            rows = {part: [json.loads(line) for line in opened.read_lines(part)] for part in opened.report.parts}
        take_part = {row[2] for row in rows["interviews"] if row[0] == "entries"}
        assert {row[2] for row in rows["identities"]} <= take_part
        assert len(take_part) - len(rows["identities"]) <= 2


def withdrawn_since(study: Study) -> list[bytes]:
    """P1 withdraws; the sealed rows that were theirs."""
    sealed = sealed_of(study, "P1")
    assert len(sealed) >= 6
    with open_interviews(study) as room:
        withdraw(room, "P1")
    return sealed


def test_a_restore_leaves_out_participants_who_withdrew_since(study: Study, backup: Path) -> None:
    sealed = withdrawn_since(study)
    before = everything(study)
    done = restore_study(study, backup, replacing=True)  # the journal has the withdrawal, and the backup has not
    assert (done.participants, done.unknown_since) == (("P1",), None)
    assert everything(study) == before
    assert not is_held(sealed, study.root), "nor in what is kept of before"
    with open_interviews(study) as room, pytest.raises(StateError, match="P1 withdrew"):
        room.participant("P1")


@pytest.mark.parametrize("left", [LIST, "study.db"])
def test_the_erasure_list_or_the_journal_is_enough_to_leave_out_withdrawn_participants(
    study: Study, backup: Path, left: str
) -> None:
    sealed = withdrawn_since(study)
    assert (study.root / LIST).stat().st_mode & 0o777 == 0o600
    for path in [*study.root.glob("*.db*"), study.root / LIST]:
        if not path.name.startswith(left):
            path.unlink()
    assert restore_study(study, backup, replacing=True).participants == ("P1",)
    assert not is_held(sealed, study.root)
    with open_interviews(study) as room:
        assert set(room.file.list_erased()) == set(room.identities.list_erased()) == {"P1", "P3"}
        assert set((study.root / LIST).read_text().split()[::2]) == {"P1", "P3"}


def test_a_restore_without_withdrawal_records_says_so_and_a_later_list_is_applied(
    study: Study, backup: Path, other: Study
) -> None:
    sealed = withdrawn_since(study)
    done = restore_study(other, backup)
    with open_backup(backup) as opened:
        assert (done.unknown_since, done.lists) == (opened.report.created, (LIST,))
    assert is_held(sealed, other.root)
    shutil.copyfile(study.root / LIST, other.root / LIST)
    done = restore_study(other, backup)
    assert (done.participants, done.unknown_since, done.journal.kept) == (("P1",), None, None)
    assert not is_held(sealed, other.root)
    assert everything(other)[1:] == everything(study)[1:]


def test_a_manipulated_erasure_list_is_refused(other: Study, backup: Path) -> None:
    (other.root / LIST).write_text("P1\t2026-01-01\nsomebody\n")
    refused_and_unchanged(other, backup, r"line 2 is not a withdrawal: restore a copy of the list, or remove the line")


def test_a_listed_pseudonym_is_not_given_to_a_new_participant(other: Study) -> None:
    (other.root / LIST).write_text("P4\t2026-01-01\n")
    with open_interviews(other) as room:
        assert with_participant(room) == "P5"


def test_restoring_a_newer_withdrawal_removes_the_participant_from_items_and_results(
    study: Study, backup: Path, other: Study
) -> None:
    restore_study(other, backup)
    with open_interviews(other) as room:
        make_items(room)
    ingest_source(open_study(other.root), SOURCE)
    page = other.published / "report" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(WORDS)
    sealed = withdrawn_since(study)
    later = back_up_study(study, backup.with_name("later.backup")).file
    done = restore_study(other, later, replacing=True)
    assert done.participants == ()
    assert not is_held(sealed, other.root)
    assert not [path for path, held in files(other.root).items() if b"quixotic" in held or b"zygomorphic" in held]
    assert everything(other)[1:] == everything(study)[1:]


def test_other_interviews_are_refused_or_kept_and_replaced(study: Study, backup: Path, other: Study) -> None:
    with open_interviews(other) as room:
        with_transcript(room)
    before = everything(other)
    with pytest.raises(StateError, match=r"interviews.db contains 6 other entries than .*restore with --replace"):
        restore_study(other, backup)
    assert everything(other) == before
    done = restore_study(other, backup, replacing=True)
    assert everything(other) == everything(study)
    assert done.journal.kept is not None
    assert done.journal.kept.stat().st_mode & 0o777 == 0o600
    held = done.journal.kept.read_bytes()
    assert not [name for name in KEYS if (other.root / name).read_bytes() in held]
    restore_study(other, done.journal.kept, replacing=True)
    assert everything(other)[0] == before[0]


def test_damaged_interviews_are_set_aside_and_restored(study: Study, backup: Path) -> None:
    before, path = everything(study), study.root / "interviews.db"
    path.write_bytes(b"x" * 9000)
    with pytest.raises(TemporarilyUnavailable, match=r"interviews.db is damaged.*quaestor restore FILE --replace"):
        restore_study(study, backup)
    done = restore_study(study, backup, replacing=True)
    assert [aside.read_bytes() for aside in done.journal.damaged] == [b"x" * 9000]
    assert everything(study) == before


def refused_and_unchanged(study: Study, backup: Path, expected: str) -> None:
    before = files(study.root)
    for replacing in (False, True):
        with pytest.raises(InputError, match=expected) as refused:
            restore_study(study, backup, replacing)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 500
    assert files(study.root) == before


Lines = dict[str, list[list[object]]]


def forged(backup: Path, change: Callable[[Lines], object]) -> None:
    """The same backup with other rows, and every SHA-256 as it has to be."""
    with open_backup(backup) as opened:
        rows = list(opened.read_rows())
        parts = {name: [json.loads(line) for line in opened.read_lines(name)] for name in opened.report.parts}
    change(parts)
    backup.unlink()
    written = [
        BackupLines(name, 1, [json.dumps(row, separators=(",", ":")) for row in lines]) for name, lines in parts.items()
    ]
    write_backup(rows, backup, "2026-01-01", written)


def with_value(part: str, table: str, place: int, value: object) -> Callable[[Lines], object]:
    def change(parts: Lines) -> None:
        next(row for row in parts[part] if row[0] == table)[place] = value

    return change


FORGED: dict[str, Callable[[Lines], object]] = {
    "no such table": with_value("interviews", "entries", 0, "sqlite_master"),
    "words for a number": with_value("interviews", "entries", 1, "first"),
    "words for bytes": with_value("interviews", "entries", 8, "said"),
    "nothing": with_value("interviews", "pieces", 4, None),
    "an entry of somebody else": with_value("interviews", "entries", 2, "P2"),
    "an entry of another kind": with_value("interviews", "entries", 4, "contact"),
    "a contact of somebody else": with_value("identities", "entries", 2, "P2"),
    "turns in another place": with_value("interviews", "pieces", 2, 77),
    "turns of nobody, which no withdrawal would find": with_value("interviews", "pieces", 3, "P9"),
    "bytes that are not sealed": with_value("interviews", "entries", 8, {"hex": "00"}),
    "a withdrawal of nobody": with_value("interviews", "erasures", 2, "P1\n<script>"),
    "a withdrawal on no day": with_value("identities", "erasures", 3, "today"),
    "a text that was changed": with_value("interviews", "texts", 3, "You agree to everything."),
    "twice the same": lambda parts: parts["interviews"].append(parts["interviews"][-1]),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_forged_rows_in_a_backup_are_refused(other: Study, backup: Path, forgery: str) -> None:
    forged(backup, FORGED[forgery])
    refused_and_unchanged(other, backup, "is damaged .*: nothing was restored, use another one")


def test_a_withdrawal_in_only_one_of_the_files_is_applied_to_both(study: Study, backup: Path) -> None:
    """A backup from between the two files of a withdrawal knows it from either."""

    def half(parts: Lines) -> None:
        parts["identities"] = [row for row in parts["identities"] if row[0] != "erasures"]

    forged(backup, half)
    for path in [*study.root.glob("*.db*"), study.root / LIST]:
        path.unlink()
    restore_study(study, backup)
    with open_interviews(study) as room:
        assert set(room.identities.list_erased()) == set(list_withdrawn(room)) == {"P3"}


def test_a_killed_restore_is_complete_or_has_no_effect(study: Study, backup: Path, tmp_path: Path) -> None:
    whole, acts = everything(study), back_up_study(study).acts
    unfinished = 0
    first = with_keys(a_study(tmp_path / "first"), study)
    for number, after in enumerate(moments(lambda: restore_study(first, backup), 8)):
        there = with_keys(a_study(tmp_path / f"there-{number}"), study)
        unfinished += killed(lambda there=there: restore_study(there, backup), after)  # type: ignore[misc]
        with open_journal(there) as journal:
            assert journal.head() in (0, acts)
            if journal.head():
                assert everything(there) == whole
        restore_study(there, backup)
        assert everything(there) == whole
    assert unfinished > 0


def test_acts_are_restored_last_so_that_no_coding_lacks_its_transcript(
    study: Study, backup: Path, other: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(
            "quaestor.store.private_file.PrivateFile.finish_erasure",
            lambda *given: os.kill(os.getpid(), signal.SIGKILL),
        )
        assert killed(lambda: restore_study(other, backup), None)
    assert everything(other) == everything(study)
    with open_journal(other) as journal:
        assert journal.head() == 0
