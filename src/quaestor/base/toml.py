"""TOML files that people write: every way in which one cannot be read is one sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from quaestor.base.errors import QuaestorError
from quaestor.base.names import listed, nearest_first

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


MOST_BYTES = 16 * 1024 * 1024


def read_toml(path: Path, failure: type[QuaestorError]) -> dict[str, Any]:
    """The content of a file; `failure` is raised with what is wrong and where."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise failure(f"{path} is over {MOST_BYTES // 2**20} MB long, as no file of settings is: shorten it")
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise failure(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise failure(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    return parsed_toml(text, str(path), failure)


def parsed_toml(text: str, where: str, failure: type[QuaestorError]) -> dict[str, Any]:
    """What a text of TOML says."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise failure(f"{where} is not valid TOML: {error}") from None


class Settings(BaseModel):
    """A part of a study file: unknown keys are errors, values cannot change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Seed = Annotated[int, Field(ge=0, lt=2**63)]


_SHOWN = 60
_NEEDED = {
    "string_type": "a text in quotes is needed",
    "int_type": "a whole number is needed",
    "int_parsing": "a whole number is needed",
    "int_from_float": "a whole number is needed",
    "float_type": "a number is needed",
    "float_parsing": "a number is needed",
    "finite_number": "a number that is not infinite is needed",
    "bool_type": "true or false is needed",
    "bool_parsing": "true or false is needed",
    "tuple_type": "a list in square brackets is needed",
    "dict_type": "a table of keys is needed",
    "mapping_type": "a table of keys is needed",
    "model_type": "a table of keys is needed",
    "model_attributes_type": "a table of keys is needed",
}
_LIMITS = {
    "greater_than": ("gt", "more than {} is needed"),
    "greater_than_equal": ("ge", "{} or more is needed"),
    "less_than": ("lt", "less than {} is needed"),
    "less_than_equal": ("le", "{} or less is needed"),
    "string_too_long": ("max_length", "write at most {} characters"),
}
_PATTERNS = {
    r"^[a-z0-9][a-z0-9_-]*$": "use small letters, digits, - and _, with a letter or digit first",
    r"^\d{4}-\d{2}-\d{2}$": "write a day as 2027-03-31",
}


def mistake_in(error: ErrorDetails) -> str:
    """What was found and what is needed, as the end of a sentence that begins with the place."""
    kind, found = error["type"], error["input"]
    context: dict[str, Any] = error.get("ctx") or {}
    if kind == "value_error":
        return str(context["error"])
    if kind in ("too_short", "string_too_short"):
        return "nothing stands here: give it at least one" if kind == "too_short" else "it is empty: write something"
    if kind == "literal_error":
        options = [part.strip(" '\"") for part in str(context["expected"]).replace(" or ", ", ").split(",")]
        return f"{_shown(found)} is none of what is allowed: {listed(nearest_first(str(found), options))}"
    if kind == "string_pattern_mismatch":
        return f"{_shown(found)} will not do: {_PATTERNS.get(context['pattern'], 'write it as the reference says')}"
    if kind in _LIMITS:
        key, words = _LIMITS[kind]
        return f"{_shown(found)} will not do: {words.format(context[key])}"
    return f"{_shown(found)} will not do: {_NEEDED.get(kind, 'see the reference for what is needed')}"


def _shown(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
