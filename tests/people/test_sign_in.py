"""Signing in: the same answer whether or not a name exists, and a wait after wrong guesses."""

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
    WRONG_FOR_A_NAME,
    WRONG_FROM_A_PLACE,
    WRONG_FROM_AN_ADDRESS,
    WRONG_ON_A_DEVICE,
    Refused,
    SignedIn,
    network_of,
    sign_in,
)


class Counted(Passwords):
    """Real passwords, and how often one was worked on."""

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
def passwords(directory: Directory, hashed: str, clock: SetClock) -> Counted:
    token, _ = directory.invite("rater-1", Role.RATER, clock())
    assert directory.accept(token, hashed, clock())
    return Counted()


def known_device(directory: Directory, passwords: Passwords, clock: SetClock) -> str:
    """The token of a browser in which rater-1 has signed in."""
    done = sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock())
    assert isinstance(done, SignedIn)
    device = directory.remember_device(done.token, "", clock())
    assert device is not None
    return device


def test_name_and_password_open_a_session(directory: Directory, passwords: Counted, clock: SetClock) -> None:
    done = sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock())
    assert isinstance(done, SignedIn)
    found = directory.session(done.token, clock())
    assert found is not None
    assert found.name == "rater-1"


def test_a_name_that_does_not_exist_gets_the_same_answer_for_the_same_work(
    directory: Directory, passwords: Counted, clock: SetClock
) -> None:
    answers = []
    for name in ("rater-1", "nobody", "' OR 1=1 --", "", "x" * 100_000, "\ud800"):
        before = passwords.verified
        answers.append(sign_in(directory, passwords, name, "wrong password", "10.0.0.1", clock()))
        assert passwords.verified == before + 1
    assert set(answers) == {Refused(None)}


@pytest.mark.parametrize("name", ["rater-1", "nobody"])
def test_after_five_wrong_guesses_an_address_waits_for_that_name_and_hears_how_long(
    directory: Directory, passwords: Counted, clock: SetClock, name: str
) -> None:
    for _ in range(WRONG_FROM_A_PLACE):
        clock.pass_by(minutes=1)
        assert sign_in(directory, passwords, name, "wrong", "10.0.0.1", clock()) == Refused(None)
    worked = passwords.verified
    assert sign_in(directory, passwords, name, CHOSEN, "10.0.0.1", clock()) == Refused(timedelta(minutes=11))
    assert passwords.verified == worked
    clock.pass_by(minutes=11)
    again = sign_in(directory, passwords, name, CHOSEN, "10.0.0.1", clock())
    assert isinstance(again, SignedIn) == (name == "rater-1")


def test_wrong_guesses_from_one_address_lock_nobody_out_elsewhere(
    directory: Directory, passwords: Counted, clock: SetClock
) -> None:
    for _ in range(WRONG_FROM_AN_ADDRESS):
        sign_in(directory, passwords, "rater-1", "wrong", "10.0.0.66", clock())
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock()), SignedIn)


def test_guesses_from_many_addresses_are_slow_and_do_not_reach_a_known_browser(
    directory: Directory, passwords: Counted, clock: SetClock
) -> None:
    device = known_device(directory, passwords, clock)
    for number in range(3 * WRONG_FOR_A_NAME):
        sign_in(directory, passwords, "rater-1", "wrong", f"10.0.1.{number}", clock())
    assert passwords.verified == 1 + WRONG_FOR_A_NAME
    assert sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.9", clock()) == Refused(timedelta(hours=1))
    own = sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock(), device)
    assert isinstance(own, SignedIn)
    # Whoever guesses gains nothing from the owner who signs in.
    assert isinstance(sign_in(directory, passwords, "rater-1", "wrong", "10.0.2.1", clock()), Refused)
    assert passwords.verified == 2 + WRONG_FOR_A_NAME


def test_a_known_browser_is_not_locked_out_by_guesses_from_its_own_address(
    directory: Directory, passwords: Counted, clock: SetClock
) -> None:
    device = known_device(directory, passwords, clock)
    for number in range(WRONG_FROM_AN_ADDRESS):
        sign_in(directory, passwords, f"name-{number % 4}", "wrong", "10.0.0.1", clock())
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock()), Refused)
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock(), device), SignedIn)


def test_a_known_browser_has_a_limit_of_its_own(directory: Directory, passwords: Counted, clock: SetClock) -> None:
    device = known_device(directory, passwords, clock)
    for number in range(WRONG_ON_A_DEVICE):
        refused = sign_in(directory, passwords, "rater-1", "wrong", f"10.0.0.{number}", clock(), device)
        assert refused == Refused(None)
    locked = sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.99", clock(), device)
    assert locked == Refused(timedelta(minutes=15))
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock()), SignedIn)


@pytest.mark.parametrize("device", ["", "unknown", "\ud800", "x" * 100_000])
def test_a_device_that_is_not_known_is_no_way_around_the_limit(
    directory: Directory, passwords: Counted, clock: SetClock, device: str
) -> None:
    for _ in range(2 * WRONG_FROM_A_PLACE):
        sign_in(directory, passwords, "rater-1", "wrong", "10.0.0.1", clock(), device)
    assert passwords.verified == WRONG_FROM_A_PLACE


def test_a_browser_known_to_one_account_is_unknown_to_another(
    directory: Directory, passwords: Counted, hashed: str, clock: SetClock
) -> None:
    device = known_device(directory, passwords, clock)
    token, _ = directory.invite("rater-2", Role.RATER, clock())
    directory.accept(token, hashed, clock())
    for _ in range(WRONG_FROM_A_PLACE):
        sign_in(directory, passwords, "rater-2", "wrong", "10.0.0.1", clock())
    assert isinstance(sign_in(directory, passwords, "rater-2", CHOSEN, "10.0.0.1", clock(), device), Refused)


@pytest.mark.parametrize("back", [{"minutes": 1}, {"days": 400}])
def test_a_clock_that_is_set_back_makes_no_wait_longer(
    directory: Directory, passwords: Counted, clock: SetClock, back: dict[str, float]
) -> None:
    for _ in range(WRONG_FROM_A_PLACE):
        sign_in(directory, passwords, "rater-1", "wrong", "10.0.0.1", clock())
    clock.pass_by(**{unit: -amount for unit, amount in back.items()})
    clock.pass_by(minutes=16)
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock()), SignedIn)


def test_what_is_kept_of_attempts_is_bounded(
    directory: Directory, passwords: Counted, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quaestor.people.sign_in._MOST_ATTEMPTS", 30)
    for number in range(40):
        sign_in(directory, passwords, f"name-{number}", "wrong", f"10.0.0.{number}", clock())
    with directory.file.reading() as reading:
        assert reading.execute("SELECT count(*) FROM attempts").fetchone() == (30,)


def test_addresses_that_mean_the_same_count_together() -> None:
    assert network_of("::ffff:10.0.0.1") == network_of("10.0.0.1") != network_of("::ffff:10.0.0.2")
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff") != network_of("2001:db8:0:1::1")
    assert len(network_of("x" * 100_000)) == 100


def test_waiting_is_not_made_longer_by_trying(directory: Directory, passwords: Counted, clock: SetClock) -> None:
    for _ in range(WRONG_FROM_A_PLACE + 4):
        sign_in(directory, passwords, "rater-1", "wrong", "10.0.0.1", clock())
    clock.pass_by(minutes=15)
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock()), SignedIn)


@pytest.mark.parametrize("addresses", [("10.0.0.1",), ("2001:db8::1", "2001:db8::ffff")])
def test_an_address_that_tries_many_names_waits_too(
    directory: Directory, passwords: Counted, clock: SetClock, addresses: tuple[str, ...]
) -> None:
    for number in range(WRONG_FROM_AN_ADDRESS):
        address = addresses[number % len(addresses)]
        assert sign_in(directory, passwords, f"name-{number}", "wrong", address, clock()) == Refused(None)
    refused = sign_in(directory, passwords, "rater-1", CHOSEN, addresses[0], clock())
    assert refused == Refused(timedelta(minutes=15))
    assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.9.9.9", clock()), SignedIn)


def test_addresses_of_ipv4_count_apart_where_the_server_listens_with_ipv6(
    directory: Directory, passwords: Counted, clock: SetClock
) -> None:
    for number in range(WRONG_FROM_AN_ADDRESS):
        sign_in(directory, passwords, f"guess-{number}", "x", "::ffff:192.0.2.1", clock())
    one, other = (
        sign_in(directory, passwords, "rater-1", CHOSEN, address, clock())
        for address in ("::ffff:192.0.2.1", "::ffff:198.51.100.7")
    )
    assert isinstance(one, Refused)
    assert isinstance(other, SignedIn)


def test_a_right_password_forgives_the_wrong_ones_before_it(
    directory: Directory, passwords: Counted, clock: SetClock
) -> None:
    for _ in range(3):
        for _ in range(WRONG_FROM_A_PLACE - 1):
            sign_in(directory, passwords, "rater-1", "wrong", "10.0.0.1", clock())
        assert isinstance(sign_in(directory, passwords, "rater-1", CHOSEN, "10.0.0.1", clock()), SignedIn)


def test_guesses_sent_all_at_once_are_no_way_around_the_limit(
    directory: Directory, passwords: Counted, clock: SetClock
) -> None:
    with ThreadPoolExecutor(12) as threads:
        list(
            threads.map(
                lambda number: sign_in(directory, passwords, "rater-1", f"guess {number}", "10.0.0.1", clock()),
                range(12),
            )
        )
    assert passwords.verified == WRONG_FROM_A_PLACE


def test_neither_names_nor_addresses_of_strangers_are_kept(
    directory: Directory, passwords: Counted, clock: SetClock, tmp_path: Path
) -> None:
    sign_in(directory, passwords, "a-strange-name", "wrong", "198.51.100.77", clock())
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"a-strange-name" not in stored
    assert b"198.51.100.77" not in stored
