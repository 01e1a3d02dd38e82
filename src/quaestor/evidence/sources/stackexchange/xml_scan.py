"""Splits a chunk of XML into frames and resolves its entities, without a loop over its bytes.

An attribute value cannot contain a raw `<`, so every `<` begins a new frame, and a broken row never absorbs the next
one. The marks of a chunk (`<`, `"`, `&`, control characters) are found in one pass; everything after that works on the
marks, about a twentieth of the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from quaestor.evidence.sources.stackexchange import arrow_buffers as arrow

Positions = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]

QUOTE, AMPERSAND, LESS = ord('"'), ord("&"), ord("<")
PADDING = 64
"""Zero bytes after a chunk, so that reading a few bytes ahead never leaves the buffer."""

ROW_START = b"<row"
_TAIL_BYTES = 16


@dataclass(frozen=True)
class MarkPositions:
    """The positions of the marks of a chunk, the frame and the byte of each, and flags for their kinds."""

    at: Positions
    byte: Bytes
    frame: Numbers
    less: Flags
    quotes: Flags
    ampersands: Flags


def blank_comments(data: bytes) -> bytes:
    """Replaces comments by spaces; `<!--` is a comment only between rows, inside one it is part of a broken row."""
    blanked: bytearray | None = None
    start = data.find(b"<!--")
    while start >= 0:
        before = start - 1
        while before >= 0 and data[before] in b" \t\r\n":
            before -= 1
        end = data.find(b"-->", start + 4)
        if end >= 0 and (before < 0 or data[before] == ord(">") or data[: before + 1] == b"\xef\xbb\xbf"):
            blanked = blanked or bytearray(data)
            blanked[start : end + 3] = b" " * (end + 3 - start)
            start = end
        start = data.find(b"<!--", start + 3)
    return bytes(blanked) if blanked else data


def pad(data: bytes) -> Bytes:
    """Returns the chunk as a writable array, followed by zero bytes."""
    buffer = np.zeros(len(data) + PADDING, dtype=np.uint8)
    buffer[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    return buffer


def find_frames(buffer: Bytes, length: int) -> Positions:
    """Returns the positions at which the frames of the chunk begin.

    Frames are far apart, so eight flags are tested at once: twice as fast as testing every byte.
    """
    is_start = np.empty(length + -length % 8, dtype=bool)
    np.equal(buffer[:length], LESS, out=is_start[:length])
    is_start[length:] = False
    words = is_start.view("<u8")
    hits = np.flatnonzero(words != 0)
    flags = words[hits]
    if np.any(flags & (flags - np.uint64(1))):  # two frames in eight bytes
        return np.flatnonzero(is_start)
    return hits * 8 + (np.bitwise_count(flags - np.uint64(1)) >> np.uint8(3))


def find_marks(buffer: Bytes, length: int) -> MarkPositions:
    """Finds every `<`, `"`, `&` and control character of the chunk, in order."""
    text = buffer[:length]
    is_mark = (text & 0b11111011) == QUOTE  # `"` and `&` differ only in this bit
    is_mark |= text == LESS
    is_mark |= text < 32
    at = np.flatnonzero(is_mark)
    byte = text[at]
    less = byte == LESS
    frame = np.cumsum(less, dtype=np.int32) - 1
    return MarkPositions(at, byte, frame, less, byte == QUOTE, byte == AMPERSAND)


def read_windows(buffer: Bytes, at: Positions, width: int) -> npt.NDArray[np.uint8]:
    """Returns the `width` bytes at each position, as rows of a matrix."""
    view = np.lib.stride_tricks.sliding_window_view(buffer, width)
    rows: npt.NDArray[np.uint8] = view[at]
    return rows


def begins_with(buffer: Bytes, at: Positions, prefix: bytes) -> Flags:
    flags: Flags = (read_windows(buffer, at, len(prefix)) == np.frombuffer(prefix, np.uint8)).all(axis=1)
    return flags


def is_space(bytes_: npt.NDArray[np.uint8]) -> Flags:
    flags: Flags = (bytes_ == 32) | (bytes_ == 10) | (bytes_ == 13) | (bytes_ == 9)
    return flags


def is_closed(buffer: Bytes, last_quote: Positions, end: Positions) -> Flags:
    """Returns whether only ` />` or `/>` and white space follow a row's last quote."""
    tail = read_windows(buffer, last_quote + 1, _TAIL_BYTES)
    length = end - last_quote - 1
    spaced = tail[:, 0] == 32
    first = spaced.astype(np.int64)
    numbers = np.arange(len(tail))
    closed = (tail[numbers, first] == ord("/")) & (tail[numbers, first + 1] == ord(">"))
    column = np.arange(_TAIL_BYTES)
    behind = (column >= (first + 2)[:, None]) & (column < length[:, None])
    clean = (is_space(tail) | ~behind).all(axis=1)
    fits = (length >= first + 2) & (length <= _TAIL_BYTES)
    flags: Flags = closed & clean & fits
    return flags


# Besides `&lt;` and `&gt;`, the frequent entities of dumps and the byte for each. Any other reference is rare, and its
# row goes through the XML parser.
_LONGER_ENTITIES = (
    (b"&#xA;", 10), (b"&quot;", QUOTE), (b"&amp;", AMPERSAND), (b"&#xD;", 13), (b"&#x9;", 9), (b"&apos;", ord("'")),
)  # fmt: skip


@dataclass(frozen=True)
class Entities:
    """For each `&` of a chunk: how many bytes after it to remove, the byte that replaces it, whether it is known."""

    extra: npt.NDArray[np.int32]
    becomes: Bytes
    known: Flags


def read_entities(buffer: Bytes, at: Positions) -> Entities:
    """Recognises the common entities at these positions: by their first four bytes, then by the rest."""
    start = np.ndarray((len(buffer) - 3,), dtype="<u4", buffer=buffer, strides=(1,))[at]
    # Sums of products of single bytes: a lookup table would be shorter but takes three times as long.
    less, greater = (start == np.uint32(int.from_bytes(text, "little")) for text in (b"&lt;", b"&gt;"))
    becomes = less.view(np.uint8) * np.uint8(LESS) + greater.view(np.uint8) * np.uint8(ord(">"))
    extra = (less | greater).view(np.uint8) * np.uint8(3)
    others = np.flatnonzero(becomes == 0)
    start, at = start[others], at[others]
    for text, byte in _LONGER_ENTITIES:
        hits = np.flatnonzero(start == np.uint32(int.from_bytes(text[:4], "little")))
        for index in range(4, len(text)):
            hits = hits[buffer[at[hits] + index] == text[index]]
        becomes[others[hits]] = byte
        extra[others[hits]] = len(text) - 1
    return Entities(extra.astype(np.int32), becomes, becomes != 0)


def read_eight_bytes(buffer: Bytes, at: Positions) -> npt.NDArray[np.uint64]:
    """Returns the eight bytes at each position as one little-endian number."""
    every = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))
    words: npt.NDArray[np.uint64] = every[at]
    return words


def starts_with(buffer: Bytes, at: Positions, text: bytes) -> Flags:
    """Flags the positions of a text of 8 to 16 bytes, with two overlapping comparisons of eight bytes."""
    ends = read_eight_bytes(buffer, at + len(text) - 8) == np.uint64(int.from_bytes(text[-8:], "little"))
    flags: Flags = ends & (read_eight_bytes(buffer, at) == np.uint64(int.from_bytes(text[:8], "little")))
    return flags


def cut_out(buffer: Bytes, length: int, cuts: Positions, sizes: Numbers) -> pa.Buffer:
    """Returns the chunk without the `sizes[i]` bytes after each position `cuts[i]`.

    Arrow copies the ranges between the cuts at the speed of memory; a boolean index takes three times as long.
    """
    edges = np.empty(2 * len(cuts) + 2, dtype=np.int32)
    edges[0] = 0
    edges[1:-1:2] = cuts + 1
    edges[2:-1:2] = cuts + 1 + sizes
    edges[-1] = length
    kept = arrow.slices(edges, pa.py_buffer(buffer)).take(arrow.whole_numbers(np.arange(0, len(edges) - 1, 2)))
    return kept.buffers()[2] or pa.py_buffer(b"")
