"""Passwords: what may be chosen, what is kept, what is let in."""

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
def test_the_chosen_password_is_let_in_and_another_is_not(chosen: str, other: str) -> None:
    try:
        kept = PASSWORDS.hash(chosen)
    except InputError:  # characters that join into fewer than ten
        return
    assert kept.startswith("$argon2id$")
    assert chosen not in kept
    assert PASSWORDS.verify(kept, chosen)
    if len(other) != len(chosen):
        assert not PASSWORDS.verify(kept, other + "x" * len(chosen))


@pytest.mark.parametrize(
    ("chosen", "words"),
    [("", "too short"), ("123456789", "too short"), (" " * 12, "nothing but spaces"), ("x" * 1001, "too long")],
)
def test_a_password_nobody_should_choose_is_refused(chosen: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        PASSWORDS.hash(chosen)


def test_the_same_word_from_another_keyboard_is_the_same_password() -> None:
    assert PASSWORDS.verify(PASSWORDS.hash("caf\u00e9 au lait noir"), "cafe\u0301 au lait noir")


def test_nothing_opens_a_name_without_a_password() -> None:
    for tried in ("", "anything at all", "x" * 5000, "\ud800"):
        assert not PASSWORDS.verify(None, tried)
    assert not PASSWORDS.verify("no hash at all", "anything at all")


class Watched(PasswordHasher):
    """A real hasher that notes what it was asked to work on."""

    worked_on: ClassVar[list[str]] = []

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
        self.worked_on.append(str(hash))
        return super().verify(hash, password)


def test_a_name_without_a_password_costs_the_same_work_as_one_with() -> None:
    passwords = Passwords(Watched(time_cost=1, memory_cost=64, parallelism=1))
    kept = passwords.hash("a few plain words")
    assert not passwords.verify(kept, "something else")
    assert not passwords.verify(None, "something else")
    assert not passwords.verify(None, "x" * 5000)
    known, *unknown = [extract_parameters(one) for one in Watched.worked_on]
    assert unknown == [known, known]


def test_a_very_long_guess_is_not_worked_on_and_is_wrong() -> None:
    kept = PASSWORDS.hash("y" * 1000)
    assert PASSWORDS.verify(kept, "y" * 1000)
    assert not PASSWORDS.verify(kept, "y" * 1001)


def test_what_is_kept_of_a_password_costs_a_thief_memory_and_time() -> None:
    found = extract_parameters(Passwords().hash("a few plain words"))
    assert found.type is Type.ID
    assert found.memory_cost >= 64 * 1024
    assert found.time_cost >= 3
