"""Inviting and removing people from the command line, also while the desk is served."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.command_line import begun, in_this_process, quaestor
from tests.support.small_study import STUDY
from tests.support.windows import Server, serving

from quaestor.base.clock import exact_now
from quaestor.people.directory import Directory
from quaestor.people.membership import PEOPLE_FILE
from quaestor.people.roles import Role
from quaestor.web.desk_address import DeskAddress
from quaestor.web.server import ServerAddress, find_addresses

LINK_END = r"[A-Za-z0-9_-]{43}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    return tmp_path


def run(folder: Path, *arguments: str) -> str:
    done = in_this_process(*arguments, "--study", folder)
    if done.exception is not None:
        raise done.exception
    return done.stdout


@pytest.mark.parametrize(
    ("name", "role"),
    [("rater-1", "rater"), ("tie-breaker", "tie-breaker"), ("somebody", "viewer"), ("a journal", "reviewer")],
)
def test_a_link_is_printed_and_opens(folder: Path, name: str, role: str) -> None:
    output = run(folder, "invite", name, "--role", role, "--address", "https://study.example/desk/")
    match = re.fullmatch(rf"https://study\.example/desk/join/({LINK_END})\n", output)
    assert match
    with Directory(folder / PEOPLE_FILE) as directory:
        invitation = directory.find_invitation(match[1], exact_now())
    assert invitation is not None
    assert (invitation.name, invitation.role) == (name, role)


def test_a_rater_can_be_invited_before_a_round_names_them(folder: Path) -> None:
    done = in_this_process("invite", "rater-9", "--role", "rater", "--study", folder)
    assert done.exit_code == 0
    assert "No round names rater-9 as rater yet" in done.stderr
    assert "Rounds name rater-1" in done.stderr
    named = in_this_process("invite", "rater-1", "--role", "rater", "--study", folder)
    assert "No round names" not in named.stderr
    (folder / "study.toml").write_text('[study]\nname = "new"\n', "utf-8")
    assert in_this_process("invite", "ada", "--role", "tie-breaker", "--study", folder).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("rater-1", "--role", "tie-breaker"), "has another role in this study"),
        (("tie-breaker", "--role", "rater"), "has another role in this study"),
        (("lead", "--role", "rater"), "has another role in this study"),
        (("rater-1", "--role", "viewer"), "has another role in this study"),
        (("lead", "--role", "reviewer"), "has another role in this study"),
        (("lead", "--role", "lead"), "the lead is not invited"),
        (("x", "--role", "boss"), "there is no role 'boss'"),
        (("a\nb", "--role", "viewer"), "cannot be the name of a person"),
        (("x", "--role", "viewer", "--address", "study.example"), "--address is 'study.example'"),
    ],
)
def test_an_impossible_invitation_is_refused(folder: Path, arguments: tuple[str, ...], expected: str) -> None:
    with pytest.raises(Exception, match=re.escape(expected)):
        run(folder, "invite", *arguments)
    assert json.loads(run(folder, "people", "list", "--json")) == {"accounts": [], "invitations": []}


def test_people_are_listed_revoked_and_removed(folder: Path) -> None:
    invitation = json.loads(run(folder, "invite", "rater-1", "--role", "rater", "--days", "3", "--json"))
    run(folder, "invite", "reader", "--role", "viewer")
    with Directory(folder / PEOPLE_FILE) as directory:
        directory.accept_invitation(invitation["link"].rpartition("/")[2], "$argon2id$", exact_now())
    listed = json.loads(run(folder, "people", "list", "--json"))
    assert [(person["name"], person["role"]) for person in listed["accounts"]] == [("rater-1", "rater")]
    assert [(person["name"], person["role"]) for person in listed["invitations"]] == [("reader", "viewer")]
    assert "rater-1" in run(folder, "people", "list")
    run(folder, "people", "revoke", "reader")
    run(folder, "people", "remove", "rater-1")
    assert json.loads(run(folder, "people", "list", "--json")) == {"accounts": [], "invitations": []}
    for command in ("revoke", "remove"):
        with pytest.raises(Exception, match="nobody"):
            run(folder, "people", command, "reader")


@contextmanager
def served(folder: Path, *more: str) -> Iterator[list[str]]:
    """Runs `quaestor serve` and yields the lines it prints at the start."""
    output = folder / "said"
    output.write_text("")
    server = begun("serve", "--study", str(folder), "--port", "0", *more, out=output)
    try:
        deadline = time.monotonic() + 60
        while not (match := re.search(r" at (http\S+)", output.read_text())) or not answers(match[1]):
            assert time.monotonic() < deadline, output.read_text()
            time.sleep(0.05)
        yield output.read_text().splitlines(keepends=True)
    finally:
        server.terminate()
        server.join()


def answers(address: str) -> bool:
    try:
        return status_of(f"{address}health") == 200
    except OSError:
        return False


def status_of(address: str) -> int:
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_the_first_start_prints_a_link_for_the_lead_and_a_later_one_replaces_it(folder: Path) -> None:
    form = rf"Open (http://127\.0\.0\.1:\d+/)join/({LINK_END})  \(the lead's link, valid once, for 7 days\)\n"
    with served(folder) as lines:
        first = re.fullmatch(form, lines[1])
        assert first
        assert status_of(first[0].split()[1]) == 200
        link = run(folder, "invite", "rater-1", "--role", "rater", "--address", first[1]).strip()
        assert status_of(link) == 200
    with served(folder) as lines:
        second = re.fullmatch(form, lines[1])
        assert second
        assert status_of(f"{second[1]}join/{first[2]}") == 404
        assert status_of(f"{second[1]}join/{second[2]}") == 200
    with Directory(folder / PEOPLE_FILE) as directory:
        directory.accept_invitation(second[2], "$argon2id$", exact_now())
        assert [account.role for account in directory.list_accounts()] == [Role.LEAD]
    with served(folder, "--root-path", "/desk") as lines:
        assert len(lines) == 1
        address = lines[0].split(" at ")[1].split()[0]
        assert address.endswith("/desk/")
        assert status_of(f"{address}sign-in") == 200


def test_an_invitation_has_the_address_of_the_running_desk(folder: Path) -> None:
    def link_and_notes() -> tuple[str, str]:
        done = quaestor("invite", "reader", "--role", "viewer", "--study", folder)
        assert done.returncode == 0
        return done.stdout.strip(), done.stderr

    link, notes = link_and_notes()
    assert link.startswith("http://127.0.0.1:8321/join/")
    assert "The desk is not running" in notes
    with serving(folder) as address:
        link, notes = link_and_notes()
        assert link.startswith(f"{address}join/")
        assert status_of(link) == 200
        assert "not running" not in notes
    link, notes = link_and_notes()
    assert "The desk is not running" in notes
    with serving(folder, "--root-path", "/desk", "--allow-host", "study.example.org", path="/desk/") as address:
        link, notes = link_and_notes()
        token = link.removeprefix("https://study.example.org/desk/join/")
        assert f"{address}join/{token}" in notes
        assert status_of(f"{address}join/{token}") == 200
    server = Server(folder)
    server.kill()
    link, notes = link_and_notes()
    assert "The desk is not running" in notes


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (ServerAddress(), DeskAddress("http://127.0.0.1:9000/")),
        (ServerAddress(host="::1"), DeskAddress("http://[::1]:9000/")),
        (
            ServerAddress(host="::", allowed_hosts=["lab"]),
            DeskAddress("http://[::1]:9000/", "http://lab:9000/"),
        ),
        (ServerAddress(allowed_hosts=["lab"]), DeskAddress("http://127.0.0.1:9000/", "https://lab/")),
    ],
)
def test_the_addresses_of_a_desk_follow_from_how_it_is_served(address: ServerAddress, expected: DeskAddress) -> None:
    assert find_addresses(address, 9000, "") == expected
