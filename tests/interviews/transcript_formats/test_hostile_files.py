"""Malformed and hostile files are refused in one sentence."""

from __future__ import annotations

import io
import zipfile
from xml.sax.saxutils import escape

import pytest
from tests.support.transcript_writers import document, table

from quaestor.base.errors import InputError
from quaestor.interviews.transcript_formats import (
    LARGEST,
    read_transcript,
)
from quaestor.interviews.transcript_formats import (
    docx_package as document_parts,
)
from quaestor.interviews.transcript_formats.detect import LONGEST_TURN

PARAGRAPH = "<w:p><w:r><w:t>Guest: hello</w:t></w:r></w:p>"


def refused(data: bytes, format: str = "") -> str:
    with pytest.raises(InputError) as found:
        read_transcript(data, "talk", format)
    return str(found.value)


def packed(name: str, content: bytes, times: int = 1) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(times):
            archive.writestr(name if times == 1 else f"{name}{number}", content)
    return made.getvalue()


@pytest.mark.parametrize(
    "before",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">',
    ],
)
def test_a_document_with_entity_declarations_is_refused(before: str) -> None:
    assert "invalid XML" in refused(document(PARAGRAPH, before))


def test_an_archive_bomb_is_refused_at_the_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_parts, "MOST_BYTES", 1_000_000)
    bomb = document("<w:p><w:r><w:t>" + " " * 2_000_000 + "</w:t></w:r></w:p>")
    assert len(bomb) < 10_000
    assert "when unpacked" in refused(bomb)


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04 and then nothing",
        packed("word/other.xml", b"<x/>"),
        packed("word/document.xml", b"<w:document"),
        packed("word/document.xml", b"\xff\xfe\x00"),
        document(PARAGRAPH)[:-40],
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 an old one",
    ],
)
def test_an_invalid_document_is_refused(data: bytes) -> None:
    assert "save it" in refused(data)


def test_too_many_parts_too_many_bytes_and_binary_are_refused() -> None:
    assert "parts" in refused(packed("p", b"", 5_001))
    assert "20 MB" in refused(b"a" * (LARGEST + 1))
    assert "is not a text" in refused(b"\x00\x01\x02binary")
    assert "is not a text" in refused("half".encode("utf-16-le") + b"\0\0")
    assert "is not a text" in refused(b"Guest: \x81\x8d")


def test_a_file_without_speech_is_refused() -> None:
    for data in (b"", b"\n\n", b"WEBVTT\n\n", b"WEBVTT\n\nNOTE nothing\n", document("")):
        assert "no speech" in refused(data)
    assert "choose from" in refused(b"Guest: hello", "pdf")
    assert "is a Word document" in refused(document(PARAGRAPH), "srt")


@pytest.mark.parametrize(
    "line",
    ["a" * 300_000, " " * 300_000, "Guest 1 " * 40_000, "**" * 150_000, "<v " * 100_000, "&amp" * 100_000,
     "[00:00" * 60_000, "1:00 " * 60_000, "<b>" * 100_000],
)  # fmt: skip
def test_pathological_long_lines_are_read(line: str) -> None:
    for head in HEADS:
        transcript = read_transcript(f"{head}x {line}\n{line} y".encode(), "talk")
        assert sum(len(turn.text) for turn in transcript.turns) > 2


MANY = 200_000
HEADS = ("", "WEBVTT\n\n00:00.000 --> 00:01.000\n", "1\n00:00:00,000 --> 00:00:01,000\n")


@pytest.mark.parametrize("space", [" ", "\t", "\N{NO-BREAK SPACE}", " \t"])
@pytest.mark.parametrize(
    "line",
    ["a{0}b", "a b{0}[EXT{0}b", "[00:01{0}b", "[00:01{0}-->{0}b", "(0:01{0}b", "0:01{0}-{0}b", "Guest 1{0}0:01{0}b",
     "**Guest{0}b**{0}c", "-{0}Guest{0}b", "+49 170{0}b", "a{0}|{0}b", "00:01{0}-->{0}00:02{0}line:0{0}b", "<v{0}b",
     "<v.a{0}b{0}", "<i{0}b</i>", "NOTE{0}b", "Guest{0}A{0}b", "{{\\a{0}b", "#00:00:01-1#{0}b{0}#", ">{0}Guest{0}b"],
)  # fmt: skip
def test_a_long_gap_is_read_in_linear_time(line: str, space: str) -> None:
    """Spaces that two parts of a pattern could share were tried in every way: 5,000 of them took a quarter minute."""
    gap = space * (MANY // len(space))
    for head in HEADS:
        assert read_transcript(f"{head}{line.format(gap)}".encode(), "talk").words
    assert read_transcript(f"Guest A: so\n{line.format(gap)}".encode(), "talk", named=["Guest A"]).words
    paragraph = f'<w:p><w:r><w:t xml:space="preserve">{escape(line.format(gap))}</w:t></w:r></w:p>'
    assert read_transcript(document(paragraph), "talk").words


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("<w:p>" * 4_000_000, "over 100 nested elements"),
        ("<w:p/>" * 4_000_000, "over 200,000 lines"),
        ("<w:p><w:r><w:t>Guest A: so</w:t></w:r></w:p>" * 300_000, "over 200,000 lines"),
        ("<w:p><w:r>" + "<w:br/>" * 4_000_000, "over 200,000 lines"),
        ("<w:p><w:r><w:t>" + "\n" * 4_000_000, "over 200,000 lines"),
        ("<w:tbl><w:tr>" + "<w:tc/>" * 4_000_000, "over 1,000,000 elements"),
        ("<w:p><w:r><w:t>" + "so " * 8_000_000, "over 20,000,000 letters"),
        (f'<w:p w:rsid="{"a" * 60_000_000}"/>', "invalid XML"),
    ],
)
def test_a_document_that_would_take_hours_to_read_is_refused_at_once(body: str, told: str) -> None:
    assert told in refused(document(body))


def test_a_row_with_very_many_times_is_read() -> None:
    row = "<w:tc><w:p><w:r><w:t>0:01</w:t></w:r></w:p></w:tc>" * 150_000
    said = "<w:tc><w:p><w:r><w:t>so</w:t></w:r></w:p></w:tc>"
    assert [turn.text for turn in read_transcript(document(f"<w:tbl><w:tr>{row}{said}</w:tr></w:tbl>"), "talk").turns]


@pytest.mark.slow
def test_a_table_with_very_many_numbered_rows_is_read() -> None:
    rows = (("Guest A", "Guest B")[number % 2] for number in range(50_000))
    found = read_transcript(document(table(*((str(number), who, "so") for number, who in enumerate(rows)))), "talk")
    assert len(found.turns) == 50_000


def test_too_many_voices_in_a_line_are_refused() -> None:
    assert "over 200,000 lines" in refused(HEADS[1].encode() + b"<v A>b" * 200_001)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_a_text_with_too_many_lines_is_refused_before_parsing(ending: str) -> None:
    for head in HEADS:
        data = (head + f"Guest A: so{ending}Guest B: it{ending}" * 100_000 + ending).encode()
        assert "over 200,000 lines" in refused(data)


def test_a_monologue_is_split_into_turns_of_limited_length() -> None:
    cues = "\n\n".join(f"00:{n // 60:02d}:{n % 60:02d}.000 --> 00:59:00.000\n" + "word " * 10 for n in range(200))
    transcript = read_transcript(f"WEBVTT\n\n{cues}\n".encode(), "talk")
    assert transcript.words == 2_000
    assert [len(turn.text.split()) for turn in transcript.turns] == [LONGEST_TURN] * 5
