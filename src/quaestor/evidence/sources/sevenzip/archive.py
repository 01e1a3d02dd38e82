"""Streams members out of a `.7z` archive in constant memory, without files on disk, and verifies checksums.

The standard library decodes the methods that dumps use. If the program 7zz is installed, it decodes large blocks in
its own process, in parallel with reading; rare methods need a program.
"""

import lzma
import os
import shutil
import struct
import subprocess
import tempfile
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Iterator
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from quaestor.base.errors import InputError
from quaestor.evidence.sources.sevenzip.decode import PIECE_BYTES, START_SIZE, decode_block, find_obstacle
from quaestor.evidence.sources.sevenzip.header import (
    AES,
    BZIP2,
    COPY,
    ENCODED_HEADER,
    HEADER_LIMIT,
    ArchiveEntry,
    ArchiveLayout,
    HeaderBlock,
    Member,
    parse_encoded_header,
    parse_header,
)


def find_program() -> str | None:
    return next(filter(None, map(shutil.which, ("7zz", "7z", "7za", "bsdtar"))), None)


def _is_bsdtar(program: str) -> bool:
    return Path(program).stem == "bsdtar"


def is_faster_with(program: str, block: HeaderBlock) -> bool:
    """Returns whether a program decodes the block faster: 7zz runs in parallel, measured at 1.5 to 2 times the speed.

    bsdtar brings no gain.
    """
    return not _is_bsdtar(program) and any(coder.method != COPY for coder in block.coders)


def build_command(program: str, archive: Path, block: HeaderBlock, names: list[str]) -> list[str]:
    """Builds the command that writes exactly these members, in order, to standard output."""
    path = str(archive.absolute())
    if _is_bsdtar(program):
        return [program, "-xOf", path, "--", *map(_escape_wildcards, names)]
    # Threads need little memory with BZip2, but with LZMA2 each may need hundreds of megabytes.
    threads = "-mmt=8" if any(coder.method == BZIP2 for coder in block.coders) else "-mmt=1"
    return [program, "x", "-so", "-t7z", "-bd", "-y", "-spd", "-ssc", threads, "--", path, *names]


def _escape_wildcards(name: str) -> str:
    return "".join("\\" + letter if letter in "*?[]" else letter for letter in name)


def run_program(command: list[str]) -> Generator[bytes, None, None]:
    """Yields the output of a program; kills it when the caller stops reading, and raises an error if it fails."""
    # In the C locale bsdtar finds only ASCII names.
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    with (
        # A file accepts any number of error messages; an unread pipe would block the program.
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
        ) as process,
    ):
        try:
            while process.stdout and (piece := process.stdout.read(PIECE_BYTES)):
                yield piece
            if process.wait():
                errors.seek(max(errors.seek(0, os.SEEK_END) - 4096, 0))
                lines = errors.read().decode(errors="replace").split("\n")
                last_line = next((line.strip() for line in reversed(lines) if line.strip()), "no error message")
                raise ChildProcessError(f"{Path(command[0]).name} ended with {process.returncode}: {last_line}")
        finally:
            process.kill()


__all__ = ["PIECE_BYTES", "START_SIZE", "Member", "SevenZip", "looks_like_sevenzip"]

MAGIC = b"7z\xbc\xaf\x27\x1c"
DICTIONARY_LIMIT = 512 * 1024 * 1024
# Below this, starting a program costs more than it saves.
PROGRAM_THRESHOLD = 4 * 1024 * 1024
# Far under what every system allows for one command line.
ARGUMENT_LIMIT = 64 * 1024

DECODING_ERRORS = (lzma.LZMAError, zlib.error, OSError, EOFError, ValueError, MemoryError)


class SevenZip:
    """A 7z archive with a parsed and verified header; its members are decoded only when streamed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._layout = _read_layout(path, file)
        except OSError as error:
            raise InputError(
                f"{path} cannot be read ({error.strerror}); check the path and its permissions."
            ) from error
        _refuse_unreadable(path, self._layout.blocks)
        self.members = tuple(entry.member for entry in self._layout.entries)

    def stream(
        self, is_selected: Callable[[Member], bool], *, programs: bool = True
    ) -> Iterator[tuple[Member, Iterator[bytes]]]:
        """Yields each selected member with its bytes; bytes that the caller does not read are skipped.

        Damage raises InputError after the last valid byte of a member.
        """
        chosen = [entry for entry in self._layout.entries if is_selected(entry.member)]
        by_block: dict[int, list[ArchiveEntry]] = {}
        for entry in chosen:
            if entry.member.size:
                by_block.setdefault(entry.block, []).append(entry)
        program = find_program() if programs else None
        reader: _BlockReader | None = None
        current = None
        try:
            for entry in chosen:
                if entry.member.size and entry.block != current:
                    if reader:
                        reader.close()
                    current = entry.block
                    reader = self._open(self._layout.blocks[current], by_block[current], program)
                contents = reader.read(entry) if reader and entry.member.size else _yield_nothing()
                yield entry.member, contents
                contents.close()
        finally:
            if reader:
                reader.close()

    def _open(self, block: HeaderBlock, entries: list[ArchiveEntry], program: str | None) -> "_BlockReader":
        """Opens a block with a program if one is needed or faster, else in this process."""
        obstacle = find_obstacle(block)
        if obstacle and not program:
            raise _unreadable(self.path, obstacle)
        size = sum(entry.member.size for entry in entries)
        if program and (obstacle or (is_faster_with(program, block) and size >= PROGRAM_THRESHOLD)):
            names = [entry.member.name for entry in entries]
            if self._are_safe_arguments(names):
                starts = [0, *accumulate(entry.member.size for entry in entries)][:-1]
                pieces = run_program(build_command(program, self.path, block, names))
                return _BlockReader(self.path, pieces, dict(zip(entries, starts, strict=True)), size)
            if obstacle:
                raise InputError(
                    f"{self.path} is packed with {obstacle} and has member names that cannot safely be passed to a "
                    "program; pack it again with LZMA2."
                )
        starts_in_block = {entry: entry.start for entry in entries}
        return _BlockReader(self.path, decode_block(self.path, block), starts_in_block, block.size)

    def _are_safe_arguments(self, names: list[str]) -> bool:
        """Returns whether each name identifies exactly one member, for every program and operating system."""
        if sum(len(name.encode()) + 1 for name in names) > ARGUMENT_LIMIT:
            return False
        for name in names:
            is_plain = name.isprintable() and not set("\\\ufffd") & set(name)
            if not is_plain or {"", ".", ".."} & set(name.split("/")):
                return False
            # Programs treat the name of a folder as everything in it.
            inside = name + "/"
            index = bisect_left(self._sorted_names, inside)
            if self._sorted_names[index : index + 1] and self._sorted_names[index].startswith(inside):
                return False
            if bisect_right(self._sorted_names, name) - bisect_left(self._sorted_names, name) != 1:
                return False
        return True

    @cached_property
    def _sorted_names(self) -> list[str]:
        return sorted(member.name for member in self.members)


def looks_like_sevenzip(path: Path) -> bool:
    """Returns whether a file begins like a 7z archive."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class _BlockReader:
    """Reads members from the decoded bytes of one block, or of the selected members in it."""

    def __init__(
        self, archive: Path, pieces: Generator[bytes, None, None], starts: dict[ArchiveEntry, int], size: int
    ) -> None:
        self._archive = archive
        self._pieces = pieces
        self._starts = starts
        self._size = size
        self._piece = b""
        self._used = 0
        self._position = 0

    def close(self) -> None:
        self._pieces.close()

    def read(self, entry: ArchiveEntry) -> Generator[bytes, None, None]:
        """Yields the bytes of one member and verifies their number and checksum at the end."""
        start = self._starts[entry]
        end = start + entry.member.size
        checksum = 0
        try:
            while self._position < start:
                self._read_next(start - self._position)
            while self._position < end:
                piece = self._read_next(end - self._position)
                checksum = zlib.crc32(piece, checksum)
                yield piece
            if entry.digest is not None and checksum != entry.digest:
                raise ValueError("its checksum is wrong")
            if end == self._size and (self._used < len(self._piece) or next(self._pieces, b"")):
                raise ValueError("more data follows than the header declares")
        except DECODING_ERRORS as error:
            offset = max(self._position - start, 0)
            raise InputError(
                f"{self._archive}: member {entry.member.name!r} fails at byte {offset:,} of "
                f"{entry.member.size:,} ({str(error) or type(error).__name__}); get the archive again."
            ) from error

    def _read_next(self, limit: int) -> bytes:
        if self._used == len(self._piece):
            self._piece, self._used = next(self._pieces, b""), 0
            if not self._piece:
                raise EOFError("the data ends too early")
        data = self._piece[self._used : self._used + limit]
        self._used += len(data)
        self._position += len(data)
        return data


def _yield_nothing() -> Generator[bytes, None, None]:
    yield from ()


def _read_layout(path: Path, file: BinaryIO) -> ArchiveLayout:
    start = file.read(START_SIZE)
    if not start.startswith(MAGIC):
        raise InputError(f"{path} is not a 7z archive; give a file that was packed as .7z.")
    if len(start) < START_SIZE:
        raise _truncated_error(path)
    checksum, offset, size, header_checksum = struct.unpack("<IQQI", start[8:])
    if zlib.crc32(start[12:]) != checksum:
        raise InputError(f"{path} has a damaged 7z beginning (its checksum is wrong); get the archive again.")
    if not size:
        return ArchiveLayout((), ())
    if size > HEADER_LIMIT:
        raise InputError(f"{path} has a 7z header of {size:,} bytes, over {HEADER_LIMIT:,}; pack fewer files into one.")
    length = os.fstat(file.fileno()).st_size
    if START_SIZE + offset + size > length:
        raise _truncated_error(path)
    file.seek(START_SIZE + offset)
    header = file.read(size)
    if zlib.crc32(header) != header_checksum:
        raise InputError(f"{path} has a damaged 7z header (its checksum is wrong); get the archive again.")
    if header[0] == ENCODED_HEADER:
        header = _unpack_header(path, parse_encoded_header(header, path), length)
    layout = parse_header(header, path)
    if any(START_SIZE + block.offset + block.packed_size > length for block in layout.blocks):
        raise _truncated_error(path)
    return layout


def _unpack_header(path: Path, block: HeaderBlock, length: int) -> bytes:
    if START_SIZE + block.offset + block.packed_size > length:
        raise _truncated_error(path)
    _refuse_unreadable(path, (block,))
    if obstacle := find_obstacle(block):
        raise _unreadable(path, f"{obstacle} in its header")
    try:
        header = b"".join(decode_block(path, block))
    except DECODING_ERRORS as error:
        raise InputError(f"{path} has a damaged 7z header ({error}); get the archive again.") from error
    if len(header) != block.size or (block.digest is not None and zlib.crc32(header) != block.digest):
        raise InputError(f"{path} has a damaged 7z header (it unpacks wrongly); get the archive again.")
    return header


def _truncated_error(path: Path) -> InputError:
    return InputError(f"{path} is cut short (the 7z header points past its end); get the whole archive.")


def _unreadable(path: Path, obstacle: str) -> InputError:
    return InputError(
        f"{path} is packed with {obstacle} and needs the program 7zz; install the system package `7zip` "
        "or pack the archive again with LZMA2."
    )


def _refuse_unreadable(path: Path, blocks: tuple[HeaderBlock, ...]) -> None:
    """Raises InputError at once for a block that nothing on this machine can decode."""
    for coder in dict.fromkeys(coder for block in blocks for coder in block.coders):
        if coder.method == AES:
            raise InputError(f"{path} is encrypted; unpack it with its password and pack it again without one.")
        if coder.window > DICTIONARY_LIMIT:
            raise InputError(
                f"{path} needs a dictionary of {coder.window:,} bytes of memory, over {DICTIONARY_LIMIT:,}; "
                "pack it again with a smaller one."
            )
    obstacle = next(filter(None, map(find_obstacle, blocks)), None)
    if obstacle and not find_program():
        raise _unreadable(path, obstacle)
