"""The clock, passed in as an argument so that tests can set it, and the formats of a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from quaestor.base.errors import InputError

Clock = Callable[[], datetime]


def now() -> datetime:
    """Returns the current time in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def exact_now() -> datetime:
    """Returns the current time in UTC, to the microsecond."""
    return datetime.now(UTC)


def format_timestamp(moment: datetime) -> str:
    """Returns a time as acts and backups store it: UTC in ISO 8601 with microseconds."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def format_file_stamp(moment: datetime) -> str:
    """Returns a time for use in a file name, with microseconds so that two files within a second differ."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H%M%S.%f}"


def parse_utc(text: str) -> str:
    """Converts a time typed by a person to UTC; a date without a time means the end of that day."""
    try:
        moment = datetime.fromisoformat(text)
        if len(text) <= 10:
            moment = moment.replace(hour=23, minute=59, second=59)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC).isoformat(timespec="microseconds")
    except (ValueError, OverflowError):
        raise InputError(f"{text!r} is not a valid time: write it as 2027-03-01 or 2027-03-01T18:00+01:00") from None
