"""Signing in: known and unknown names get the same answer, and wrong guesses lead to a wait."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.desk import CHOSEN, QUICK, SetClock

from quaestor.people.credentials import Passwords
from quaestor.people.directory import Directory
from quaestor.people.roles import Role
from quaestor.people.sign_in import (
    MAX_WRONG_PER_ADDRESS,
    MAX_WRONG_PER_DEVICE,
    MAX_WRONG_PER_NAME,
    MAX_WRONG_PER_NAME_AND_ADDRESS,
    SignedIn,
    SignInRefused,
    group_by_network,
    sign_in,
)


class CountingPasswords(Passwords):
    """Real passwords that count how often one is verified."""

    def __init__(self) -> None:
        super().__init__(QUICK)
        self.verified = 0

    def verify(self, hashed: str | None, password: str) -> bool:
        self.verified += 1
        return super().verify(hashed, password)


@pytest.fixture(scope="module")
def hashed() -> str:
    return Passwords(QUICK).hash(CHOSEN)


@pytest.fixture
def passwords(directory: Directory, hashed: str, clock: SetClock) -> CountingPasswords:
    token, _ = directory.invite("rater-1", Role.RATER, clock())
    assert directory.accept_invitation(token, hashed, clock())
    return CountingPasswords()


def create_known_device(directory: Directory, passwords: Passwords, clock: SetClock) -> str:
    """Returns the device token of a browser in which rater-1 has signed in."""
    signed_in = sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock())
    assert isinstance(signed_in, SignedIn)
    device = directory.remember_device(signed_in.token, "", clock())
    assert device is not None
    return device


def test_name_and_password_open_a_session(directory: Directory, passwords: CountingPasswords, clock: SetClock) -> None:
    signed_in = sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock())
    assert isinstance(signed_in, SignedIn)
    session = directory.find_session(signed_in.token, clock())
    assert session is not None
    assert session.name == "rater-1"


def test_an_unknown_name_gets_the_same_answer_after_the_same_work(
    directory: Directory, passwords: CountingPasswords, clock: SetClock
) -> None:
    answers = []
    for name in ("rater-1", "nobody", "' OR 1=1 --", "", "x" * 100_000, "\ud800"):
        before = passwords.verified
        answers.append(sign_in(directory, passwords, name, "wrong password", "10.0.0.1", clock()))
        assert passwords.verified == before + 1
    assert set(answers) == {SignInRefused(None)}


@pytest.mark.parametrize("name", ["rater-1", "nobody"])
def test_after_five_wrong_guesses_an_address_must_wait_for_that_name(
    directory: Directory, passwords: CountingPasswords, clock: SetClock, name: str
) -> None:
    for _ in range(MAX_WRONG_PER_NAME_AND_ADDRESS):
        clock.pass_by(minutes=1)
        assert sign_in(directory, passwords, name, "wrong", "10.0.0.1", clock()) == SignInRefused(None)
    worked = passwords.verified
    assert sign_in(directory, passwords, name, CHOSEN, "10.0.0.1", clock()) == SignInRefused(timedelta(minutes=11))
    assert passwords.verified == worked
    clock.pass_by(minutes=11)
    again = sign_in(directory, passwords, name, CHOSEN, "10.0.0.1", clock())
    assert isinstance(again, SignedIn) == (name == "rater-1")


def test_wrong_guesses_from_one_address_do_not_lock_other_addresses(
    directory: Directory, passwords: CountingPasswords, clock: SetClock
) -> None:
    for _ in range(MAX_WRONG_PER_ADDRESS):
        sign_in(directory, passwords, "rater-1", "wrong", "10.0.0.66", clock())
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock()), SignedIn)


def test_guesses_from_many_addresses_are_limited_and_do_not_lock_a_known_browser(
    directory: Directory, passwords: CountingPasswords, clock: SetClock
) -> None:
    device = create_known_device(directory, passwords, clock)
    for number in range(3 * MAX_WRONG_PER_NAME):
        sign_in(directory, passwords, "rater-1", "wrong", f"10.0.1.{number}", clock())
    assert passwords.verified == 1 + MAX_WRONG_PER_NAME
    assert sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.9", clock()) == SignInRefused(timedelta(hours=1))
    own = sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock(), device)
    assert isinstance(own, SignedIn)
    # The owner's sign-in does not reset the limit for those who guess.
    assert isinstance(sign_in(directory, passwords, "rater-1", "wrong", "10.0.2.1", clock()), SignInRefused)
    assert passwords.verified == 2 + MAX_WRONG_PER_NAME


def test_a_known_browser_is_not_locked_out_by_guesses_from_its_own_address(
    directory: Directory, passwords: CountingPasswords, clock: SetClock
) -> None:
    device = create_known_device(directory, passwords, clock)
    for number in range(MAX_WRONG_PER_ADDRESS):
        sign_in(directory, passwords, f"name-{number % 4}", "wrong", "10.0.0.1", clock())
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock()), SignInRefused)
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock(), device), SignedIn)


def test_a_known_browser_has_a_limit_of_its_own(
    directory: Directory, passwords: CountingPasswords, clock: SetClock
) -> None:
    device = create_known_device(directory, passwords, clock)
    for number in range(MAX_WRONG_PER_DEVICE):
        refused = sign_in(directory, passwords, "rater-1", "wrong", f"10.0.0.{number}", clock(), device)
        assert refused == SignInRefused(None)
    locked = sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.99", clock(), device)
    assert locked == SignInRefused(timedelta(minutes=15))
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock()), SignedIn)


@pytest.mark.parametrize("device", ["", "unknown", "\ud800", "x" * 100_000])
def test_an_unknown_device_token_does_not_bypass_the_limit(
    directory: Directory, passwords: CountingPasswords, clock: SetClock, device: str
) -> None:
    for _ in range(2 * MAX_WRONG_PER_NAME_AND_ADDRESS):
        sign_in(directory, passwords, "rater-1", "wrong", "10.0.0.1", clock(), device)
    assert passwords.verified == MAX_WRONG_PER_NAME_AND_ADDRESS


def test_a_browser_known_to_one_account_is_unknown_to_another(
    directory: Directory, passwords: CountingPasswords, hashed: str, clock: SetClock
) -> None:
    device = create_known_device(directory, passwords, clock)
    token, _ = directory.invite("rater-2", Role.RATER, clock())
    directory.accept_invitation(token, hashed, clock())
    for _ in range(MAX_WRONG_PER_NAME_AND_ADDRESS):
        sign_in(directory, passwords, "rater-2", "wrong", "10.0.0.1", clock())
    assert isinstance(sign_in(directory, passwords, "rater-2", CHOSEN, "10.0.0.1", clock(), device), SignInRefused)


@pytest.mark.parametrize("back", [{"minutes": 1}, {"days": 400}])
def test_setting_the_clock_back_does_not_extend_a_wait(
    directory: Directory, passwords: CountingPasswords, clock: SetClock, back: dict[str, float]
) -> None:
    for _ in range(MAX_WRONG_PER_NAME_AND_ADDRESS):
        sign_in(directory, passwords, "rater-1", "wrong", "10.0.0.1", clock())
    clock.pass_by(**{unit: -amount for unit, amount in back.items()})
    clock.pass_by(minutes=16)
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock()), SignedIn)


def test_the_number_of_stored_attempts_is_limited(
    directory: Directory, passwords: CountingPasswords, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quaestor.people.sign_in._MAX_ATTEMPTS", 30)
    for number in range(40):
        sign_in(directory, passwords, f"name-{number}", "wrong", f"10.0.0.{number}", clock())
    with directory.file.reading() as reading:
        assert reading.execute("SELECT count(*) FROM attempts").fetchone() == (30,)


def test_equivalent_addresses_are_counted_together() -> None:
    assert group_by_network("::ffff:10.0.0.1") == group_by_network("10.0.0.1") != group_by_network("::ffff:10.0.0.2")
    assert group_by_network("2001:db8::1") == group_by_network("2001:db8::ffff") != group_by_network("2001:db8:0:1::1")
    assert len(group_by_network("x" * 100_000)) == 100


def test_attempts_during_a_wait_do_not_extend_it(
    directory: Directory, passwords: CountingPasswords, clock: SetClock
) -> None:
    for _ in range(MAX_WRONG_PER_NAME_AND_ADDRESS + 4):
        sign_in(directory, passwords, "rater-1", "wrong", "10.0.0.1", clock())
    clock.pass_by(minutes=15)
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock()), SignedIn)


@pytest.mark.parametrize("addresses", [("10.0.0.1",), ("2001:db8::1", "2001:db8::ffff")])
def test_an_address_that_tries_many_names_must_wait(
    directory: Directory, passwords: CountingPasswords, clock: SetClock, addresses: tuple[str, ...]
) -> None:
    for number in range(MAX_WRONG_PER_ADDRESS):
        address = addresses[number % len(addresses)]
        assert sign_in(directory, passwords, f"name-{number}", "wrong", address, clock()) == SignInRefused(None)
    refused = sign_in(directory, passwords, "rater-1", CHOSEN, addresses[0], clock())
    assert refused == SignInRefused(timedelta(minutes=15))
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.9.9.9", clock()), SignedIn)


def test_mapped_ipv4_addresses_are_counted_separately(
    directory: Directory, passwords: CountingPasswords, clock: SetClock
) -> None:
    for number in range(MAX_WRONG_PER_ADDRESS):
        sign_in(directory, passwords, f"guess-{number}", "x", "::ffff:192.0.2.1", clock())
    locked, free = (
        sign_in(directory, passwords, "rater-1", CHOSEN, address, clock())
        for address in ("::ffff:192.0.2.1", "::ffff:198.51.100.7")
    )
    assert isinstance(locked, SignInRefused)
    assert isinstance(free, SignedIn)


def test_a_right_password_resets_the_count_of_wrong_ones(
    directory: Directory, passwords: CountingPasswords, clock: SetClock
) -> None:
    for _ in range(3):
        for _ in range(MAX_WRONG_PER_NAME_AND_ADDRESS - 1):
            sign_in(directory, passwords, "rater-1", "wrong", "10.0.0.1", clock())
        assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock()), SignedIn)


def test_simultaneous_guesses_do_not_bypass_the_limit(
    directory: Directory, passwords: CountingPasswords, clock: SetClock
) -> None:
    with ThreadPoolExecutor(12) as threads:
        list(
            threads.map(
                lambda number: sign_in(directory, passwords, "rater-1", f"guess {number}", "10.0.0.1", clock()),
                range(12),
            )
        )
    assert passwords.verified == MAX_WRONG_PER_NAME_AND_ADDRESS


def test_no_names_or_addresses_of_failed_attempts_are_stored(
    directory: Directory, passwords: CountingPasswords, clock: SetClock, tmp_path: Path
) -> None:
    sign_in(directory, passwords, "a-strange-name", "wrong", "198.51.100.77", clock())
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"a-strange-name" not in stored
    assert b"198.51.100.77" not in stored
