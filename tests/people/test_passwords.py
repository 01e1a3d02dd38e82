"""Passwords: which ones are accepted, what is stored, and how they are checked."""

from __future__ import annotations

from typing import ClassVar, Literal

import pytest
from argon2 import PasswordHasher, Type, extract_parameters
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.desk import QUICK

from quaestor.base.errors import InputError
from quaestor.people.credentials import Passwords

PASSWORDS = Passwords(QUICK)


@settings(max_examples=40, deadline=None)
@given(st.text(min_size=10, max_size=60).filter(lambda text: len(text.strip()) >= 10), st.text(max_size=60))
def test_the_chosen_password_is_accepted_and_another_is_not(chosen: str, other: str) -> None:
    try:
        hashed = PASSWORDS.hash(chosen)
    except InputError:  # characters that join into fewer than ten
        return
    assert hashed.startswith("$argon2id$")
    assert chosen not in hashed
    assert PASSWORDS.verify(hashed, chosen)
    if len(other) != len(chosen):
        assert not PASSWORDS.verify(hashed, other + "x" * len(chosen))


@pytest.mark.parametrize(
    ("chosen", "message"),
    [("", "too short"), ("123456789", "too short"), (" " * 12, "only of spaces"), ("x" * 1001, "too long")],
)
def test_an_unacceptable_password_is_refused(chosen: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        PASSWORDS.hash(chosen)


def test_a_password_is_the_same_in_every_unicode_normal_form() -> None:
    assert PASSWORDS.verify(PASSWORDS.hash("caf\u00e9 au lait noir"), "cafe\u0301 au lait noir")


def test_without_a_hash_every_password_is_wrong() -> None:
    for tried in ("", "anything at all", "x" * 5000, "\ud800"):
        assert not PASSWORDS.verify(None, tried)
    assert not PASSWORDS.verify("no hash at all", "anything at all")


class RecordingHasher(PasswordHasher):
    """A real hasher that records the hashes it verifies."""

    verified: ClassVar[list[str]] = []

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
        self.verified.append(str(hash))
        return super().verify(hash, password)


def test_checking_without_a_hash_takes_the_same_work() -> None:
    passwords = Passwords(RecordingHasher(time_cost=1, memory_cost=64, parallelism=1))
    hashed = passwords.hash("a few plain message")
    assert not passwords.verify(hashed, "something else")
    assert not passwords.verify(None, "something else")
    assert not passwords.verify(None, "x" * 5000)
    known, *unknown = [extract_parameters(hashed) for hashed in RecordingHasher.verified]
    assert unknown == [known, known]


def test_a_password_over_the_length_limit_is_wrong() -> None:
    hashed = PASSWORDS.hash("y" * 1000)
    assert PASSWORDS.verify(hashed, "y" * 1000)
    assert not PASSWORDS.verify(hashed, "y" * 1001)


def test_the_hash_is_expensive_in_memory_and_time() -> None:
    parameters = extract_parameters(Passwords().hash("a few plain message"))
    assert parameters.type is Type.ID
    assert parameters.memory_cost >= 64 * 1024
    assert parameters.time_cost >= 3
