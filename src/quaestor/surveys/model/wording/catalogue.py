"""The page texts: complete for each language with a file here, and overridden by a study's own texts.

Errors that respondents read hold the key of their text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.base.names import join_with_or, sort_by_similarity

ENGLISH = "en"
_FEW = 6
Own = Mapping[str, Mapping[str, str]]
"""A study's own texts, by language and key."""
_FILLED_IN = re.compile(r"\{(\w+)\}")
_FROM_RIGHT = frozenset({"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})


@dataclass(frozen=True)
class Wording:
    """Texts of the respondents' pages in one language."""

    language: str
    texts: Mapping[str, str]
    lacking: frozenset[str] = frozenset()
    """Keys without a text in this language; English is shown instead."""

    @property
    def direction(self) -> Literal["ltr", "rtl"]:
        return "rtl" if base_language(self.language) in _FROM_RIGHT else "ltr"

    def say(self, key: str, **values: object) -> str:
        """Returns a text with its `{names}` filled in; unknown names in a study's own text stay."""
        return _FILLED_IN.sub(lambda match: str(values.get(match[1], match[0])), self.texts[key])


def base_language(language: str) -> str:
    """Returns the base language: `pt` for `pt-br`."""
    return re.split(r"[-_]", language, maxsplit=1)[0]


def find_placeholders(text: str) -> set[str]:
    """Returns the placeholders of a text."""
    return set(_FILLED_IN.findall(text))


@cache
def list_languages() -> tuple[str, ...]:
    """Returns the languages with all texts, English first."""
    languages = sorted(path.name.removesuffix(".toml") for path in _folder().iterdir() if path.name.endswith(".toml"))
    return (ENGLISH, *(language for language in languages if language != ENGLISH))


@cache
def read_texts(language: str) -> Mapping[str, str]:
    """Returns the texts of a language."""
    return tomllib.loads((_folder() / f"{language}.toml").read_text("utf-8"))


def load_wording(language: str = ENGLISH, own: Own | None = None) -> Wording:
    """Returns the texts in any language: the study's own, else the language's, else the base language's.

    Missing and empty texts fall back to English.
    """
    english = read_texts(ENGLISH)
    base = next((candidate for candidate in (language, base_language(language)) if candidate in list_languages()), "")
    own_texts = {
        key: text for key, text in ((own or {}).get(language) or {}).items() if key in english and text.strip()
    }
    known = {**(read_texts(base) if base else {}), **own_texts}
    return Wording(language, {**english, **known}, frozenset(english) - frozenset(known))


def browser_wording(header: str) -> Wording:
    """Returns the texts in the first language of the header `Accept-Language` that has them, else in English."""
    accepted = (part.partition(";")[0].strip().lower() for part in header[:1000].split(","))
    return load_wording(
        next(
            (base_language(candidate) for candidate in accepted if base_language(candidate) in list_languages()),
            ENGLISH,
        )
    )


def word_problems(own: Own, languages: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Yields problems of a study's own texts, each with whether it is grave."""
    english = read_texts(ENGLISH)
    for language, texts in own.items():
        if language not in languages:
            yield (
                f"[words.{language}] is for a language that is not in survey.languages: add it, or remove the section",
                False,
            )
        for key, text in texts.items():
            yield from _wrong(f"words.{language}.{key}", key, text, english)
    for language in languages:
        lacking = sorted(load_wording(language, own).lacking, key=list(english).index)
        if lacking:
            more = f" and {len(lacking) - _FEW} more" if len(lacking) > _FEW else ""
            few = ", ".join(lacking[:_FEW])
            words = f"page texts are missing in {language!r} and shown in English: {few}{more}"
            yield f"{words}; write them under [words.{language}] (docs/reference/survey-texts.md)", False


def _wrong(where: str, key: str, text: str, english: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    if key not in english:
        near = join_with_or(sort_by_similarity(key, english)[:_FEW])
        yield f"{where} is not a page text, nearest: {near}; see docs/reference/survey-texts.md", True
        return
    known = find_placeholders(english[key])
    for name in sorted(find_placeholders(text) - known):
        allowed = ", ".join(f"{{{placeholder}}}" for placeholder in sorted(known)) or "none"
        yield f"{where} contains {{{name}}}, which is not available there; choose from: {allowed}", True
    for name in sorted(known - find_placeholders(text)):
        yield f"{where} does not contain {{{name}}}: add it", False


def _folder() -> resources.abc.Traversable:
    return resources.files("quaestor.surveys.model.wording")


class _Worded(QuaestorError):
    """An error with the key of its text; on the command line, the English text."""

    def __init__(self, key: str, **values: object) -> None:
        # What a respondent sent may contain line breaks, but the message is one line.
        values = {name: " ".join(value.split()) if isinstance(value, str) else value for name, value in values.items()}
        sentence = load_wording().say(key, **values)
        super().__init__(f"{sentence[:1].lower()}{sentence[1:].removesuffix('.')}")
        self.key = key
        self.values = values


class InvalidAnswer(_Worded, InputError):
    """Input of a respondent that is not a valid answer."""


class TooLate(_Worded, StateError):
    """Input of a respondent that can no longer be stored."""


class PatternMismatch(InputError):
    """A text that does not match the question's pattern, with the message of the questionnaire."""

    def __init__(self, message: str) -> None:
        super().__init__(message.removesuffix("."))
        self.message = message


def refusal_in_words(error: QuaestorError, words: Wording, otherwise: str = "not-offered") -> str:
    """Returns an error in the respondent's language; for other errors the text `otherwise`."""
    if isinstance(error, PatternMismatch):
        return error.message
    return words.say(error.key, **error.values) if isinstance(error, _Worded) else words.say(otherwise)
