"""The errors that a user can fix; each message says what was found, where, and what to do."""

from dataclasses import dataclass


class QuaestorError(Exception):
    """Base class of every error that Quaestor raises on purpose; its message is written for the user."""

    exit_code = 2


class InputError(QuaestorError):
    """A file, archive or value from outside is invalid."""


class SettingsError(QuaestorError):
    """A study file has an invalid setting."""


class StateError(QuaestorError):
    """The action is not possible in the current state of the study."""


class TemporarilyUnavailable(StateError):
    """The study's storage cannot answer right now; the same request may succeed later."""


class MissingDependency(QuaestorError):
    """A program or a package that the call needs is not installed."""


class Interrupted(QuaestorError):
    """The user stopped the work."""

    exit_code = 130


@dataclass(frozen=True)
class Problem:
    """A problem that a check found in a questionnaire or a guide, where it is, and how to fix it."""

    where: str
    words: str
    grave: bool = True
    """A grave problem prevents interviews and responses; others are warnings for the author."""
