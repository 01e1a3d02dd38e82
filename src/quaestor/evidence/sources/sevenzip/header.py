"""The header of a 7z archive: its members, the solid blocks they lie in, and how those are packed."""

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
NAMES_OF_METHODS = {PPMD: "PPMd", b"\x03\x03\x01\x1b": "BCJ2", b"\x04\x01\x09": "Deflate64"}


@dataclass(frozen=True)
class Member:
    """One file inside an archive."""

    name: str
    size: int


@dataclass(frozen=True)
class Coder:
    """One step of a block's packing: its method, the method's settings and the bytes it gives when undone."""

    method: bytes
    settings: bytes
    size: int

    @property
    def window(self) -> int:
        """The bytes of memory that the method says it needs to look back into."""
        if self.method in (LZMA, PPMD):
            return int.from_bytes(self.settings[1:5], "little")
        if self.method == LZMA2 and self.settings:
            # Even settings are powers of two, odd ones lie half-way between.
            return (2 | self.settings[0] & 1) << (min(self.settings[0], 40) // 2 + 11)
        return 0


@dataclass(frozen=True)
class HeaderBlock:
    """One solid block: a stretch of the file that only decodes from its beginning."""

    coders: tuple[Coder, ...]
    is_chain: bool
    """True when the coders stand in the order that undoes them, each feeding the next."""
    offset: int
    packed_size: int
    size: int
    digest: int | None


@dataclass(frozen=True)
class ArchiveEntry:
    """A member with its place: the number of its block, the first byte in it, and its checksum."""

    member: Member
    block: int
    start: int
    digest: int | None


@dataclass(frozen=True)
class ArchiveLayout:
    """All that a header says."""

    blocks: tuple[HeaderBlock, ...]
    entries: tuple[ArchiveEntry, ...]


class HeaderFields:
    """Reads the fields of a header one after the other, and never past its end."""

    def __init__(self, data: bytes, archive: Path) -> None:
        self._data = data
        self._archive = archive
        self._position = 0
        self._parts = 0

    def broken(self, what: str) -> InputError:
        return InputError(f"{self._archive} has a broken 7z header ({what}); get the archive again.")

    def take(self, count: int) -> bytes:
        if count > len(self._data) - self._position:
            raise self.broken("it ends too early")
        self._position += count
        return self._data[self._position - count : self._position]

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self) -> int:
        """A number in 7z's own form: the leading ones of the first byte count the bytes that follow."""
        first = self.byte()
        value = 0
        for index in range(8):
            mask = 0x80 >> index
            if not first & mask:
                return value | (first & (mask - 1)) << (8 * index)
            value |= self.byte() << (8 * index)
        return value

    def count(self, limit: int, what: str) -> int:
        count = self.number()
        if count > limit:
            raise self.broken(f"it claims {count:,} {what}, more than {limit:,}")
        return count

    def expect(self, kind: int, what: str) -> None:
        if self.byte() != kind:
            raise self.broken(f"{what} missing")

    def part(self) -> "HeaderFields":
        """The fields of a part that says its own length, so that an unknown one is stepped over."""
        self._parts += 1
        if self._parts > PART_LIMIT:
            raise self.broken(f"it has more than {PART_LIMIT:,} parts")
        return HeaderFields(self.take(self.number()), self._archive)

    def rest(self) -> bytes:
        return self.take(len(self._data) - self._position)

    def flags(self, count: int) -> list[bool]:
        packed = self.take((count + 7) // 8)
        return [bool(packed[index // 8] & (0x80 >> index % 8)) for index in range(count)]

    def digests(self, count: int) -> list[int | None]:
        defined = [True] * count if self.byte() else self.flags(count)
        return [int.from_bytes(self.take(4), "little") if known else None for known in defined]

    def inline(self) -> None:
        """Refuses lists that are kept in another stream, which no known program writes."""
        if self.byte():
            raise self.broken("a list lies outside of the header")


# The block of a stream, its first byte in there, its size and its checksum.
_Stream = tuple[int, int, int, int | None]


@dataclass(frozen=True)
class _Folder:
    """A block as the header first describes it, before sizes and places are known."""

    coders: tuple[tuple[bytes, bytes], ...]
    chain: tuple[int, ...]
    """The order that undoes the coders, or nothing when they do not form a simple chain."""
    final: int
    packed_streams: int


def parse_header(data: bytes, archive: Path) -> ArchiveLayout:
    """Reads a plain header."""
    fields = HeaderFields(data, archive)
    fields.expect(HEADER, "its beginning is")
    kind = fields.byte()
    if kind == ARCHIVE_PROPERTIES:
        while fields.byte() != END:
            fields.part()
        kind = fields.byte()
    blocks: tuple[HeaderBlock, ...] = ()
    streams: list[_Stream] = []
    if kind == MAIN_STREAMS:
        blocks, streams = _parse_streams(fields)
        kind = fields.byte()
    if kind == END:
        return ArchiveLayout(blocks, ())
    if kind != FILES:
        raise fields.broken(f"its part {kind:#04x} is unknown")
    return ArchiveLayout(blocks, _parse_files(fields, streams))


def parse_encoded_header(data: bytes, archive: Path) -> HeaderBlock:
    """Reads the description of a packed header and gives the block that holds the next header."""
    fields = HeaderFields(data, archive)
    fields.expect(ENCODED_HEADER, "its beginning is")
    blocks, _ = _parse_streams(fields)
    if len(blocks) != 1:
        raise fields.broken("a packed header must be one block")
    if blocks[0].size > HEADER_LIMIT:
        raise fields.broken(f"it unpacks to more than {HEADER_LIMIT:,} bytes")
    return blocks[0]


def _parse_streams(fields: HeaderFields) -> tuple[tuple[HeaderBlock, ...], list[_Stream]]:
    """The blocks, and for each stream in them its block, first byte, size and checksum."""
    offset, packed_sizes = 0, list[int]()
    kind = fields.byte()
    if kind == PACK_INFO:
        offset, packed_sizes = _parse_packed_sizes(fields)
        kind = fields.byte()
    blocks: tuple[HeaderBlock, ...] = ()
    if kind == UNPACK_INFO:
        blocks = _parse_blocks(fields, offset, packed_sizes)
        kind = fields.byte()
    streams = [(index, 0, block.size, block.digest) for index, block in enumerate(blocks)]
    if kind == SUBSTREAMS_INFO:
        streams = _parse_substreams(fields, blocks)
        kind = fields.byte()
    if kind != END:
        raise fields.broken("the end of the streams is missing")
    return blocks, streams


def _parse_packed_sizes(fields: HeaderFields) -> tuple[int, list[int]]:
    offset = fields.number()
    count = fields.count(MEMBER_LIMIT * 4, "packed streams")
    sizes = list[int]()
    kind = fields.byte()
    if kind == SIZES:
        sizes = [fields.number() for _ in range(count)]
        kind = fields.byte()
    if kind == DIGESTS:
        fields.digests(count)
        kind = fields.byte()
    if kind != END or len(sizes) != count:
        raise fields.broken("the packed streams are described wrongly")
    return offset, sizes


def _parse_blocks(fields: HeaderFields, offset: int, packed_sizes: list[int]) -> tuple[HeaderBlock, ...]:
    fields.expect(FOLDERS, "the list of blocks is")
    count = fields.count(MEMBER_LIMIT, "blocks")
    fields.inline()
    folders = [_parse_folder(fields) for _ in range(count)]
    fields.expect(UNPACK_SIZES, "the list of unpacked sizes is")
    sizes = [[fields.number() for _ in folder.coders] for folder in folders]
    digests: list[int | None] = [None] * count
    kind = fields.byte()
    if kind == DIGESTS:
        digests = fields.digests(count)
        kind = fields.byte()
    if kind != END:
        raise fields.broken("the blocks are described wrongly")
    blocks = []
    first = 0
    for folder, outputs, digest in zip(folders, sizes, digests, strict=True):
        packed = packed_sizes[first : first + folder.packed_streams]
        if len(packed) != folder.packed_streams:
            raise fields.broken("a block has no packed stream")
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
    for _ in range(fields.count(CODER_LIMIT, "coders in a block")):
        flags = fields.byte()
        if flags & 0xC0:
            raise fields.broken("a coder is of an unknown kind")
        method = fields.take(flags & 0x0F)
        coder_inputs = 1
        if flags & 0x10:
            coder_inputs = fields.count(CODER_LIMIT, "inputs of a coder")
            if fields.number() != 1:
                raise fields.broken("a coder has more than one output")
        settings = fields.take(fields.number()) if flags & 0x20 else b""
        coders.append((method, settings))
        inputs += coder_inputs
    joints = len(coders) - 1
    if not coders or inputs <= joints:
        raise fields.broken("a block has no coder or no input")
    fed_by = {fields.count(inputs - 1, "inputs"): fields.count(joints, "outputs") for _ in range(joints)}
    free = set(range(len(coders))) - set(fed_by.values())
    if len(fed_by) != joints or len(free) != 1:
        raise fields.broken("the coders of a block are joined wrongly")
    packed_streams = inputs - joints
    if packed_streams > 1:
        for _ in range(packed_streams):
            fields.count(inputs - 1, "inputs")
    final = free.pop()
    chain = _chain(fed_by, final) if inputs == len(coders) else ()
    return _Folder(tuple(coders), chain, final, packed_streams)


def _chain(fed_by: dict[int, int], final: int) -> tuple[int, ...]:
    """The order that undoes one-in one-out coders, found from the last; nothing if some stand apart."""
    order = [final]
    # No output feeds twice and the last feeds none, so that this walk meets no coder again.
    while order[-1] in fed_by:
        order.append(fed_by[order[-1]])
    return tuple(reversed(order)) if len(order) == len(fed_by) + 1 else ()


def _parse_substreams(fields: HeaderFields, blocks: tuple[HeaderBlock, ...]) -> list[_Stream]:
    counts = [1] * len(blocks)
    kind = fields.byte()
    if kind == SUBSTREAM_COUNTS:
        left = MEMBER_LIMIT
        for index in range(len(blocks)):
            counts[index] = fields.count(left, "members")
            left -= counts[index]
        kind = fields.byte()
    spans = []
    has_sizes = kind == SIZES
    for index, (block, count) in enumerate(zip(blocks, counts, strict=True)):
        start = 0
        for place in range(count):
            is_last = place == count - 1
            if not is_last and not has_sizes:
                raise fields.broken("the sizes of the members are missing")
            size = block.size - start if is_last else fields.number()
            if size < 0 or size > block.size - start:
                raise fields.broken("the members are larger than their block")
            spans.append((index, start, size))
            start += size
    if has_sizes:
        kind = fields.byte()
    known = [blocks[index].digest if counts[index] == 1 else None for index, _, _ in spans]
    if kind == DIGESTS:
        unknown = [place for place, digest in enumerate(known) if digest is None]
        for place, digest in zip(unknown, fields.digests(len(unknown)), strict=True):
            known[place] = digest
        kind = fields.byte()
    if kind != END:
        raise fields.broken("the members are described wrongly")
    return [(*span, digest) for span, digest in zip(spans, known, strict=True)]


def _parse_files(fields: HeaderFields, streams: list[_Stream]) -> tuple[ArchiveEntry, ...]:
    count = fields.count(MEMBER_LIMIT, "members")
    names: list[str] = []
    without_stream = [False] * count
    empty_files: list[bool] = []
    anti_files: list[bool] = []
    while (kind := fields.byte()) != END:
        part = fields.part()
        if kind == EMPTY_STREAMS:
            without_stream = part.flags(count)
        elif kind == EMPTY_FILES:
            empty_files = part.flags(sum(without_stream))
        elif kind == ANTI_FILES:
            anti_files = part.flags(sum(without_stream))
        elif kind == NAMES:
            names = _parse_names(part, count)
    if len(names) != count:
        raise fields.broken("the names are missing")
    if count - sum(without_stream) != len(streams):
        raise fields.broken("it does not name as many members as it holds")
    entries = []
    with_stream = iter(streams)
    # What has no stream is a folder, unless it is marked as an empty file and not as a deletion.
    is_file = iter(mark and not anti for mark, anti in zip_longest(empty_files, anti_files, fillvalue=False))
    for name, is_empty in zip(names, without_stream, strict=True):
        if not is_empty:
            block, start, size, digest = next(with_stream)
            entries.append(ArchiveEntry(Member(name, size), block, start, digest))
        elif next(is_file, False):
            entries.append(ArchiveEntry(Member(name, 0), -1, 0, None))
    return tuple(entries)


def _parse_names(part: HeaderFields, count: int) -> list[str]:
    part.inline()
    # Half a surrogate pair is a legal file name on Windows; nothing downstream could print or store it.
    names = part.rest().decode("utf-16-le", errors="replace").split("\0", count)
    if len(names) != count + 1 or names[-1]:
        raise part.broken("it does not name as many members as it holds")
    return names[:-1]
