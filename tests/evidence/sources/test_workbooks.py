"""Workbook cells are read with their types, and hostile workbooks are refused in bounded memory."""

import os
import struct
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter  # type: ignore[import-untyped]
from tests.support.loaded_tables import altered, load, refusal, workbook

from quaestor.evidence.sources.tables import workbook as workbook_module


def test_workbook_cells_are_read_with_their_types(tmp_path: Path) -> None:
    moment = datetime(2020, 1, 2, 3, 4, 5, 678000)
    header = ["id", "whole", "number", "time", "day", "flag", "list", "text", "left", "also"]
    path = workbook(tmp_path, [header, [1, 3.0, 2.5, moment, "2020-01-02", True, "a, b", 7, moment, False]])
    columns = {
        "whole": {"type": "whole"},
        "number": {"type": "number"},
        "time": {"type": "time"},
        "day": {"type": "time"},
        "flag": {"type": "flag"},
        "list": {"type": "list"},
        "text": {},
    }
    [row] = load(path, columns=columns).rows
    assert row == {
        "item": "row/1", "whole": 3, "number": 2.5, "time": moment, "day": datetime(2020, 1, 2), "flag": True,
        "list": ["a", "b"], "text": "7", "row_number": 2,
        "other": [("id", "1"), ("left", "2020-01-02T03:04:05.678000"), ("also", "false")],
    }  # fmt: skip
    assert type(row["whole"]) is int


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        ("whole", 2.5), ("whole", True), ("whole", 2.0**53 + 2), ("whole", datetime(2020, 1, 1)),
        ("whole", "x"), ("number", True), ("number", datetime(2020, 1, 1)), ("time", 43831.5),
        ("time", timedelta(hours=30)),
        ("flag", 2), ("flag", datetime(2020, 1, 1)),
    ],
)  # fmt: skip
def test_a_cell_of_another_type_rejects_its_row(tmp_path: Path, kind: str, cell: Any) -> None:
    loaded = load(workbook(tmp_path, [["id", "v"], [1, cell], [2]]), columns={"v": {"type": kind}})
    assert loaded.column("item") == ["row/2"]
    [reject] = loaded.rejects
    assert reject.offset == 2
    assert reject.reason.startswith("row 2 (the offset is the row number): column v found ")


def with_formulas(folder: Path) -> Path:
    with xlsxwriter.Workbook(folder / "table.xlsx") as book:
        page = book.add_worksheet()
        page.write_row(1, 2, ["id", "a", "b"])
        for number, cached in enumerate(("#N/A", 5, "#DIV/0!", "=1+1", "#REF!")):
            page.write_number(2 + number, 2, number)
            page.write_formula(2 + number, 3, "=cmd|'/c calc'!A1", None, cached)
        page.write_string(7, 2, "#N/A")
        page.write_formula(8, 2, "=NA()", None, "#N/A")
    return folder / "table.xlsx"


def test_a_formula_gives_its_cached_value_and_a_failed_one_rejects_its_row(tmp_path: Path) -> None:
    loaded = load(with_formulas(tmp_path), columns={"a": {"empty": ["", "#N/A"]}}, header_row=2)
    assert [(row["item"], row["a"]) for row in loaded.rows] == [
        ("row/0", None), ("row/1", "5"), ("row/3", "=1+1"), ("row/#N/A", None),
    ]  # fmt: skip
    assert [reject.offset for reject in loaded.rejects] == [5, 7, 9]
    assert "column a found '#DIV/0!', expected text" in loaded.reasons[0]


def test_a_failed_formula_in_an_unmapped_column_is_kept_as_shown(tmp_path: Path) -> None:
    loaded = load(with_formulas(tmp_path), header_row=2)
    assert ("a", "#REF!") in loaded.rows[4]["other"]


def test_the_first_or_the_named_sheet_is_read(tmp_path: Path) -> None:
    path = tmp_path / "table.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for sheet in ("First", "Second & last"):
            book.add_worksheet(sheet).write_column(0, 0, ["id", sheet])
    assert load(path).column("item") == ["row/First"]
    assert load(path, sheet="Second & last").column("item") == ["row/Second & last"]
    assert "no sheet 'second', its sheets are 'First', 'Second & last'" in refusal(path, sheet="second")


def test_an_empty_sheet_is_refused(tmp_path: Path) -> None:
    assert "is empty" in refusal(workbook(tmp_path, []))


SHEET = "xl/worksheets/sheet1.xml"


def test_cells_spread_too_far_apart_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    path = workbook(tmp_path, [["id"], ["1"]])
    altered(path, SHEET, lambda part: part.replace(b'r="A2"', b'r="XFD1048576"'))
    assert "over 1,048,576 rows and 16,384 columns" in refusal(path)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (b"XFD1048576", "over 1,048,576 rows and 16,384 columns"),
        (b"ZZZZZZ9", "over 9 rows and 321,272,406 columns"),
        (b"XFE1", "over 1 rows and 16,385 columns"),
        (b"A1048577", "over 1,048,577 rows and 1 columns"),
    ],
)
def test_a_lone_distant_cell_or_one_outside_the_sheet_is_refused(tmp_path: Path, place: bytes, words: str) -> None:
    path = altered(workbook(tmp_path, [["id"]]), SHEET, lambda part: part.replace(b'r="A1"', b'r="%s"' % place))
    assert words in refusal(path)


def test_a_count_of_strings_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path, [["id"], ["1"]])
    altered(
        path,
        "xl/sharedStrings.xml",
        lambda part: part.replace(b'uniqueCount="2"', b'uniqueCount="4294967295"'),
    )
    assert "it declares 4294967295 entries" in refusal(path)


def test_an_empty_formatted_distant_cell_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "table.xlsx"
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet()
        page.write_column(0, 0, ["id", "1"])
        page.write_blank(1_048_575, 16_383, None, book.add_format({"bold": True}))
    assert load(path).column("item") == ["row/1"]


def test_a_workbook_that_unpacks_over_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path, [["id"], ["1"]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image1.png", bytes(20_000_000))
    assert "times its size when unpacked, over 200" in refusal(path)
    monkeypatch.setattr(workbook_module, "MOST_BYTES", 1_000_000)
    assert "bytes when unpacked, over 1,000,000" in refusal(path)
    monkeypatch.setattr(workbook_module, "MOST_PARTS", 3)
    assert "parts, over 3" in refusal(path)


def test_a_workbook_part_larger_than_declared_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path, [["id"], ["1"]])
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(SHEET)
    content = path.read_bytes()
    sizes = struct.pack("<II", info.compress_size, info.file_size)
    assert content.count(sizes) >= 1
    path.write_bytes(content.replace(sizes, struct.pack("<II", info.compress_size, 40)))
    assert "is not a valid XLSX workbook" in refusal(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda part: part[:-40],
        lambda part: part.replace(b"UTF-8", b"UTF-9", 1),
        lambda part: part.replace(b"<worksheet", b'<!DOCTYPE a [<!ENTITY b "c">]><worksheet', 1),
    ],
)
def test_broken_xml_and_entity_declarations_are_refused(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    assert "not valid XML" in refusal(altered(workbook(tmp_path, [["id"], ["1"]]), SHEET, change))


def test_a_zip_file_that_is_not_a_workbook_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert "cannot be read as a workbook" in refusal(path)


def test_a_damaged_workbook_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path, [["id"], *([os.urandom(20).hex()] for _ in range(500))])
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 200] = bytes(200)
    path.write_bytes(content)
    assert "is not a valid XLSX workbook" in refusal(path)
