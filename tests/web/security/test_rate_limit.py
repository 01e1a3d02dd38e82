"""The rate limit per address: bounded in time and memory, and safe against clock changes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.support.desk import SetClock

from quaestor.web.security.rate_limit import RateLimit

MINUTE = timedelta(minutes=1)


def test_an_address_over_the_limit_must_wait_and_others_need_not() -> None:
    clock = SetClock()
    pace = RateLimit(2, MINUTE, clock)
    assert [pace.wait("10.0.0.1") for _ in range(3)] == [None, None, MINUTE]
    assert pace.wait("10.0.0.2") is None
    assert [pace.wait("127.0.0.1") for _ in range(3)] == [None] * 3
    clock.pass_by(minutes=1)
    assert pace.wait("10.0.0.1") is None


def test_setting_the_clock_back_does_not_extend_a_wait() -> None:
    clock = SetClock()
    pace = RateLimit(2, MINUTE, clock)
    pace.wait("10.0.0.1")
    pace.wait("10.0.0.1")
    clock.pass_by(days=-3)
    assert [pace.wait("10.0.0.1") for _ in range(3)] == [None, None, MINUTE], "it counts from now on"


def test_the_number_of_stored_addresses_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quaestor.web.security.rate_limit._MOST_ADDRESSES", 50)
    pace = RateLimit(2, MINUTE, SetClock())
    for number in range(500):
        pace.wait("10.9.9.9")
        pace.wait(f"10.0.{number // 250}.{number % 250}")
    assert len(pace._times) == 50
    assert pace.wait("10.9.9.9") == MINUTE, "whoever comes all the time is not forgotten"
