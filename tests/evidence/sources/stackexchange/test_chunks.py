"""Chunks of any size neither lose, duplicate nor split rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.base.errors import InputError
from quaestor.evidence.sources.protocol import Reject
from quaestor.evidence.sources.stackexchange import chunks as pieces
from quaestor.evidence.sources.stackexchange.columns import parse_chunk
from quaestor.evidence.sources.stackexchange.schema import POSTS

ROWS = [
    f'  <row Id="{number}" Body="{"x" * (number * 37 % 211)} &lt;b&gt; é" Title="t{number}" />\n'.encode()
    for number in range(1, 120)
]
TEXT = b'\xef\xbb\xbf<?xml version="1.0"?>\n<posts>\n' + b"".join(ROWS) + b"</posts>\n"


def ids_and_rejects(parts: list[pieces.Chunk]) -> tuple[list[int], list[Reject]]:
    ids: list[int] = []
    rejects: list[Reject] = []
    for part in parts:
        rejects += part.rejects
        if part.size:  # small ranges of a file leave thousands of pieces without a row
            parsed = parse_chunk(part.text(), POSTS)
            ids += [row["id"] for row in parsed.batch.to_pylist()]
            rejects += parsed.rejects
    return ids, rejects


def test_a_chunk_without_a_row_gives_no_rows() -> None:
    parsed = parse_chunk(b"", POSTS)
    assert (parsed.batch.num_rows, parsed.rejects) == (0, [])


@pytest.mark.parametrize("size", [1, 7, 64, 300, 1_000, 4_096, 100_000])
def test_a_file_in_ranges_of_any_size_gives_every_row_once(tmp_path: Path, size: int) -> None:
    path = tmp_path / "Posts.xml"
    path.write_bytes(TEXT)
    parts = [pieces.load_chunk(part) for part in pieces.split_file(str(path), len(TEXT), size)]
    ids, rejects = ids_and_rejects(parts)
    assert ids == list(range(1, 120))
    assert rejects == []
    for part in parts:
        assert TEXT[part.offset : part.offset + part.size] == part.text() or not part.size


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 2_000), min_size=1, max_size=40), st.integers(10, 3_000))
def test_a_stream_in_chunks_of_any_size_gives_every_row_once(sizes: list[int], piece: int) -> None:
    chunks, at = [], 0
    while at < len(TEXT):
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(TEXT[at : at + size])
        at += size
    parts = list(pieces.split_stream(chunks, len(TEXT), piece))
    ids, rejects = ids_and_rejects(parts)
    assert ids == list(range(1, 120))
    assert rejects == []
    for part in parts:
        assert TEXT[part.offset : part.offset + part.size] == part.text()


def huge(before: int, body: int) -> list[bytes]:
    """Chunks of a table in which one row has a body of so many bytes."""
    filler = b"y" * (1 << 20)
    small = b"".join(ROWS[:before])
    return [
        b"<posts>\n" + small + b'<row Id="999" Body="',
        *[filler] * (body >> 20),
        b'" />\n',
        *ROWS[before:],
        b"</posts>",
    ]


def test_a_row_too_large_is_rejected_from_a_stream_without_filling_memory() -> None:
    largest = 0
    ids: list[int] = []
    rejects: list[Reject] = []
    for part in pieces.split_stream(huge(60, 200 << 20), 10 << 20):
        largest = max(largest, part.size)
        found, refused = ids_and_rejects([part])
        ids += found
        rejects += refused
    assert ids == list(range(1, 120))
    assert [reject.reason for reject in rejects] == ["a row larger than 16 MB"]
    assert rejects[0].offset == len(b"<posts>\n" + b"".join(ROWS[:60]))
    assert largest < 20 << 20


def test_a_row_too_large_is_refused_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "Posts.xml"
    with path.open("wb") as file:
        file.writelines(huge(60, 64 << 20))
    parts = [pieces.load_chunk(part) for part in pieces.split_file(str(path), path.stat().st_size)]
    ids, rejects = ids_and_rejects(parts)
    assert ids == list(range(1, 120))
    assert [(reject.reason, reject.excerpt[:10]) for reject in rejects] == [("a row larger than 16 MB", '<row Id="9')]


def test_rows_before_a_damaged_part_of_a_stream_are_kept() -> None:
    def breaking() -> object:
        yield TEXT[:2_000]
        raise InputError("the archive is damaged")

    ids, rejects = ids_and_rejects(list(pieces.split_stream(breaking(), 1_000)))  # type: ignore[arg-type]
    assert ids == list(range(1, len(ids) + 1))
    assert len(ids) > 5
    assert "the archive is damaged" in [reject.reason for reject in rejects]


def test_a_decompression_bomb_is_rejected() -> None:
    def bomb() -> object:
        yield b"<posts>" + ROWS[0]
        for _ in range(3_000):
            yield b" " * (1 << 20)

    seen = 0
    ids: list[int] = []
    rejects: list[Reject] = []
    for part in pieces.split_stream(bomb(), 500):  # type: ignore[arg-type]
        seen += part.size
        found, refused = ids_and_rejects([part])
        ids, rejects = ids + found, rejects + refused
    assert ids == [1]
    assert any("outside any row" in reject.reason for reject in rejects)
    assert any("a thousand times as large" in reject.reason for reject in rejects)
    assert seen < 1_100 << 20


def test_an_empty_file_has_no_chunks(tmp_path: Path) -> None:
    path = tmp_path / "Posts.xml"
    path.write_bytes(b"")
    assert list(pieces.split_file(str(path), 0)) == []
    assert ids_and_rejects(list(pieces.split_stream([], 0))) == ([], [])
