"""Each invitation is used once, and the file does not reveal the order."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from quaestor.base.errors import StateError
from quaestor.surveys.store.invitations import Invitation, InvitationCount, InvitationFile

TOKENS = [f"token-{number}" for number in range(300)]
COUNTERS = (slice(24, 28), slice(92, 100))


def without_counters(path: Path) -> bytes:
    content = bytearray(path.read_bytes())
    for place in COUNTERS:
        content[place] = bytes(place.stop - place.start)
    return bytes(content)


def test_the_invitation_file_does_not_depend_on_the_order_of_use(tmp_path: Path) -> None:
    used = TOKENS[:120]
    for name, order in (("one", used), ("other", random.Random(3).sample(used, len(used)))):
        with InvitationFile(tmp_path / name) as invitations:
            invitations.add("tools", "first", "pro", TOKENS[:200])
            invitations.add("tools", "second", "normal", TOKENS[200:])
            for token in order:
                with invitations.using(token) as found:
                    assert found == Invitation("tools", "first", "pro", used=False)
    assert without_counters(tmp_path / "one") == without_counters(tmp_path / "other")


def test_a_token_is_stored_only_as_a_hash(tmp_path: Path) -> None:
    with InvitationFile(tmp_path / "invitations.db") as invitations:
        invitations.add("tools", "first", "", ["a token to be found"])
        assert invitations.find("a token to be found") == Invitation("tools", "first", "", used=False)
        assert invitations.find("another") is None
        held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"a token" not in held
    assert (tmp_path / "invitations.db").stat().st_mode & 0o777 == 0o600


def test_a_failed_use_does_not_use_up_the_invitation(tmp_path: Path) -> None:
    with InvitationFile(tmp_path / "invitations.db") as invitations:
        invitations.add("tools", "first", "", ["one"])
        with pytest.raises(StateError), invitations.using("one"):
            raise StateError("the survey is closed")
        assert invitations.find("one") == Invitation("tools", "first", "", used=False)


def test_an_invitation_used_simultaneously_is_used_once(tmp_path: Path) -> None:
    path, fresh = tmp_path / "invitations.db", []
    with InvitationFile(path) as invitations:
        invitations.add("tools", "first", "", ["one"])
    start = threading.Barrier(6)

    def follow() -> None:
        with InvitationFile(path) as opened:
            start.wait()
            with opened.using("one") as found:
                assert found is not None
                fresh.append(not found.used)

    threads = [threading.Thread(target=follow) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(fresh) == [False] * 5 + [True]


def test_invitations_and_responses_are_counted_by_batch_and_stratum(tmp_path: Path) -> None:
    with InvitationFile(tmp_path / "invitations.db") as invitations:
        invitations.add("tools", "first", "pro", TOKENS[:4])
        invitations.add("tools", "first", "normal", TOKENS[4:6])
        invitations.add("tools", "second", "pro", TOKENS[6:7])
        invitations.add("other", "first", "pro", TOKENS[7:9])
        for token in TOKENS[:3]:
            with invitations.using(token):
                pass
        assert invitations.sent("tools") == [
            InvitationCount("first", "normal", 2, 0),
            InvitationCount("first", "pro", 4, 3),
            InvitationCount("second", "pro", 1, 0),
        ]
        assert invitations.in_stratum("tools", "pro") == 5
