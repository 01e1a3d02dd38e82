"""Edits of study.toml: what is added is written by tomlkit, and every other byte stays as a person wrote it."""

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
    """The text of study.toml, with the line endings it has."""
    try:
        return study.file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{study.file} is not UTF-8 (byte {error.start}): save it as UTF-8") from None


def append_tables(text: str, tables: str) -> str:
    """The text of a study file with tables at its end, after an empty line."""
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + use_line_endings(text, gap + tables)


def use_line_endings(text: str, addition: str) -> str:
    """An addition with the line endings that a text has."""
    return addition.replace("\n", "\r\n") if "\r\n" in text else addition


def edit_study_file(study: Study, change: Callable[[str], str]) -> None:
    """Replace study.toml at once, with no other process in between; its permissions stay, and a link stays a link."""
    study.evidence.mkdir(exist_ok=True)  # the lock lies among what is generated and not kept in git
    with lock_folder(study.evidence, "study.toml"):
        file = study.file.resolve()
        mode = file.stat().st_mode
        write_atomically(file, change(read_study_text(study)).encode("utf-8"))
        file.chmod(mode)


def toml_item(value: Any) -> Item:
    """A value as tomlkit writes it: tables stay on one line, and a text of several lines keeps them for its readers."""
    if isinstance(value, str):
        if re.search("[\ud800-\udfff]", value):
            raise InputError(f"{value!r} holds half a character, which no file can hold: leave it out")
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
    """Values as a table of a file, one on each line."""
    table = tomlkit.table()
    for key, value in values.items():
        table.add(key, toml_item(value))
    return table
