"""`quaestor backup` and `quaestor restore`: output, JSON and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import quaestor
from tests.support.small_interviews import a_study, with_transcript
from tests.support.small_survey import NAME, answered, fielded, small_survey

from quaestor.interviews.participants.people import Contact, set_contact
from quaestor.interviews.repository import open_interviews
from quaestor.store.records import NewAct
from quaestor.study.folder import open_journal, open_study
from quaestor.study.templates import new_study
from quaestor.surveys.invitations import invite
from quaestor.surveys.payment import claim_token, submit_claim


def refusal(*arguments: str | Path, cwd: Path, **environment: str) -> str:
    done = quaestor(*arguments, cwd=cwd, **environment)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study with three acts."""
    folder = new_study(tmp_path / "mine", "blank")
    write(folder, 3)
    return folder


def write(folder: Path, number: int) -> None:
    with open_journal(open_study(folder)) as journal:
        journal.append([NewAct("rating", "r1", {"item": index}) for index in range(number)])


def head(folder: Path) -> int:
    with open_journal(open_study(folder)) as journal:
        return journal.head()


def test_a_backup_is_written_to_a_new_file_and_restored(study: Path) -> None:
    report = json.loads(quaestor("backup", "--json", cwd=study).stdout)
    assert set(report) == {"file", "acts", "sha256", "made", "parts", "keys"}
    assert (report["acts"], report["parts"], report["keys"]) == (3, {}, [])
    assert Path(report["file"]).parent == study / "backups"
    (study / "study.db").unlink()
    restored = quaestor("restore", report["file"], "--json", cwd=study)
    assert json.loads(restored.stdout) == {
        "acts": 3, "added": 3, "kept": None, "damaged": [], "responses": None, "invitations": None, "interviews": None,
        "identities": None, "withdrawn": 0, "participants_withdrawn": [], "unknown_since": None, "pending": False,
    }  # fmt: skip
    assert head(study) == 3


def test_backup_and_restore_print_what_they_did(study: Path) -> None:
    output = quaestor("backup", "one.backup", cwd=study)
    assert "3 acts written to one.backup and verified" in output.stdout
    write(study, 2)
    assert "contains 5 acts, from act 4 on other ones than one.backup: restore with --replace" in refusal(
        "restore", "one.backup", cwd=study
    )
    output = quaestor("restore", "one.backup", "--replace", cwd=study)
    assert "The study has 3 acts" in output.stdout
    (kept,) = (study / "backups").iterdir()
    assert f"The previous state is kept in {kept}" in output.stdout
    assert head(study) == 3


def test_a_wrong_call_gives_a_one_sentence_error(study: Path, tmp_path: Path) -> None:
    assert "no study.toml in" in refusal("backup", cwd=tmp_path)
    assert "nowhere.backup is not a file" in refusal("restore", "nowhere.backup", cwd=study)
    assert "study.toml is damaged or not a backup" in refusal("restore", "study.toml", cwd=study)
    assert "study.toml already exists" in refusal("backup", "study.toml", cwd=study)
    (study / "study.db").write_bytes(b"x" * 5000)
    assert "study.db is damaged or not a store of Quaestor" in refusal("backup", cwd=study)


@pytest.fixture
def survey_study(tmp_path: Path) -> Path:
    """A study with a survey: two finished responses, one payment claim and three invitations."""
    with fielded(tmp_path / "asked") as surveys:
        code, _ = answered(surveys)
        answered(surveys)
        invite(surveys, NAME, "first", "pro", count=3)
        submit_claim(surveys, NAME, claim_token(surveys, code), "somebody@example.org")
    return tmp_path / "asked"


def test_responses_and_invitations_are_part_of_the_backup(survey_study: Path, tmp_path: Path) -> None:
    output = quaestor("backup", "one.backup", cwd=survey_study).stdout
    assert "2 acts, 2 responses and 3 invitations written to one.backup and verified" in output
    assert "Payment claims are not included: back them up with `quaestor backup --claims FILE`" in output
    report = json.loads(quaestor("backup", "--json", cwd=survey_study).stdout)
    assert set(report["parts"]) == {"answers", "invitations"}
    assert report["parts"]["answers"]["rows"] == {"responses": 2, "saves": 8, "versions": 1}
    assert len(report["parts"]["answers"]["sha256"]) == 64
    there = small_survey(tmp_path / "there").root
    output = quaestor("restore", report["file"], cwd=there).stdout
    assert "The study has 2 acts, 2 of them from" in output
    assert "It has 3 invitations and 2 responses" in output
    assert f"Withdrawals after {report['made'][:16]}, when the backup was made, are not known here" in output
    restored = json.loads(quaestor("restore", report["file"], "--json", cwd=there).stdout)
    assert (restored["responses"], restored["invitations"], restored["added"]) == (2, 3, 0)


@pytest.fixture
def interview_study(tmp_path: Path) -> Path:
    """A study with two interviews and the contact details of one participant."""
    study = a_study(tmp_path / "talked")
    with open_interviews(study) as interviews:
        with_transcript(interviews)
        with_transcript(interviews)
        set_contact(interviews, "P1", Contact("Somebody"))
    return study.root


@pytest.mark.slow
def test_interviews_are_part_of_the_backup_and_their_keys_are_not(interview_study: Path, tmp_path: Path) -> None:
    output = quaestor("backup", "one.backup", cwd=interview_study).stdout
    assert "1 acts, 12 interview entries and 1 identity entries written to one.backup and verified" in output
    keys = [interview_study / "interviews.key", interview_study / "identities.key"]
    assert f"the keys are not included: keep a copy of {keys[0]} and {keys[1]} elsewhere" in output
    report = json.loads(quaestor("backup", "two.backup", "--json", cwd=interview_study).stdout)
    assert (report["keys"], set(report["parts"])) == ([str(key) for key in keys], {"interviews", "identities"})
    there = a_study(tmp_path / "there").root
    assert "interviews.key is missing, and the interviews of" in refusal(
        "restore", interview_study / "one.backup", cwd=there
    )
    output = quaestor("restore", interview_study / "one.backup", cwd=there, QUAESTOR_KEYS=str(interview_study)).stdout
    assert "It has 12 interview entries and 1 identity entries" in output
    assert "If you have withdrawn-participants.txt from the lost study, copy it into this folder" in output
    keys[0].unlink()
    output = quaestor("backup", "three.backup", cwd=interview_study).stdout
    assert f"{keys[0]} cannot be found: without the keys they are lost" in output


def test_a_restore_names_the_participants_it_left_out(interview_study: Path) -> None:
    quaestor("backup", "one.backup", cwd=interview_study)
    quaestor("interview", "participant", "withdraw", "P1", "--yes", cwd=interview_study)
    output = quaestor("restore", "one.backup", "--replace", cwd=interview_study).stdout
    assert "Participants withdrawn since the backup, not restored: P1" in output
    restored = json.loads(quaestor("restore", "one.backup", "--json", cwd=interview_study).stdout)
    assert (restored["interviews"], restored["identities"]) == (6, 0)
    assert restored["participants_withdrawn"] == ["P1"]


def test_claims_have_a_separate_backup(survey_study: Path, tmp_path: Path) -> None:
    output = quaestor("backup", "--claims", "claims.backup", cwd=survey_study).stdout
    assert "1 claim and the key to decrypt them written to claims.backup and verified" in output
    assert "Store it separately from backups of responses, and keep only the newest" in output
    report = json.loads(quaestor("backup", "--claims", "two.backup", "--json", cwd=survey_study).stdout)
    assert (set(report), report["claims"]) == ({"file", "claims", "sha256"}, 1)
    there = small_survey(tmp_path / "there").root
    output = quaestor("restore", "--claims", survey_study / "claims.backup", cwd=there).stdout
    assert "The study has 1 claim, 1 of them from" in output
    assert "Claims and payments made after the backup are not known here" in output
    restored = json.loads(quaestor("restore", "--claims", survey_study / "two.backup", "--json", cwd=there).stdout)
    assert restored == {"claims": 1, "added": 0, "kept": None, "payments_known": True}


def test_claims_are_never_backed_up_together_with_the_study(survey_study: Path) -> None:
    assert "give either FILE or --claims FILE, not both" in refusal(
        "backup", "one.backup", "--claims", "two.backup", cwd=survey_study
    )
    quaestor("backup", "--claims", "claims.backup", cwd=survey_study)
    assert "`quaestor restore --claims claims.backup`" in refusal("restore", "claims.backup", cwd=survey_study)
    assert "name the backup to restore" in refusal("restore", cwd=survey_study)
    assert "give either FILE or --claims FILE, not both" in refusal(
        "restore", "one.backup", "--claims", "claims.backup", cwd=survey_study
    )
    assert not (survey_study / "one.backup").exists()


def store_at(study: Path, address: str) -> None:
    with (study / "study.toml").open("a") as file:
        file.write(f"[store]\naddress = {json.dumps(address)}\n")


def test_a_relative_store_address_is_resolved_from_the_study_folder(study: Path, tmp_path: Path) -> None:
    store_at(study, "sqlite:///acts.db")
    (study / "inner").mkdir()
    assert json.loads(quaestor("backup", "--json", cwd=study / "inner").stdout)["acts"] == 0
    assert (study / "acts.db").exists()


def test_a_study_moves_to_a_server_and_back(study: Path, postgresql: str) -> None:
    backup = json.loads(quaestor("backup", "--json", cwd=study).stdout)
    before = (study / "study.toml").read_text()
    store_at(study, postgresql.replace("postgres@", "postgres:${QUAESTOR_PASSWORD}@"))
    secret = {"QUAESTOR_PASSWORD": "p@ss/w?rd"}
    assert "store.address names ${QUAESTOR_PASSWORD}, which is not set" in refusal("backup", cwd=study)
    restored = quaestor("restore", backup["file"], "--json", cwd=study, **secret)
    assert json.loads(restored.stdout)["added"] == 3
    back = json.loads(quaestor("backup", "--json", cwd=study, **secret).stdout)
    assert (back["acts"], back["sha256"]) == (3, backup["sha256"])
    (study / "study.toml").write_text(before)
    assert json.loads(quaestor("restore", back["file"], "--json", cwd=study).stdout)["added"] == 0


def test_the_whole_address_may_come_from_the_environment(study: Path, postgresql: str) -> None:
    store_at(study, "${QUAESTOR_STORE}")
    assert json.loads(quaestor("backup", "--json", cwd=study, QUAESTOR_STORE=postgresql).stdout)["acts"] == 0


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("postgresql://r1:geheim@127.0.0.1:1/study", "127.0.0.1:1/study cannot be reached"),
        ("mysql://r1:geheim@host/study", 'store.address: write "sqlite:///FILE", "postgresql://USER@HOST/DATABASE" or'),
        ("postgresql://r1:geheim@host:x/study", "the address of the store cannot be read"),
    ],
)
def test_a_password_is_never_shown(study: Path, address: str, expected: str) -> None:
    store_at(study, address)
    message = refusal("backup", cwd=study)
    assert expected in message
    assert "geheim" not in message
