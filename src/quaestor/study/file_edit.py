"""Edits study.toml: additions are written by tomlkit, and every other byte stays unchanged."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import tomlkit
from tomlkit.items import Item, Table

from quaestor.base.errors import InputError, SettingsError
from quaestor.base.files import lock_folder, write_atomically
from quaestor.study.folder import Study


def read_study_text(study: Study) -> str:
    """Reads study.toml with its line endings."""
    try:
        return study.file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{study.file} is not UTF-8 (byte {error.start}): save it as UTF-8") from None


def append_tables(text: str, tables: str) -> str:
    """Appends tables to the text of a study file, after an empty line."""
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + use_line_endings(text, gap + tables)


def use_line_endings(text: str, addition: str) -> str:
    """Converts an addition to the line endings of a text."""
    return addition.replace("\n", "\r\n") if "\r\n" in text else addition


def edit_study_file(study: Study, change: Callable[[str], str]) -> None:
    """Replaces study.toml atomically under a lock; keeps its permissions and follows a symbolic link."""
    study.evidence.mkdir(exist_ok=True)  # the lock file is in this folder, which git ignores
    with lock_folder(study.evidence, "study.toml"):
        file = study.file.resolve()
        mode = file.stat().st_mode
        write_atomically(file, change(read_study_text(study)).encode("utf-8"))
        file.chmod(mode)


def toml_item(value: Any) -> Item:
    """Converts a value for tomlkit: tables stay on one line, multi-line texts keep their lines."""
    if isinstance(value, str):
        if re.search("[\ud800-\udfff]", value):
            raise InputError(f"{value!r} contains a lone surrogate, which no file can store: remove it")
        return tomlkit.string(value, multiline="\n" in value and "\r" not in value)
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, inner in value.items():
            table.add(key, toml_item(inner))
        return table
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        array.extend(toml_item(inner) for inner in value)
        return array
    plain: Item = tomlkit.item(value)
    return plain


def toml_table(values: Mapping[str, Any]) -> Table:
    """Converts values to a table, one per line."""
    table = tomlkit.table()
    for key, value in values.items():
        table.add(key, toml_item(value))
    return table
