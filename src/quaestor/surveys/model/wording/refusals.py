"""Refusals that respondents read in their language: an error holds the key of its text."""

from __future__ import annotations

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.surveys.model.wording.catalogue import wording
from quaestor.surveys.model.wording.records import Wording


class _Worded(QuaestorError):
    """A refusal by the key of its text; as an error of a command, the English text as a part of a sentence."""

    def __init__(self, key: str, **values: object) -> None:
        sentence = wording().say(key, **values)
        super().__init__(f"{sentence[:1].lower()}{sentence[1:].removesuffix('.')}")
        self.key = key
        self.values = values


class NotTaken(_Worded, InputError):
    """What a respondent typed cannot be an answer."""


class TooLate(_Worded, StateError):
    """What a respondent sent can no longer be stored."""


def refusal_in_words(error: QuaestorError, words: Wording, otherwise: str = "not-offered") -> str:
    """Returns an error in the respondent's language; for one that is not meant for them, the text `otherwise`."""
    return words.say(error.key, **error.values) if isinstance(error, _Worded) else words.say(otherwise)
