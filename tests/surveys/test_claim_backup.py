"""Claims have a separate backup; a restore merges it with existing claims, and nobody is paid twice."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.small_survey import NAME, answered, fielded, small_survey

from quaestor.base.errors import InputError, StateError
from quaestor.store.backup_file import CLAIMS, open_backup, write_backup
from quaestor.store.private_file_copy import BackupLines
from quaestor.study.backup import back_up_study, restore_study
from quaestor.study.folder import Study
from quaestor.surveys.claim_backup import back_up_claims, restore_claims
from quaestor.surveys.lifecycle import Surveys, open_surveys
from quaestor.surveys.payment import (
    claim_token,
    export_cards,
    find_payment_page,
    list_cards,
    mark_paid,
    payment,
    release_claims,
    submit_claim,
)
from quaestor.surveys.store.claims import PaymentStage


@pytest.fixture
def surveys(tmp_path: Path) -> Iterator[Surveys]:
    """Six who claimed, and were released to the payer."""
    with fielded(tmp_path / "study") as opened:
        for number in range(6):
            claimed(opened, f"person-{number}@example.org")
        release_claims(opened, NAME)
        yield opened


def claimed(surveys: Surveys, address: str) -> str:
    token = claim_token(surveys, answered(surveys)[0])
    submit_claim(surveys, NAME, token, address)
    return token


@pytest.fixture
def backup(surveys: Surveys, tmp_path: Path) -> Path:
    return back_up_claims(surveys.study, tmp_path / "claims.backup").file


@pytest.fixture
def other(tmp_path: Path, surveys: Surveys) -> Study:
    """The study elsewhere, without its claims."""
    study = small_survey(tmp_path / "other")
    restore_study(study, back_up_study(surveys.study, tmp_path / "study.backup").file)
    return study


def test_a_claim_backup_restores_claims_with_their_key(surveys: Surveys, backup: Path, other: Study) -> None:
    token = claimed(surveys, "later@example.org")
    assert backup.stat().st_mode & 0o777 == 0o600
    done = restore_claims(other, backup)
    assert (done.claims, done.added, done.kept, done.known) == (6, 6, None, False)
    with open_surveys(other) as there:
        assert {card.address for card in list_cards(there, NAME)} == {one.address for one in list_cards(surveys, NAME)}
        payment_page = find_payment_page(there, NAME, token)
        assert payment_page is not None
        assert payment_page.stage is None
    assert {(other.root / name).stat().st_mode & 0o777 for name in ("claims.db", "claims.key")} == {0o600}
    assert not list(other.root.glob(".claims*"))
    assert restore_claims(other, backup).added == 0


def test_study_backups_and_claim_backups_cannot_be_confused(surveys: Surveys, backup: Path, other: Study) -> None:
    whole = backup.with_name("study.backup")
    with pytest.raises(InputError, match=r"contains claims, which are kept separately: run `quaestor restore --claims"):
        restore_study(other, backup)
    with pytest.raises(InputError, match=r"contains no claims: run `quaestor restore "):
        restore_claims(other, whole)
    assert not (other.root / "claims.db").exists()
    assert b"example.org" not in whole.read_bytes()
    for response in surveys.answers.responses(NAME):
        assert response.id.encode() not in backup.read_bytes()


def test_restoring_claims_keeps_later_claims_and_payments(surveys: Surveys, backup: Path) -> None:
    export_cards(surveys, NAME)
    mark_paid(surveys, NAME, 6)
    claimed(surveys, "later@example.org")
    done = restore_claims(surveys.study, backup)
    assert (done.claims, done.added, done.kept, done.known) == (7, 0, None, True)
    counts = payment(surveys, NAME).counts
    assert (counts[PaymentStage.PAID], counts[PaymentStage.WAITING]) == (6, 1)


def test_another_claim_key_is_refused_or_kept_and_replaced(surveys: Surveys, backup: Path, other: Study) -> None:
    with open_surveys(other) as there:
        claimed(there, "elsewhere@example.org")
        before = (other.root / "claims.key").read_bytes()
        with pytest.raises(StateError, match=r"claims.key differs from the key in .* use --replace"):
            restore_claims(other, backup)
        assert (other.root / "claims.key").read_bytes() == before
        assert payment(there, NAME).counts[PaymentStage.WAITING] == 1
        done = restore_claims(other, backup, replace=True)
        assert (done.claims, done.added, done.known) == (6, 6, False)
        assert len(list_cards(there, NAME)) == 6
        assert done.kept is not None
        assert done.kept.stat().st_mode & 0o777 == 0o600
        assert restore_claims(other, done.kept, replace=True).claims == 1
        assert (other.root / "claims.key").read_bytes() == before


def test_a_study_without_claims_has_nothing_to_back_up(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "study")
    with pytest.raises(StateError, match=r"there are no payment claims in .*: nothing to back up"):
        back_up_claims(study, tmp_path / "claims.backup")
    (study.root / "claims.db").touch()
    with pytest.raises(StateError, match=r"cannot be opened without claims.key"):
        back_up_claims(study, tmp_path / "claims.backup")
    assert not (tmp_path / "claims.backup").exists()


Change = Callable[[list[list[object]], list[list[object]]], None]


def of_first(place: int, value: object) -> Change:
    def change(claims: list[list[object]], key: list[list[object]]) -> None:
        claims[0][place] = value

    return change


def of_key(value: object) -> Change:
    def change(claims: list[list[object]], key: list[list[object]]) -> None:
        key[0][1] = value

    return change


FORGED: dict[str, Change] = {
    "a short id": of_first(1, {"hex": "00"}),
    "another id": of_first(1, {"hex": "00" * 32}),
    "a stage beyond all": of_first(4, 9),
    "words for bytes": of_first(3, "sealed"),
    "nothing under seal": of_first(3, {"hex": ""}),
    "another key": of_key("ab" * 32),
    "a short key": of_key("ab"),
    "a key in capitals": of_key("AB" * 32),
    "a number for a key": of_key(7),
    "no key": lambda claims, key: key.clear(),
    "two keys": lambda claims, key: key.append(key[0]),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_forged_claims_in_a_backup_are_refused(backup: Path, other: Study, forgery: str) -> None:
    with open_backup(backup, CLAIMS) as opened:
        claims, key = ([json.loads(line) for line in opened.read_lines(part)] for part in ("claims", "key"))
    FORGED[forgery](claims, key)
    backup.unlink()
    lines = [[json.dumps(row, separators=(",", ":")) for row in rows] for rows in (claims, key)]
    write_backup((), backup, "", (BackupLines("claims", 1, lines[0]), BackupLines("key", 1, lines[1])), CLAIMS)
    with pytest.raises(InputError, match=r"is damaged .*: nothing was restored, use another one") as refused:
        restore_claims(other, backup, replace=True)
    assert "\n" not in str(refused.value)
    assert not list(other.root.glob("claims*"))


def test_a_claim_backup_with_a_trigger_or_changed_rows_is_refused(backup: Path, other: Study) -> None:
    whole = backup.read_bytes()
    for statement in (
        "CREATE TRIGGER t AFTER INSERT ON lines BEGIN SELECT 1; END",
        "UPDATE lines SET line = line || ' '",
    ):
        backup.write_bytes(whole)
        with closing(sqlite3.connect(backup, isolation_level=None)) as meddled:
            meddled.execute(statement)
        with pytest.raises(InputError, match="nothing was restored"):
            restore_claims(other, backup)
    assert not list(other.root.glob("claims*"))


def test_a_killed_claim_restore_can_be_repeated(backup: Path, tmp_path: Path) -> None:
    chance, unfinished = random.Random(4), 0
    begun = time.monotonic()
    restore_claims(small_survey(tmp_path / "first"), backup)
    longest = time.monotonic() - begun
    for number in range(15):
        there = small_survey(tmp_path / f"there-{number}")
        child = os.fork()
        if child == 0:
            try:
                restore_claims(there, backup)
            finally:
                os._exit(0)
        time.sleep(chance.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        unfinished += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        assert restore_claims(there, backup).claims == 6
    assert unfinished > 0
