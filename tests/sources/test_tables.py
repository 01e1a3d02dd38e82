"""A table gives back what its cells say at the types a study asks for, and says why it leaves out a row."""

import csv
import os
import struct
import zipfile
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import xlsxwriter  # type: ignore[import-untyped]
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from quaestor.base.errors import InputError
from quaestor.sources.records import Reject, TableCounts
from quaestor.sources.tables import ColumnSettings, TableSettings, columns_of, ingest_table
from quaestor.sources.tables import delimited as delimited_module
from quaestor.sources.tables import ingest as ingest_module
from quaestor.sources.tables import workbook as workbook_module
from quaestor.sources.tables.cells import LONGEST_FIELD

REAL = Path(__file__).parents[2] / ".." / "shared" / "data" / "dl-posts" / "open.csv"


class ListWriter:
    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.batches: list[pa.RecordBatch] = []
        self.rejects: list[Reject] = []
        self.closed = False

    def write(self, batch: pa.RecordBatch) -> None:
        batch.validate(full=True)
        assert batch.schema == self.schema
        self.batches.append(batch)

    def reject(self, reject: Reject) -> None:
        self.rejects.append(reject)

    def close(self) -> None:
        self.closed = True


class ListSink:
    """Keeps everything in memory."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self.writers: dict[tuple[str, str], ListWriter] = {}

    @property
    def scratch(self) -> Path:
        return self._scratch

    def open(self, table: str, lane: str, schema: pa.Schema) -> ListWriter:
        return self.writers.setdefault((table, lane), ListWriter(schema))


class Loaded:
    """What came of one file."""

    def __init__(self, counts: TableCounts, writer: ListWriter) -> None:
        self.counts = counts
        self.schema = writer.schema
        self.batches = writer.batches
        self.rejects = writer.rejects
        self.rows: list[dict[str, Any]] = [row for batch in writer.batches for row in batch.to_pylist()]

    def column(self, name: str) -> list[Any]:
        return [row[name] for row in self.rows]

    @property
    def reasons(self) -> list[str]:
        return [reject.reason for reject in self.rejects]


def mapping(path: Path, item: str = "row/{id}", columns: dict[str, Any] | None = None, **more: Any) -> TableSettings:
    return TableSettings.model_validate({"path": path.name, "item": item, "columns": columns or {}, **more})


def load(path: Path, item: str = "row/{id}", columns: dict[str, Any] | None = None, **more: Any) -> Loaded:
    sink = ListSink(path.parent)
    before = csv.field_size_limit()
    counts = ingest_table(path, mapping(path, item, columns, **more), sink, lambda what, done, total: None)
    writer = sink.writers["items", "00"]
    assert writer.closed
    assert csv.field_size_limit() == before, "a limit of the whole process was left changed"
    assert {entry.name for entry in path.parent.iterdir()} == {path.name}, "notes were left behind"
    loaded = Loaded(counts, writer)
    assert (counts.rows, counts.rejected) == (len(loaded.rows), len(loaded.rejects))
    assert counts.read == counts.rows + counts.rejected
    return loaded


def raw(folder: Path, content: bytes | str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def workbook(folder: Path, rows: Iterable[Sequence[Any]], sheet: str = "Sheet1", name: str = "table.xlsx") -> Path:
    with xlsxwriter.Workbook(folder / name) as book:
        page = book.add_worksheet(sheet)
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"})
        span = book.add_format({"num_format": "[hh]:mm:ss"})
        for number, row in enumerate(rows):
            for place, cell in enumerate(row):
                if isinstance(cell, str):
                    page.write_string(number, place, cell)
                elif isinstance(cell, datetime | timedelta):
                    page.write_datetime(number, place, cell, span if isinstance(cell, timedelta) else moment)
                elif cell is not None:
                    page.write(number, place, cell)
    return folder / name


def altered(path: Path, part: str, change: Callable[[bytes], bytes]) -> Path:
    """The workbook with one of its parts changed."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    assert change(contents[part]) != contents[part], "the change changes nothing"
    contents[part] = change(contents[part])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def refusal(path: Path, **more: Any) -> str:
    with pytest.raises(InputError) as refused:
        load(path, **more)
    message = str(refused.value)
    assert "\n" not in message
    assert str(path) in message
    return message


# Types


def test_every_type_is_read_from_text(tmp_path: Path) -> None:
    path = raw(
        tmp_path,
        "id,title,score,share,created,solved,tags,left\n"
        '1,"How, exactly?",-3,2.5e3,2016-05-24T10:52:40.577,yes,"<a>, <b-c>",x\n'
        "2,Ünïcödé 📦,4.0,.5,2016-05-24,FALSE,,\n"
        "3,,,,,,,\n",
    )
    columns = {
        "id": {"type": "whole"},
        "title": {},
        "score": {"type": "whole"},
        "share": {"type": "number"},
        "created": {"type": "time"},
        "solved": {"type": "flag"},
        "tags": {"type": "list", "separator": ", ", "strip": "<>"},
    }
    loaded = load(path, columns=columns)
    assert loaded.rows == [
        {
            "item": "row/1", "id": 1, "title": "How, exactly?", "score": -3, "share": 2500.0,
            "created": datetime(2016, 5, 24, 10, 52, 40, 577000), "solved": True, "tags": ["a", "b-c"],
            "row_number": 2, "other": [("left", "x")],
        },
        {
            "item": "row/2", "id": 2, "title": "Ünïcödé 📦", "score": 4, "share": 0.5,
            "created": datetime(2016, 5, 24), "solved": False, "tags": None, "row_number": 3, "other": None,
        },
        {
            "item": "row/3", "id": 3, "title": None, "score": None, "share": None, "created": None,
            "solved": None, "tags": None, "row_number": 4, "other": None,
        },
    ]  # fmt: skip
    assert loaded.counts == TableCounts(rows=3, rejected=0, read=3, unknown={"left": 1})
    assert loaded.schema == pa.schema(
        [
            pa.field("item", pa.string(), nullable=False),
            pa.field("id", pa.int64()),
            pa.field("title", pa.string()),
            pa.field("score", pa.int64()),
            pa.field("share", pa.float64()),
            pa.field("created", pa.timestamp("ms")),
            pa.field("solved", pa.bool_()),
            pa.field("tags", pa.list_(pa.string())),
            pa.field("row_number", pa.int64(), nullable=False),
            pa.field("other", pa.map_(pa.string(), pa.string())),
        ]
    )


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("24.12.2015 15:10", "%d.%m.%Y %H:%M", datetime(2015, 12, 24, 15, 10)),
        ("12/24/2015", "%m/%d/%Y", datetime(2015, 12, 24)),
        ("2015-12-24T15:10:54.183999", None, datetime(2015, 12, 24, 15, 10, 54, 183000)),
        ("2015-12-24 15:10:54Z", None, datetime(2015, 12, 24, 15, 10, 54)),
        ("2015-12-24T15:10:54+02:00", None, datetime(2015, 12, 24, 13, 10, 54)),
        ("24 Dec 2015 15:10:54 -0130", "%d %b %Y %H:%M:%S %z", datetime(2015, 12, 24, 16, 40, 54)),
        (" 2015-12-24 ", None, datetime(2015, 12, 24)),
    ],
)
def test_times_are_read_by_their_format_and_kept_in_utc(
    tmp_path: Path, text: str, form: str | None, expected: datetime
) -> None:
    column = {"type": "time", **({"format": form} if form else {})}
    assert load(raw(tmp_path, f"id,t\n1,{text}\n"), columns={"t": column}).column("t") == [expected]


def test_lists_are_split_and_their_entries_stripped(tmp_path: Path) -> None:
    path = raw(tmp_path, "id,a,b\n1,x; y ;;z,|p|q|\n")
    columns = {"a": {"type": "list", "separator": ";"}, "b": {"type": "list", "separator": "|", "strip": ""}}
    assert load(path, columns=columns).rows[0] | {"item": "", "row_number": 0} == {
        "item": "", "a": ["x", "y", "z"], "b": ["p", "q"], "row_number": 0, "other": [("id", "1")],
    }  # fmt: skip


def test_what_counts_as_missing_is_the_column_s_own(tmp_path: Path) -> None:
    path = raw(tmp_path, "id,a,b,c\n1,NA,NA, -99\n2,,,5\n")
    columns = {"a": {"empty": ["", "NA"]}, "b": {"empty": ["NA"]}, "c": {"type": "whole", "empty": ["-99"]}}
    loaded = load(path, columns=columns)
    assert (loaded.column("a"), loaded.column("b"), loaded.column("c")) == (
        [None, None],
        [None, ""],
        [None, 5],
    )


# How files are written


def test_quoted_fields_hold_delimiters_quotes_and_line_breaks(tmp_path: Path) -> None:
    path = raw(tmp_path, 'id,text\r\n1,"a, ""b""\r\nc\nd"\r\n2,5" disk\r\n')
    loaded = load(path, columns={"text": {}})
    assert loaded.column("text") == ['a, "b"\r\nc\nd', '5" disk']
    assert loaded.column("row_number") == [2, 3]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1"])
@pytest.mark.parametrize("last", ["", "end"])
def test_line_ends_and_encodings(tmp_path: Path, ending: str, encoding: str, last: str) -> None:
    lines = ["id,text", "1,é", '2,"a', 'b"', "3,x"]
    content = ending.join(lines) + (ending if last else "")
    loaded = load(raw(tmp_path, content.encode(encoding)), columns={"text": {}}, encoding=encoding)
    assert loaded.column("text") == ["é", f"a{ending}b", "x"]


def test_a_byte_order_mark_is_accepted_without_a_word(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, b"\xef\xbb\xbfid,n\n1,x\n"), columns={"id": {"type": "whole"}, "n": {"type": "whole"}})
    assert (loaded.rows, loaded.rejects[0].offset) == ([], 8)


def test_a_line_feed_across_two_utf_16_characters_ends_no_line(tmp_path: Path) -> None:
    text = "id,text\n1,ਊ\u0a00Ā\u0a0a\n2,\u0100\u0a0a\n"
    for encoding in ("utf-16-le", "utf-16-be"):
        path = raw(tmp_path, text.encode(encoding))
        assert load(path, columns={"text": {}}, encoding=encoding).column("text") == [
            "ਊ\u0a00Ā\u0a0a",
            "\u0100\u0a0a",
        ]


@pytest.mark.parametrize(
    ("name", "delimiter", "setting"),
    [
        ("t.tsv", "\t", None),
        ("t.txt", "\t", None),
        ("t.CSV", ",", None),
        ("t.csv", ";", ";"),
        ("t.tsv", "|", "|"),
    ],
)
def test_the_delimiter_follows_the_suffix_or_the_setting(
    tmp_path: Path, name: str, delimiter: str, setting: str | None
) -> None:
    path = raw(tmp_path, f"id{delimiter}text\n1{delimiter}a b\n", name)
    more = {"delimiter": setting} if setting else {}
    assert load(path, columns={"text": {}}, **more).column("text") == ["a b"]


@pytest.mark.parametrize("make", ["csv", "xlsx"])
def test_the_header_may_stand_lower_and_be_followed_by_texts(tmp_path: Path, make: str) -> None:
    rows = [["Export of today"], ["", ""], ["id", "q1"], ["", "What do you use?"], ["1", "ONNX"]]
    if make == "csv":
        path = raw(tmp_path, "Export of today\n,\nid,q1\n,What do you use?\n1,ONNX\n")
    else:
        path = workbook(tmp_path, rows)
    loaded = load(path, columns={"q1": {}}, header_row=3, skip_rows=1)
    assert [(row["item"], row["q1"], row["row_number"]) for row in loaded.rows] == [("row/1", "ONNX", 5)]
    assert loaded.rejects == []


def test_columns_without_a_name_or_with_the_same_one_stay_apart(tmp_path: Path) -> None:
    path = raw(tmp_path, "id, other ,,other,other (1)\n1,a,b,c,d\n")
    assert columns_of(path, mapping(path)) == ("id", "other (2)", "column 3", "other (3)", "other (1)")
    assert load(path).rows[0]["other"] == [
        ("id", "1"), ("other (2)", "a"), ("column 3", "b"), ("other (3)", "c"), ("other (1)", "d"),
    ]  # fmt: skip


def test_blank_rows_are_passed_over_and_counted(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, "id,a\n\n1,x\n,\n2,y\n\n"))
    assert (loaded.column("item"), loaded.column("row_number")) == (["row/1", "row/2"], [3, 5])
    assert loaded.counts.notable == {"blank rows": 3}


def test_a_header_alone_is_a_table_without_rows(tmp_path: Path) -> None:
    assert load(raw(tmp_path, "id,a")).counts == TableCounts()


# Items


def test_the_item_is_made_from_columns_of_the_mapping_and_of_the_file(tmp_path: Path) -> None:
    path = raw(tmp_path, "No,site\n 7.0,so\n")
    loaded = load(path, item="{site}/{number}!", columns={"number": {"from": "No", "type": "whole"}})
    assert loaded.column("item") == ["so/7!"]


def test_an_item_that_was_there_before_is_rejected(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, "id,n\n1,x\n1,5\n1,6\n2,7\n"), columns={"n": {"type": "whole"}})
    assert loaded.column("n") == [5, 7]
    assert "'row/1' was given by row 3 already" in loaded.reasons[1]


def test_a_row_without_the_column_that_names_it_is_rejected(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, "id,n\n,5\n2,7\n"))
    assert loaded.column("item") == ["row/2"]
    assert loaded.reasons == ["row 2 (the offset is in bytes): column id is missing, and the item is named by it"]


# Bad rows


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("whole", "4.5"), ("whole", "1e3"), ("whole", "9223372036854775808"), ("whole", "٣"),
        ("whole", "1_000"), ("number", "1,5"), ("number", "nan"), ("number", "1e999"), ("number", "0x1F"),
        ("number", "1_0"),
        ("time", "2016-13-01"), ("time", "20160101"), ("time", "10:52"),
        ("time", "0001-01-01T00:00:00+14:00"),
        ("flag", "maybe"), ("flag", "2"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_its_type_rejects_its_row_alone(tmp_path: Path, kind: str, text: str) -> None:
    path = raw(tmp_path, f'id,v\n1,\n2,"{text}"\n3,\n')
    loaded = load(path, columns={"value": {"from": "v", "type": kind}})
    assert loaded.column("item") == ["row/1", "row/3"]
    [reject] = loaded.rejects
    assert reject.offset == len("id,v\n1,\n")
    assert f"column value (from 'v') found {text!r}, expected " in reject.reason
    assert reject.excerpt == f'2,"{text}"\n'


def test_the_largest_whole_numbers_are_kept(tmp_path: Path) -> None:
    path = raw(tmp_path, "id\n9223372036854775807\n-9223372036854775808\n+5\n")
    assert load(path, columns={"id": {"type": "whole"}}).column("id") == [2**63 - 1, -(2**63), 5]


def test_the_offset_leads_to_the_row_behind_fields_of_several_lines(tmp_path: Path) -> None:
    content = 'id,n,text\r\n1,1,"é\r\n\r\né"\r\n2,x,"a\nb"\r\n3,3,c\r\n4,y,d'.encode()
    loaded = load(raw(tmp_path, content), columns={"n": {"type": "whole"}})
    assert [content[reject.offset :][:3] for reject in loaded.rejects] == [b"2,x", b"4,y"]
    assert loaded.rejects[0].excerpt == '2,x,"a\nb"\r\n'


def test_a_long_value_is_shown_short(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, f"id,n\n1,{'9' * 100_000}\n"), columns={"n": {"type": "whole"}})
    assert len(loaded.reasons[0]) < 200
    assert len(loaded.rejects[0].excerpt) == 2_000


def test_a_missing_value_in_a_required_column_rejects_its_row(tmp_path: Path) -> None:
    path = raw(tmp_path, "id,a\n1,NA\n2,x\n")
    loaded = load(path, columns={"a": {"required": True, "empty": ["", "NA"]}})
    assert loaded.column("a") == ["x"]
    assert "column a is required, and the row has 'NA'" in loaded.reasons[0]


def test_a_wrong_number_of_fields_rejects_the_row(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, "id,a\n1\n2,x,y\n3,z\n"))
    assert loaded.column("item") == ["row/3"]
    assert "the row has 1 fields, the header has 2" in loaded.reasons[0]
    assert "the row has 3 fields, the header has 2" in loaded.reasons[1]


def test_bytes_that_are_no_text_reject_their_row_alone(tmp_path: Path) -> None:
    content = b'id,a\n1,ok\n2,"x\ncaf\xe9"\n3,ok\n'
    loaded = load(raw(tmp_path, content))
    assert loaded.column("item") == ["row/1", "row/3"]
    assert loaded.rejects[0].offset == content.index(b"2,")
    assert f"not utf-8: found bytes e9 22 0a at byte {content.index(0xE9)} of the file" in loaded.reasons[0]


def test_a_nul_rejects_its_row_alone(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, 'id,a\n1,ok\n2,"é\nx\0y"\n3,ok\n'))
    assert loaded.column("item") == ["row/1", "row/3"]
    assert "holds a NUL at byte 7 of the row" in loaded.reasons[0]


def test_a_half_character_at_the_end_of_utf_16_rejects_the_last_row(tmp_path: Path) -> None:
    path = raw(tmp_path, "id,a\n1,x\n2,y\n".encode("utf-16") + b"3")
    loaded = load(path, encoding="utf-16")
    assert loaded.column("item") == ["row/1", "row/2"]
    assert "not utf-16-le" in loaded.reasons[0]


def test_a_field_over_16_mb_rejects_its_row_alone(tmp_path: Path) -> None:
    path = raw(tmp_path, f"id,a\n1,{'x' * LONGEST_FIELD}\n2,{'x' * (LONGEST_FIELD + 1)}\n3,z\n")
    loaded = load(path)
    assert loaded.column("item") == ["row/1", "row/3"]
    assert "a field is over 16 MB long" in loaded.reasons[0]


def test_a_line_longer_than_any_row_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited_module, "LONGEST_ROW", 100)
    monkeypatch.setattr(delimited_module, "_CHUNK", 64)
    content = f'id,a\n1,x\n2,"{"y" * 1000}\n3,z\n4,{"y" * 1000}'
    loaded = load(raw(tmp_path, content))
    assert loaded.column("item") == ["row/1", "row/3"]
    assert [reject.offset for reject in loaded.rejects] == [content.index("2,"), content.index("4,")]
    assert "MB long" in loaded.reasons[0]
    assert loaded.rejects[0].excerpt.startswith('2,"yyy')


@pytest.mark.parametrize("chunk", [4, 8, 64])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-32-be"])
def test_the_size_of_a_read_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, encoding: str
) -> None:
    monkeypatch.setattr(delimited_module, "_CHUNK", chunk)
    text = 'id,a\r\n1,"é\r\n""b"""\r\n2,ਊ\r\n3,x,y\r\n4,z'
    loaded = load(raw(tmp_path, text.encode(encoding)), columns={"a": {}}, encoding=encoding)
    assert loaded.column("a") == ['é\r\n"b"', "ਊ", "z"]
    assert loaded.rejects[0].offset == len(text[: text.index("3,")].encode(encoding))


# Broken quotes


def test_a_quote_that_is_never_closed_costs_only_its_own_row(tmp_path: Path) -> None:
    content = "id,a\n1,x\n" + '2,"open\n' + "".join(f"{number},y\n" for number in range(3, 50))
    loaded = load(raw(tmp_path, content))
    assert len(loaded.rows) == 48
    assert loaded.column("row_number")[-1] == 50
    assert loaded.rejects[0].offset == content.index("2,")
    assert "a quote is opened and never closed before the file ends" in loaded.reasons[0]
    assert loaded.rejects[0].excerpt == '2,"open\n'


def test_a_quote_closed_by_a_later_row_s_quote_costs_only_its_own_row(tmp_path: Path) -> None:
    content = 'id,a\n1,"open\n2,y\n3,"fine, really"\n4,"two\nlines"\n5,z\n'
    loaded = load(raw(tmp_path, content), columns={"a": {}})
    assert loaded.column("a") == ["y", "fine, really", "two\nlines", "z"]
    assert "a quote that is opened here ends 2 lines later in the middle of a field" in loaded.reasons[0]


def test_quotes_that_are_not_doubled_are_not_guessed_at(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, 'id,a\n1,"she said "hi" to me"\n2,x\n'))
    assert loaded.column("item") == ["row/2"]
    assert "quotes inside a quoted field must be doubled" in loaded.reasons[0]


def test_the_rest_of_a_broken_row_is_not_taken_for_a_row(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, 'id,a\n1,"she said "hi"\nand, she went"\n2,"x"\n3,5" disk\n'))
    assert loaded.column("item") == ["row/2", "row/3"]
    assert "may be the rest of row 2, whose quotes are broken" in loaded.reasons[1]


def test_a_file_full_of_broken_quotes_is_read_in_bounded_time(tmp_path: Path) -> None:
    """Each of these lines leaves a quote open whether it begins a row or goes on with one."""
    lines = 4_000
    loaded = load(raw(tmp_path, "id,a\n" + 'a",",\n' * lines))
    assert not loaded.rows
    assert 0 < len(loaded.rejects) < lines


# Files that are not what they say


def test_a_missing_column_lists_the_columns_nearest_first(tmp_path: Path) -> None:
    path = raw(tmp_path, "id,label,Question_Created,title\n1,a,b,c\n")
    message = refusal(path, columns={"created": {"from": "question_create"}})
    assert "no column 'question_create', its columns are (the nearest name first) 'Question_Created', " in message
    assert "correct `from` of column created in the study file" in message


def test_a_wrong_delimiter_is_suggested(tmp_path: Path) -> None:
    message = refusal(raw(tmp_path, "id;label\n1;a\n"), columns={"label": {}})
    assert "'id;label'" in message
    assert "`delimiter`" in message


def test_an_item_of_an_unknown_column_is_refused(tmp_path: Path) -> None:
    assert "correct `item` in the study file" in refusal(raw(tmp_path, "ID,a\n1,x\n"))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"\r\n\r\n", "is empty"),
        ("t.csv", b"\xef\xbb\xbf", "is empty"),
        ("t.xlsx", b"", "is empty"),
        ("t.csv", b"PK\x03\x04rest", "a zip archive or a workbook"),
        ("t.csv", b"\xd0\xcf\x11\xe0rest", "an old Excel file"),
        ("t.csv", bytes(range(256)) * 20, "is binary"),
        ("t.csv", "id,a\n1,x\n".encode("utf-16"), 'set encoding = "utf-16"'),
        ("t.csv", "id,a\n1,text enough\n".encode("utf-16-le"), "such as utf-16"),
        ("t.csv", b"id,caf\xe9\n1,x\n", "no readable header in row 1 (not utf-8"),
        ("t.csv", b'id,"a\n1,x\n', "no readable header in row 1 (a quote is opened"),
        ("t.xlsx", b"id,a\n1,x\n", "is not a sound XLSX workbook"),
        ("t.xlsx", b"\xd0\xcf\x11\xe0rest", "is not a sound XLSX workbook"),
        ("t.ods", b"id", "is none of .csv, .tsv, .txt and .xlsx"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    assert words in refusal(raw(tmp_path, content, name))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "there is no file" in refusal(tmp_path / "none.csv")
    with pytest.raises(InputError, match="there is no file"):
        columns_of(tmp_path / "none.csv", mapping(tmp_path / "none.csv"))


def test_a_header_row_beyond_the_table_is_refused(tmp_path: Path) -> None:
    assert "has 2 rows, none of them row 5" in refusal(raw(tmp_path, "id\n1\n"), header_row=5)
    assert "has an empty row 2 for its header" in refusal(raw(tmp_path, "id\n\n1\n"), header_row=2)


# Workbooks


def test_cells_of_a_workbook_come_at_their_types(tmp_path: Path) -> None:
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


def test_a_failed_formula_in_a_column_nobody_mapped_is_kept_as_it_shows(tmp_path: Path) -> None:
    loaded = load(with_formulas(tmp_path), header_row=2)
    assert ("a", "#REF!") in loaded.rows[4]["other"]


def test_the_sheet_is_the_first_or_the_one_named(tmp_path: Path) -> None:
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


def test_cells_spread_too_far_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
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
def test_a_lone_cell_far_away_or_beyond_a_sheet_is_refused(tmp_path: Path, place: bytes, words: str) -> None:
    path = altered(workbook(tmp_path, [["id"]]), SHEET, lambda part: part.replace(b'r="A1"', b'r="%s"' % place))
    assert words in refusal(path)


def test_a_count_of_strings_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path, [["id"], ["1"]])
    altered(
        path,
        "xl/sharedStrings.xml",
        lambda part: part.replace(b'uniqueCount="2"', b'uniqueCount="4294967295"'),
    )
    assert "it says it has 4294967295 entries" in refusal(path)


def test_a_formatted_cell_far_away_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "table.xlsx"
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet()
        page.write_column(0, 0, ["id", "1"])
        page.write_blank(1_048_575, 16_383, None, book.add_format({"bold": True}))
    assert load(path).column("item") == ["row/1"]


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path, [["id"], ["1"]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image1.png", bytes(20_000_000))
    assert "times its size when unpacked, over 200" in refusal(path)
    monkeypatch.setattr(workbook_module, "MOST_BYTES", 1_000_000)
    assert "bytes when unpacked, over 1,000,000" in refusal(path)
    monkeypatch.setattr(workbook_module, "MOST_PARTS", 3)
    assert "parts, over 3" in refusal(path)


def test_a_part_that_is_larger_than_it_declares_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path, [["id"], ["1"]])
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(SHEET)
    content = path.read_bytes()
    sizes = struct.pack("<II", info.compress_size, info.file_size)
    assert content.count(sizes) >= 1
    path.write_bytes(content.replace(sizes, struct.pack("<II", info.compress_size, 40)))
    assert "is not a sound XLSX workbook" in refusal(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda part: part[:-40],
        lambda part: part.replace(b"UTF-8", b"UTF-9", 1),
        lambda part: part.replace(b"<worksheet", b'<!DOCTYPE a [<!ENTITY b "c">]><worksheet', 1),
    ],
)
def test_xml_that_is_broken_or_declares_entities_is_refused(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    assert "no sound XML" in refusal(altered(workbook(tmp_path, [["id"], ["1"]]), SHEET, change))


def test_a_zip_that_is_no_workbook_is_refused(tmp_path: Path) -> None:
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
    assert "is not a sound XLSX workbook" in refusal(path)


# Batches


@pytest.mark.parametrize(("rows", "characters", "sizes"), [(4, 10**9, [4, 4, 2]), (10**9, 45, [4, 4, 2])])
def test_batches_are_bounded_in_rows_and_in_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, characters: int, sizes: list[int]
) -> None:
    monkeypatch.setattr(ingest_module, "BATCH_ROWS", rows)
    monkeypatch.setattr(ingest_module, "BATCH_CHARACTERS", characters)
    path = raw(tmp_path, "id,a\n" + "".join(f"{number},{'x' * 11}\n" for number in range(10)))
    told: list[tuple[str, int, int]] = []
    sink = ListSink(tmp_path)
    ingest_table(path, mapping(path), sink, lambda *news: told.append(news))
    assert [batch.num_rows for batch in sink.writers["items", "00"].batches] == sizes
    size = path.stat().st_size
    assert told == [
        ("table.csv", 5 + 14 * 4, size),
        ("table.csv", 5 + 14 * 8, size),
        ("table.csv", size, size),
    ]


# Settings


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"item": "same"}, "name a column"),
        ({"item": "a/{}"}, "name a column"),
        ({"item": "{id}/{"}, "a brace without its partner"),
        ({"encoding": "utf-9"}, "no text encoding"),
        ({"encoding": "rot13"}, "no text encoding"),
        ({"delimiter": "ab"}, "give one character"),
        ({"header_row": 0}, "header_row"),
        ({"skiprows": 1}, "skiprows"),
        ({"columns": {"Created At": {}}}, "use a-z, 0-9 and _"),
        ({"columns": {"item": {}}}, "choose another name"),
        ({"columns": {"a": {"type": "date"}}}, "'whole'"),
        ({"columns": {"a": {"type": "time", "format": "%Q"}}}, "no format of times"),
        ({"columns": {"a": {"separator": ";"}}}, 'separator is for type "list"'),
        ({"columns": {"a": {"type": "list", "separator": ""}}}, "separator"),
        ({"columns": {"a": {"form": "x"}}}, "form"),
        ({"columns": {"id": {"type": "list"}}}, "which is a list"),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words.replace("{", r"\{")):
        TableSettings.model_validate({"path": "a.csv", "item": "{id}", **wrong})


def test_settings_round_trip_to_plain_configuration() -> None:
    plain = {"path": "a.csv", "item": "{id}", "columns": {"id": {"from": "No", "type": "whole"}}}
    model = TableSettings.model_validate(plain)
    assert TableSettings.model_validate(model.model_dump(by_alias=True, exclude_unset=True)) == model
    assert model.columns["id"] == ColumnSettings(from_column="No", type="whole")


# Round trips

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
ENTRY = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="|"), min_size=1, max_size=10)
WHOLE = st.integers(-(2**53), 2**53)
ROWS = st.lists(st.tuples(TEXT, st.none() | WHOLE, st.lists(ENTRY, max_size=4)), max_size=12)
COLUMNS = {
    "text": {},
    "whole": {"type": "whole"},
    "list": {"type": "list", "separator": "|", "strip": ""},
}
DIALECTS = (  # with other line ends the csv module leaves a carriage return without quotes
    {"lineterminator": "\r\n", "quoting": csv.QUOTE_MINIMAL},
    {"lineterminator": "\n", "quoting": csv.QUOTE_ALL},
)
thorough = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def check_round_trip(path: Path, rows: list[tuple[str, int | None, list[str]]], **more: Any) -> None:
    loaded = load(path, columns=COLUMNS, **more)
    assert loaded.rejects == []
    found = [(row["text"], row["whole"], row["list"]) for row in loaded.rows]
    assert found == [(text or None, whole, entries or None) for text, whole, entries in rows]
    assert loaded.column("row_number") == [*range(2, len(rows) + 2)]


@thorough
@given(
    rows=ROWS,
    dialect=st.sampled_from(DIALECTS),
    delimiter=st.sampled_from(",\t;"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
@example(
    rows=[('"', 1, ["\r"]), ('\r\n"a",\n', None, []), ("\x85\u2028\ufeff", 0, ["'"])],
    dialect=DIALECTS[0],
    delimiter=",",
    encoding="utf-16",
)
def test_what_a_csv_writer_writes_is_read_back(
    tmp_path: Path,
    rows: list[tuple[str, int | None, list[str]]],
    dialect: dict[str, Any],
    delimiter: str,
    encoding: str,
) -> None:
    path = tmp_path / "table.csv"
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, **dialect)
        writer.writerow(["id", "text", "whole", "list"])
        for number, (text, whole, entries) in enumerate(rows):
            writer.writerow([number, text, "" if whole is None else whole, "|".join(entries)])
    check_round_trip(path, rows, delimiter=delimiter, encoding=encoding)


@thorough
@given(rows=ROWS)
def test_what_a_workbook_writer_writes_is_read_back(
    tmp_path: Path, rows: list[tuple[str, int | None, list[str]]]
) -> None:
    table = [(f"#{number}", text, whole, "|".join(entries)) for number, (text, whole, entries) in enumerate(rows)]
    check_round_trip(workbook(tmp_path, [["id", "text", "whole", "list"], *table]), rows)


@thorough
@given(content=st.binary(max_size=300) | st.text('ab",\n\r\0é', max_size=60).map(str.encode))
@example(content=b'id,a\n"\n"\n",\n')
def test_no_file_stops_the_load_with_anything_but_a_refusal(tmp_path: Path, content: bytes) -> None:
    path = raw(tmp_path, b"id,a\n" + content)
    try:
        loaded = load(path)
    except InputError:
        return
    data = path.read_bytes()
    for reject in loaded.rejects:
        before = data[: reject.offset]
        assert before.endswith((b"\n", b"\r")), "the offset is not where a row begins"


# The posts of the published study


@pytest.mark.skipif(not REAL.exists(), reason="the labelled posts are not on this machine")
def test_the_labelled_posts_load_whole(tmp_path: Path) -> None:
    form = "%Y-%m-%dT%H:%M:%S.%f"
    columns = {
        "id": {"type": "whole", "required": True},
        "title": {"required": True},
        "tags": {"type": "list", "separator": ", ", "strip": "<>", "required": True},
        "views": {"from": "viewcount", "type": "whole", "required": True},
        "score": {"type": "whole", "required": True},
        "created": {"from": "question_created", "type": "time", "format": form, "required": True},
        "answered": {"from": "answer_created", "type": "time", "format": form, "required": True},
        "label": {"type": "list", "required": True},
    }
    sink = ListSink(tmp_path)
    counts = ingest_table(REAL, mapping(REAL, "stackoverflow/question/{id}", columns), sink)
    assert counts == TableCounts(rows=1_600, rejected=0, read=1_600)
    [batch] = sink.writers["items", "00"].batches
    with REAL.open(encoding="utf-8", newline="") as file:
        for row, expected in zip(batch.to_pylist(), csv.DictReader(file), strict=True):
            assert row["item"] == f"stackoverflow/question/{expected['id']}"
            assert ", ".join(f"<{tag}>" for tag in row["tags"]) == expected["tags"]
            assert row["created"].isoformat(timespec="milliseconds") == expected["question_created"]
            assert (row["title"], str(row["views"])) == (expected["title"], expected["viewcount"])
