"""Links, accounts and sessions: used once, ended in time, taken back, erased."""

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

from quaestor.base.errors import InputError, NotNow, StateError
from quaestor.people.directory import Directory, PeopleFile, is_due
from quaestor.people.roles import Role

NAMES = ["a", "b; DROP TABLE accounts", "ü'\""]
HASH = "$argon2id$some-hash"


def joined(directory: Directory, now: datetime, name: str = "rater-1", role: Role = Role.RATER) -> str:
    token, _ = directory.invite(name, role, now)
    session = directory.accept(token, HASH, now)
    assert session is not None
    return session


def test_a_link_is_used_once_and_signs_in(directory: Directory, clock: SetClock) -> None:
    token, made = directory.invite("rater-1", Role.RATER, clock())
    assert directory.invitation(token, clock()) == made
    session = directory.accept(token, HASH, clock())
    assert session is not None
    found = directory.session(session, clock())
    assert found is not None
    assert (found.name, found.role) == ("rater-1", Role.RATER)
    assert directory.invitation(token, clock()) is None
    assert directory.accept(token, "another", clock()) is None
    assert directory.password_of("rater-1") == HASH


def test_a_link_ends_in_time(directory: Directory, clock: SetClock) -> None:
    token, _ = directory.invite("rater-1", Role.RATER, clock())
    clock.pass_by(days=7, seconds=-1)
    assert directory.invitation(token, clock()) is not None
    clock.pass_by(seconds=1)
    assert directory.invitation(token, clock()) is None
    assert directory.accept(token, HASH, clock()) is None
    assert directory.accounts() == []


def test_a_new_link_takes_the_place_of_the_open_one(directory: Directory, clock: SetClock) -> None:
    old, _ = directory.invite("rater-1", Role.RATER, clock())
    new, _ = directory.invite("rater-1", Role.RATER, clock())
    assert directory.invitation(old, clock()) is None
    assert directory.invitation(new, clock()) is not None
    assert len(directory.invitations(clock())) == 1


def test_a_link_that_is_taken_back_opens_nothing(directory: Directory, clock: SetClock) -> None:
    token, _ = directory.invite("rater-1", Role.RATER, clock())
    assert directory.revoke("rater-1")
    assert directory.accept(token, HASH, clock()) is None
    assert not directory.revoke("rater-1")


def test_a_reviewer_comes_as_often_as_needed_until_the_link_ends(directory: Directory, clock: SetClock) -> None:
    token, _ = directory.invite("journal", Role.REVIEWER, clock(), timedelta(hours=14))
    first = directory.accept(token, None, clock())
    assert directory.accounts() == []
    clock.pass_by(hours=11)
    second = directory.accept(token, None, clock())
    assert first is not None
    assert second is not None
    directory.renew(first, clock())
    for session in (first, second):
        found = directory.session(session, clock())
        assert found is not None
        assert found.expires == datetime(2026, 3, 2, 2, tzinfo=UTC)
    clock.pass_by(hours=3)
    assert directory.session(first, clock()) is None
    assert directory.accept(token, None, clock()) is None


def test_a_reviewers_sessions_end_with_a_link_that_is_taken_back_or_replaced(
    directory: Directory, clock: SetClock
) -> None:
    for end in (lambda: directory.revoke("journal"), lambda: directory.invite("journal", Role.REVIEWER, clock())):
        token, _ = directory.invite("journal", Role.REVIEWER, clock())
        session = directory.accept(token, None, clock())
        assert session is not None
        assert directory.session(session, clock()) is not None
        end()
        assert directory.session(session, clock()) is None


def test_nobody_but_a_reviewer_joins_without_a_password(directory: Directory, clock: SetClock) -> None:
    token, _ = directory.invite("rater-1", Role.RATER, clock())
    with pytest.raises(StateError, match="needs a password"):
        directory.accept(token, None, clock())
    assert directory.invitation(token, clock()) is not None


def test_a_session_lasts_while_it_is_used(directory: Directory, clock: SetClock) -> None:
    session = joined(directory, clock())
    for _ in range(5):
        clock.pass_by(hours=11)
        found = directory.session(session, clock())
        assert found is not None
        assert is_due(found, clock())
        directory.renew(session, clock())
        renewed = directory.session(session, clock())
        assert renewed is not None
        assert not is_due(renewed, clock())
    clock.pass_by(hours=12)
    assert directory.session(session, clock()) is None
    directory.renew(session, clock() - timedelta(days=1))


def test_joining_again_sets_a_new_password_and_ends_what_was_before(directory: Directory, clock: SetClock) -> None:
    old = joined(directory, clock())
    token, _ = directory.invite("rater-1", Role.TIE_BREAKER, clock())
    assert directory.session(old, clock()) is not None
    new = directory.accept(token, "$argon2id$new", clock())
    assert new is not None
    assert directory.session(old, clock()) is None
    assert directory.password_of("rater-1") == "$argon2id$new"
    assert [account.role for account in directory.accounts()] == [Role.TIE_BREAKER]


def test_signing_out_everywhere_ends_the_sessions_of_one_and_of_nobody_else(
    directory: Directory, clock: SetClock
) -> None:
    first = joined(directory, clock())
    second = directory.start_session("rater-1", HASH, clock())
    other = joined(directory, clock(), "rater-2")
    assert second is not None
    found = directory.session(first, clock())
    assert found is not None
    directory.end_sessions(found)
    assert directory.session(first, clock()) is None
    assert directory.session(second, clock()) is None
    assert directory.session(other, clock()) is not None


def test_no_session_begins_with_a_password_that_has_changed_meanwhile(directory: Directory, clock: SetClock) -> None:
    joined(directory, clock())
    assert directory.start_session("rater-1", "$argon2id$old", clock()) is None
    assert directory.start_session("nobody", HASH, clock()) is None


def test_who_is_removed_is_signed_out_and_leaves_no_trace(
    directory: Directory, clock: SetClock, tmp_path: Path
) -> None:
    name = "a-name-that-can-be-found"
    session = joined(directory, clock(), name, Role.VIEWER)
    directory.invite(name, Role.VIEWER, clock())
    kept = joined(directory, clock(), "somebody-else")
    assert name.encode() in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert directory.remove(name)
    assert directory.session(session, clock()) is None
    assert directory.session(kept, clock()) is not None
    assert name.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not directory.remove(name)


def test_no_token_is_stored_as_it_is(directory: Directory, clock: SetClock, tmp_path: Path) -> None:
    link, _ = directory.invite("rater-2", Role.RATER, clock())
    session = joined(directory, clock())
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"rater-2" in stored
    for token in (link, session):
        assert len(token) >= 43
        assert token.encode() not in stored


@pytest.mark.parametrize("name", ["", " x", "x ", "a\nb", "a\u202eb", "\x00", "x" * 201])
def test_a_name_that_misleads_is_refused(directory: Directory, clock: SetClock, name: str) -> None:
    with pytest.raises(InputError, match="cannot be the name of a person"):
        directory.invite(name, Role.VIEWER, clock())


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("ijroesx"), st.sampled_from(["a", "b; DROP TABLE accounts", "ü'\""])), max_size=25
    )
)
def test_sessions_are_only_ever_those_of_people_who_are_there(acts: list[tuple[str, str]]) -> None:
    """Whatever happens in whatever order: a session answers exactly while its account stands and it was not ended."""
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
                made = directory.accept(links.pop(name), HASH, now)
                assert made is not None
                ended += live
                sessions[name] = [made]
            elif act == "s":
                started = directory.start_session(name, HASH, now)
                assert (started is None) == (name not in {one.name for one in directory.accounts()})
                live += [started] if started else []
            elif act == "o" and live:
                ended.append(live.pop())
                directory.end_session(ended[-1])
            elif act == "e" and live:
                found = directory.session(live[0], now)
                assert found is not None
                directory.end_sessions(found)
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
            assert all(getattr(directory.session(token, now), "name", None) == name for token in live)
        assert all(directory.session(token, now) is None for token in ended)


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


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_only_its_owner_can_read_it_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Directory(tmp_path / "people.db") as directory:
            directory.invite("rater-1", Role.RATER, NOW)
            assert len(list(tmp_path.iterdir())) == 3
            assert modes(tmp_path) == {0o600}
    finally:
        os.umask(before)


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    path.touch()
    path.chmod(0o644)
    with PeopleFile(path):
        assert modes(tmp_path) == {0o600}


def test_several_processes_may_begin_it_and_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    writers = [
        subprocess.Popen([sys.executable, "-c", INVITE, str(path), f"writer{number}"], stderr=subprocess.PIPE)
        for number in range(4)
    ]
    for writer in writers:
        _, said = writer.communicate(timeout=60)
        assert writer.returncode == 0, said
    with Directory(path) as directory:
        assert len(directory.invitations(NOW)) == 80


def test_a_process_sees_at_once_what_another_did(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    with Directory(path) as server:
        assert server.invitations(NOW) == []
        subprocess.run([sys.executable, "-c", INVITE, str(path), "line"], check=True)
        assert len(server.invitations(NOW)) == 20


def test_opening_it_twice_in_one_process_takes_no_lock_away(tmp_path: Path) -> None:
    """A lock lost this way lets another process remove the log that the first one still writes to."""
    path = tmp_path / "people.db"
    with Directory(path) as server:
        with Directory(path) as beside:
            beside.invite("lead", Role.LEAD, NOW)
        for number in (1, 2):
            subprocess.run([sys.executable, "-c", INVITE, str(path), f"line{number}"], check=True)
            assert len(server.invitations(NOW)) == 1 + 20 * number
        server.invite("rater-1", Role.RATER, NOW)
    with Directory(path) as later:
        assert len(later.invitations(NOW)) == 42


def test_what_fails_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    with PeopleFile(tmp_path / "people.db") as file:
        with pytest.raises(RuntimeError), file.writing() as writing:
            writing.execute("INSERT INTO accounts VALUES ('a', 'lead', 'x', 'y')")
            raise RuntimeError
        with file.reading() as reading:
            assert reading.execute("SELECT count(*) FROM accounts").fetchone() == (0,)


def test_what_is_no_file_of_people_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database at all, but long enough to be looked at as one" * 20)
    with sqlite3.connect(tmp_path / "other") as other:
        other.execute("CREATE TABLE things (x)")
    other.close()
    (tmp_path / "folder").mkdir()
    with pytest.raises(NotNow, match="is damaged"):
        PeopleFile(tmp_path / "text")
    for name, words in (("other", "another program"), ("folder", "is a folder")):
        with pytest.raises(InputError, match=words):
            PeopleFile(tmp_path / name)
    with pytest.raises(StateError, match="does not exist"):
        PeopleFile(tmp_path / "nowhere" / "people.db")
