"""Browsers that have signed in before: known for a while, in a bounded number, and never by what is stored of them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.support.desk import SetClock

from quaestor.people.directory import _FILTERS, _FIRST, _KIND, DEVICE_KNOWN_FOR, MOST_DEVICES, Directory
from quaestor.people.roles import Role
from quaestor.store.private_file import PrivateFile

HASH = "$argon2id$"


def joined(directory: Directory, clock: SetClock, name: str = "rater-1") -> str:
    """The session of somebody who came by a link."""
    token, _ = directory.invite(name, Role.RATER, clock())
    session = directory.accept(token, HASH, clock())
    assert session is not None
    return session


def remembered(directory: Directory, session: str, clock: SetClock, device: str = "") -> str:
    token = directory.remember_device(session, device, clock())
    assert token is not None
    return token


def test_a_browser_is_known_by_the_latest_token_it_was_given(directory: Directory, clock: SetClock) -> None:
    session = joined(directory, clock)
    first = remembered(directory, session, clock)
    second = remembered(directory, session, clock, first)
    assert not directory.knows_device(first, "rater-1", clock())
    assert directory.knows_device(second, "rater-1", clock())
    assert not directory.knows_device(second, "rater-2", clock())
    assert not directory.knows_device("", "rater-1", clock())


def test_two_accounts_share_a_browser(directory: Directory, clock: SetClock) -> None:
    first = remembered(directory, joined(directory, clock), clock)
    both = remembered(directory, joined(directory, clock, "rater-2"), clock, first)
    assert directory.knows_device(both, "rater-1", clock())
    assert directory.knows_device(both, "rater-2", clock())


def test_a_token_is_stored_hashed(directory: Directory, clock: SetClock, tmp_path: Path) -> None:
    device = remembered(directory, joined(directory, clock), clock)
    directory.close()
    assert not [path for path in tmp_path.iterdir() if device.encode() in path.read_bytes()]


def test_a_device_that_is_not_used_is_forgotten(directory: Directory, clock: SetClock) -> None:
    device = remembered(directory, joined(directory, clock), clock)
    clock.now += DEVICE_KNOWN_FOR - timedelta(seconds=1)
    assert directory.knows_device(device, "rater-1", clock())
    clock.pass_by(seconds=1)
    assert not directory.knows_device(device, "rater-1", clock())
    remembered(directory, joined(directory, clock, "rater-2"), clock)
    with directory.file.reading() as reading:
        assert reading.execute("SELECT account FROM devices").fetchall() == [("rater-2",)]


def test_an_account_has_a_bounded_number_of_devices(directory: Directory, clock: SetClock) -> None:
    session = joined(directory, clock)
    devices = []
    for _ in range(MOST_DEVICES + 3):
        clock.pass_by(minutes=1)
        devices.append(remembered(directory, session, clock))
    known = [directory.knows_device(one, "rater-1", clock()) for one in devices]
    assert known == [False] * 3 + [True] * MOST_DEVICES


def test_a_clock_that_was_ahead_makes_no_device_last_longer(directory: Directory, clock: SetClock) -> None:
    session = joined(directory, clock)
    clock.pass_by(days=400)
    device = remembered(directory, session, clock)
    clock.pass_by(days=-400)
    remembered(directory, session, clock)
    clock.now += DEVICE_KNOWN_FOR
    assert not directory.knows_device(device, "rater-1", clock())


def test_signing_out_everywhere_leaves_only_the_browser_it_was_done_from(directory: Directory, clock: SetClock) -> None:
    session = joined(directory, clock)
    here, there = remembered(directory, session, clock), remembered(directory, session, clock)
    found = directory.session(session, clock())
    assert found is not None
    directory.end_sessions(found, here)
    assert directory.knows_device(here, "rater-1", clock())
    assert not directory.knows_device(there, "rater-1", clock())


def test_a_new_password_and_a_removed_account_know_no_device(directory: Directory, clock: SetClock) -> None:
    device = remembered(directory, joined(directory, clock), clock)
    session = joined(directory, clock)
    assert not directory.knows_device(device, "rater-1", clock())
    device = remembered(directory, session, clock)
    directory.remove("rater-1")
    assert not directory.knows_device(device, "rater-1", clock())
    assert directory.remember_device(session, device, clock()) is None, "the session ended with the account"


def test_a_reviewer_has_no_device(directory: Directory, clock: SetClock) -> None:
    token, _ = directory.invite("journal", Role.REVIEWER, clock())
    session = directory.accept(token, None, clock())
    assert session is not None
    assert directory.remember_device(session, "", clock()) is None


def test_a_file_of_before_devices_opens(tmp_path: Path, clock: SetClock) -> None:
    path = tmp_path / "people.db"
    with PrivateFile(path, _KIND, (_FIRST, _FILTERS), "") as old, old.writing() as writing:
        writing.execute("INSERT INTO accounts VALUES ('rater-1', 'rater', ?, ?)", (HASH, clock().isoformat()))
    with Directory(path) as directory:
        session = directory.start_session("rater-1", HASH, clock())
        assert session is not None
        assert directory.knows_device(remembered(directory, session, clock), "rater-1", clock())
