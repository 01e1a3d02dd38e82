"""The family of errors that a person can fix; each message says what was found, where, and what to do."""

from dataclasses import dataclass


class QuaestorError(Exception):
    """Root of every error that Quaestor raises on purpose; its text is one sentence for a person."""

    exit_code = 2


class InputError(QuaestorError):
    """A file, archive or address given to Quaestor is not what it must be."""


class SettingsError(QuaestorError):
    """A study file says something that cannot be."""


class StateError(QuaestorError):
    """What was asked for needs something that has not been done yet."""


class NotNow(StateError):
    """What keeps the study cannot answer at this moment; the same can be asked again."""


class MissingPart(QuaestorError):
    """This machine lacks a program or a package that the call needs."""


class Interrupted(QuaestorError):
    """A person stopped the work."""

    exit_code = 130


@dataclass(frozen=True)
class Problem:
    """What a check found wrong in a questionnaire or a guide, where, and how to fix it."""

    where: str
    words: str
    grave: bool = True
    """A grave problem prevents interviews and responses; others are warnings for the author."""
