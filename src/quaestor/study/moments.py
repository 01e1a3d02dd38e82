"""Moments as people write them, in the one form in which they can be compared."""

from __future__ import annotations

from datetime import UTC, datetime

from quaestor.base.errors import InputError


def in_utc(text: str) -> str:
    """A moment a person wrote, in UTC; a date alone lasts to its end."""
    try:
        moment = datetime.fromisoformat(text)
        if len(text) <= 10:
            moment = moment.replace(hour=23, minute=59, second=59)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC).isoformat(timespec="microseconds")
    except (ValueError, OverflowError):
        raise InputError(f"{text!r} is no time: write it as 2027-03-01 or 2027-03-01T18:00+01:00") from None
