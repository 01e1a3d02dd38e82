"""Which rows of a chunk are wanted, found without parsing the others."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from quaestor.evidence.sources.stackexchange import arrow_buffers as arrow
from quaestor.evidence.sources.stackexchange import xml_scan
from quaestor.evidence.sources.stackexchange.chunks import Chunk, Data
from quaestor.evidence.sources.stackexchange.columns import describe_markup
from quaestor.evidence.sources.stackexchange.row_parser import BadRow, read_attributes, split_tags
from quaestor.evidence.sources.stackexchange.schema import ANSWER, POSTS, QUESTION, DumpTable
from quaestor.evidence.sources.stackexchange.xml_scan import Bytes, Flags, Positions

Ids = npt.NDArray[np.int64]

_ROW_ID = b'<row Id="'
_TYPE = b'" PostTypeId="'
_PARENT = b' ParentId="'
_TAGS = b' Tags="'
_ROW = np.uint64(int.from_bytes(xml_scan.ROW_START, "little"))
_FOUR_BYTES, _TWO_BYTES = np.uint64(0xFFFF_FFFF), np.uint64(0xFFFF)
_CLOSED = np.uint64(int.from_bytes(b"/>", "little"))
_NEW_TAGS, _OLD_TAGS = (np.uint64(int.from_bytes(_TAGS + first, "little")) for first in (b"|", b"&"))
_LESS = np.uint64(int.from_bytes(b"&lt;", "little"))
_SIX_BYTES, _CUT_TAGS = np.uint64(0xFFFF_FFFF_FFFF), np.uint64(int.from_bytes(_TAGS[1:], "little"))
_ZEROS = np.uint64(int.from_bytes(b"0" * 8, "little"))
_SEVEN_BITS, _TOP_BITS, _ABOVE_NINE = (np.uint64(int.from_bytes(bytes([byte]) * 8)) for byte in (0x7F, 0x80, 0x76))
_HALVES = [
    tuple(map(np.uint64, step))
    for step in ((10, 8, 0x00FF_00FF_00FF_00FF), (100, 16, 0x0000_FFFF_0000_FFFF), (10_000, 32, 0xFFFF_FFFF))
]
_DIGITS = 18
_TAIL = 176
_MANY = 8
_LOOK = 64
"""How far a row's header is read from its start; rows too near the end of the data are read carefully."""


@dataclass
class PostScan:
    """What one chunk of Posts holds for a selection: wanted questions, and where the answers are."""

    questions: list[tuple[int, int]] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    parents: Ids = field(default_factory=lambda: np.zeros(0, np.int64))
    answer_starts: Positions = field(default_factory=lambda: np.zeros(0, np.int64))
    answer_ends: Positions = field(default_factory=lambda: np.zeros(0, np.int64))
    broken: list[tuple[int, int]] = field(default_factory=list)
    left_ids: Ids = field(default_factory=lambda: np.zeros(0, np.int64))
    left_starts: Positions = field(default_factory=lambda: np.zeros(0, np.int64))
    left_ends: Positions = field(default_factory=lambda: np.zeros(0, np.int64))
    question_count: int = 0
    rows: int = 0
    chunk: Chunk = field(default_factory=lambda: Chunk.from_text(0, b""))


def scan_posts(chunk: Chunk, wanted: TagFilter) -> PostScan:
    """Every row is looked at for its shape, type and tags (or parent); none is parsed."""
    rows = _Rows.of(chunk)
    chunk = rows.chunk
    scan = PostScan(rows=len(rows.starts), broken=rows.stray(POSTS), chunk=chunk)
    far = np.flatnonzero(rows.ends <= len(chunk.data) - xml_scan.PADDING - _LOOK)
    header = _Header.read(rows.buffer, rows.starts[far])
    usual = header.plain & _ends_well(rows.buffer, rows.ends[far])
    answers = usual & (header.kind == ANSWER)
    scan.parents = header.parent[answers]
    scan.answer_starts, scan.answer_ends = rows.starts[far][answers], rows.ends[far][answers]
    asked = np.flatnonzero(usual & (header.kind == QUESTION))
    ids, starts, ends = header.id[asked], rows.starts[far][asked], rows.ends[far][asked]
    tagged, odd = _tagged(chunk.data, starts, ends, wanted)
    usual[asked[odd]] = False
    left = ~tagged & ~odd
    scan.question_count = len(ids) - int(odd.sum())
    scan.ids = ids[tagged].tolist()
    scan.questions = _pairs(starts[tagged], ends[tagged])
    scan.left_ids, scan.left_starts, scan.left_ends = ids[left], starts[left], ends[left]
    plain = np.zeros(len(rows.starts), dtype=bool)
    plain[far] = usual
    for start, end in _pairs(rows.starts[~plain], rows.ends[~plain]):
        _scan_carefully(scan, chunk.data[start:end], start, end, wanted)
    return scan


def _pairs(starts: Positions, ends: Positions) -> list[tuple[int, int]]:
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


@dataclass(frozen=True)
class _Rows:
    """A chunk as an array, where its rows begin and end in it, and where the frames that are no rows do."""

    chunk: Chunk
    buffer: Bytes
    starts: Positions
    ends: Positions
    others: list[tuple[int, int]]

    @classmethod
    def of(cls, chunk: Chunk) -> _Rows:
        buffer = np.frombuffer(chunk.data, dtype=np.uint8)
        starts = xml_scan.find_frames(buffer[chunk.begin :], chunk.size) + chunk.begin
        ends = np.append(starts[1:], chunk.end)
        # The last frames may lie too near the end for a look of eight bytes.
        whole = starts <= len(buffer) - 8
        is_row = np.zeros(len(starts), dtype=bool)
        is_row[whole] = (xml_scan.read_eight_bytes(buffer, starts[whole]) & _FOUR_BYTES) == _ROW
        others = _pairs(starts[~is_row], ends[~is_row])
        if any(chunk.data[start : start + 4] == b"<!--" for start, _ in others):
            text = chunk.text()
            if (blanked := xml_scan.blank_comments(text)) != text:
                return cls.of(replace(Chunk.from_text(chunk.offset, blanked), rejects=chunk.rejects))
        return cls(chunk, buffer, starts[is_row], ends[is_row], others)

    def stray(self, table: DumpTable) -> list[tuple[int, int]]:
        """Frames that have no place in a table."""
        return [(start, end) for start, end in self.others if describe_markup(self.chunk.data[start:end], table)]


@dataclass(frozen=True)
class _Header:
    """The first attributes of rows written the usual way: Id, PostTypeId and, of an answer, ParentId."""

    id: Ids
    kind: Ids
    parent: Ids
    plain: Flags

    @classmethod
    def read(cls, buffer: Bytes, starts: Positions) -> _Header:
        plain = xml_scan.starts_with(buffer, starts, _ROW_ID)
        number, at = _digits(buffer, starts + len(_ROW_ID))
        plain &= xml_scan.starts_with(buffer, at, _TYPE)
        kind = buffer[at + len(_TYPE)].astype(np.int64) - ord("0")
        at = at + len(_TYPE) + 1
        plain &= (buffer[at] == xml_scan.QUOTE) & (kind >= 0) & (kind <= 9)
        answer = np.flatnonzero(plain & (kind == ANSWER))
        at = at[answer] + 1
        has_parent = xml_scan.starts_with(buffer, at, _PARENT)
        parent = np.full(len(starts), -1, dtype=np.int64)
        parent[answer], close = _digits(buffer, at + len(_PARENT))
        plain[answer] = has_parent & (buffer[close] == xml_scan.QUOTE)
        return cls(number, kind, parent, plain)


def _digits(buffer: Bytes, at: Positions) -> tuple[Ids, Positions]:
    """The number that begins at each position and the position behind it."""
    value = xml_scan.read_eight_bytes(buffer, at) ^ _ZEROS
    other = ((value & _SEVEN_BITS) + _ABOVE_NINE | value) & _TOP_BITS
    count = np.bitwise_count((other & (~other + np.uint64(1))) - np.uint64(1)) >> np.uint8(3)
    # Eight digits, the first in the lowest byte, become four pairs, two fours, one number.
    value <<= ((8 - count) * 8).astype(np.uint64)
    for base, half, mask in _HALVES:
        value = (value * base + (value >> half)) & mask
    number, end = value.astype(np.int64), at + count
    longer = np.flatnonzero((count == 8) & (buffer[end] - np.uint8(ord("0")) <= 9))
    if len(longer):
        number[longer], end[longer] = _more_digits(buffer, number[longer], end[longer])
    return number, end


def _more_digits(buffer: Bytes, number: Ids, at: Positions) -> tuple[Ids, Positions]:
    """The numbers with the digits that follow."""
    going = np.ones(len(at), dtype=bool)
    for _ in range(_DIGITS - 8):
        digit = buffer[at] - np.uint8(ord("0"))  # wraps below "0", so one comparison is enough
        going &= digit <= 9
        number[going] = number[going] * 10 + digit[going]
        at = at + going
    return number, at


def _ends_well(buffer: Bytes, ends: Positions) -> Flags:
    """Whether `/>` stands in the last eight bytes of each row."""
    tail = xml_scan.read_eight_bytes(buffer, ends - 8)
    flags = np.zeros(len(ends), dtype=bool)
    for place in range(7):
        flags |= (tail >> np.uint64(8 * place)) & _TWO_BYTES == _CLOSED
    return flags


@dataclass(frozen=True)
class TagFilter:
    """Wanted tags: a pattern for the Tags attribute, and texts of which every match contains one."""

    pattern: re.Pattern[bytes]
    cores: tuple[bytes, ...]

    def find_rows(self, text: bytes, limits: npt.NDArray[np.int32]) -> set[int]:
        """The rows of a text, cut at the limits, whose tags are wanted.

        A few plain texts are looked for first: that is four times as fast as the pattern alone.
        """
        if len(self.cores) > _MANY:
            hits = [match.start() for match in self.pattern.finditer(text)]
            return set((np.searchsorted(limits, hits, side="right") - 1).tolist())
        places: list[int] = []
        for core in self.cores:
            at = text.find(core)
            while at >= 0:
                places.append(at)
                at = text.find(core, at + len(core))
        near = set((np.searchsorted(limits, places, side="right") - 1).tolist()) if places else set()
        return {row for row in near if self.pattern.search(text, limits[row], limits[row + 1])}


def build_tag_filter(names: tuple[str, ...]) -> TagFilter:
    """Tags as a person names them, `*` standing for anything, in both syntaxes of dumps."""
    lower = [name.lower() for name in names]
    either = "|".join('[^&|"]*'.join(re.escape(part) for part in name.split("*")) for name in lower)
    earlier = r'(?:[^"&|]*(?:&gt;&lt;|\|))*?'
    pattern = re.compile(rf' Tags="(?:&lt;|\|){earlier}(?:{either})(?:&gt;|\|)'.encode())
    cores = {max(name.split("*"), key=len).encode() or _TAGS for name in lower}
    return TagFilter(pattern, tuple(sorted(cores)))


def _tagged(data: Data, starts: Positions, ends: Positions, wanted: TagFilter) -> tuple[Flags, Flags]:
    """Which questions carry a wanted tag, and whose tags are written in an odd way and must be read with care.

    The Tags attribute stands near the end of a row, so the tails of all rows are put together and
    searched at once.
    """
    flags = np.zeros(len(starts), dtype=bool)
    odd = np.zeros(len(starts), dtype=bool)
    if not len(starts):
        return flags, odd
    edges = np.empty(2 * len(starts), dtype=np.int32)
    edges[0::2] = np.maximum(starts, ends - _TAIL)
    edges[1::2] = ends
    slots = arrow.slices(edges, pa.py_buffer(data))
    tails = slots.take(arrow.whole_numbers(np.arange(0, len(edges) - 1, 2)))
    limits = np.frombuffer(tails.buffers()[1], dtype=np.int32)
    text = tails.buffers()[2].to_pybytes()
    flags[list(wanted.find_rows(text, limits))] = True
    # A tail that was cut just behind the space before Tags finds that space at the end of the row before it.
    cut = (
        xml_scan.read_eight_bytes(np.frombuffer(data, dtype=np.uint8), edges[0::2].astype(np.int64)) & _SIX_BYTES
        == _CUT_TAGS
    )
    for row in _rows_to_look_at(text, limits) | set(np.flatnonzero(cut).tolist()):
        tags = _written_tags(data, starts[row], ends[row])
        odd[row] = tags is None or not tags.startswith((b"|", b"&lt;")) or b"&#" in tags
        flags[row] = not odd[row] and wanted.pattern.search(_TAGS + (tags or b"") + b'"') is not None
    return flags, odd


def _rows_to_look_at(text: bytes, limits: npt.NDArray[np.int32]) -> set[int]:
    """Rows whose tail has no Tags written the usual way, or a character reference inside them."""
    letters = np.frombuffer(text, dtype=np.uint8)
    at = np.flatnonzero(letters[1:] == ord("#"))
    at = at[letters[at] == xml_scan.AMPERSAND]
    referring = zip(_row_at(limits, at).tolist(), at.tolist(), strict=True)
    rows = {row for row, place in referring if text.find(_TAGS, limits[row], place) >= 0}
    usual = np.zeros(len(limits) - 1, dtype=bool)
    # The last byte tells the row: a match that begins in one row and ends in the next is the next one's.
    usual[_row_at(limits, _usual_tags(letters) + 7)] = True
    return rows | set(np.flatnonzero(~usual).tolist())


def _row_at(limits: npt.NDArray[np.int32], at: Positions) -> Positions:
    return np.searchsorted(limits, at, side="right") - 1


def _usual_tags(letters: Bytes) -> Positions:
    """Where ` Tags="|` or ` Tags="&lt;` stands."""
    at = np.flatnonzero(letters[1:-12] == ord("T"))
    start = xml_scan.read_eight_bytes(letters, at)
    new, old = at[start == _NEW_TAGS], at[start == _OLD_TAGS]
    old = old[xml_scan.read_eight_bytes(letters, old + 7) & _FOUR_BYTES == _LESS]
    return np.concatenate([new, old])


def _written_tags(data: Data, start: int, end: int) -> bytes | None:
    """The Tags attribute of a row as it is written between double quotes."""
    at = data.rfind(_TAGS, start, end)
    return None if at < 0 else data[at + len(_TAGS) : end].partition(b'"')[0]


def _scan_carefully(scan: PostScan, raw: bytes, start: int, end: int, wanted: TagFilter) -> None:
    try:
        row = read_attributes(raw)
        number, kind = int(row["Id"]), int(row.get("PostTypeId", "0"))
        parent = int(row.get("ParentId") or "-1")
        if max(abs(number), abs(parent)) >= 2**63:
            raise BadRow("a number too large")
    except (BadRow, KeyError, ValueError):
        scan.broken.append((start, end))
        return
    if kind == ANSWER:
        scan.parents = np.append(scan.parents, parent)
        scan.answer_starts = np.append(scan.answer_starts, start)
        scan.answer_ends = np.append(scan.answer_ends, end)
    elif kind == QUESTION:
        scan.question_count += 1
        if wanted.pattern.search(_as_written(split_tags(row.get("Tags", "")))):
            scan.questions.append((start, end))
            scan.ids.append(number)


def _as_written(tags: list[str]) -> bytes:
    return f' Tags="|{"|".join(tags)}|'.encode()


def scan_keyed(chunk: Chunk, table: DumpTable, attribute: str, ids: Ids) -> KeyedScan:
    """The rows whose attribute is one of the (sorted) ids, and those that cannot be read."""
    rows = _Rows.of(chunk)
    data = rows.chunk.data
    scan = KeyedScan(chosen=rows.stray(table), rows=len(rows.starts))
    # Only quoted attributes stand before the one looked for, so no text inside a value is taken for it.
    label = re.compile(rf'<row(?: [A-Za-z]+="[^"]*")*? {attribute}="(-?\d{{1,18}})"'.encode())
    keys = np.zeros(len(rows.starts), dtype=np.int64)
    plain = np.zeros(len(rows.starts), dtype=bool)
    for number, (start, end) in enumerate(_pairs(rows.starts, rows.ends)):
        match = label.match(data, start, end)
        if match:
            keys[number], plain[number] = int(match[1]), True
        else:
            keys[number], plain[number] = _key_of(data[start:end], attribute)
    wanted = is_member(keys, ids) & plain | (~plain & (keys < 0))
    scan.chosen = sorted(scan.chosen + _pairs(rows.starts[wanted], rows.ends[wanted]))
    scan.chunk = rows.chunk
    return scan


@dataclass
class KeyedScan:
    """What one chunk holds for a choice by ids."""

    chosen: list[tuple[int, int]]
    rows: int
    chunk: Chunk = field(default_factory=lambda: Chunk.from_text(0, b""))


def _key_of(raw: bytes, attribute: str) -> tuple[int, bool]:
    """The key of a row written in an unusual way and whether it has one; (-1, False) where it cannot be read."""
    try:
        text = read_attributes(raw).get(attribute, "")
        return (int(text), True) if text and abs(int(text)) < 2**63 else (0, False)
    except (BadRow, ValueError):
        return -1, False


def is_member(values: Ids, ids: Ids) -> Flags:
    """Which values are among the ids; the ids are sorted."""
    if not len(ids):
        return np.zeros(len(values), dtype=bool)
    place = np.minimum(np.searchsorted(ids, values), len(ids) - 1)
    flags: Flags = ids[place] == values
    return flags
