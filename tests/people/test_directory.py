"""Invitations, accounts and sessions: used once, expired, revoked, erased."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.desk import SetClock

from quaestor.base.errors import InputError, StateError, TemporarilyUnavailable
from quaestor.people.directory import Directory, PeopleFile, needs_renewal
from quaestor.people.roles import Role

NAMES = ["a", "b; DROP TABLE accounts", "ü'\""]
HASH = "$argon2id$some-hash"


def join(directory: Directory, now: datetime, name: str = "rater-1", role: Role = Role.RATER) -> str:
    token, _ = directory.invite(name, role, now)
    session = directory.accept_invitation(token, HASH, now)
    assert session is not None
    return session


def test_an_invitation_works_once_and_signs_in(directory: Directory, clock: SetClock) -> None:
    token, invitation = directory.invite("rater-1", Role.RATER, clock())
    assert directory.find_invitation(token, clock()) == invitation
    session = directory.accept_invitation(token, HASH, clock())
    assert session is not None
    sign_in = directory.find_session(session, clock())
    assert sign_in is not None
    assert (sign_in.name, sign_in.role) == ("rater-1", Role.RATER)
    assert directory.find_invitation(token, clock()) is None
    assert directory.accept_invitation(token, "another", clock()) is None
    assert directory.find_password_hash("rater-1") == HASH


def test_an_invitation_expires(directory: Directory, clock: SetClock) -> None:
    token, _ = directory.invite("rater-1", Role.RATER, clock())
    clock.pass_by(days=7, seconds=-1)
    assert directory.find_invitation(token, clock()) is not None
    clock.pass_by(seconds=1)
    assert directory.find_invitation(token, clock()) is None
    assert directory.accept_invitation(token, HASH, clock()) is None
    assert directory.list_accounts() == []


def test_a_new_invitation_replaces_the_open_one(directory: Directory, clock: SetClock) -> None:
    old, _ = directory.invite("rater-1", Role.RATER, clock())
    new, _ = directory.invite("rater-1", Role.RATER, clock())
    assert directory.find_invitation(old, clock()) is None
    assert directory.find_invitation(new, clock()) is not None
    assert len(directory.list_invitations(clock())) == 1


def test_a_revoked_invitation_does_not_work(directory: Directory, clock: SetClock) -> None:
    token, _ = directory.invite("rater-1", Role.RATER, clock())
    assert directory.revoke("rater-1")
    assert directory.accept_invitation(token, HASH, clock()) is None
    assert not directory.revoke("rater-1")


def test_a_reviewer_can_use_the_link_repeatedly_until_it_expires(directory: Directory, clock: SetClock) -> None:
    token, _ = directory.invite("journal", Role.REVIEWER, clock(), timedelta(hours=14))
    first = directory.accept_invitation(token, None, clock())
    assert directory.list_accounts() == []
    clock.pass_by(hours=11)
    second = directory.accept_invitation(token, None, clock())
    assert first is not None
    assert second is not None
    directory.renew_session(first, clock())
    for session in (first, second):
        sign_in = directory.find_session(session, clock())
        assert sign_in is not None
        assert sign_in.expires == datetime(2026, 3, 2, 2, tzinfo=UTC)
    clock.pass_by(hours=3)
    assert directory.find_session(first, clock()) is None
    assert directory.accept_invitation(token, None, clock()) is None


def test_revoking_or_replacing_a_reviewers_link_ends_its_sessions(directory: Directory, clock: SetClock) -> None:
    for end in (lambda: directory.revoke("journal"), lambda: directory.invite("journal", Role.REVIEWER, clock())):
        token, _ = directory.invite("journal", Role.REVIEWER, clock())
        session = directory.accept_invitation(token, None, clock())
        assert session is not None
        assert directory.find_session(session, clock()) is not None
        end()
        assert directory.find_session(session, clock()) is None


def test_only_a_reviewer_joins_without_a_password(directory: Directory, clock: SetClock) -> None:
    token, _ = directory.invite("rater-1", Role.RATER, clock())
    with pytest.raises(StateError, match="needs a password"):
        directory.accept_invitation(token, None, clock())
    assert directory.find_invitation(token, clock()) is not None


def test_a_session_is_extended_while_it_is_used(directory: Directory, clock: SetClock) -> None:
    session = join(directory, clock())
    for _ in range(5):
        clock.pass_by(hours=11)
        sign_in = directory.find_session(session, clock())
        assert sign_in is not None
        assert needs_renewal(sign_in, clock())
        directory.renew_session(session, clock())
        renewed = directory.find_session(session, clock())
        assert renewed is not None
        assert not needs_renewal(renewed, clock())
    clock.pass_by(hours=12)
    assert directory.find_session(session, clock()) is None
    directory.renew_session(session, clock() - timedelta(days=1))


def test_joining_again_sets_a_new_password_and_ends_old_sessions(directory: Directory, clock: SetClock) -> None:
    old = join(directory, clock())
    token, _ = directory.invite("rater-1", Role.TIE_BREAKER, clock())
    assert directory.find_session(old, clock()) is not None
    new = directory.accept_invitation(token, "$argon2id$new", clock())
    assert new is not None
    assert directory.find_session(old, clock()) is None
    assert directory.find_password_hash("rater-1") == "$argon2id$new"
    assert [account.role for account in directory.list_accounts()] == [Role.TIE_BREAKER]


def test_signing_out_everywhere_ends_only_the_sessions_of_that_account(directory: Directory, clock: SetClock) -> None:
    first = join(directory, clock())
    second = directory.start_session("rater-1", HASH, clock())
    other = join(directory, clock(), "rater-2")
    assert second is not None
    sign_in = directory.find_session(first, clock())
    assert sign_in is not None
    directory.end_sessions(sign_in)
    assert directory.find_session(first, clock()) is None
    assert directory.find_session(second, clock()) is None
    assert directory.find_session(other, clock()) is not None


def test_no_session_starts_with_a_password_that_has_changed(directory: Directory, clock: SetClock) -> None:
    join(directory, clock())
    assert directory.start_session("rater-1", "$argon2id$old", clock()) is None
    assert directory.start_session("nobody", HASH, clock()) is None


def test_a_removed_account_is_signed_out_and_erased(directory: Directory, clock: SetClock, tmp_path: Path) -> None:
    name = "a-name-that-can-be-sign_in"
    session = join(directory, clock(), name, Role.VIEWER)
    directory.invite(name, Role.VIEWER, clock())
    kept = join(directory, clock(), "somebody-else")
    assert name.encode() in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert directory.remove(name)
    assert directory.find_session(session, clock()) is None
    assert directory.find_session(kept, clock()) is not None
    assert name.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not directory.remove(name)


def test_tokens_are_stored_only_as_hashes(directory: Directory, clock: SetClock, tmp_path: Path) -> None:
    link, _ = directory.invite("rater-2", Role.RATER, clock())
    session = join(directory, clock())
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"rater-2" in stored
    for token in (link, session):
        assert len(token) >= 43
        assert token.encode() not in stored


@pytest.mark.parametrize("name", ["", " x", "x ", "a\nb", "a\u202eb", "\x00", "x" * 201])
def test_a_misleading_name_is_refused(directory: Directory, clock: SetClock, name: str) -> None:
    with pytest.raises(InputError, match="cannot be the name of a person"):
        directory.invite(name, Role.VIEWER, clock())


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("ijroesx"), st.sampled_from(["a", "b; DROP TABLE accounts", "ü'\""])), max_size=25
    )
)
def test_a_session_is_valid_exactly_while_its_account_exists(acts: list[tuple[str, str]]) -> None:
    """In every sequence of acts a session is valid exactly while its account exists and it was not ended."""
    now = datetime(2026, 3, 1, tzinfo=UTC)
    with TemporaryDirectory() as folder, Directory(Path(folder) / "people.db") as directory:
        links: dict[str, str] = {}
        sessions: dict[str, list[str]] = {}
        ended: list[str] = []
        for act, name in acts:
            live = sessions.setdefault(name, [])
            if act == "i":
                links[name] = directory.invite(name, Role.RATER, now)[0]
            elif act == "j" and name in links:
                session = directory.accept_invitation(links.pop(name), HASH, now)
                assert session is not None
                ended += live
                sessions[name] = [session]
            elif act == "s":
                started = directory.start_session(name, HASH, now)
                assert (started is None) == (name not in {account.name for account in directory.list_accounts()})
                live += [started] if started else []
            elif act == "o" and live:
                ended.append(live.pop())
                directory.end_session(ended[-1])
            elif act == "e" and live:
                sign_in = directory.find_session(live[0], now)
                assert sign_in is not None
                directory.end_sessions(sign_in)
                ended += live
                sessions[name] = []
            elif act == "r":
                directory.remove(name)
                links.pop(name, None)
                ended += live
                sessions[name] = []
            elif act == "x":
                directory.revoke(name)
                links.pop(name, None)
        for name, live in sessions.items():
            assert all(getattr(directory.find_session(token, now), "name", None) == name for token in live)
        assert all(directory.find_session(token, now) is None for token in ended)


NOW = datetime(2026, 3, 1, tzinfo=UTC)
INVITE = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from quaestor.people.directory import Directory
from quaestor.people.roles import Role
with Directory(Path(sys.argv[1])) as directory:
    for number in range(20):
        directory.invite(f"{sys.argv[2]}-{number}", Role.VIEWER, datetime(2026, 3, 1, tzinfo=UTC))
"""


def read_modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_only_its_owner_can_read_the_file_with_any_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Directory(tmp_path / "people.db") as directory:
            directory.invite("rater-1", Role.RATER, NOW)
            assert len(list(tmp_path.iterdir())) == 3
            assert read_modes(tmp_path) == {0o600}
    finally:
        os.umask(before)


def test_opening_makes_a_readable_file_private(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    path.touch()
    path.chmod(0o644)
    with PeopleFile(path):
        assert read_modes(tmp_path) == {0o600}


def test_several_processes_can_create_the_file_and_write_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    writers = [
        subprocess.Popen([sys.executable, "-c", INVITE, str(path), f"writer{number}"], stderr=subprocess.PIPE)
        for number in range(4)
    ]
    for writer in writers:
        _, stderr = writer.communicate(timeout=60)
        assert writer.returncode == 0, stderr
    with Directory(path) as directory:
        assert len(directory.list_invitations(NOW)) == 80


def test_a_process_sees_changes_of_another_immediately(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    with Directory(path) as server:
        assert server.list_invitations(NOW) == []
        subprocess.run([sys.executable, "-c", INVITE, str(path), "line"], check=True)
        assert len(server.list_invitations(NOW)) == 20


def test_opening_the_file_twice_in_one_process_keeps_its_locks(tmp_path: Path) -> None:
    """A lock lost this way lets another process remove the log that the first one still writes to."""
    path = tmp_path / "people.db"
    with Directory(path) as server:
        with Directory(path) as second:
            second.invite("lead", Role.LEAD, NOW)
        for number in (1, 2):
            subprocess.run([sys.executable, "-c", INVITE, str(path), f"line{number}"], check=True)
            assert len(server.list_invitations(NOW)) == 1 + 20 * number
        server.invite("rater-1", Role.RATER, NOW)
    with Directory(path) as later:
        assert len(later.list_invitations(NOW)) == 42


def test_a_failed_transaction_writes_nothing(tmp_path: Path) -> None:
    with PeopleFile(tmp_path / "people.db") as file:
        with pytest.raises(RuntimeError), file.writing() as writing:
            writing.execute("INSERT INTO accounts VALUES ('a', 'lead', 'x', 'y')")
            raise RuntimeError
        with file.reading() as reading:
            assert reading.execute("SELECT count(*) FROM accounts").fetchone() == (0,)


def test_a_file_of_another_kind_raises_an_error_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database at all, but long enough to be looked at as one" * 20)
    with sqlite3.connect(tmp_path / "other") as other:
        other.execute("CREATE TABLE things (x)")
    other.close()
    (tmp_path / "folder").mkdir()
    with pytest.raises(TemporarilyUnavailable, match="is damaged"):
        PeopleFile(tmp_path / "text")
    for name, message in (("other", "another program"), ("folder", "is a folder")):
        with pytest.raises(InputError, match=message):
            PeopleFile(tmp_path / name)
    with pytest.raises(StateError, match="does not exist"):
        PeopleFile(tmp_path / "nowhere" / "people.db")
