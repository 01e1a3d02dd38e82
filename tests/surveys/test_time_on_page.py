"""Time spent on pages: only marks signed by the server count."""

from __future__ import annotations

from dataclasses import replace

from quaestor.surveys.model.records import Response, ResponseStatus
from quaestor.surveys.respond import LONGEST_STAY, is_mark, sign_time_stamp, time_spent

SOMEBODY = Response("0123456789abcdef", "tools", 1, ResponseStatus.OPEN, {}, seconds=12.5)


def test_time_on_a_page_starts_when_it_is_shown_and_is_at_most_an_hour() -> None:
    mark = sign_time_stamp(SOMEBODY, "you", 1_000)
    assert time_spent(SOMEBODY, "you", mark, 1_030) == 30
    assert time_spent(SOMEBODY, "you", mark, 990) == 0
    assert time_spent(SOMEBODY, "you", mark, 1_000_000) == LONGEST_STAY


def test_a_mark_of_another_page_or_response_is_ignored() -> None:
    mark = sign_time_stamp(SOMEBODY, "you", 1_000)
    assert is_mark(SOMEBODY, "you", mark)
    for response, page in ((SOMEBODY, "tools"), (replace(SOMEBODY, id="f" * 16), "you")):
        assert not is_mark(response, page, mark)
        assert time_spent(response, page, mark, 1_030) == 0
    for made_up in ("", ".", "..", "1000.12500.", "9.9." + "0" * 32, "é" * 40, "1" * 10_000):
        assert time_spent(SOMEBODY, "you", made_up, 1_030) == 0


def test_time_in_two_simultaneous_windows_counts_once() -> None:
    first, second = sign_time_stamp(SOMEBODY, "you", 1_000), sign_time_stamp(SOMEBODY, "tools", 1_010)
    after = replace(SOMEBODY, seconds=SOMEBODY.seconds + time_spent(SOMEBODY, "you", first, 1_040))
    assert time_spent(after, "tools", second, 1_045) == 0
    assert time_spent(after, "tools", second, 1_060) == 10
    assert time_spent(after, "you", first, 1_050) == 10
