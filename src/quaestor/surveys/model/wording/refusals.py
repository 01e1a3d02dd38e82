"""Refusals that respondents read: they know their text, so that each is told in the language of whoever asked."""

from __future__ import annotations

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.surveys.model.wording.catalogue import wording
from quaestor.surveys.model.wording.records import Wording


class _Worded(QuaestorError):
    """A refusal by the key of its text; as an error of a command it is the English one, as a part of a sentence."""

    def __init__(self, key: str, **values: object) -> None:
        sentence = wording().say(key, **values)
        super().__init__(f"{sentence[:1].lower()}{sentence[1:].removesuffix('.')}")
        self.key = key
        self.values = values


class NotTaken(_Worded, InputError):
    """What somebody typed will not do."""


class TooLate(_Worded, StateError):
    """What somebody sent comes at a moment at which it cannot be taken."""


def told(error: QuaestorError, words: Wording, otherwise: str = "not-offered") -> str:
    """An error in the respondent's words; one that is not meant for them is told by the text `otherwise`."""
    return words.say(error.key, **error.values) if isinstance(error, _Worded) else words.say(otherwise)
