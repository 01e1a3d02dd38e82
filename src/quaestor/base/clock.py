"""Time, passed in where it is needed so that tests can set it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from quaestor.base.errors import InputError

Clock = Callable[[], datetime]


def now() -> datetime:
    """This moment, in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def exact_now() -> datetime:
    """This moment, in UTC, as exactly as the machine knows it."""
    return datetime.now(UTC)


def written(moment: datetime) -> str:
    """As acts and backups write it: UTC in ISO 8601 with microseconds."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def stamp(moment: datetime) -> str:
    """As a part of a file's name, exact enough for two in a second."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H%M%S.%f}"


def in_utc(text: str) -> str:
    """A moment a person wrote, in UTC; a date alone lasts to its end."""
    try:
        moment = datetime.fromisoformat(text)
        if len(text) <= 10:
            moment = moment.replace(hour=23, minute=59, second=59)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC).isoformat(timespec="microseconds")
    except (ValueError, OverflowError):
        raise InputError(f"{text!r} is no time: write it as 2027-03-01 or 2027-03-01T18:00+01:00") from None
