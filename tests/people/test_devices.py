"""Devices: browsers are remembered for a limited time, in a limited number, and only by hashed tokens."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.support.desk import SetClock

from quaestor.people.directory import _FILTERS, _FIRST, _KIND, DEVICE_LIFETIME, MAX_DEVICES, Directory
from quaestor.people.roles import Role
from quaestor.store.private_file import PrivateFile

HASH = "$argon2id$"


def join(directory: Directory, clock: SetClock, name: str = "rater-1") -> str:
    """Returns the session of a person who join by an invitation."""
    token, _ = directory.invite(name, Role.RATER, clock())
    session = directory.accept_invitation(token, HASH, clock())
    assert session is not None
    return session


def remember(directory: Directory, session: str, clock: SetClock, device: str = "") -> str:
    token = directory.remember_device(session, device, clock())
    assert token is not None
    return token


def test_a_browser_is_recognized_only_by_its_newest_token(directory: Directory, clock: SetClock) -> None:
    session = join(directory, clock)
    first = remember(directory, session, clock)
    second = remember(directory, session, clock, first)
    assert not directory.knows_device(first, "rater-1", clock())
    assert directory.knows_device(second, "rater-1", clock())
    assert not directory.knows_device(second, "rater-2", clock())
    assert not directory.knows_device("", "rater-1", clock())


def test_two_accounts_share_a_browser(directory: Directory, clock: SetClock) -> None:
    first = remember(directory, join(directory, clock), clock)
    both = remember(directory, join(directory, clock, "rater-2"), clock, first)
    assert directory.knows_device(both, "rater-1", clock())
    assert directory.knows_device(both, "rater-2", clock())


def test_a_token_is_stored_hashed(directory: Directory, clock: SetClock, tmp_path: Path) -> None:
    device = remember(directory, join(directory, clock), clock)
    directory.close()
    assert not [path for path in tmp_path.iterdir() if device.encode() in path.read_bytes()]


def test_a_device_that_is_not_used_is_forgotten(directory: Directory, clock: SetClock) -> None:
    device = remember(directory, join(directory, clock), clock)
    clock.now += DEVICE_LIFETIME - timedelta(seconds=1)
    assert directory.knows_device(device, "rater-1", clock())
    clock.pass_by(seconds=1)
    assert not directory.knows_device(device, "rater-1", clock())
    remember(directory, join(directory, clock, "rater-2"), clock)
    with directory.file.reading() as reading:
        assert reading.execute("SELECT account FROM devices").fetchall() == [("rater-2",)]


def test_an_account_has_a_bounded_number_of_devices(directory: Directory, clock: SetClock) -> None:
    session = join(directory, clock)
    devices = []
    for _ in range(MAX_DEVICES + 3):
        clock.pass_by(minutes=1)
        devices.append(remember(directory, session, clock))
    known = [directory.knows_device(device, "rater-1", clock()) for device in devices]
    assert known == [False] * 3 + [True] * MAX_DEVICES


def test_a_clock_that_was_ahead_does_not_extend_a_device(directory: Directory, clock: SetClock) -> None:
    session = join(directory, clock)
    clock.pass_by(days=400)
    device = remember(directory, session, clock)
    clock.pass_by(days=-400)
    remember(directory, session, clock)
    clock.now += DEVICE_LIFETIME
    assert not directory.knows_device(device, "rater-1", clock())


def test_signing_out_everywhere_forgets_all_other_browsers(directory: Directory, clock: SetClock) -> None:
    session = join(directory, clock)
    here, there = remember(directory, session, clock), remember(directory, session, clock)
    sign_in = directory.find_session(session, clock())
    assert sign_in is not None
    directory.end_sessions(sign_in, here)
    assert directory.knows_device(here, "rater-1", clock())
    assert not directory.knows_device(there, "rater-1", clock())


def test_a_new_password_or_a_removed_account_forgets_all_devices(directory: Directory, clock: SetClock) -> None:
    device = remember(directory, join(directory, clock), clock)
    session = join(directory, clock)
    assert not directory.knows_device(device, "rater-1", clock())
    device = remember(directory, session, clock)
    directory.remove("rater-1")
    assert not directory.knows_device(device, "rater-1", clock())
    assert directory.remember_device(session, device, clock()) is None, "the session ended with the account"


def test_the_browser_of_a_reviewer_is_not_remembered(directory: Directory, clock: SetClock) -> None:
    token, _ = directory.invite("journal", Role.REVIEWER, clock())
    session = directory.accept_invitation(token, None, clock())
    assert session is not None
    assert directory.remember_device(session, "", clock()) is None


def test_a_file_from_before_devices_is_upgraded(tmp_path: Path, clock: SetClock) -> None:
    path = tmp_path / "people.db"
    with PrivateFile(path, _KIND, (_FIRST, _FILTERS), "") as old, old.writing() as writing:
        writing.execute("INSERT INTO accounts VALUES ('rater-1', 'rater', ?, ?)", (HASH, clock().isoformat()))
    with Directory(path) as directory:
        session = directory.start_session("rater-1", HASH, clock())
        assert session is not None
        assert directory.knows_device(remember(directory, session, clock), "rater-1", clock())
