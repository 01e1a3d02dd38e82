"""A bad row rejects only itself, and an invalid file is refused in one sentence."""

from pathlib import Path

import pytest
from tests.support.loaded_tables import load, mapping, raw, refusal

from quaestor.base.errors import InputError
from quaestor.evidence.sources.tables import delimited as delimited_module
from quaestor.evidence.sources.tables.cells import LONGEST_FIELD
from quaestor.evidence.sources.tables.source import read_column_names

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
def test_a_value_that_does_not_fit_its_type_rejects_only_its_row(tmp_path: Path, kind: str, text: str) -> None:
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


def test_the_offset_of_a_reject_is_right_after_multi_line_fields(tmp_path: Path) -> None:
    content = 'id,n,text\r\n1,1,"é\r\n\r\né"\r\n2,x,"a\nb"\r\n3,3,c\r\n4,y,d'.encode()
    loaded = load(raw(tmp_path, content), columns={"n": {"type": "whole"}})
    assert [content[reject.offset :][:3] for reject in loaded.rejects] == [b"2,x", b"4,y"]
    assert loaded.rejects[0].excerpt == '2,x,"a\nb"\r\n'


def test_a_long_value_is_shortened_in_the_reason(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, f"id,n\n1,{'9' * 100_000}\n"), columns={"n": {"type": "whole"}})
    assert len(loaded.reasons[0]) < 200
    assert len(loaded.rejects[0].excerpt) == 2_000


def test_a_missing_value_in_a_required_column_rejects_its_row(tmp_path: Path) -> None:
    path = raw(tmp_path, "id,a\n1,NA\n2,x\n")
    loaded = load(path, columns={"a": {"required": True, "empty": ["", "NA"]}})
    assert loaded.column("a") == ["x"]
    assert "column a is required, but the row has 'NA'" in loaded.reasons[0]


def test_a_wrong_number_of_fields_rejects_the_row(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, "id,a\n1\n2,x,y\n3,z\n"))
    assert loaded.column("item") == ["row/3"]
    assert "the row has 1 fields, the header has 2" in loaded.reasons[0]
    assert "the row has 3 fields, the header has 2" in loaded.reasons[1]


def test_undecodable_bytes_reject_only_their_row(tmp_path: Path) -> None:
    content = b'id,a\n1,ok\n2,"x\ncaf\xe9"\n3,ok\n'
    loaded = load(raw(tmp_path, content))
    assert loaded.column("item") == ["row/1", "row/3"]
    assert loaded.rejects[0].offset == content.index(b"2,")
    assert f"not utf-8: found bytes e9 22 0a at byte {content.index(0xE9)} of the file" in loaded.reasons[0]


def test_a_nul_rejects_only_its_row(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, 'id,a\n1,ok\n2,"é\nx\0y"\n3,ok\n'))
    assert loaded.column("item") == ["row/1", "row/3"]
    assert "has a NUL at byte 7 of the row" in loaded.reasons[0]


def test_a_half_character_at_the_end_of_utf_16_rejects_the_last_row(tmp_path: Path) -> None:
    path = raw(tmp_path, "id,a\n1,x\n2,y\n".encode("utf-16") + b"3")
    loaded = load(path, encoding="utf-16")
    assert loaded.column("item") == ["row/1", "row/2"]
    assert "not utf-16-le" in loaded.reasons[0]


def test_a_field_over_4_mb_rejects_only_its_row(tmp_path: Path) -> None:
    path = raw(tmp_path, f"id,a\n1,{'x' * LONGEST_FIELD}\n2,{'x' * (LONGEST_FIELD + 1)}\n3,z\n")
    loaded = load(path)
    assert loaded.column("item") == ["row/1", "row/3"]
    assert "a field is over 4 MB long" in loaded.reasons[0]


def test_a_line_over_the_row_limit_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_the_read_size_does_not_change_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, encoding: str
) -> None:
    monkeypatch.setattr(delimited_module, "_CHUNK", chunk)
    text = 'id,a\r\n1,"é\r\n""b"""\r\n2,ਊ\r\n3,x,y\r\n4,z'
    loaded = load(raw(tmp_path, text.encode(encoding)), columns={"a": {}}, encoding=encoding)
    assert loaded.column("a") == ['é\r\n"b"', "ਊ", "z"]
    assert loaded.rejects[0].offset == len(text[: text.index("3,")].encode(encoding))


# Broken quotes


def test_a_quote_that_is_never_closed_rejects_only_its_row(tmp_path: Path) -> None:
    content = "id,a\n1,x\n" + '2,"open\n' + "".join(f"{number},y\n" for number in range(3, 50))
    loaded = load(raw(tmp_path, content))
    assert len(loaded.rows) == 48
    assert loaded.column("row_number")[-1] == 50
    assert loaded.rejects[0].offset == content.index("2,")
    assert "a quote is opened and never closed before the file ends" in loaded.reasons[0]
    assert loaded.rejects[0].excerpt == '2,"open\n'


def test_a_quote_closed_by_a_quote_in_a_later_row_rejects_only_its_row(tmp_path: Path) -> None:
    content = 'id,a\n1,"open\n2,y\n3,"fine, really"\n4,"two\nlines"\n5,z\n'
    loaded = load(raw(tmp_path, content), columns={"a": {}})
    assert loaded.column("a") == ["y", "fine, really", "two\nlines", "z"]
    assert "a quote opened here ends 2 lines later in the middle of a field" in loaded.reasons[0]


def test_unescaped_quotes_in_a_quoted_field_reject_the_row(tmp_path: Path) -> None:
    loaded = load(raw(tmp_path, 'id,a\n1,"she said "hi" to me"\n2,x\n'))
    assert loaded.column("item") == ["row/2"]
    assert "quotes inside a quoted field must be doubled" in loaded.reasons[0]


def test_the_rest_of_a_broken_row_is_not_read_as_a_row(tmp_path: Path) -> None:
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


def test_an_item_setting_with_an_unknown_column_is_refused(tmp_path: Path) -> None:
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
        ("t.xlsx", b"id,a\n1,x\n", "is not a valid XLSX workbook"),
        ("t.xlsx", b"\xd0\xcf\x11\xe0rest", "is not a valid XLSX workbook"),
        ("t.ods", b"id", "is not a .csv, .tsv, .txt or .xlsx file"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    assert words in refusal(raw(tmp_path, content, name))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "there is no file" in refusal(tmp_path / "none.csv")
    with pytest.raises(InputError, match="there is no file"):
        read_column_names(tmp_path / "none.csv", mapping(tmp_path / "none.csv"))


def test_a_header_row_after_the_last_row_is_refused(tmp_path: Path) -> None:
    assert "has 2 rows, none of them row 5" in refusal(raw(tmp_path, "id\n1\n"), header_row=5)
    assert "has an empty row 2 for its header" in refusal(raw(tmp_path, "id\n\n1\n"), header_row=2)
