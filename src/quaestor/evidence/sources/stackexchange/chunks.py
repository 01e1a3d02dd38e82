"""Splits a table's text from a file or stream into chunks of a few megabytes, each a whole number of frames.

Memory never holds more than a chunk and the largest allowed row.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from quaestor.base.errors import InputError
from quaestor.base.files import map_file
from quaestor.evidence.sources.protocol import Reject
from quaestor.evidence.sources.stackexchange.columns import build_reject, find_element_end

CHUNK_BYTES = 4 << 20
LARGEST_ROW = 16 << 20
"""A larger row is rejected; the largest posts of real dumps are below one hundredth of it."""

_STEP = 256 << 10
_BOMB_SIZE = 1 << 30
_BOMB_RATIO = 1_000
"""Text a thousand times the size of its archive counts as a decompression bomb (dumps grow ten times)."""


@dataclass(frozen=True)
class FileRange:
    """The frames that begin in a range of a plain file; the worker process reads them."""

    path: str
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


Data = bytes | mmap.mmap


@dataclass(frozen=True)
class Chunk:
    """Text at an offset of the table: the bytes of `data` from `begin` to `end`."""

    offset: int
    data: Data
    begin: int
    end: int
    rejects: list[Reject] = field(default_factory=list)

    @property
    def size(self) -> int:
        return self.end - self.begin

    def text(self) -> bytes:
        return self.data[self.begin : self.end]

    @classmethod
    def from_text(cls, offset: int, text: bytes, rejects: list[Reject] | None = None) -> Chunk:
        return cls(offset, text, 0, len(text), rejects or [])


def split_file(path: str, size: int, chunk_bytes: int = CHUNK_BYTES) -> Iterator[FileRange]:
    """Splits a plain file into ranges of equal size."""
    for start in range(0, size, chunk_bytes):
        yield FileRange(path, start, min(start + chunk_bytes, size))


def load_chunk(part: FileRange | Chunk) -> Chunk:
    """Loads the text of a part; a range of a file is extended to the end of its last frame.

    The file is memory-mapped, so that text in the page cache is not copied.
    """
    if isinstance(part, Chunk):
        return part
    with open(part.path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        reach = part.size + _STEP
        while True:
            base = part.start - part.start % mmap.ALLOCATIONGRANULARITY
            length = min(part.start + reach, size) - base
            if length <= part.start - base:
                return Chunk.from_text(part.start, b"")
            mapped = map_file(file.fileno(), length, base)
            chunk = _select_frames(part, mapped, base, at_end=base + length == size)
            if chunk:
                return chunk
            mapped.close()
            reach += LARGEST_ROW + _STEP


def _select_frames(part: FileRange, mapped: mmap.mmap, base: int, *, at_end: bool) -> Chunk | None:
    """Returns the frames that begin in the part, or None if the map ends inside the last of them."""
    first, limit = part.start - base, min(part.end - base, len(mapped))
    begin = first if part.start == 0 else mapped.find(b"<", first, limit)
    if begin < 0:
        return Chunk.from_text(part.end, b"")
    close = mapped.find(b"<", limit)
    if close >= 0:
        return Chunk(base + begin, mapped, begin, close)
    last = max(mapped.rfind(b"<", begin, limit), begin)
    if len(mapped) - last > LARGEST_ROW:
        end, rejects = _reject_too_large(base + last, mapped[last : last + LARGEST_ROW])
        return Chunk(base + begin, mapped, begin, last + end, rejects)
    return Chunk(base + begin, mapped, begin, len(mapped)) if at_end else None


def _reject_too_large(offset: int, raw: bytes) -> tuple[int, list[Reject]]:
    """Returns the end of the row in a frame that is too large, 0 if the row itself is, and the reject."""
    end = find_element_end(raw)
    if end is None:
        return 0, [build_reject(offset, f"a row larger than {LARGEST_ROW >> 20} MB", raw)]
    return end, [build_reject(offset + end, f"more than {LARGEST_ROW >> 20} MB outside any row", raw[end:])]


def split_stream(blocks: Iterable[bytes], packed_size: int, chunk_bytes: int = CHUNK_BYTES) -> Iterator[Chunk]:
    """Splits a stream into chunks; if it fails, everything before the failure is kept, and the failure is a reject."""
    buffer = bytearray()
    offset = 0
    skipping = False
    broken: list[Reject] = []
    try:
        for block in blocks:
            if skipping:
                rest, offset, skipping = _skip_row(block, offset)
                buffer += rest
            else:
                buffer += block
            if offset + len(buffer) > max(_BOMB_SIZE, _BOMB_RATIO * packed_size):
                raise InputError("the text is over a thousand times as large as its archive; reading stopped here")
            while len(buffer) >= chunk_bytes:
                cut = buffer.rfind(b"<")
                if cut > 0:
                    yield Chunk.from_text(offset, bytes(buffer[:cut]))
                    del buffer[:cut]
                    offset += cut
                elif len(buffer) > LARGEST_ROW:
                    end, rejects = _reject_too_large(offset, bytes(buffer))
                    yield Chunk.from_text(offset, bytes(buffer[:end]), rejects)
                    offset += len(buffer)
                    buffer.clear()
                    skipping = True
                else:
                    break
    except InputError as error:
        broken.append(Reject(offset + len(buffer), str(error)))
    yield Chunk.from_text(offset, bytes(buffer), broken)


def _skip_row(block: bytes, offset: int) -> tuple[bytes, int, bool]:
    """Skips the rest of a row that was too large; returns the text after it, its offset, and whether to go on."""
    begin = block.find(b"<")
    if begin < 0:
        return b"", offset + len(block), True
    return block[begin:], offset + begin, False
