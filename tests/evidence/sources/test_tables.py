"""Table cells are read with the types of the study file."""

import csv
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.support.loaded_tables import ListSink, load, mapping, raw, workbook
from tests.support.paths import SHARED

from quaestor.base.errors import InputError
from quaestor.evidence.sources.protocol import TableCounts
from quaestor.evidence.sources.tables import source as source_module
from quaestor.evidence.sources.tables.settings import TableColumnSettings, TableSettings
from quaestor.evidence.sources.tables.source import ingest_table, read_column_names

REAL = SHARED / "data" / "dl-posts" / "open.csv"


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


def test_each_column_defines_its_missing_values(tmp_path: Path) -> None:
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
def test_all_line_endings_and_encodings_are_read(tmp_path: Path, ending: str, encoding: str, last: str) -> None:
    lines = ["id,text", "1,é", '2,"a', 'b"', "3,x"]
    content = ending.join(lines) + (ending if last else "")
    loaded = load(raw(tmp_path, content.encode(encoding)), columns={"text": {}}, encoding=encoding)
    assert loaded.column("text") == ["é", f"a{ending}b", "x"]


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, b"\xef\xbb\xbfid,n\n1,x\n"), columns={"id": {"type": "whole"}, "n": {"type": "whole"}})
    assert (loaded.rows, loaded.rejects[0].offset) == ([], 8)


def test_a_line_feed_byte_across_two_utf_16_characters_does_not_end_a_line(tmp_path: Path) -> None:
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
def test_the_header_can_be_in_a_later_row_and_be_followed_by_comments(tmp_path: Path, make: str) -> None:
    rows = [["Export of today"], ["", ""], ["id", "q1"], ["", "What do you use?"], ["1", "ONNX"]]
    if make == "csv":
        path = raw(tmp_path, "Export of today\n,\nid,q1\n,What do you use?\n1,ONNX\n")
    else:
        path = workbook(tmp_path, rows)
    loaded = load(path, columns={"q1": {}}, header_row=3, skip_rows=1)
    assert [(row["item"], row["q1"], row["row_number"]) for row in loaded.rows] == [("row/1", "ONNX", 5)]
    assert loaded.rejects == []


def test_unnamed_and_duplicate_columns_get_distinct_names(tmp_path: Path) -> None:
    path = raw(tmp_path, "id, other ,,other,other (1)\n1,a,b,c,d\n")
    assert read_column_names(path, mapping(path)) == ("id", "other (2)", "column 3", "other (3)", "other (1)")
    assert load(path).rows[0]["other"] == [
        ("id", "1"), ("other (2)", "a"), ("column 3", "b"), ("other (3)", "c"), ("other (1)", "d"),
    ]  # fmt: skip


def test_blank_rows_are_skipped_and_counted(tmp_path: Path) -> None:
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


def test_a_duplicate_item_is_rejected(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, "id,n\n1,x\n1,5\n1,6\n2,7\n"), columns={"n": {"type": "whole"}})
    assert loaded.column("n") == [5, 7]
    assert "row 3 already has the item 'row/1'" in loaded.reasons[1]


def test_a_row_without_the_column_that_names_it_is_rejected(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, "id,n\n,5\n2,7\n"))
    assert loaded.column("item") == ["row/2"]
    assert loaded.reasons == ["row 2 (the offset is in bytes): column id is empty, but the item's id contains it"]


# Batches


@pytest.mark.parametrize(("rows", "characters", "sizes"), [(4, 10**9, [4, 4, 2]), (10**9, 45, [4, 4, 2])])
def test_batches_have_limited_rows_and_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, characters: int, sizes: list[int]
) -> None:
    monkeypatch.setattr(source_module, "BATCH_ROWS", rows)
    monkeypatch.setattr(source_module, "BATCH_CHARACTERS", characters)
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
        ({"item": "{id}/{"}, "an unmatched brace"),
        ({"encoding": "utf-9"}, "not a text encoding"),
        ({"encoding": "rot13"}, "not a text encoding"),
        ({"delimiter": "ab"}, "give one character"),
        ({"header_row": 0}, "header_row"),
        ({"skiprows": 1}, "skiprows"),
        ({"columns": {"Created At": {}}}, "use a-z, 0-9 and _"),
        ({"columns": {"item": {}}}, "choose another name"),
        ({"columns": {"a": {"type": "date"}}}, "'whole'"),
        ({"columns": {"a": {"type": "time", "format": "%Q"}}}, "not a time format"),
        ({"columns": {"a": {"separator": ";"}}}, 'separator is for type "list"'),
        ({"columns": {"a": {"type": "list", "separator": ""}}}, "separator"),
        ({"columns": {"a": {"form": "x"}}}, "form"),
        ({"columns": {"id": {"type": "list"}}}, "which is a list"),
    ],
)
def test_invalid_settings_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words.replace("{", r"\{")):
        TableSettings.model_validate({"path": "a.csv", "item": "{id}", **wrong})


def test_settings_round_trip_to_plain_configuration() -> None:
    plain = {"path": "a.csv", "item": "{id}", "columns": {"id": {"from": "No", "type": "whole"}}}
    model = TableSettings.model_validate(plain)
    assert TableSettings.model_validate(model.model_dump(by_alias=True, exclude_unset=True)) == model
    assert model.columns["id"] == TableColumnSettings(from_column="No", type="whole")


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
def test_any_file_is_loaded_or_refused(tmp_path: Path, content: bytes) -> None:
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
def test_the_labelled_posts_are_loaded_completely(tmp_path: Path) -> None:
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
