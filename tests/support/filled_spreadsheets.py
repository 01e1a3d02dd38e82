"""Rating spreadsheets as a spreadsheet program saves them after a rater has filled them in."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

import xlsxwriter  # type: ignore[import-untyped]
from python_calamine import CalamineWorkbook

Rows = list[list[Any]]


def read_sheets(content: bytes) -> dict[str, Rows]:
    """The cells of every sheet."""
    with CalamineWorkbook.from_filelike(io.BytesIO(content)) as book:
        return {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}


def save_again(content: bytes, change: Callable[[dict[str, Rows]], None]) -> bytes:
    """The workbook after a change of its cells, as a program writes it that knows nothing of drop-down lists."""
    sheets = read_sheets(content)
    change(sheets)
    return save_sheets(sheets)


def save_sheets(sheets: Mapping[str, Rows]) -> bytes:
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True, "default_date_format": "yyyy-mm-dd"}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for row, cells in enumerate(rows):
                for column, cell in enumerate(cells):
                    if isinstance(cell, date):
                        sheet.write_datetime(row, column, cell)
                    elif isinstance(cell, str):
                        sheet.write_string(row, column, cell)
                    else:
                        sheet.write(row, column, cell)
    return file.getvalue()


def fill(content: bytes, answers: Mapping[str, Mapping[str, Any]], sheet: str = "Ratings") -> bytes:
    """The workbook with cells filled in: by item, the new value of each column."""

    def change(sheets: dict[str, Rows]) -> None:
        header, *rows = sheets[sheet]
        for row in rows:
            for column, value in answers.get(str(row[0]), {}).items():
                row[header.index(column)] = value

    return save_again(content, change)
