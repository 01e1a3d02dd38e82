"""A table's text in pieces of a few megabytes, each a whole number of frames, from files and streams.

Whatever the input is, no more than a piece and the largest allowed row is ever held.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from quaestor.base.errors import InputError
from quaestor.base.hashing import map_file
from quaestor.evidence.sources.protocol import Reject
from quaestor.evidence.sources.stackexchange.columns import find_element_end, build_reject

CHUNK_BYTES = 4 << 20
LARGEST_ROW = 16 << 20
"""A row above this is refused; the largest posts of real dumps stay below one hundredth of it."""

_STEP = 256 << 10
_BOMB_SIZE = 1 << 30
_BOMB_RATIO = 1_000
"""Text grown a thousand times from its archive (dumps grow ten times) is taken for a trap."""


@dataclass(frozen=True)
class FileRange:
    """The frames that begin in a stretch of a plain file; whoever works on it reads it."""

    path: str
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


Data = bytes | mmap.mmap


@dataclass(frozen=True)
class Chunk:
    """Text and its place in the table: the bytes of `data` from `begin` to `end`."""

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


def split_file(path: str, size: int, piece: int = CHUNK_BYTES) -> Iterator[FileRange]:
    """A plain file as stretches of equal size."""
    for start in range(0, size, piece):
        yield FileRange(path, start, min(start + piece, size))


def load_chunk(part: FileRange | Chunk) -> Chunk:
    """The text of a part; a stretch of a file is widened to the end of its last frame.

    The file is mapped, not copied: what the page cache holds is looked at where it is.
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
            piece = _frames_of(part, mapped, base, at_end=base + length == size)
            if piece:
                return piece
            mapped.close()
            reach += LARGEST_ROW + _STEP


def _frames_of(part: FileRange, mapped: mmap.mmap, base: int, *, at_end: bool) -> Chunk | None:
    """The frames that begin in the part, or None where the map ends inside the last of them."""
    first, limit = part.start - base, min(part.end - base, len(mapped))
    begin = first if part.start == 0 else mapped.find(b"<", first, limit)
    if begin < 0:
        return Chunk.from_text(part.end, b"")
    close = mapped.find(b"<", limit)
    if close >= 0:
        return Chunk(base + begin, mapped, begin, close)
    last = max(mapped.rfind(b"<", begin, limit), begin)
    if len(mapped) - last > LARGEST_ROW:
        end, rejects = _too_large(base + last, mapped[last : last + LARGEST_ROW])
        return Chunk(base + begin, mapped, begin, last + end, rejects)
    return Chunk(base + begin, mapped, begin, len(mapped)) if at_end else None


def _too_large(offset: int, raw: bytes) -> tuple[int, list[Reject]]:
    """What to keep of a frame that is too large: the row, if it is closed early and something follows it."""
    end = find_element_end(raw)
    if end is None:
        return 0, [build_reject(offset, f"a row larger than {LARGEST_ROW >> 20} MB", raw)]
    return end, [build_reject(offset + end, f"more than {LARGEST_ROW >> 20} MB outside any row", raw[end:])]


def split_stream(chunks: Iterable[bytes], packed_size: int, piece: int = CHUNK_BYTES) -> Iterator[Chunk]:
    """A stream as pieces; where it breaks, what came before it is kept and the break is a reject."""
    held = bytearray()
    offset = 0
    skipping = False
    broken: list[Reject] = []
    try:
        for chunk in chunks:
            if skipping:
                rest, offset, skipping = _skip(chunk, offset)
                held += rest
            else:
                held += chunk
            if offset + len(held) > max(_BOMB_SIZE, _BOMB_RATIO * packed_size):
                raise InputError("the text grew a thousand times from its archive; reading stopped here")
            while len(held) >= piece:
                cut = held.rfind(b"<")
                if cut > 0:
                    yield Chunk.from_text(offset, bytes(held[:cut]))
                    del held[:cut]
                    offset += cut
                elif len(held) > LARGEST_ROW:
                    end, rejects = _too_large(offset, bytes(held))
                    yield Chunk.from_text(offset, bytes(held[:end]), rejects)
                    offset += len(held)
                    held.clear()
                    skipping = True
                else:
                    break
    except InputError as error:
        broken.append(Reject(offset + len(held), str(error)))
    yield Chunk.from_text(offset, bytes(held), broken)


def _skip(chunk: bytes, offset: int) -> tuple[bytes, int, bool]:
    """Leave out the rest of a row that was too large."""
    begin = chunk.find(b"<")
    if begin < 0:
        return b"", offset + len(chunk), True
    return chunk[begin:], offset + begin, False
