"""The settings of a table source: its file, its format, and the meaning of its columns."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from quaestor.study.settings.sources import SourceSettings

ColumnType = Literal["text", "whole", "number", "time", "flag", "list"]

ITEM, ROW_NUMBER, OTHER = "item", "row_number", "other"
"""The columns that every table source has in addition to the mapped ones."""

_COLUMN_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_BELONGS_TO: dict[str, ColumnType] = {"format": "time", "separator": "list", "strip": "list", "escaped": "text"}


class TableColumnSettings(BaseModel):
    """How one column of the file becomes one column of the evidence."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    from_column: str | None = Field(default=None, alias="from", min_length=1)
    type: ColumnType = "text"
    format: str | None = None
    required: bool = False
    empty: tuple[str, ...] = ("",)
    separator: str = Field(default=",", min_length=1)
    strip: str | None = None
    escaped: bool = False
    """Whether the text has HTML entities, such as `&quot;` for a quotation mark."""

    @field_validator("format")
    @classmethod
    def _format_can_be_read_back(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                datetime.strptime(datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC).strftime(value), value)
            except ValueError as error:
                raise ValueError(f"{value!r} is not a time format such as '%Y-%m-%d' ({error})") from None
        return value

    @model_validator(mode="after")
    def _settings_fit_the_type(self) -> TableColumnSettings:
        for name, owner in _BELONGS_TO.items():
            if name in self.model_fields_set and self.type != owner:
                raise ValueError(f'{name} is for type "{owner}", and this column is of type "{self.type}"')
        return self


class TableSettings(SourceSettings):
    """One `[sources.…]` of kind "table"."""

    kind: Literal["table"] = "table"
    path: str = Field(min_length=1)
    encoding: str = "utf-8"
    delimiter: str | None = None
    sheet: str | None = None
    header_row: int = Field(default=1, ge=1)
    skip_rows: int = Field(default=0, ge=0)
    item: str
    columns: dict[str, TableColumnSettings] = Field(default_factory=dict)

    @field_validator("encoding")
    @classmethod
    def _encoding_is_known(cls, value: str) -> str:
        try:
            "a,\n".encode(value)
        except (LookupError, UnicodeError):
            raise ValueError(f"{value!r} is not a text encoding: use utf-8, utf-16, cp1252 …") from None
        return value

    @field_validator("delimiter")
    @classmethod
    def _delimiter_is_one_character(cls, value: str | None) -> str | None:
        if value is not None and (len(value) != 1 or value in '"\r\n\0'):
            raise ValueError(f'{value!r} cannot separate fields: give one character, such as "," or ";" or "\\t"')
        return value

    @field_validator("item")
    @classmethod
    def _item_names_columns(cls, value: str) -> str:
        parts = split_template(value)
        if not any(name for _, name in parts):
            raise ValueError(f'{value!r} gives every row the same item: name a column, as in "posts/{{id}}"')
        if any("{" in text or "}" in text for text, _ in parts):
            raise ValueError(f"{value!r} has an unmatched brace, or a column without a name")
        return value

    @model_validator(mode="after")
    def _columns_fit_together(self) -> TableSettings:
        for name in self.columns:
            if not _COLUMN_NAME.fullmatch(name):
                raise ValueError(f"column {name!r}: use a-z, 0-9 and _, and give the name in the file as `from`")
            if name in (ITEM, ROW_NUMBER, OTHER):
                raise ValueError(f"column {name!r} is reserved, since every table source has it: choose another name")
        for _, name in split_template(self.item):
            if name in self.columns and self.columns[name].type == "list":
                raise ValueError(f"item cannot contain {name!r}, which is a list")
        return self


def split_template(template: str) -> list[tuple[str, str]]:
    """Splits `a/{id}/b` into `("a/", "id"), ("/b", "")`: texts, and the column whose value follows each."""
    pieces = _PLACEHOLDER.split(template)
    return list(zip(pieces[::2], [*pieces[1::2], ""], strict=True))
