"""An attacker with answers, claims, invitations and the key tries to link them.

Respondents finish in an order that the answers give away, and claim their pay soon after. Each attack puts the claims
in an order or names a pair; one that is better than chance means that somebody's pay leads to what they answered.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.small_survey import NAME, fielded

from quaestor.store.backup_file import BACKUP, CLAIMS, open_backup, write_backup
from quaestor.store.private_file_copy import BackupLines
from quaestor.store.records import new_key
from quaestor.study.backup import back_up_study
from quaestor.study.folder import open_study
from quaestor.surveys.claim_backup import back_up_claims
from quaestor.surveys.invitations import accept_invitation, invite
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.payment import claim_token, export_cards, mark_paid, release_claims, submit_claim
from quaestor.surveys.respond import begin_response
from quaestor.surveys.store.claim_key import ClaimKey
from quaestor.surveys.store.claims import ClaimFile, PaymentStage
from quaestor.surveys.store.invitations import InvitationFile
from quaestor.surveys.store.page_submission import PageSubmission

MANY = 200
ONE_PAGE = """
[survey]
title = "One page"

[pay]
amount = 10

[[pages]]
page = "consent"

[[pages.questions]]
id = "consent"
kind = "consent"
text = "Do you agree?"
"""
Orders = Mapping[str, Sequence[Sequence[bytes]]]
"""By attack: stretches of keys, each in an order that the attack reads off."""


@dataclass(frozen=True)
class ClaimedSurvey:
    """What the attacker carried away, and the truth that only the test knows."""

    folder: Path
    truth: Mapping[str, bytes]
    """The key in the other store that belongs to each response."""


def finish(surveys: Surveys, code: str) -> None:
    surveys.answers.save(
        PageSubmission(code, "consent", {"consent": {"choices": ["agree"]}}, new_key(), ResponseStatus.FINISHED)
    )


def claim_key_of(surveys: Surveys, token: str) -> bytes:
    found = ClaimKey(surveys.study.root / "claims.key").claim_id(NAME, token)
    assert found
    return found


@pytest.fixture(scope="module")
def claimed_survey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClaimedSurvey]:
    """Two hundred who finish one after the other and claim a little later; both files are open, as under a desk."""
    folder = tmp_path_factory.mktemp("relinking")
    drawn = random.Random(5)
    with fielded(folder, ONE_PAGE) as surveys, ClaimFile(folder / "claims.db"):
        codes, due, truth = [], [], {}
        for number in range(MANY):
            code, response = begin_response(surveys, NAME)
            finish(surveys, code)
            codes.append(code)
            due.append((number + drawn.expovariate(1 / 3), number, response.id))
        for _, number, name in sorted(due):
            token = claim_token(surveys, codes[number])
            truth[name] = claim_key_of(surveys, token)
            submit_claim(surveys, NAME, token, f"{'x' * drawn.randint(1, 60)}@example.org")
        yield ClaimedSurvey(folder, truth)


def finishing_order(folder: Path) -> list[str]:
    """The answers are a journal, so that they give this away; the defence is all on the other side."""
    with closing(sqlite3.connect(folder / "answers.db")) as opened:
        return [name for (name,) in opened.execute("SELECT response FROM saves ORDER BY number")]


def orders_in(path: Path, table: str, key: str, hints: Sequence[str] = ()) -> Orders:
    """Every order of its keys that a file could be made to tell: of its rows, of its columns, of its bytes."""
    with closing(sqlite3.connect(path)) as opened:
        keys = [row[0] for row in opened.execute(f"SELECT {key} FROM {table} NOT INDEXED")]  # noqa: S608
        found: dict[str, Sequence[Sequence[bytes]]] = {"rows as they come": [keys], "sorted": [sorted(keys)]}
        for column in ("rowid", *hints):
            try:
                ordered = opened.execute(f"SELECT {key} FROM {table} ORDER BY {column}").fetchall()  # noqa: S608
            except sqlite3.OperationalError:
                continue
            found[f"by {column}"] = [[row[0] for row in ordered]]
    content = path.read_bytes()
    found["place in the file"] = [_by_place(keys, content)]
    found["place in each page"] = [_by_place(keys, page) for page in _cut(content, 4096)]
    log = Path(f"{path}-wal")
    frames = _cut(log.read_bytes()[32:], 4096 + 24) if log.exists() else []
    found["frame in the log"] = list(_by_frame(keys, frames))
    return found


def _cut(content: bytes, size: int) -> list[bytes]:
    return [content[start : start + size] for start in range(0, len(content), size)]


def _by_place(keys: Sequence[bytes], content: bytes) -> list[bytes]:
    """The keys found in some bytes, in order."""
    places = {key: content.find(key if isinstance(key, bytes) else str(key).encode()) for key in keys}
    return sorted((key for key in keys if places[key] >= 0), key=places.__getitem__)


def _by_frame(keys: Sequence[bytes], frames: Sequence[bytes]) -> Iterator[list[bytes]]:
    """The keys in the order of their first appearance in the log, once per restart of the log."""
    for salt in dict.fromkeys(frame[8:16] for frame in frames):
        seen: dict[bytes, None] = {}
        for frame in frames:
            if frame[8:16] == salt:
                seen.update(dict.fromkeys(_by_place(keys, frame)))
        yield list(seen)


def _among(group: Sequence[bytes], told: Sequence[Sequence[bytes]]) -> list[list[bytes]]:
    return [[item for item in order if item in group] for order in told]


def deviations(truth: Sequence[bytes], told: Sequence[Sequence[bytes]]) -> float:
    """How far the orders told go with the true one, in standard deviations of chance: Kendall's score over all."""
    place = {one: number for number, one in enumerate(truth)}
    score, variance = 0, 0.0
    for order in told:
        known = [place[item] for item in order if item in place]
        score += sum(1 if one < other else -1 for number, one in enumerate(known) for other in known[number + 1 :])
        variance += len(known) * (len(known) - 1) * (2 * len(known) + 5) / 18
    return float(score / variance**0.5) if variance else 0.0


def right_pairs(truth: Sequence[bytes], told: Sequence[bytes]) -> int:
    """How many the attacker gets right who puts the two orders side by side."""
    kept = set(told)
    return sum(one == other for one, other in zip((one for one in truth if one in kept), told, strict=False))


def assert_tells_nothing(truth: Sequence[bytes], orders: Orders) -> None:
    """No better than chance: by chance ten pairs are right one time in ten million, and five deviations one in two."""
    for name, told in orders.items():
        assert abs(deviations(truth, told)) < 5, name
        for order in told:
            assert max(right_pairs(truth, order), right_pairs(truth, order[::-1])) < 10, name


def test_the_claim_file_does_not_reveal_the_order_of_finishing(claimed_survey: ClaimedSurvey) -> None:
    truth = [claimed_survey.truth[name] for name in finishing_order(claimed_survey.folder)]
    orders = orders_in(
        claimed_survey.folder / "claims.db", "claims", "id", ("sealed", "length(sealed)", "stage", "survey")
    )
    assert len(truth) == MANY == len(orders["sorted"][0]) == len(orders["place in the file"][0])
    assert sum(map(len, orders["place in each page"])) >= MANY
    assert_tells_nothing(truth, orders)


def test_other_orders_of_responses_reveal_no_link_to_claims(claimed_survey: ClaimedSurvey) -> None:
    claims = orders_in(claimed_survey.folder / "claims.db", "claims", "id")
    responses = orders_in(claimed_survey.folder / "answers.db", "responses", "id", ("code", "day", "seed", "seconds"))
    for response in responses.values():
        for stretch in response:
            assert_tells_nothing([claimed_survey.truth[str(one)] for one in stretch], claims)


def test_no_stored_value_gives_a_claim_token_even_with_the_key(claimed_survey: ClaimedSurvey) -> None:
    key = ClaimKey(claimed_survey.folder / "claims.key")
    with closing(sqlite3.connect(claimed_survey.folder / "answers.db")) as opened:
        responses = opened.execute("SELECT * FROM responses").fetchall()
        saves = opened.execute("SELECT * FROM saves").fetchall()
    tried = {str(value) for row in (*responses, *saves) for value in row}
    tokens = [key.token(NAME, one) for one in tried]
    guessed = {key.claim_id(NAME, token) for token in tokens} | {hashlib.sha256(one.encode()).digest() for one in tried}
    assert not guessed & set(claimed_survey.truth.values())
    assert not {value for row in responses for value in row} & {one.hex() for one in claimed_survey.truth.values()}


def test_claims_contain_no_times(claimed_survey: ClaimedSurvey) -> None:
    with closing(sqlite3.connect(claimed_survey.folder / "claims.db")) as opened:
        rows = opened.execute("SELECT * FROM claims").fetchall()
        tables = [name for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert tables == ["claims"]
    assert {len(row) for row in rows} == {4}
    assert len({len(sealed) for _, _, sealed, _ in rows}) == 1, "the length of an address can be told"
    assert {(survey, stage) for _, survey, _, stage in rows} == {(NAME, 0)}
    held = {
        name: (claimed_survey.folder / name).stat().st_mode & 0o777
        for name in ("claims.db", "claims.key", "answers.db")
    }
    assert set(held.values()) == {0o600}
    assert (claimed_survey.folder / "claims.db-wal").stat().st_size == 0


def test_the_attacks_do_find_the_order_in_a_naive_file(claimed_survey: ClaimedSurvey, tmp_path: Path) -> None:
    """Were these attacks blind, what they do not find would mean nothing."""
    arrived = list(claimed_survey.truth.values())
    truth = [claimed_survey.truth[name] for name in finishing_order(claimed_survey.folder)]
    naive: Mapping[str, Callable[[sqlite3.Connection], object]] = {
        "with a rowid": lambda opened: opened.execute("CREATE TABLE claims (id BLOB, sealed BLOB, stage INTEGER)"),
        "by its key, in place": lambda opened: opened.execute(
            "CREATE TABLE claims (id BLOB PRIMARY KEY, sealed BLOB, stage INTEGER) WITHOUT ROWID"
        ),
    }
    for number, make in enumerate(naive.values()):
        path = tmp_path / f"{number}.db"
        with closing(sqlite3.connect(path)) as opened:
            opened.execute("PRAGMA journal_mode = WAL")
            make(opened)
            for one in arrived:
                opened.execute("INSERT INTO claims VALUES (?, ?, 0)", (one, b"x" * 284))
                opened.commit()
            with pytest.raises(AssertionError):
                assert_tells_nothing(truth, orders_in(path, "claims", "id", ("sealed",)))


def test_claims_within_a_stage_have_no_order(claimed_survey: ClaimedSurvey) -> None:
    """A claim that is paid came before one that waits: that much the payer's work shows, and no more."""
    with fielded(claimed_survey.folder / "staged", ONE_PAGE) as surveys:
        finished = []
        for number in range(60):
            code, response = begin_response(surveys, NAME)
            finish(surveys, code)
            token = claim_token(surveys, code)
            finished.append((response.id, claim_key_of(surveys, token)))
            submit_claim(surveys, NAME, token, "somebody@example.org")
            if number in (9, 19, 29):
                assert release_claims(surveys, NAME) == 10
                export_cards(surveys, NAME)
                mark_paid(surveys, NAME, 10)
        with ClaimFile(surveys.study.root / "claims.db") as claims:
            groups = [
                [one.id for one in claims.claims(NAME, stage)] for stage in (PaymentStage.PAID, PaymentStage.WAITING)
            ]
        orders = orders_in(surveys.study.root / "claims.db", "claims", "id", ("sealed",))
    for group in groups:
        assert len(group) == 30
        truth = [one for _, one in finished if one in group]
        assert_tells_nothing(truth, {name: _among(group, told) for name, told in orders.items()})


def test_backups_reveal_no_more_than_the_files(claimed_survey: ClaimedSurvey, tmp_path: Path) -> None:
    study = open_study(claimed_survey.folder)
    answers, claims = (
        back_up_study(study, tmp_path / "a.backup").file,
        back_up_claims(study, tmp_path / "c.backup").file,
    )
    truth = {name: key.hex() for name, key in claimed_survey.truth.items()}
    told = claims_told_by(claims)
    assert len(told["as they come"][0]) == len(told["place in the file"][0]) == MANY
    with open_backup(answers) as opened:
        saved = [json.loads(line)[2] for line in opened.read_lines("answers") if line.startswith('["saves"')]
        listed = [json.loads(line)[1] for line in opened.read_lines("answers") if line.startswith('["responses"')]
    for order in (saved, listed):
        assert_tells_nothing([truth[name].encode() for name in order], told)


def claims_told_by(backup: Path) -> Orders:
    """Every order of claims, by the hex of their keys, that a backup could be made to tell."""
    with closing(sqlite3.connect(backup)) as opened:
        rows = opened.execute("SELECT line FROM lines WHERE part = 'claims' ORDER BY number")
        keys = [json.loads(line)[1]["hex"].encode() for (line,) in rows]
    content = backup.read_bytes()
    return {
        "as they come": [keys],
        "sorted": [sorted(keys)],
        "place in the file": [_by_place(keys, content)],
        "place in each page": [_by_place(keys, page) for page in _cut(content, 4096)],
    }


def test_the_two_backups_share_no_values_and_claims_have_no_times(
    claimed_survey: ClaimedSurvey, tmp_path: Path
) -> None:
    study = open_study(claimed_survey.folder)
    answers, claims = (
        back_up_study(study, tmp_path / "a.backup").file,
        back_up_claims(study, tmp_path / "c.backup").file,
    )
    assert claims.stat().st_mode & 0o777 == answers.stat().st_mode & 0o777 == 0o600
    for one, other in ((answers, claims), (claims, answers)):
        kind = {answers: BACKUP, claims: CLAIMS}[one]
        with open_backup(one, kind) as opened:
            lines = [line for part in opened.report.parts for line in opened.read_lines(part)]
        shared = {
            word for line in lines for word in re.findall(r"[0-9a-f]{16,}", line) if word.encode() in other.read_bytes()
        }
        assert not shared
    held = claims.read_bytes()
    assert NAME.encode() in held
    assert not re.search(rb"20\d\d-\d\d-\d\d", held), "a day stands in it"
    with closing(sqlite3.connect(claims)) as opened:
        assert opened.execute("SELECT made, acts FROM backup").fetchall() == [("", 0)]
        assert opened.execute("SELECT count(*) FROM acts").fetchone() == (0,)
        assert {name for (name,) in opened.execute("SELECT name FROM parts")} == {"claims", "key"}
    with closing(sqlite3.connect(answers)) as opened:
        assert {name for (name,) in opened.execute("SELECT name FROM parts")} == {"answers"}
    first = claims.read_bytes()
    assert back_up_claims(study, tmp_path / "again.backup").file.read_bytes() == first, "it tells when it was made"


def test_the_attacks_do_find_the_order_in_a_naive_backup(claimed_survey: ClaimedSurvey, tmp_path: Path) -> None:
    arrived = [
        json.dumps(["claims", {"hex": key.hex()}, NAME, {"hex": ""}, 0]) for key in claimed_survey.truth.values()
    ]
    write_backup((), tmp_path / "naive.backup", "", (BackupLines("claims", 1, arrived),), CLAIMS)
    truth = [claimed_survey.truth[name].hex().encode() for name in finishing_order(claimed_survey.folder)]
    with pytest.raises(AssertionError):
        assert_tells_nothing(truth, claims_told_by(tmp_path / "naive.backup"))


def test_the_invitation_file_does_not_reveal_the_order_of_responses(tmp_path: Path) -> None:
    with fielded(tmp_path, ONE_PAGE) as surveys, InvitationFile(tmp_path / "invitations.db"):
        tokens = [one.token for one in invite(surveys, NAME, "first", count=MANY)]
        random.Random(6).shuffle(tokens)
        truth = {}
        for token in tokens:
            _, code = accept_invitation(surveys, token)
            response = surveys.answers.find(code)
            assert response is not None
            truth[response.id] = hashlib.sha256(token.encode()).digest()
            finish(surveys, code)
        orders = orders_in(tmp_path / "invitations.db", "invitations", "token", ("batch", "used"))
        assert_tells_nothing([truth[name] for name in finishing_order(tmp_path)], orders)
        with closing(sqlite3.connect(tmp_path / "answers.db")) as opened:
            held = {str(value) for row in opened.execute("SELECT * FROM responses") for value in row}
        assert not held & {one.hex() for one in truth.values()}
        assert not held & set(tokens)
