"""Reading TOML files that people write, with an error message for every mistake."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from quaestor.base.errors import QuaestorError
from quaestor.base.names import suggest

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


MAX_BYTES = 16 * 1024 * 1024


def read_toml(path: Path, failure: type[QuaestorError]) -> dict[str, Any]:
    """Returns the content of a file; raises `failure` with what is wrong and where."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise failure(f"{path} is over {MAX_BYTES // 2**20} MB, too large for a settings file: shorten it")
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise failure(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise failure(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    return parse_toml(text, str(path), failure)


def parse_toml(text: str, where: str, failure: type[QuaestorError]) -> dict[str, Any]:
    """Parses TOML; raises `failure` with the position of a syntax error in `where`."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise failure(f"{where} is not valid TOML: {error}") from None


class Settings(BaseModel):
    """A section of a study file: unknown keys are errors, and values are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Seed = Annotated[int, Field(ge=0, lt=2**63)]


_MAX_SHOWN = 60
_EXPECTED = {
    "string_type": "expected a text in quotes",
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "finite_number": "expected a finite number",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "tuple_type": "expected a list in square brackets",
    "dict_type": "expected a table of keys",
    "mapping_type": "expected a table of keys",
    "model_type": "expected a table of keys",
    "model_attributes_type": "expected a table of keys",
}
_LIMITS = {
    "greater_than": ("gt", "expected more than {}"),
    "greater_than_equal": ("ge", "expected {} or more"),
    "less_than": ("lt", "expected less than {}"),
    "less_than_equal": ("le", "expected {} or less"),
    "string_too_long": ("max_length", "write at most {} characters"),
}
_PATTERNS = {
    r"^[a-z0-9][a-z0-9_-]*$": "use lowercase letters, digits, - and _, starting with a letter or digit",
    r"^\d{4}-\d{2}-\d{2}$": "write a date as 2027-03-31",
}


def describe_mistake(error: ErrorDetails) -> str:
    """Returns the value found and what was expected, to follow the key in an error message."""
    kind, value = error["type"], error["input"]
    context: dict[str, Any] = error.get("ctx") or {}
    if kind == "value_error":
        return str(context["error"])
    if kind in ("too_short", "string_too_short"):
        return "the list is empty: add at least one entry" if kind == "too_short" else "the text is empty: write one"
    if kind == "literal_error":
        options = [part.strip(" '\"") for part in str(context["expected"]).replace(" or ", ", ").split(",")]
        return f"{_shorten(value)} is not allowed, use {suggest(str(value), options)}"
    if kind == "string_pattern_mismatch":
        return (
            f"{_shorten(value)} is not valid: {_PATTERNS.get(context['pattern'], 'see the reference for its format')}"
        )
    if kind in _LIMITS:
        key, expectation = _LIMITS[kind]
        return f"{_shorten(value)} is not valid: {expectation.format(context[key])}"
    return f"{_shorten(value)} is not valid: {_EXPECTED.get(kind, 'see the reference for allowed values')}"


def _shorten(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"
