"""Errors that respondents read in their language: each holds the key of its text."""

from __future__ import annotations

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.surveys.model.wording.catalogue import Wording, load_wording


class _Worded(QuaestorError):
    """An error with the key of its text; on the command line, the English text."""

    def __init__(self, key: str, **values: object) -> None:
        sentence = load_wording().say(key, **values)
        super().__init__(f"{sentence[:1].lower()}{sentence[1:].removesuffix('.')}")
        self.key = key
        self.values = values


class InvalidAnswer(_Worded, InputError):
    """Input of a respondent that is not a valid answer."""


class TooLate(_Worded, StateError):
    """Input of a respondent that can no longer be stored."""


def refusal_in_words(error: QuaestorError, words: Wording, otherwise: str = "not-offered") -> str:
    """Returns an error in the respondent's language; for other errors the text `otherwise`."""
    return words.say(error.key, **error.values) if isinstance(error, _Worded) else words.say(otherwise)
