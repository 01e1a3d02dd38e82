"""Selects the rows of a chunk by tag or by id, without parsing the others."""

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
_HEADER_BYTES = 64
"""How much of a row's beginning is read at once; rows too near the end of the data go through the XML parser."""


@dataclass
class PostScan:
    """What a chunk of Posts contains for a selection: the questions with the tags, and the positions of all answers."""

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


def scan_posts(chunk: Chunk, tag_filter: TagFilter) -> PostScan:
    """Scans the form, type and tags (or parent) of every row, and parses only unusual ones."""
    rows = _Rows.scan(chunk)
    chunk = rows.chunk
    scan = PostScan(rows=len(rows.starts), broken=rows.find_stray(POSTS), chunk=chunk)
    far = np.flatnonzero(rows.ends <= len(chunk.data) - xml_scan.PADDING - _HEADER_BYTES)
    header = _Header.read(rows.buffer, rows.starts[far])
    usual = header.plain & _is_closed(rows.buffer, rows.ends[far])
    answers = usual & (header.kind == ANSWER)
    scan.parents = header.parent[answers]
    scan.answer_starts, scan.answer_ends = rows.starts[far][answers], rows.ends[far][answers]
    questions = np.flatnonzero(usual & (header.kind == QUESTION))
    ids, starts, ends = header.id[questions], rows.starts[far][questions], rows.ends[far][questions]
    tagged, odd = _find_tagged(chunk.data, starts, ends, tag_filter)
    usual[questions[odd]] = False
    left = ~tagged & ~odd
    scan.question_count = len(ids) - int(odd.sum())
    scan.ids = ids[tagged].tolist()
    scan.questions = _pairs(starts[tagged], ends[tagged])
    scan.left_ids, scan.left_starts, scan.left_ends = ids[left], starts[left], ends[left]
    plain = np.zeros(len(rows.starts), dtype=bool)
    plain[far] = usual
    for start, end in _pairs(rows.starts[~plain], rows.ends[~plain]):
        _scan_carefully(scan, chunk.data[start:end], start, end, tag_filter)
    return scan


def _pairs(starts: Positions, ends: Positions) -> list[tuple[int, int]]:
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


@dataclass(frozen=True)
class _Rows:
    """A chunk as an array, the positions of its rows, and those of the frames that are not rows."""

    chunk: Chunk
    buffer: Bytes
    starts: Positions
    ends: Positions
    others: list[tuple[int, int]]

    @classmethod
    def scan(cls, chunk: Chunk) -> _Rows:
        buffer = np.frombuffer(chunk.data, dtype=np.uint8)
        starts = xml_scan.find_frames(buffer[chunk.begin :], chunk.size) + chunk.begin
        ends = np.append(starts[1:], chunk.end)
        # The last frames may be too near the end to read eight bytes.
        whole = starts <= len(buffer) - 8
        is_row = np.zeros(len(starts), dtype=bool)
        is_row[whole] = (xml_scan.read_eight_bytes(buffer, starts[whole]) & _FOUR_BYTES) == _ROW
        others = _pairs(starts[~is_row], ends[~is_row])
        if any(chunk.data[start : start + 4] == b"<!--" for start, _ in others):
            text = chunk.text()
            if (blanked := xml_scan.blank_comments(text)) != text:
                return cls.scan(replace(Chunk.from_text(chunk.offset, blanked), rejects=chunk.rejects))
        return cls(chunk, buffer, starts[is_row], ends[is_row], others)

    def find_stray(self, table: DumpTable) -> list[tuple[int, int]]:
        """Returns the positions of frames that do not belong in a table."""
        return [(start, end) for start, end in self.others if describe_markup(self.chunk.data[start:end], table)]


@dataclass(frozen=True)
class _Header:
    """The first attributes of rows of the usual form: Id, PostTypeId and, of an answer, ParentId."""

    id: Ids
    kind: Ids
    parent: Ids
    plain: Flags

    @classmethod
    def read(cls, buffer: Bytes, starts: Positions) -> _Header:
        plain = xml_scan.starts_with(buffer, starts, _ROW_ID)
        number, at = _read_numbers(buffer, starts + len(_ROW_ID))
        plain &= xml_scan.starts_with(buffer, at, _TYPE)
        kind = buffer[at + len(_TYPE)].astype(np.int64) - ord("0")
        at = at + len(_TYPE) + 1
        plain &= (buffer[at] == xml_scan.QUOTE) & (kind >= 0) & (kind <= 9)
        answer = np.flatnonzero(plain & (kind == ANSWER))
        at = at[answer] + 1
        has_parent = xml_scan.starts_with(buffer, at, _PARENT)
        parent = np.full(len(starts), -1, dtype=np.int64)
        parent[answer], close = _read_numbers(buffer, at + len(_PARENT))
        plain[answer] = has_parent & (buffer[close] == xml_scan.QUOTE)
        return cls(number, kind, parent, plain)


def _read_numbers(buffer: Bytes, at: Positions) -> tuple[Ids, Positions]:
    """Returns the number at each position and the position after it."""
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
        number[longer], end[longer] = _read_more_digits(buffer, number[longer], end[longer])
    return number, end


def _read_more_digits(buffer: Bytes, number: Ids, at: Positions) -> tuple[Ids, Positions]:
    """Extends the numbers by the digits that follow."""
    going = np.ones(len(at), dtype=bool)
    for _ in range(_DIGITS - 8):
        digit = buffer[at] - np.uint8(ord("0"))  # wraps below "0", so one comparison is enough
        going &= digit <= 9
        number[going] = number[going] * 10 + digit[going]
        at = at + going
    return number, at


def _is_closed(buffer: Bytes, ends: Positions) -> Flags:
    """Flags the rows with `/>` in their last eight bytes."""
    tail = xml_scan.read_eight_bytes(buffer, ends - 8)
    flags = np.zeros(len(ends), dtype=bool)
    for offset in range(7):
        flags |= (tail >> np.uint64(8 * offset)) & _TWO_BYTES == _CLOSED
    return flags


@dataclass(frozen=True)
class TagFilter:
    """Tags to select: a pattern for the Tags attribute, and plain texts, one of which every match contains."""

    pattern: re.Pattern[bytes]
    cores: tuple[bytes, ...]

    def find_rows(self, text: bytes, limits: npt.NDArray[np.int32]) -> set[int]:
        """Returns the rows of a text, split at the limits, that match.

        A few plain texts are searched first: that is four times as fast as the pattern alone.
        """
        if len(self.cores) > _MANY:
            hits = [match.start() for match in self.pattern.finditer(text)]
            return set((np.searchsorted(limits, hits, side="right") - 1).tolist())
        positions: list[int] = []
        for core in self.cores:
            at = text.find(core)
            while at >= 0:
                positions.append(at)
                at = text.find(core, at + len(core))
        candidates = set((np.searchsorted(limits, positions, side="right") - 1).tolist()) if positions else set()
        return {row for row in candidates if self.pattern.search(text, limits[row], limits[row + 1])}


def build_tag_filter(names: tuple[str, ...]) -> TagFilter:
    """Builds a filter from tags, in which `*` matches anything, for both syntaxes of dumps."""
    lower = [name.lower() for name in names]
    either = "|".join('[^&|"]*'.join(re.escape(part) for part in name.split("*")) for name in lower)
    earlier = r'(?:[^"&|]*(?:&gt;&lt;|\|))*?'
    pattern = re.compile(rf' Tags="(?:&lt;|\|){earlier}(?:{either})(?:&gt;|\|)'.encode())
    cores = {max(name.split("*"), key=len).encode() or _TAGS for name in lower}
    return TagFilter(pattern, tuple(sorted(cores)))


def _find_tagged(data: Data, starts: Positions, ends: Positions, tag_filter: TagFilter) -> tuple[Flags, Flags]:
    """Flags the questions with one of the tags, and those with unusual tags, which must be parsed.

    The Tags attribute is near the end of a row, so the tails of all rows are concatenated and searched at once.
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
    flags[list(tag_filter.find_rows(text, limits))] = True
    # A tail that begins just after the space before Tags would match with a space at the end of the previous row.
    cut = (
        xml_scan.read_eight_bytes(np.frombuffer(data, dtype=np.uint8), edges[0::2].astype(np.int64)) & _SIX_BYTES
        == _CUT_TAGS
    )
    for row in _find_unusual_tags(text, limits) | set(np.flatnonzero(cut).tolist()):
        tags = _read_raw_tags(data, starts[row], ends[row])
        odd[row] = tags is None or not tags.startswith((b"|", b"&lt;")) or b"&#" in tags
        flags[row] = not odd[row] and tag_filter.pattern.search(_TAGS + (tags or b"") + b'"') is not None
    return flags, odd


def _find_unusual_tags(text: bytes, limits: npt.NDArray[np.int32]) -> set[int]:
    """Returns the rows whose tail has no Tags of the usual form, or Tags with a character reference."""
    letters = np.frombuffer(text, dtype=np.uint8)
    at = np.flatnonzero(letters[1:] == ord("#"))
    at = at[letters[at] == xml_scan.AMPERSAND]
    references = zip(_find_row(limits, at).tolist(), at.tolist(), strict=True)
    rows = {row for row, position in references if text.find(_TAGS, limits[row], position) >= 0}
    usual = np.zeros(len(limits) - 1, dtype=bool)
    # The last byte determines the row: a match that begins in one row and ends in the next belongs to the next.
    usual[_find_row(limits, _find_usual_tags(letters) + 7)] = True
    return rows | set(np.flatnonzero(~usual).tolist())


def _find_row(limits: npt.NDArray[np.int32], at: Positions) -> Positions:
    return np.searchsorted(limits, at, side="right") - 1


def _find_usual_tags(letters: Bytes) -> Positions:
    """Returns the positions of ` Tags="|` and ` Tags="&lt;`."""
    at = np.flatnonzero(letters[1:-12] == ord("T"))
    start = xml_scan.read_eight_bytes(letters, at)
    new, old = at[start == _NEW_TAGS], at[start == _OLD_TAGS]
    old = old[xml_scan.read_eight_bytes(letters, old + 7) & _FOUR_BYTES == _LESS]
    return np.concatenate([new, old])


def _read_raw_tags(data: Data, start: int, end: int) -> bytes | None:
    """Returns the Tags attribute of a row as written between double quotes."""
    at = data.rfind(_TAGS, start, end)
    return None if at < 0 else data[at + len(_TAGS) : end].partition(b'"')[0]


def _scan_carefully(scan: PostScan, raw: bytes, start: int, end: int, tag_filter: TagFilter) -> None:
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
        if tag_filter.pattern.search(f' Tags="|{"|".join(split_tags(row.get("Tags", "")))}|'.encode()):
            scan.questions.append((start, end))
            scan.ids.append(number)


def scan_keyed(chunk: Chunk, table: DumpTable, attribute: str, ids: Ids) -> KeyedScan:
    """Selects the rows whose attribute is one of the (sorted) ids, and those that cannot be parsed."""
    rows = _Rows.scan(chunk)
    data = rows.chunk.data
    scan = KeyedScan(chosen=rows.find_stray(table), rows=len(rows.starts))
    # Only quoted attributes may precede the attribute, so that text inside a value never matches.
    label = re.compile(rf'<row(?: [A-Za-z]+="[^"]*")*? {attribute}="(-?\d{{1,18}})"'.encode())
    keys = np.zeros(len(rows.starts), dtype=np.int64)
    plain = np.zeros(len(rows.starts), dtype=bool)
    for number, (start, end) in enumerate(_pairs(rows.starts, rows.ends)):
        match = label.match(data, start, end)
        if match:
            keys[number], plain[number] = int(match[1]), True
        else:
            keys[number], plain[number] = _read_key(data[start:end], attribute)
    selected = is_member(keys, ids) & plain | (~plain & (keys < 0))
    scan.chosen = sorted(scan.chosen + _pairs(rows.starts[selected], rows.ends[selected]))
    scan.chunk = rows.chunk
    return scan


@dataclass
class KeyedScan:
    """The selected rows of a chunk, and how many rows it has."""

    chosen: list[tuple[int, int]]
    rows: int
    chunk: Chunk = field(default_factory=lambda: Chunk.from_text(0, b""))


def _read_key(raw: bytes, attribute: str) -> tuple[int, bool]:
    """Returns the key of an unusual row and whether it has one; (-1, False) if the row cannot be parsed."""
    try:
        text = read_attributes(raw).get(attribute, "")
        return (int(text), True) if text and abs(int(text)) < 2**63 else (0, False)
    except (BadRow, ValueError):
        return -1, False


def is_member(values: Ids, ids: Ids) -> Flags:
    """Flags the values that are among the sorted ids."""
    if not len(ids):
        return np.zeros(len(values), dtype=bool)
    index = np.minimum(np.searchsorted(ids, values), len(ids) - 1)
    flags: Flags = ids[index] == values
    return flags
