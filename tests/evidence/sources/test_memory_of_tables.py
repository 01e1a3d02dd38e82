"""A table that would fill the memory is refused in one sentence and in bounded memory."""

from __future__ import annotations

import io
import random
import re
import resource
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from quaestor.base.table_files import ExportTable, format_table
from quaestor.evidence.sources.tables.cells import LONGEST_FIELD

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells how much memory was used"),
]

MEGABYTE = 2**20
MOST = 700 * MEGABYTE
"""Far more than a sound table of this size needs, far less than the files below took before they were bounded."""
READ = """
import re, sys
from pathlib import Path
from quaestor.base.errors import InputError
from quaestor.surveys.exchange.file_rows import plain_rows
from quaestor.evidence.table_rows import read_rows
try:
    rows = sum(1 for _ in {reader}(Path(sys.argv[1])))
    print(f"{{rows}} rows")
except InputError as error:
    print(error)
# Not ru_maxrss, which counts the memory of the process that started this one.
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024)
"""


def read(path: Path, reader: str = "read_rows") -> tuple[str, int]:
    """What reading a file says in a process of its own, and how much memory the process took at most."""

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (8 * 1024 * MEGABYTE, resource.RLIM_INFINITY))

    code = READ.format(reader=reader)
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, preexec_fn=bounded, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *said, peak = done.stdout.splitlines()
    return "\n".join(said), int(peak)


CELLS = {
    "one long line": b"x" * 20 * MEGABYTE,
    "only line breaks": b"\n" * 20 * MEGABYTE,
    "short lines": b"xy\n" * (20 * MEGABYTE // 3),
    "doubled quotes": b'""' * 10 * MEGABYTE,
}


@pytest.mark.parametrize(
    ("cell", "reader"),
    [
        ("one long line", "read_rows"),
        ("only line breaks", "read_rows"),
        ("short lines", "plain_rows"),
        ("doubled quotes", "plain_rows"),
    ],
)
def test_a_quoted_cell_of_20_mb_is_refused_with_its_row(tmp_path: Path, cell: str, reader: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b'item,memo\na,b\nc,"' + CELLS[cell] + b'"\n')
    said, peak = read(path, reader)
    assert ", row 3 cannot be read" in said
    assert re.search(r"over (4|16) MB long", said)
    assert said.count("\n") == 0
    assert peak < MOST


def test_an_unclosed_quote_is_refused_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b'item,memo\na,b\nc,"' + b"d,e\n" * (5 * MEGABYTE))
    said, peak = read(path)
    assert ", row 3 cannot be read" in said
    assert peak < MOST


@pytest.mark.parametrize("cell", [b"", b"ab"])
def test_a_row_of_millions_of_cells_is_refused_with_its_row(tmp_path: Path, cell: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"item,memo\na,b\n" + (cell + b",") * (15 * MEGABYTE // (len(cell) + 1)) + b"\n")
    said, peak = read(path)
    assert ", row 3 cannot be read" in said
    assert peak < MOST


def workbook(path: Path, replaced: dict[str, bytes]) -> Path:
    """A workbook with some of its parts exchanged."""
    sound = io.BytesIO(format_table(ExportTable("sheet", ("item", "memo"), [("a", "b")]), "xlsx"))
    with zipfile.ZipFile(sound) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            new.writestr(info.filename, replaced.get(info.filename, old.read(info)))
    return path


MAIN = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def noise(size: int) -> bytes:
    """Text that does not pack well, so that no ratio gives it away."""
    return random.Random(4).randbytes(size // 2).hex().encode()


def sheet_of(rows: Iterator[bytes]) -> bytes:
    return b"<worksheet " + MAIN + b"><sheetData>" + b"".join(rows) + b"</sheetData></worksheet>"


def test_an_oversized_workbook_cell_is_refused_with_its_address(tmp_path: Path) -> None:
    cell = b'<row r="1"><c r="A1" t="inlineStr"><is><t>' + noise(60 * MEGABYTE) + b"</t></is></c></row>"
    said, peak = read(workbook(tmp_path / "a.xlsx", {"xl/worksheets/sheet1.xml": sheet_of(iter([cell]))}))
    assert "has a cell in row 1" in said
    assert f"over {LONGEST_FIELD // MEGABYTE} MB" in said
    assert peak < MOST


def test_an_endless_xml_tag_is_refused(tmp_path: Path) -> None:
    sheet = b"<worksheet " + MAIN + b'><sheetData x="' + noise(60 * MEGABYTE) + b'"/></worksheet>'
    said, peak = read(workbook(tmp_path / "a.xlsx", {"xl/worksheets/sheet1.xml": sheet}))
    assert "not valid XML" in said
    assert peak < MOST


def test_a_long_text_repeated_in_very_many_cells_is_refused(tmp_path: Path) -> None:
    shared = b'<sst count="1" uniqueCount="1" ' + MAIN + b"><si><t>" + noise(32_000) + b"</t></si></sst>"
    rows = (b'<row r="%d"><c r="A%d" t="s"><v>0</v></c></row>' % (number, number) for number in range(1, 200_000))
    parts = {"xl/sharedStrings.xml": shared, "xl/worksheets/sheet1.xml": sheet_of(rows)}
    said, peak = read(workbook(tmp_path / "a.xlsx", parts))
    assert "characters of text" in said
    assert peak < MOST
