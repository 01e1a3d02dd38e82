"""Parses the header of a 7z archive: its members, the solid blocks that contain them, and their compression."""

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from quaestor.base.errors import InputError

HEADER_LIMIT = 64 * 1024 * 1024
MEMBER_LIMIT = 100_000
CODER_LIMIT = 8
PART_LIMIT = 1_000

END, HEADER, ARCHIVE_PROPERTIES, MAIN_STREAMS, FILES = 0x00, 0x01, 0x02, 0x04, 0x05
PACK_INFO, UNPACK_INFO, SUBSTREAMS_INFO, SIZES, DIGESTS, FOLDERS = 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B
UNPACK_SIZES, SUBSTREAM_COUNTS, EMPTY_STREAMS, EMPTY_FILES, ANTI_FILES = 0x0C, 0x0D, 0x0E, 0x0F, 0x10
NAMES, ENCODED_HEADER = 0x11, 0x17

COPY, DELTA, LZMA, LZMA2 = b"\x00", b"\x03", b"\x03\x01\x01", b"\x21"
DEFLATE, BZIP2, PPMD, AES = b"\x04\x01\x08", b"\x04\x02\x02", b"\x03\x04\x01", b"\x06\xf1\x07\x01"
BCJ_X86 = (b"\x04", b"\x03\x03\x01\x03")
METHOD_NAMES = {PPMD: "PPMd", b"\x03\x03\x01\x1b": "BCJ2", b"\x04\x01\x09": "Deflate64"}


@dataclass(frozen=True)
class Member:
    """One file inside an archive."""

    name: str
    size: int


@dataclass(frozen=True)
class Coder:
    """One step of a block's compression: its method, the method's settings and the size of its decoded output."""

    method: bytes
    settings: bytes
    size: int

    @property
    def window(self) -> int:
        """The size of the dictionary that the method declares, in bytes."""
        if self.method in (LZMA, PPMD):
            return int.from_bytes(self.settings[1:5], "little")
        if self.method == LZMA2 and self.settings:
            # Even values are powers of two, odd ones are half-way between.
            return (2 | self.settings[0] & 1) << (min(self.settings[0], 40) // 2 + 11)
        return 0


@dataclass(frozen=True)
class HeaderBlock:
    """One solid block: a range of the file that can only be decoded from its beginning."""

    coders: tuple[Coder, ...]
    is_chain: bool
    """Whether the coders are in decoding order, each feeding the next."""
    offset: int
    packed_size: int
    size: int
    digest: int | None


@dataclass(frozen=True)
class ArchiveEntry:
    """A member with the number of its block, its offset there, and its checksum."""

    member: Member
    block: int
    start: int
    digest: int | None


@dataclass(frozen=True)
class ArchiveLayout:
    """The contents of a header."""

    blocks: tuple[HeaderBlock, ...]
    entries: tuple[ArchiveEntry, ...]


class HeaderFields:
    """Reads the fields of a header in order, and never past its end."""

    def __init__(self, data: bytes, archive: Path) -> None:
        self._data = data
        self._archive = archive
        self._position = 0
        self._parts = 0

    def build_error(self, problem: str) -> InputError:
        return InputError(f"{self._archive} has a broken 7z header ({problem}); get the archive again.")

    def read_bytes(self, count: int) -> bytes:
        if count > len(self._data) - self._position:
            raise self.build_error("it ends too early")
        self._position += count
        return self._data[self._position - count : self._position]

    def read_byte(self) -> int:
        return self.read_bytes(1)[0]

    def read_number(self) -> int:
        """Reads a number in the 7z encoding: the leading ones of the first byte count the bytes that follow."""
        first = self.read_byte()
        value = 0
        for index in range(8):
            mask = 0x80 >> index
            if not first & mask:
                return value | (first & (mask - 1)) << (8 * index)
            value |= self.read_byte() << (8 * index)
        return value

    def read_count(self, limit: int, what: str) -> int:
        count = self.read_number()
        if count > limit:
            raise self.build_error(f"it claims {count:,} {what}, more than {limit:,}")
        return count

    def expect(self, kind: int, what: str) -> None:
        if self.read_byte() != kind:
            raise self.build_error(f"{what} missing")

    def read_part(self) -> "HeaderFields":
        """Reads a part that starts with its own length, so that unknown parts can be skipped."""
        self._parts += 1
        if self._parts > PART_LIMIT:
            raise self.build_error(f"it has more than {PART_LIMIT:,} parts")
        return HeaderFields(self.read_bytes(self.read_number()), self._archive)

    def read_rest(self) -> bytes:
        return self.read_bytes(len(self._data) - self._position)

    def read_flags(self, count: int) -> list[bool]:
        packed = self.read_bytes((count + 7) // 8)
        return [bool(packed[index // 8] & (0x80 >> index % 8)) for index in range(count)]

    def read_digests(self, count: int) -> list[int | None]:
        defined = [True] * count if self.read_byte() else self.read_flags(count)
        return [int.from_bytes(self.read_bytes(4), "little") if known else None for known in defined]

    def require_inline(self) -> None:
        """Refuses lists in another stream, which no known program writes."""
        if self.read_byte():
            raise self.build_error("a list lies outside of the header")


# The block of a stream, its offset in the block, its size and its checksum.
_Stream = tuple[int, int, int, int | None]


@dataclass(frozen=True)
class _Folder:
    """A block as the header first describes it, before sizes and offsets are known."""

    coders: tuple[tuple[bytes, bytes], ...]
    chain: tuple[int, ...]
    """The decoding order of the coders, or nothing if they do not form a simple chain."""
    final: int
    packed_streams: int


def parse_header(data: bytes, archive: Path) -> ArchiveLayout:
    """Parses an uncompressed header."""
    fields = HeaderFields(data, archive)
    fields.expect(HEADER, "its beginning is")
    kind = fields.read_byte()
    if kind == ARCHIVE_PROPERTIES:
        while fields.read_byte() != END:
            fields.read_part()
        kind = fields.read_byte()
    blocks: tuple[HeaderBlock, ...] = ()
    streams: list[_Stream] = []
    if kind == MAIN_STREAMS:
        blocks, streams = _parse_streams(fields)
        kind = fields.read_byte()
    if kind == END:
        return ArchiveLayout(blocks, ())
    if kind != FILES:
        raise fields.build_error(f"its part {kind:#04x} is unknown")
    return ArchiveLayout(blocks, _parse_files(fields, streams))


def parse_encoded_header(data: bytes, archive: Path) -> HeaderBlock:
    """Parses the description of a packed header and returns the block that contains the real header."""
    fields = HeaderFields(data, archive)
    fields.expect(ENCODED_HEADER, "its beginning is")
    blocks, _ = _parse_streams(fields)
    if len(blocks) != 1:
        raise fields.build_error("a packed header must be one block")
    if blocks[0].size > HEADER_LIMIT:
        raise fields.build_error(f"it unpacks to more than {HEADER_LIMIT:,} bytes")
    return blocks[0]


def _parse_streams(fields: HeaderFields) -> tuple[tuple[HeaderBlock, ...], list[_Stream]]:
    """Returns the blocks, and for each stream in them its block, offset, size and checksum."""
    offset, packed_sizes = 0, list[int]()
    kind = fields.read_byte()
    if kind == PACK_INFO:
        offset, packed_sizes = _parse_packed_sizes(fields)
        kind = fields.read_byte()
    blocks: tuple[HeaderBlock, ...] = ()
    if kind == UNPACK_INFO:
        blocks = _parse_blocks(fields, offset, packed_sizes)
        kind = fields.read_byte()
    streams = [(index, 0, block.size, block.digest) for index, block in enumerate(blocks)]
    if kind == SUBSTREAMS_INFO:
        streams = _parse_substreams(fields, blocks)
        kind = fields.read_byte()
    if kind != END:
        raise fields.build_error("the end of the streams is missing")
    return blocks, streams


def _parse_packed_sizes(fields: HeaderFields) -> tuple[int, list[int]]:
    offset = fields.read_number()
    count = fields.read_count(MEMBER_LIMIT * 4, "packed streams")
    sizes = list[int]()
    kind = fields.read_byte()
    if kind == SIZES:
        sizes = [fields.read_number() for _ in range(count)]
        kind = fields.read_byte()
    if kind == DIGESTS:
        fields.read_digests(count)
        kind = fields.read_byte()
    if kind != END or len(sizes) != count:
        raise fields.build_error("the packed streams are described wrongly")
    return offset, sizes


def _parse_blocks(fields: HeaderFields, offset: int, packed_sizes: list[int]) -> tuple[HeaderBlock, ...]:
    fields.expect(FOLDERS, "the list of blocks is")
    count = fields.read_count(MEMBER_LIMIT, "blocks")
    fields.require_inline()
    folders = [_parse_folder(fields) for _ in range(count)]
    fields.expect(UNPACK_SIZES, "the list of unpacked sizes is")
    sizes = [[fields.read_number() for _ in folder.coders] for folder in folders]
    digests: list[int | None] = [None] * count
    kind = fields.read_byte()
    if kind == DIGESTS:
        digests = fields.read_digests(count)
        kind = fields.read_byte()
    if kind != END:
        raise fields.build_error("the blocks are described wrongly")
    blocks = []
    first = 0
    for folder, outputs, digest in zip(folders, sizes, digests, strict=True):
        packed = packed_sizes[first : first + folder.packed_streams]
        if len(packed) != folder.packed_streams:
            raise fields.build_error("a block has no packed stream")
        order = folder.chain or range(len(folder.coders))
        coders = tuple(Coder(*folder.coders[index], outputs[index]) for index in order)
        size = outputs[folder.final]
        blocks.append(HeaderBlock(coders, bool(folder.chain), offset, sum(packed), size, digest))
        offset += sum(packed)
        first += folder.packed_streams
    return tuple(blocks)


def _parse_folder(fields: HeaderFields) -> _Folder:
    coders = []
    inputs = 0
    for _ in range(fields.read_count(CODER_LIMIT, "coders in a block")):
        flags = fields.read_byte()
        if flags & 0xC0:
            raise fields.build_error("a coder is of an unknown kind")
        method = fields.read_bytes(flags & 0x0F)
        coder_inputs = 1
        if flags & 0x10:
            coder_inputs = fields.read_count(CODER_LIMIT, "inputs of a coder")
            if fields.read_number() != 1:
                raise fields.build_error("a coder has more than one output")
        settings = fields.read_bytes(fields.read_number()) if flags & 0x20 else b""
        coders.append((method, settings))
        inputs += coder_inputs
    joints = len(coders) - 1
    if not coders or inputs <= joints:
        raise fields.build_error("a block has no coder or no input")
    fed_by = {fields.read_count(inputs - 1, "inputs"): fields.read_count(joints, "outputs") for _ in range(joints)}
    free = set(range(len(coders))) - set(fed_by.values())
    if len(fed_by) != joints or len(free) != 1:
        raise fields.build_error("the coders of a block are joined wrongly")
    packed_streams = inputs - joints
    if packed_streams > 1:
        for _ in range(packed_streams):
            fields.read_count(inputs - 1, "inputs")
    final = free.pop()
    chain = _chain(fed_by, final) if inputs == len(coders) else ()
    return _Folder(tuple(coders), chain, final, packed_streams)


def _chain(fed_by: dict[int, int], final: int) -> tuple[int, ...]:
    """Returns the decoding order of coders with one input and output; nothing if some are not connected."""
    order = [final]
    # No output is used twice and the last one is not used at all, so this loop visits no coder again.
    while order[-1] in fed_by:
        order.append(fed_by[order[-1]])
    return tuple(reversed(order)) if len(order) == len(fed_by) + 1 else ()


def _parse_substreams(fields: HeaderFields, blocks: tuple[HeaderBlock, ...]) -> list[_Stream]:
    counts = [1] * len(blocks)
    kind = fields.read_byte()
    if kind == SUBSTREAM_COUNTS:
        left = MEMBER_LIMIT
        for index in range(len(blocks)):
            counts[index] = fields.read_count(left, "members")
            left -= counts[index]
        kind = fields.read_byte()
    spans = []
    has_sizes = kind == SIZES
    for index, (block, count) in enumerate(zip(blocks, counts, strict=True)):
        start = 0
        for position in range(count):
            is_last = position == count - 1
            if not is_last and not has_sizes:
                raise fields.build_error("the sizes of the members are missing")
            size = block.size - start if is_last else fields.read_number()
            if size < 0 or size > block.size - start:
                raise fields.build_error("the members are larger than their block")
            spans.append((index, start, size))
            start += size
    if has_sizes:
        kind = fields.read_byte()
    known = [blocks[index].digest if counts[index] == 1 else None for index, _, _ in spans]
    if kind == DIGESTS:
        unknown = [index for index, digest in enumerate(known) if digest is None]
        for index, digest in zip(unknown, fields.read_digests(len(unknown)), strict=True):
            known[index] = digest
        kind = fields.read_byte()
    if kind != END:
        raise fields.build_error("the members are described wrongly")
    return [(*span, digest) for span, digest in zip(spans, known, strict=True)]


def _parse_files(fields: HeaderFields, streams: list[_Stream]) -> tuple[ArchiveEntry, ...]:
    count = fields.read_count(MEMBER_LIMIT, "members")
    names: list[str] = []
    without_stream = [False] * count
    empty_files: list[bool] = []
    anti_files: list[bool] = []
    while (kind := fields.read_byte()) != END:
        part = fields.read_part()
        if kind == EMPTY_STREAMS:
            without_stream = part.read_flags(count)
        elif kind == EMPTY_FILES:
            empty_files = part.read_flags(sum(without_stream))
        elif kind == ANTI_FILES:
            anti_files = part.read_flags(sum(without_stream))
        elif kind == NAMES:
            names = _parse_names(part, count)
    if len(names) != count:
        raise fields.build_error("the names are missing")
    if count - sum(without_stream) != len(streams):
        raise fields.build_error("it does not name as many members as it holds")
    entries = []
    with_stream = iter(streams)
    # A member without a stream is a folder, unless it is marked as an empty file and not as a deletion.
    is_file = iter(empty and not anti for empty, anti in zip_longest(empty_files, anti_files, fillvalue=False))
    for name, is_empty in zip(names, without_stream, strict=True):
        if not is_empty:
            block, start, size, digest = next(with_stream)
            entries.append(ArchiveEntry(Member(name, size), block, start, digest))
        elif next(is_file, False):
            entries.append(ArchiveEntry(Member(name, 0), -1, 0, None))
    return tuple(entries)


def _parse_names(part: HeaderFields, count: int) -> list[str]:
    part.require_inline()
    # Half a surrogate pair is allowed in Windows file names, but cannot be printed or stored.
    names = part.read_rest().decode("utf-16-le", errors="replace").split("\0", count)
    if len(names) != count + 1 or names[-1]:
        raise part.build_error("it does not name as many members as it holds")
    return names[:-1]
