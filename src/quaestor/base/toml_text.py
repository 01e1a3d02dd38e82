"""Values as TOML text, written so that reading them back gives the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from quaestor.base.errors import InputError


def toml_value(value: Any) -> str:
    """A value on one line; a text of several lines keeps them, so that a person can read it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _several_lines(value) if "\n" in value else f'"{_escaped(value)}"'
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        inside = ", ".join(f"{toml_key(name)} = {_on_one_line(inner)}" for name, inner in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_on_one_line(inner) for inner in value)}]"
    raise InputError(f"{value!r} cannot be written in a TOML file: give a text, a number, a time, a list or a table")


def toml_key(name: str) -> str:
    plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if plain else f'"{_escaped(name)}"'


def _on_one_line(value: Any) -> str:
    return f'"{_escaped(value)}"' if isinstance(value, str) else toml_value(value)


def _several_lines(text: str) -> str:
    lines = "\n".join(_escaped(line) for line in text.split("\n"))
    return f'"""\n{lines}"""'


def _escaped(text: str) -> str:
    """JSON's escapes are TOML's, but for the one control character that JSON lets through."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"{text!r} holds half a character, which no file can hold: leave it out") from None
    return json.dumps(text, ensure_ascii=False)[1:-1].replace("\x7f", "\\u007F")
