"""Time, passed in where it is needed so that tests can set it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def now() -> datetime:
    """This moment, in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0)
