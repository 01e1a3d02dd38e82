"""Decodes a block of a `.7z` archive with the standard library alone, a piece at a time."""

import bz2
import lzma
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from quaestor.evidence.sources.sevenzip.header import (
    BCJ_X86,
    BZIP2,
    COPY,
    DEFLATE,
    DELTA,
    LZMA,
    LZMA2,
    NAMES_OF_METHODS,
    Coder,
    HeaderBlock,
)

START_SIZE = 32
PIECE = 1024 * 1024
PACKED_PIECE = 256 * 1024


class _Decompressor(Protocol):
    """What the decompressors of `lzma` and `bz2` share."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Inflater:
    """Gives zlib's raw inflate the shape of the other decompressors."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)

    @property
    def needs_input(self) -> bool:
        return not self._inflate.unconsumed_tail

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)


def obstacle_to(block: HeaderBlock) -> str | None:
    """What keeps the standard library from decoding a block, if anything does."""
    for coder in block.coders:
        method, settings = coder.method, coder.settings
        if method == LZMA:
            # The standard library's decoder holds less state than the format allows.
            if len(settings) != 5 or settings[0] >= 225 or settings[0] % 9 + settings[0] // 9 % 5 > 4:
                return "LZMA in unusual settings"
        elif method in (LZMA2, DELTA):
            if len(settings) != 1:
                return "LZMA2 or Delta in unusual settings"
        elif method not in (COPY, DEFLATE, BZIP2, *BCJ_X86):
            return NAMES_OF_METHODS.get(method, f"the method {method.hex()}")
    return None if block.is_chain else "coders that do not form a chain"


def decoded(path: Path, block: HeaderBlock) -> Generator[bytes, None, None]:
    """Undoes the coders of a block one after the other, each held to the size it declares."""
    with path.open("rb") as file:
        pieces = _packed(file, START_SIZE + block.offset, block.packed_size)
        for coder in block.coders:
            pieces = _held_to_size(_undone(coder, pieces), coder)
        yield from pieces


def _packed(file: BinaryIO, offset: int, size: int) -> Iterator[bytes]:
    file.seek(offset)
    while size and (piece := file.read(min(size, PACKED_PIECE))):
        size -= len(piece)
        yield piece


def _held_to_size(pieces: Iterator[bytes], coder: Coder) -> Iterator[bytes]:
    left = coder.size
    for piece in pieces:
        if piece[:left]:
            yield piece[:left]
        # LZMA may carry no mark of its end: past the declared size it gives noise, not proof of a lie.
        if len(piece) > left and coder.method != LZMA:
            raise ValueError("more data follows than the header declares")
        left -= min(left, len(piece))
        if not left and coder.method == LZMA:
            return


def _undone(coder: Coder, pieces: Iterator[bytes]) -> Iterator[bytes]:
    method, settings = coder.method, coder.settings
    if method == COPY:
        return pieces
    if method == DEFLATE:
        return _decompressed(_Inflater, pieces)
    if method == BZIP2:
        return _decompressed(bz2.BZ2Decompressor, pieces, is_many=True)
    if method in BCJ_X86:
        return _raw(_as_lzma2(pieces), {"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "dict_size": PIECE})
    if method == DELTA:
        delta = {"id": lzma.FILTER_DELTA, "dist": settings[0] + 1}
        return _raw(_as_lzma2(pieces), delta, {"id": lzma.FILTER_LZMA2, "dict_size": PIECE})
    # No match reaches further back than the block is long, so a small block needs no large window.
    window = max(4096, min(coder.window, coder.size))
    if method == LZMA2:
        return _raw(pieces, {"id": lzma.FILTER_LZMA2, "dict_size": window})
    literal, rest = settings[0] % 9, settings[0] // 9
    bits = {"lc": literal, "lp": rest % 5, "pb": rest // 5}
    return _raw(pieces, {"id": lzma.FILTER_LZMA1, "dict_size": window, **bits})


def _raw(pieces: Iterator[bytes], *filters: dict[str, int]) -> Iterator[bytes]:
    return _decompressed(lambda: lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters), pieces)


def _as_lzma2(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Wraps bytes as unpacked LZMA2 chunks.

    The standard library undoes a filter only in front of LZMA; behind LZMA1, which has no end mark, it would
    hold back the last bytes for ever. Wrapped like this a filter works behind every method and ends cleanly.
    """
    control = b"\x01"
    for piece in pieces:
        chunks = []
        for start in range(0, len(piece), 0x10000):
            chunk = piece[start : start + 0x10000]
            chunks += [control, (len(chunk) - 1).to_bytes(2, "big"), chunk]
            control = b"\x02"
        yield b"".join(chunks)
    yield b"\x00"


def _decompressed(
    begin: Callable[[], _Decompressor], pieces: Iterator[bytes], *, is_many: bool = False
) -> Iterator[bytes]:
    """Decodes piece by piece; no call gives more than one piece, however well the data was packed."""
    decompressor = begin()
    data = b""
    while True:
        if not data and decompressor.needs_input:
            data = next(pieces, b"")
        # Having taken all input, a decompressor may still hold output: only silence is the end.
        is_drained = not data and decompressor.needs_input
        output = decompressor.decompress(data, PIECE)
        data = b""
        if output:
            yield output
        elif is_drained:
            return
        if decompressor.eof:
            data = decompressor.unused_data or next(pieces, b"")
            if not is_many or not data:
                return
            decompressor = begin()
