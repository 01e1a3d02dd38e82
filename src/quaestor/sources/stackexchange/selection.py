"""Which rows of a piece are wanted, found without parsing the others."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from quaestor.sources.stackexchange import arrow, frames
from quaestor.sources.stackexchange.frames import Bytes, Flags, Positions
from quaestor.sources.stackexchange.pieces import Data, Piece
from quaestor.sources.stackexchange.rows import BadRow, read_attributes, split_tags
from quaestor.sources.stackexchange.schema import ANSWER, QUESTION

Ids = npt.NDArray[np.int64]

_ROW_ID = b'<row Id="'
_TYPE = b'" PostTypeId="'
_PARENT = b' ParentId="'
_TAGS = b' Tags="'
_ROW = np.uint64(int.from_bytes(frames.ROW_START, "little"))
_FOUR_BYTES, _TWO_BYTES = np.uint64(0xFFFF_FFFF), np.uint64(0xFFFF)
_CLOSED = np.uint64(int.from_bytes(b"/>", "little"))
_DIGITS = 18
_TAIL = 256
_MANY = 8
_LOOK = 64
"""How far a row's header is read from its start; rows too near the end of the data are read carefully."""


@dataclass
class PostScan:
    """What one piece of Posts holds for a selection: wanted questions, and where the answers are."""

    questions: list[tuple[int, int]] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    parents: Ids = field(default_factory=lambda: np.zeros(0, np.int64))
    answer_starts: Positions = field(default_factory=lambda: np.zeros(0, np.int64))
    answer_ends: Positions = field(default_factory=lambda: np.zeros(0, np.int64))
    broken: list[tuple[int, int]] = field(default_factory=list)
    left_ids: Ids = field(default_factory=lambda: np.zeros(0, np.int64))
    left_starts: Positions = field(default_factory=lambda: np.zeros(0, np.int64))
    left_ends: Positions = field(default_factory=lambda: np.zeros(0, np.int64))
    asked: int = 0
    rows: int = 0


def scan_posts(piece: Piece, wanted: Wanted) -> PostScan:
    """Every row is looked at for its shape, type and tags (or parent); none is parsed."""
    rows = _Rows.of(piece)
    scan = PostScan(rows=len(rows.starts))
    near_end = rows.ends > len(piece.data) - frames.PADDING - _LOOK
    far = np.flatnonzero(~near_end)
    header = _Header.read(rows.buffer, rows.starts[far])
    plain = np.zeros(len(rows.starts), dtype=bool)
    plain[far] = header.plain & _ends_well(rows.buffer, rows.ends[far])
    usual = plain[far]
    answers = usual & (header.kind == ANSWER)
    scan.parents = header.parent[answers]
    scan.answer_starts, scan.answer_ends = rows.starts[far][answers], rows.ends[far][answers]
    asked = usual & (header.kind == QUESTION)
    ids, starts, ends = header.id[asked], rows.starts[far][asked], rows.ends[far][asked]
    tagged = _tagged(piece.data, starts, ends, wanted)
    scan.asked = len(ids)
    scan.ids = ids[tagged].tolist()
    scan.questions = _pairs(starts[tagged], ends[tagged])
    scan.left_ids, scan.left_starts, scan.left_ends = ids[~tagged], starts[~tagged], ends[~tagged]
    for start, end in _pairs(rows.starts[~plain], rows.ends[~plain]):
        _scan_carefully(scan, piece.data[start:end], start, end, wanted)
    return scan


def _pairs(starts: Positions, ends: Positions) -> list[tuple[int, int]]:
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


@dataclass(frozen=True)
class _Rows:
    """A piece as an array, and where its rows begin and end in it."""

    buffer: Bytes
    starts: Positions
    ends: Positions

    @classmethod
    def of(cls, piece: Piece) -> _Rows:
        buffer = np.frombuffer(piece.data, dtype=np.uint8)
        starts = frames.frame_starts(buffer[piece.begin :], piece.size) + piece.begin
        ends = np.append(starts[1:], piece.end)
        # The last frames may lie too near the end for a look of eight bytes.
        whole = starts <= len(buffer) - 8
        is_row = np.zeros(len(starts), dtype=bool)
        is_row[whole] = (frames.eight_bytes(buffer, starts[whole]) & _FOUR_BYTES) == _ROW
        return cls(buffer, starts[is_row], ends[is_row])


@dataclass(frozen=True)
class _Header:
    """The first attributes of rows written the usual way: Id, PostTypeId and, of an answer, ParentId."""

    id: Ids
    kind: Ids
    parent: Ids
    plain: Flags

    @classmethod
    def read(cls, buffer: Bytes, starts: Positions) -> _Header:
        plain = frames.starts_with(buffer, starts, _ROW_ID)
        number, at = _digits(buffer, starts + len(_ROW_ID))
        plain &= frames.starts_with(buffer, at, _TYPE)
        kind = buffer[at + len(_TYPE)].astype(np.int64) - ord("0")
        at = at + len(_TYPE) + 1
        plain &= (buffer[at] == frames.QUOTE) & (kind >= 0) & (kind <= 9)
        answer = np.flatnonzero(plain & (kind == ANSWER))
        at = at[answer] + 1
        has_parent = frames.starts_with(buffer, at, _PARENT)
        parent = np.full(len(starts), -1, dtype=np.int64)
        parent[answer], close = _digits(buffer, at + len(_PARENT))
        plain[answer] = has_parent & (buffer[close] == frames.QUOTE)
        return cls(number, kind, parent, plain)


def _digits(buffer: Bytes, at: Positions) -> tuple[Ids, Positions]:
    """The number that begins at each position and the position behind it."""
    number = np.zeros(len(at), dtype=np.int64)
    at = at.copy()
    going = np.ones(len(at), dtype=bool)
    for _ in range(_DIGITS):
        digit = buffer[at] - np.uint8(ord("0"))  # wraps below "0", so one comparison is enough
        going &= digit <= 9
        if not going.any():
            break
        number[going] = number[going] * 10 + digit[going]
        at += going
    return number, at


def _ends_well(buffer: Bytes, ends: Positions) -> Flags:
    """Whether `/>` stands in the last eight bytes of each row."""
    tail = frames.eight_bytes(buffer, ends - 8)
    flags = np.zeros(len(ends), dtype=bool)
    for place in range(7):
        flags |= (tail >> np.uint64(8 * place)) & _TWO_BYTES == _CLOSED
    return flags


@dataclass(frozen=True)
class Wanted:
    """Wanted tags: a pattern for the Tags attribute, and texts of which every match contains one."""

    pattern: re.Pattern[bytes]
    cores: tuple[bytes, ...]

    def rows_in(self, text: bytes, limits: npt.NDArray[np.int32]) -> set[int]:
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


def wanted_tags(names: tuple[str, ...]) -> Wanted:
    """Tags as a person names them, `*` standing for anything, in both syntaxes of dumps."""
    lower = [name.lower() for name in names]
    either = "|".join('[^&|"]*'.join(re.escape(part) for part in name.split("*")) for name in lower)
    earlier = r'(?:[^"&|]*(?:&gt;&lt;|\|))*?'
    pattern = re.compile(rf' Tags="(?:&lt;|\|){earlier}(?:{either})(?:&gt;|\|)'.encode())
    cores = {max(name.split("*"), key=len).encode() or _TAGS for name in lower}
    return Wanted(pattern, tuple(sorted(cores)))


def _tagged(data: Data, starts: Positions, ends: Positions, wanted: Wanted) -> Flags:
    """Which questions carry a wanted tag.

    The Tags attribute stands near the end of a row, so the tails of all rows are put together and
    searched at once; a row whose tail does not reach it is searched whole.
    """
    flags = np.zeros(len(starts), dtype=bool)
    if not len(starts):
        return flags
    edges = np.empty(2 * len(starts), dtype=np.int32)
    edges[0::2] = np.maximum(starts, ends - _TAIL)
    edges[1::2] = ends
    slots = arrow.slices(edges, pa.py_buffer(data))
    tails = slots.take(arrow.whole_numbers(np.arange(0, len(edges) - 1, 2)))
    limits = np.frombuffer(tails.buffers()[1], dtype=np.int32)
    text = tails.buffers()[2].to_pybytes()
    flags[list(wanted.rows_in(text, limits))] = True
    if text.count(_TAGS) < len(starts):
        for number, (start, end) in enumerate(_pairs(starts, ends)):
            if text.find(_TAGS, limits[number], limits[number + 1]) < 0:
                flags[number] = wanted.pattern.search(data, start, end) is not None
    return flags


def _scan_carefully(scan: PostScan, raw: bytes, start: int, end: int, wanted: Wanted) -> None:
    try:
        row = read_attributes(raw)
        number, kind = int(row["Id"]), int(row.get("PostTypeId", "0"))
        parent = int(row.get("ParentId") or "-1")
    except (BadRow, KeyError, ValueError):
        scan.broken.append((start, end))
        return
    if kind == ANSWER:
        scan.parents = np.append(scan.parents, parent)
        scan.answer_starts = np.append(scan.answer_starts, start)
        scan.answer_ends = np.append(scan.answer_ends, end)
    elif kind == QUESTION:
        scan.asked += 1
        if wanted.pattern.search(_as_written(split_tags(row.get("Tags", "")))):
            scan.questions.append((start, end))
            scan.ids.append(number)


def _as_written(tags: list[str]) -> bytes:
    return f' Tags="|{"|".join(tags)}|'.encode()


def scan_keyed(piece: Piece, attribute: str, ids: Ids) -> tuple[list[tuple[int, int]], int]:
    """The rows whose attribute is one of the (sorted) ids, and how many rows there are."""
    rows = _Rows.of(piece)
    keys: list[int] = []
    places: list[int] = []
    label = re.compile(rf'\s{attribute}\s*=\s*["\'](\d{{1,18}})["\']'.encode())
    for match in label.finditer(piece.data, piece.begin, piece.end):
        keys.append(int(match[1]))
        places.append(match.start())
    chosen = np.array(places, dtype=np.int64)[is_member(np.array(keys, dtype=np.int64), ids)]
    row = np.unique(np.searchsorted(rows.starts, chosen, side="right") - 1)
    row = row[row >= 0]
    return _pairs(rows.starts[row], rows.ends[row]), len(rows.starts)


def is_member(values: Ids, ids: Ids) -> Flags:
    """Which values are among the ids; the ids are sorted."""
    if not len(ids):
        return np.zeros(len(values), dtype=bool)
    place = np.minimum(np.searchsorted(ids, values), len(ids) - 1)
    flags: Flags = ids[place] == values
    return flags
