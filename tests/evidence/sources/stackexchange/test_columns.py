"""The fast path and the careful path must give the same rows, and both the rows that XML means."""

from __future__ import annotations

from datetime import datetime
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.evidence.sources.protocol import Row
from quaestor.evidence.sources.stackexchange.columns import parse_chunk
from quaestor.evidence.sources.stackexchange.row_parser import BadRow, parse_row
from quaestor.evidence.sources.stackexchange.schema import BADGES, COMMENTS, OTHER, POSTS, TABLES, DumpTable

XML_TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\ufffe\uffff").filter(
        lambda character: ord(character) >= 32 or character in "\t\n\r"
    ),
    max_size=40,
)
TAG = st.from_regex(r"[a-z0-9+#.][a-z0-9+#.\-]{0,15}", fullmatch=True)
TIME = st.datetimes(datetime(2008, 7, 31), datetime(2026, 1, 1)).map(
    lambda moment: moment.isoformat(timespec="milliseconds")
)


def escaped(text: str, style: str) -> str:
    """An attribute's text as an exporter may write it."""
    entities = {"\n": "&#xA;", "\r": "&#xD;", "\t": "&#x9;"}
    if style == "decimal":
        entities = {key: f"&#{ord(key)};" for key in entities}
    quoted = quoteattr(text, entities)
    inner = quoted[1:-1]
    return inner.replace('"', "&quot;") if quoted[0] == "'" else inner


@st.composite
def post_attributes(draw: st.DrawFn) -> dict[str, str]:
    whole = st.integers(-(2**40), 2**40).map(str)
    tags = draw(st.lists(TAG, min_size=1, max_size=5))
    written = draw(st.sampled_from(["".join(f"<{tag}>" for tag in tags), "|" + "|".join(tags) + "|"]))
    possible = {
        "PostTypeId": st.sampled_from(["1", "2", "4"]), "Score": whole, "ViewCount": whole, "Body": XML_TEXT,
        "Title": XML_TEXT, "CreationDate": TIME, "ClosedDate": TIME, "OwnerDisplayName": XML_TEXT,
        "ContentLicense": st.just("CC BY-SA 4.0"), "Tags": st.just(written), "Unheard-of": XML_TEXT,
        "AcceptedAnswerId": whole,
    }  # fmt: skip
    chosen = draw(st.lists(st.sampled_from(sorted(possible)), unique=True))
    attributes = {"Id": str(draw(st.integers(1, 2**50)))}
    return attributes | {name: draw(possible[name]) for name in chosen}


def written(attributes: dict[str, str], style: str = "usual") -> bytes:
    inner = " ".join(f'{name}="{escaped(value, style)}"' for name, value in attributes.items())
    return f"<row {inner} />".encode()


@settings(max_examples=300, deadline=None)
@given(st.lists(post_attributes(), min_size=1, max_size=8), st.sampled_from(["usual", "decimal"]))
def test_the_fast_and_the_slow_path_equal_an_xml_parser(rows: list[dict[str, str]], style: str) -> None:
    raw = [written(row, style) for row in rows]
    for one, attributes in zip(raw, rows, strict=True):
        assert dict(ElementTree.fromstring(one).attrib) == attributes
    text = b"<posts>\n  " + b"\n  ".join(raw) + b"\n</posts>"
    parsed = parse_chunk(text, POSTS)
    assert parsed.rejects == []
    careful = [filled(parse_row(one, POSTS)) for one in raw]
    assert [comparable(row) for row in parsed.batch.to_pylist()] == [comparable(row) for row in careful]
    for row, attributes in zip(careful, rows, strict=True):
        assert row["body"] == attributes.get("Body")
        assert row["title"] == attributes.get("Title")


def filled(row: Row, table: DumpTable = POSTS) -> Row:
    return {name: row.get(name) for name in table.schema.names}


def comparable(row: Row) -> Row:
    return {**row, OTHER: sorted(row[OTHER] or [])}


BAD_ROWS = {
    "no Id": b'<row PostTypeId="1" />',
    "Id is not a whole number": b'<row Id="abc" />',
    "Score is not a whole number": b'<row Id="1" Score="0x1F" />',
    "CreationDate is not a time": b'<row Id="1" CreationDate="2015-13-41T00:00:00.000" />',
    "undefined entity": b'<row Id="1" Body="&lol;" />',
    "duplicate attribute": b'<row Id="1" Score="1" Score="2" />',
    "forbidden character 0x00": b'<row Id="1" Body="a\x00b" />',
    "forbidden character 0x0b": b'<row Id="1" Body="a\x0bb" />',
    "not UTF-8 at byte": b'<row Id="1" Body="caf\xe9" />',
    "not closed": b'<row Id="1" Body="abc',
    "reference to invalid character": b'<row Id="1" Body="&#0;" />',
    "not well-formed": b'<row Id="1" Body=abc />',
    "not closed ": b'<row Id="1" Body="a" / ',
}


@pytest.mark.parametrize("reason", BAD_ROWS)
@pytest.mark.parametrize("neighbours", [0, 1, 40])
def test_a_bad_row_is_refused_with_its_reason_and_its_neighbours_are_kept(reason: str, neighbours: int) -> None:
    good = [f'<row Id="{number}" Body="fine &amp; well" />'.encode() for number in range(10, 10 + neighbours)]
    text = b"\n".join([*good, BAD_ROWS[reason], *good])
    parsed = parse_chunk(text, POSTS)
    assert [row["id"] for row in parsed.batch.to_pylist()] == [*range(10, 10 + neighbours)] * 2
    assert len(parsed.rejects) == 1
    assert reason.strip() in parsed.rejects[0].reason
    assert text[parsed.rejects[0].offset :].startswith(BAD_ROWS[reason])


def test_unescaped_markup_inside_a_row_is_one_reject_and_does_not_swallow_the_next_row() -> None:
    text = b'<row Id="1" Body="<p>Hello</p><b>there</b>" />\n<row Id="2" Body="ok" />'
    parsed = parse_chunk(text, POSTS)
    assert [row["id"] for row in parsed.batch.to_pylist()] == [2]
    assert len(parsed.rejects) == 1
    assert parsed.rejects[0].offset == 0


def test_rows_written_in_unusual_ways_are_read_like_any_other() -> None:
    text = (
        b"<row  Id = '7'\n Body='say \"hi\"' ></row>"
        b'<row Body="a &gt; b > c" Id="8"/>'
        b'<row\tId="9"\tTitle="tab&#9;line&#x0A;smile &#128512;" />'
        b'<!-- <row Id="10" /> --><row Id="11" />'
    )
    parsed = parse_chunk(text, POSTS)
    assert parsed.rejects == []
    assert [(row["id"], row["body"] or row["title"]) for row in parsed.batch.to_pylist()] == [
        (7, 'say "hi"'),
        (8, "a > b > c"),
        (9, "tab\tline\nsmile 😀"),
        (11, None),
    ]


def test_a_document_type_is_reported_and_not_processed() -> None:
    declared = b'<!DOCTYPE posts [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    text = declared + b'<posts><row Id="1" Body="&b;" /><row Id="2" /></posts>'
    parsed = parse_chunk(text, POSTS)
    assert [row["id"] for row in parsed.batch.to_pylist()] == [2]
    assert ["declaration" in reject.reason for reject in parsed.rejects] == [True, False]


def test_empty_numbers_and_times_are_missing_and_empty_texts_are_texts() -> None:
    parsed = parse_chunk(b'<row Id="1" Score="" ClosedDate="" Title="" Tags="" />', POSTS)
    row = parsed.batch.to_pylist()[0]
    assert (row["score"], row["closed_date"], row["title"], row["tags"]) == (None, None, "", [])


def test_both_tag_syntaxes_give_the_same_tags() -> None:
    old = '<row Id="1" Tags="&lt;c#&gt;&lt;.net&gt;&lt;node.js&gt;" />'
    new = '<row Id="2" Tags="|c#|.net|node.js|" />'
    rows = parse_chunk(f"{old}\n{new}".encode(), POSTS).batch.to_pylist()
    assert rows[0]["tags"] == rows[1]["tags"] == ["c#", ".net", "node.js"]


def test_times_keep_their_milliseconds_and_numbers_their_sign() -> None:
    row = parse_chunk(b'<row Id="1" CreationDate="2015-01-27T20:09:32.720" Score="-3" />', POSTS).batch.to_pylist()[0]
    assert row["creation_date"] == datetime(2015, 1, 27, 20, 9, 32, 720_000)
    assert row["score"] == -3


def test_flags_and_every_table_are_typed() -> None:
    row = parse_chunk(b'<row Id="1" TagBased="True" Class="3" Date="2010-01-01T00:00:00.000" />', BADGES).batch
    assert row.to_pylist()[0]["tag_based"] is True
    for table in TABLES:
        assert parse_chunk(b'<row Id="5" />', table).batch.to_pylist()[0]["id"] == 5


def test_unknown_attributes_are_kept_in_a_separate_column() -> None:
    row = parse_chunk(b'<row Id="1" Text="x" Emoji="yes" Mood="&lt;3" />', COMMENTS).batch.to_pylist()[0]
    assert row[OTHER] == [("Emoji", "yes"), ("Mood", "<3")]


def test_an_unknown_attribute_given_twice_spoils_its_row() -> None:
    parsed = parse_chunk(b'<row Id="1" Emoji="a" Emoji="b" /><row Id="2" />', COMMENTS)
    assert [row["id"] for row in parsed.batch.to_pylist()] == [2]
    assert "duplicate" in parsed.rejects[0].reason


def test_rows_of_the_fast_and_the_slow_path_stay_in_file_order() -> None:
    odd = b"<row Id='3' />"
    text = b'<row Id="1" />' + odd + b'<row Id="2" />'
    assert [row["id"] for row in parse_chunk(text, POSTS).batch.to_pylist()] == [1, 3, 2]


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=300).filter(lambda noise: b"<!--" not in noise))
def test_no_bytes_raise_an_error_or_lose_a_good_row(noise: bytes) -> None:
    text = b'<row Id="1" Body="first" />' + noise + b'<row Id="2" Body="last" />'
    parsed = parse_chunk(text, POSTS)
    ids = [row["id"] for row in parsed.batch.to_pylist()]
    assert (ids[0], ids[-1]) == (1, 2)
    assert not noise.strip() or parsed.rejects or len(ids) > 2 or noise.startswith(b"<")


@settings(max_examples=200, deadline=None)
@given(post_attributes(), st.data())
def test_a_flipped_byte_gives_the_same_verdict_on_both_paths(attributes: dict[str, str], data: st.DataObject) -> None:
    raw = bytearray(written(attributes))
    raw[data.draw(st.integers(5, len(raw) - 1))] = data.draw(st.integers(0, 255))
    if raw.count(b"<") != 1:
        return
    try:
        expected: list[Row] = [comparable(filled(parse_row(bytes(raw), POSTS)))]
    except BadRow:
        expected = []
    found = [comparable(row) for row in parse_chunk(bytes(raw), POSTS).batch.to_pylist()]
    assert found == expected


def test_a_row_element_with_text_content_is_refused() -> None:
    parsed = parse_chunk(b'<row Id="1">/>\n<row Id="2" /> stray\n<row Id="3"></row>', POSTS)
    assert [row["id"] for row in parsed.batch.to_pylist()] == [2, 3]
    assert len(parsed.rejects) == 2
