"""Claims are recorded once and encrypted, in a file that does not depend on their order."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.base.errors import InputError, StateError
from quaestor.surveys.store.claim_key import LONGEST_ADDRESS, ClaimKey
from quaestor.surveys.store.claims import ClaimFile, PaymentStage

KEYS = [random.Random(number).randbytes(32) for number in range(120)]
COUNTERS = (slice(24, 28), slice(92, 100))
"""Where the first page of a SQLite file counts its changes."""


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> ClaimKey:
    return ClaimKey(tmp_path_factory.mktemp("key") / "claims.key")


def without_counters(path: Path) -> bytes:
    content = bytearray(path.read_bytes())
    for place in COUNTERS:
        content[place] = bytes(place.stop - place.start)
    return bytes(content)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_claim_file_does_not_depend_on_the_order_of_claims(tmp_path: Path, seed: int) -> None:
    orders = {"sorted": sorted(KEYS), "drawn": random.Random(seed).sample(KEYS, len(KEYS))}
    for name, order in orders.items():
        with ClaimFile(tmp_path / name) as claims:
            for one in order:
                assert claims.add(one, "tools", one * 8)
            assert claims.counts("tools")[PaymentStage.WAITING] == len(KEYS)
    assert without_counters(tmp_path / "sorted") == without_counters(tmp_path / "drawn")


def test_simultaneous_claims_with_one_token_are_recorded_once(tmp_path: Path) -> None:
    path, taken = tmp_path / "claims.db", []
    start = threading.Barrier(8)

    def send(number: int) -> None:
        with ClaimFile(path) as claims:
            start.wait()
            if claims.add(KEYS[0], "tools", b"%d" % number):
                taken.append(b"%d" % number)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with ClaimFile(path) as claims:
        assert [claim.sealed for claim in claims.claims("tools", PaymentStage.WAITING)] == taken
        assert len(taken) == 1


def test_claims_move_between_stages_separately_for_each_survey(tmp_path: Path) -> None:
    with ClaimFile(tmp_path / "claims.db") as claims:
        for one in KEYS[:3]:
            claims.add(one, "tools", b"sealed")
        claims.add(KEYS[3], "other", b"sealed")
        moved = claims.move("tools", PaymentStage.WAITING, PaymentStage.RELEASED, lambda found, _: found[:2])
        assert [claims.stage(one.id) for one in moved] == [PaymentStage.RELEASED] * 2
        assert claims.counts("tools") == {
            PaymentStage.WAITING: 1, PaymentStage.RELEASED: 2, PaymentStage.EXPORTED: 0, PaymentStage.PAID: 0,
        }  # fmt: skip
        assert claims.counts("other")[PaymentStage.WAITING] == 1
        assert claims.surveys() == ["other", "tools"]
        assert claims.stage(KEYS[9]) is None


def test_an_error_while_selecting_claims_moves_none(tmp_path: Path) -> None:
    def refuse(*seen: object) -> list[object]:
        raise StateError("no")

    with ClaimFile(tmp_path / "claims.db") as claims:
        claims.add(KEYS[0], "tools", b"sealed")
        with pytest.raises(StateError):
            claims.move("tools", PaymentStage.WAITING, PaymentStage.PAID, refuse)  # type: ignore[arg-type]
        assert claims.stage(KEYS[0]) is PaymentStage.WAITING


@given(address=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60))
def test_a_sealed_address_can_be_opened_unchanged(key: ClaimKey, address: str) -> None:
    sealed = key.sealed(address, KEYS[0])
    assert key.opened(sealed, KEYS[0]) == address
    assert len(sealed) == len(key.sealed("x", KEYS[0]))
    assert address.encode() not in sealed or len(address.encode()) < 4


def test_a_sealed_address_opens_only_for_its_claim_and_key(key: ClaimKey, tmp_path: Path) -> None:
    sealed = key.sealed("somebody@example.org", KEYS[0])
    for other, claim in ((key, KEYS[1]), (ClaimKey(tmp_path / "other.key"), KEYS[0])):
        with pytest.raises(StateError, match="not the key"):
            other.opened(sealed, claim)
    with pytest.raises(InputError, match="shorten it"):
        key.sealed("x" * (LONGEST_ADDRESS + 1), KEYS[0])


@given(token=st.text(max_size=60))
def test_an_invalid_token_is_refused(key: ClaimKey, token: str) -> None:
    assert key.claim_id("tools", token) is None


def test_a_token_is_reproducible_and_valid_for_one_survey_only(key: ClaimKey) -> None:
    token = key.token("tools", "a code")
    assert token == key.token("tools", "a code")
    assert key.claim_id("tools", token)
    assert key.claim_id("other", token) is None
    for place in range(0, len(token) - 1, 5):
        changed = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        assert key.claim_id("tools", changed) is None, place


def test_the_key_is_private_and_created_once_by_concurrent_threads(tmp_path: Path) -> None:
    path, tokens = tmp_path / "claims.key", []
    start = threading.Barrier(6)

    def make() -> None:
        start.wait()
        tokens.append(ClaimKey(path).token("tools", "a code"))

    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(tokens)) == 1
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["claims.key"]


@pytest.mark.parametrize("content", ["", "abcd", "not hexadecimal"])
def test_a_damaged_key_gives_an_error_with_its_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "claims.key").write_text(content)
    with pytest.raises(InputError, match=r"claims\.key .*restore the original key"):
        ClaimKey(tmp_path / "claims.key")
