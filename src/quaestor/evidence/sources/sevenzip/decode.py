"""Decodes a block of a `.7z` archive in pieces with the standard library alone."""

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
    METHOD_NAMES,
    Coder,
    HeaderBlock,
)

START_SIZE = 32
PIECE_BYTES = 1024 * 1024
PACKED_PIECE = 256 * 1024


class _Decompressor(Protocol):
    """The common interface of the decompressors of `lzma` and `bz2`."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Inflater:
    """Adapts zlib's raw inflate to the interface of the other decompressors."""

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


def find_obstacle(block: HeaderBlock) -> str | None:
    """Returns why the standard library cannot decode a block, or None if it can."""
    for coder in block.coders:
        method, settings = coder.method, coder.settings
        if method == LZMA:
            # The standard library's decoder supports fewer literal bits than the format allows.
            if len(settings) != 5 or settings[0] >= 225 or settings[0] % 9 + settings[0] // 9 % 5 > 4:
                return "LZMA in unusual settings"
        elif method in (LZMA2, DELTA):
            if len(settings) != 1:
                return "LZMA2 or Delta in unusual settings"
        elif method not in (COPY, DEFLATE, BZIP2, *BCJ_X86):
            return METHOD_NAMES.get(method, f"the method {method.hex()}")
    return None if block.is_chain else "coders that do not form a chain"


def decode_block(path: Path, block: HeaderBlock) -> Generator[bytes, None, None]:
    """Yields the decoded bytes of a block, none of whose coders may produce more than it declares."""
    with path.open("rb") as file:
        pieces = _read_packed(file, START_SIZE + block.offset, block.packed_size)
        for coder in block.coders:
            pieces = _limit_size(_apply_coder(coder, pieces), coder)
        yield from pieces


def _read_packed(file: BinaryIO, offset: int, size: int) -> Iterator[bytes]:
    file.seek(offset)
    while size and (piece := file.read(min(size, PACKED_PIECE))):
        size -= len(piece)
        yield piece


def _limit_size(pieces: Iterator[bytes], coder: Coder) -> Iterator[bytes]:
    left = coder.size
    for piece in pieces:
        if piece[:left]:
            yield piece[:left]
        # LZMA may lack an end marker: bytes past the declared size are noise and prove nothing.
        if len(piece) > left and coder.method != LZMA:
            raise ValueError("more data follows than the header declares")
        left -= min(left, len(piece))
        if not left and coder.method == LZMA:
            return


def _apply_coder(coder: Coder, pieces: Iterator[bytes]) -> Iterator[bytes]:
    method, settings = coder.method, coder.settings
    if method == COPY:
        return pieces
    if method == DEFLATE:
        return _decompress(_Inflater, pieces)
    if method == BZIP2:
        return _decompress(bz2.BZ2Decompressor, pieces, is_many=True)
    if method in BCJ_X86:
        return _decompress_lzma(
            _wrap_as_lzma2(pieces), {"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "dict_size": PIECE_BYTES}
        )
    if method == DELTA:
        delta = {"id": lzma.FILTER_DELTA, "dist": settings[0] + 1}
        return _decompress_lzma(_wrap_as_lzma2(pieces), delta, {"id": lzma.FILTER_LZMA2, "dict_size": PIECE_BYTES})
    # No match reaches back further than the block is long, so a small block needs no large window.
    window = max(4096, min(coder.window, coder.size))
    if method == LZMA2:
        return _decompress_lzma(pieces, {"id": lzma.FILTER_LZMA2, "dict_size": window})
    literal, rest = settings[0] % 9, settings[0] // 9
    bits = {"lc": literal, "lp": rest % 5, "pb": rest // 5}
    return _decompress_lzma(pieces, {"id": lzma.FILTER_LZMA1, "dict_size": window, **bits})


def _decompress_lzma(pieces: Iterator[bytes], *filters: dict[str, int]) -> Iterator[bytes]:
    return _decompress(lambda: lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters), pieces)


def _wrap_as_lzma2(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Wraps bytes as uncompressed LZMA2 chunks.

    The standard library applies a filter only together with LZMA; with LZMA1, which has no end marker, it would never
    return the last bytes. Wrapped like this, a filter works after every method and ends cleanly.
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


def _decompress(
    begin: Callable[[], _Decompressor], pieces: Iterator[bytes], *, is_many: bool = False
) -> Iterator[bytes]:
    """Decodes in pieces of limited size, however well the data was compressed."""
    decompressor = begin()
    data = b""
    while True:
        if not data and decompressor.needs_input:
            data = next(pieces, b"")
        # A decompressor may still have output after all input: the end is a call that returns nothing.
        is_drained = not data and decompressor.needs_input
        output = decompressor.decompress(data, PIECE_BYTES)
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
