"""A backup contains acts, answers and invitations; a restore leaves out what was withdrawn since."""

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
from tests.support.small_survey import NAME, answered, fielded, small_survey

from quaestor.base.errors import InputError, QuaestorError, StateError, TemporarilyUnavailable
from quaestor.store.backup_file import open_backup, write_backup
from quaestor.store.private_file_copy import BackupLines
from quaestor.store.records import new_key
from quaestor.study.backup import back_up_study, restore_study
from quaestor.study.folder import Study, open_journal, open_study
from quaestor.surveys.invitations import accept_invitation, invite, response_rates
from quaestor.surveys.lifecycle import Surveys, open_survey, open_surveys, review_response
from quaestor.surveys.model.records import Response, ResponseStatus
from quaestor.surveys.respond import begin_response, withdraw
from quaestor.surveys.store.answers import ANSWERS
from quaestor.surveys.store.page_submission import PageSubmission
from quaestor.surveys.store.responses import hashed

WORDS = "a giraffe in the attic"


@pytest.fixture(params=["sqlite", "postgresql"])
def new_folder(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Path]:
    """A folder for a study whose journal is in a file, or in a new database on a real server."""

    def make(name: str) -> Path:
        study = small_survey(tmp_path / name)
        if request.param == "postgresql":
            address = new_database(request.getfixturevalue("postgresql_server"))
            with study.file.open("a") as file:
                file.write(f"\n[store]\naddress = {json.dumps(address)}\n")
        return study.root

    return make


def fill_survey(folder: Path) -> list[str]:
    """Three who finished, one who is under way, one who withdrew, and links of which one was used; the codes."""
    with open_surveys(open_study(folder)) as surveys:
        open_survey(surveys, NAME)
        codes = [answered(surveys)[0] for _ in range(3)]
        say_words(surveys, codes[0])
        codes.append(begin_response(surveys, NAME)[0])
        withdraw(surveys, answered(surveys)[0])
        tokens = [one.token for one in invite(surveys, NAME, "first", "pro", count=6)]
        codes.append(accept_invitation(surveys, tokens[0])[1])
        review_response(surveys, NAME, response_of(surveys, codes[1]).id, keep=False, why="too fast")
        return codes


def say_words(surveys: Surveys, code: str) -> None:
    """A word that can be looked for in files; written as a page would have sent it before the end."""
    found = response_of(surveys, code)
    with surveys.answers._file.writing() as writing:
        said = json.dumps({**found.answers, "hardest": {"text": WORDS}})
        writing.execute("UPDATE responses SET answers = ? WHERE id = ?", (said, found.id))


def response_of(surveys: Surveys, code: str) -> Response:
    found = surveys.answers.find(code)
    assert found is not None
    return found


def everything(folder: Path) -> tuple[object, ...]:
    """All that a study knows of its survey."""
    with open_surveys(open_study(folder)) as surveys:
        responses = list(surveys.answers.responses(NAME))
        journals = [surveys.answers.journal(response.id) for response in responses]
        told = (surveys.answers.erased(NAME), surveys.answers.version(NAME), response_rates(surveys, NAME))
        return responses, journals, told, surveys.fielding(NAME)


def read_all_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was asked, and its backup; for copies."""
    folder = tmp_path_factory.mktemp("made")
    fill_survey(small_survey(folder / "study").root)
    back_up_study(open_study(folder / "study"), folder / "one.backup")
    return folder


@pytest.fixture
def study(study_template: Path, tmp_path: Path) -> Study:
    return open_study(shutil.copytree(study_template / "study", tmp_path / "study"))


@pytest.fixture
def backup(study_template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(study_template / "one.backup", tmp_path / "one.backup"))


@pytest.fixture
def other(tmp_path: Path) -> Study:
    """A study of the same questionnaire in which nothing has happened."""
    return small_survey(tmp_path / "other")


def test_a_backup_restores_all_answers(new_folder: Callable[[str], Path], tmp_path: Path) -> None:
    folder, there = new_folder("study"), new_folder("there")
    codes = fill_survey(folder)
    report = back_up_study(open_study(folder), tmp_path / "one.backup")
    assert report.file.stat().st_mode & 0o777 == 0o600
    assert report.parts["answers"].rows == {
        "erasures": 1, "responses": 5, "saves": 12, "versions": 1, "words": 1
    }  # fmt: skip
    assert report.parts["invitations"].rows == {"invitations": 6}
    done = restore_study(open_study(there), report.file)
    assert (done.journal.added, done.entries) == (report.acts, {"responses": 5, "invitations": 6})
    assert everything(there) == everything(folder)
    assert {(there / name).stat().st_mode & 0o777 for name in ("answers.db", "invitations.db")} == {0o600}
    with open_surveys(open_study(there)) as surveys:
        assert all(surveys.answers.find(code) for code in codes)
    again = restore_study(open_study(there), report.file)
    assert (again.journal.added, again.journal.kept) == (0, None)
    assert everything(there) == everything(folder)


def test_a_backup_without_surveys_contains_only_acts(other: Study, study: Study, tmp_path: Path) -> None:
    report = back_up_study(other, tmp_path / "empty.backup")
    assert report.parts == {}
    assert not (other.root / "answers.db").exists()
    before = everything(study.root)
    assert restore_study(study, report.file, replacing=True).entries == {}
    assert everything(study.root)[0] == before[0], "what a backup does not hold stays"


def test_a_backup_is_consistent_while_people_answer(new_folder: Callable[[str], Path], tmp_path: Path) -> None:
    """In every backup, each used invitation has its response and each decision has its subject."""
    folder, ended = new_folder("study"), threading.Event()
    with open_surveys(open_study(folder)) as surveys:
        open_survey(surveys, NAME)

        def answer() -> None:
            tokens = iter([one.token for one in invite(surveys, NAME, "first", "pro", count=500)])
            while not ended.is_set():
                _, code = accept_invitation(surveys, next(tokens))
                review_response(surveys, NAME, response_of(surveys, code).id, keep=True, why="met")

        person = threading.Thread(target=answer)
        person.start()
        try:
            reports = [back_up_study(surveys.study, tmp_path / f"{number}.backup") for number in range(4)]
        finally:
            ended.set()
            person.join()
    for report in reports:
        with open_backup(report.file) as opened:
            used = sum(json.loads(line)[5] for line in opened.read_lines("invitations"))
            begun = [json.loads(line)[1] for line in opened.read_lines("answers") if line.startswith('["responses"')]
            acts = [row.act() for row in opened.read_rows()]
        assert used == len(begun)
        decided = [act.payload["response"] for act in acts if act.kind == "survey.decide"]
        assert set(decided) <= set(begun)
        assert len(begun) - len(decided) <= 1


def test_a_restore_leaves_out_respondents_who_withdrew_since(study: Study, backup: Path) -> None:
    with open_surveys(study) as surveys:
        code, gone = answered(surveys)
    later = back_up_study(study, backup.with_name("later.backup")).file
    with open_surveys(study) as surveys:
        assert withdraw(surveys, code)
    before = everything(study.root)
    answered_more(study)
    with pytest.raises(StateError, match=r"answers.db contains 6 other responses than .*: restore with --replace"):
        restore_study(study, later)
    done = restore_study(study, later, replacing=True)
    assert (done.withdrawn, done.unknown_since) == (1, None)
    assert done.journal.kept is not None
    after = everything(study.root)
    assert (after[0], after[1]) == (before[0], before[1])
    assert gone.id not in str(after)
    assert gone.id.encode() not in (study.root / "answers.db").read_bytes()


def answered_more(study: Study) -> None:
    with open_surveys(study) as surveys:
        answered(surveys)


def withdrawn_words(study: Study) -> None:
    with open_surveys(study) as surveys:
        (found,) = [response for response in surveys.answers.responses(NAME) if WORDS in str(response.answers)]
        with surveys.answers._file.writing() as writing:  # the code is the respondent's, and known to nobody here
            writing.execute("UPDATE responses SET code = ? WHERE id = ?", (hashed("a code"), found.id))
        assert withdraw(surveys, "a code")


def test_the_erasure_list_is_enough_to_leave_out_withdrawn_respondents(study: Study, backup: Path) -> None:
    withdrawn_words(study)
    assert (study.root / "withdrawn.txt").stat().st_mode & 0o777 == 0o600
    for path in study.root.glob("answers.db*"):
        path.unlink()
    done = restore_study(study, backup)
    assert (done.withdrawn, done.unknown_since, done.entries["responses"]) == (1, None, 4)
    assert WORDS.encode() not in read_all_bytes(study.root)
    with open_surveys(study) as surveys:
        assert surveys.answers.erased(NAME) == 2


def test_a_restore_without_withdrawal_records_says_so_and_a_later_list_is_applied(
    study: Study, backup: Path, other: Study
) -> None:
    withdrawn_words(study)
    done = restore_study(other, backup)
    with open_backup(backup) as opened:
        made = opened.report.created
    assert (done.withdrawn, done.unknown_since, done.entries["responses"]) == (0, made, 5)
    assert WORDS.encode() in read_all_bytes(other.root)
    (other.root / "withdrawn.txt").write_bytes((study.root / "withdrawn.txt").read_bytes())
    done = restore_study(other, backup)
    assert (done.withdrawn, done.unknown_since, done.journal.kept) == (1, None, None)
    assert WORDS.encode() not in read_all_bytes(other.root)
    assert everything(other.root)[:3] == everything(study.root)[:3]


def test_the_backup_made_before_a_replacement_contains_no_withdrawn_respondents(
    study: Study, backup: Path, other: Study
) -> None:
    restore_study(other, backup)
    answered_more(other)
    withdrawn_words(study)
    (other.root / "withdrawn.txt").write_bytes((study.root / "withdrawn.txt").read_bytes())
    done = restore_study(other, backup, replacing=True)
    assert done.journal.kept is not None
    assert done.journal.kept.stat().st_mode & 0o777 == 0o600
    assert WORDS.encode() not in read_all_bytes(other.root)
    with open_backup(done.journal.kept) as kept:
        assert kept.report.parts["answers"].rows["responses"] == 5


def test_a_restore_contains_no_answers_of_respondents_who_declined_since(study: Study, tmp_path: Path) -> None:
    with open_surveys(study) as surveys:
        code, response = begin_response(surveys, NAME)
        surveys.answers.save(PageSubmission(code, "you", {"role": {"text": WORDS}}, new_key(), ResponseStatus.OPEN))
    backup = back_up_study(study, tmp_path / "before.backup").file
    with open_surveys(study) as surveys:
        refused = {"consent": {"choices": ["decline"]}}
        surveys.answers.save(PageSubmission(code, "consent", refused, new_key(), ResponseStatus.DECLINED))
    answered_more(study)
    assert restore_study(study, backup, replacing=True).withdrawn == 1
    with open_surveys(study) as surveys:
        found = surveys.answers.response(response.id)
        assert found is not None
        assert found.standing is ResponseStatus.DECLINED
        assert [page for _, page, _ in surveys.answers.journal(response.id)] == ["consent"]
        assert "role" not in found.answers or not found.answers["role"]


def test_other_answers_are_refused_or_kept_and_replaced(study: Study, backup: Path, other: Study) -> None:
    with fielded(other.root) as surveys:
        answered(surveys)
    before = everything(other.root)
    with pytest.raises(StateError, match=r"restore with --replace, which backs up this data first") as refused:
        restore_study(other, backup)
    assert "\n" not in str(refused.value)
    assert everything(other.root) == before
    done = restore_study(other, backup, replacing=True)
    assert everything(other.root)[:2] == everything(study.root)[:2]
    assert done.journal.kept is not None
    restore_study(other, done.journal.kept, replacing=True)
    assert everything(other.root)[0] == before[0]


def test_damaged_answers_are_set_aside_and_restored(study: Study, backup: Path) -> None:
    before, path = everything(study.root), study.root / "answers.db"
    whole = path.read_bytes()
    for damaged in (b"x" * 9000, whole[:4096] + b"\xff" * 8192 + whole[12288:]):
        path.write_bytes(damaged)
        with pytest.raises(TemporarilyUnavailable, match=r"damaged.*quaestor restore FILE --replace"):
            restore_study(study, backup)
        assert path.read_bytes() == damaged
        done = restore_study(study, backup, replacing=True)
        (aside,) = done.journal.damaged
        assert aside.read_bytes() == damaged
        assert everything(study.root)[:2] == before[:2]


def test_a_backup_without_answers_from_an_earlier_version_is_restored(study: Study, other: Study, backup: Path) -> None:
    with closing(sqlite3.connect(backup, isolation_level=None)) as old:
        old.executescript("DROP TABLE parts; DROP TABLE lines; PRAGMA user_version = 1; VACUUM")
    assert restore_study(other, backup).entries == {}
    with open_journal(other) as restored, open_journal(study) as ours:
        assert list(restored.acts()) == list(ours.acts())


def test_answers_of_an_older_version_are_upgraded_by_a_restore(study: Study, other: Study, backup: Path) -> None:
    def older(lines: list[str]) -> list[str]:
        rows = [json.loads(line) for line in lines]
        rows = [row[:5] if row[0] == "erasures" else row for row in rows if row[0] != "words"]
        return [json.dumps(row, separators=(",", ":")) for row in rows]

    forged(backup, older, version=1)
    restore_study(other, backup)
    assert everything(other.root)[0] == everything(study.root)[0]
    with open_surveys(other) as surveys:
        assert surveys.answers.erased(NAME) == 1


def forged(backup: Path, change: Callable[[list[str]], list[str]], version: int = ANSWERS.version) -> None:
    """The same backup with other answers, and every SHA-256 as it has to be."""
    with open_backup(backup) as opened:
        rows, lines = list(opened.read_rows()), list(opened.read_lines("answers"))
        links = BackupLines("invitations", 1, list(opened.read_lines("invitations")))
    backup.unlink()
    write_backup(rows, backup, "2026-01-01", (BackupLines("answers", version, change(lines)), links))


def with_value(table: str, place: int, value: object) -> Callable[[list[str]], list[str]]:
    """The first row of a table with another value in one place."""

    def change(lines: list[str]) -> list[str]:
        rows = [json.loads(line) for line in lines]
        row = next(row for row in rows if row[0] == table)
        row[place] = value
        return [json.dumps(row, separators=(",", ":")) for row in rows]

    return change


FORGED: dict[str, Callable[[list[str]], list[str]]] = {
    "no such table": with_value("responses", 0, "sqlite_master"),
    "a name that is none": with_value("responses", 0, '"; DROP TABLE responses; --'),
    "a number for words": with_value("responses", 11, 7),
    "words for a number": with_value("saves", 1, "first"),
    "bytes for words": with_value("responses", 2, {"hex": "00"}),
    "a list": with_value("responses", 11, []),
    "a number beyond all": with_value("saves", 1, 2**70),
    "nothing": with_value("responses", 2, None),
    "a standing that is none": with_value("responses", 5, "king"),
    "answers that are none": with_value("responses", 11, "[1]"),
    "answers that are no JSON": with_value("responses", 11, "{"),
    "answers without a bottom": with_value("responses", 11, "[" * 100_000),
    "a page of nobody": with_value("saves", 2, "nobody"),
    "twice the same": lambda lines: [*lines, lines[-1]],
    "one value more": lambda lines: [*lines[:-1], lines[-1][:-1] + ",1]"],
    "no JSON": lambda lines: [*lines, "x"],
    "an object": lambda lines: [*lines, '{"responses":1}'],
}


@pytest.mark.parametrize("forgery", FORGED)
def test_forged_answers_in_a_backup_are_refused(other: Study, backup: Path, forgery: str) -> None:
    forged(backup, FORGED[forgery])
    refused_and_unchanged(other, backup, "is damaged .*: nothing was restored, use another one")


def refused_and_unchanged(other: Study, backup: Path, expected: str) -> None:
    before = {path: path.read_bytes() for path in other.root.rglob("*") if path.is_file()}
    for replacing in (False, True):
        with pytest.raises(InputError, match=expected) as refused:
            restore_study(other, backup, replacing)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 500
    assert {path: path.read_bytes() for path in other.root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("CREATE TRIGGER t AFTER INSERT ON acts BEGIN DELETE FROM acts; END", "it contains the trigger 't'"),
        ("CREATE VIEW v AS SELECT 1", "it contains the view 'v'"),
        ("ALTER TABLE lines RENAME TO l; CREATE VIEW lines AS SELECT * FROM l", "it contains the"),
        ("CREATE TABLE more (x)", "it contains the table 'more'"),
        ("DROP TABLE parts", "tables are missing"),
        ("UPDATE lines SET line = replace(line, 'finished', 'open')", "SHA-256 of its answers differs"),
        ("DELETE FROM lines WHERE part = 'answers' AND number = 2", "SHA-256 of its answers differs"),
        ("UPDATE parts SET sha256 = '' WHERE name = 'invitations'", "SHA-256 of its invitations differs"),
        ("UPDATE parts SET rows = '{}' WHERE name = 'answers'", "SHA-256 of its answers differs"),
        ("UPDATE parts SET version = 'x'", "SHA-256 of its .* differs"),
        ("UPDATE parts SET version = 99", "written by a newer Quaestor"),
        ("UPDATE parts SET version = -1", "written by a newer Quaestor"),
        ("DELETE FROM parts WHERE name = 'answers'", "it contains lines without a part"),
        ("UPDATE parts SET name = '../../x' WHERE name = 'answers'", "differs|does not know"),
        (
            "UPDATE lines SET part = 'claims' WHERE part = 'answers';"
            "UPDATE parts SET name = 'claims' WHERE name = 'answers'",
            "contains 'claims', which is unknown",
        ),
    ],
)
def test_a_manipulated_backup_is_refused(other: Study, backup: Path, statement: str, expected: str) -> None:
    with closing(sqlite3.connect(backup, isolation_level=None)) as meddled:
        meddled.executescript(statement)
    refused_and_unchanged(other, backup, expected)


def test_a_value_over_the_size_limit_is_refused(other: Study, backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quaestor.store.backup_file._MAX_VALUE_BYTES", 1000)
    refused_and_unchanged(other, backup, "too big")


def test_a_killed_backup_leaves_no_file(study: Study, tmp_path: Path) -> None:
    unfinished = 0
    folder = tmp_path / "kept"
    for number, after in enumerate(moments(lambda: back_up_study(study, tmp_path / "first.backup"), 20)):
        file = folder / f"{number}.backup"
        unfinished += killed(lambda file=file: back_up_study(study, file), after)  # type: ignore[misc]
        if file.exists():
            with open_backup(file) as whole:
                assert whole.report.parts["answers"].rows["responses"] == 5
    assert unfinished > 0
    back_up_study(study, folder / "last.backup")
    assert not list(folder.glob(".*")), "what was left behind holds answers"


@pytest.mark.slow
def test_a_killed_restore_is_complete_or_has_no_effect(study: Study, backup: Path, tmp_path: Path) -> None:
    answers, acts = everything(study.root)[:2], back_up_study(study).acts
    unfinished = 0
    first = small_survey(tmp_path / "first")
    for number, after in enumerate(moments(lambda: restore_study(first, backup), 20)):
        there = small_survey(tmp_path / f"there-{number}")
        unfinished += killed(lambda there=there: restore_study(there, backup), after)  # type: ignore[misc]
        found = everything(there.root)
        with open_journal(there) as journal:
            assert journal.head() in (0, acts)
            assert journal.head() == 0 or found[:2] == answers
        assert found[:2] in (answers, ([], []))
        restore_study(there, backup)
        assert everything(there.root)[:2] == answers
    assert unfinished > 0


@pytest.mark.parametrize(
    ("at", "there"),
    [
        ("quaestor.study.backup.replace_content", False),
        ("quaestor.store.private_file.PrivateFile.finish_erasure", True),
    ],
    ids=["before the answers are in", "after the answers are in"],
)
def test_acts_are_restored_last_so_that_no_survey_is_open_without_its_answers(
    study: Study, backup: Path, other: Study, monkeypatch: pytest.MonkeyPatch, at: str, there: bool
) -> None:
    """The other way round, somebody could begin in an empty file, and the next restore would have to refuse."""
    with monkeypatch.context() as patched:
        patched.setattr(at, lambda *given: os.kill(os.getpid(), signal.SIGKILL))
        assert killed(lambda: restore_study(other, backup), None)
    answers = everything(study.root)[:2]
    assert everything(other.root)[:2] == (answers if there else ([], []))
    with open_journal(other) as journal:
        assert journal.head() == 0
    restore_study(other, backup)
    assert everything(other.root)[:2] == answers


def test_a_restore_that_fails_at_the_acts_has_not_changed_the_answers(
    backup: Path, other: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise StateError("the disk is full")

    monkeypatch.setattr("quaestor.store.backup._verify", fail)
    with pytest.raises(QuaestorError, match="the disk is full"):
        restore_study(other, backup)
    assert not (other.root / "answers.db").exists()
    assert not (other.root / "withdrawn.txt").exists()
