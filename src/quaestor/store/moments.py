"""Moments as the store writes them: in acts, and in the names of files."""

from __future__ import annotations

from datetime import UTC, datetime


def exact_now() -> datetime:
    """This moment, in UTC, as exactly as the machine knows it."""
    return datetime.now(UTC)


def written(moment: datetime) -> str:
    """As acts and backups write it: UTC in ISO 8601 with microseconds."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def stamp(moment: datetime) -> str:
    """As a part of a file's name, exact enough for two in a second."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H%M%S.%f}"
