"""Parses a chunk of a table into an Arrow batch, column by column; unusual rows go through `row_parser`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from quaestor.evidence.sources.protocol import REJECT_EXCERPT, Reject, Row
from quaestor.evidence.sources.stackexchange import arrow_buffers as arrow
from quaestor.evidence.sources.stackexchange import xml_scan
from quaestor.evidence.sources.stackexchange.attributes import AttributeFields, build_batch
from quaestor.evidence.sources.stackexchange.row_parser import BadRow, parse_row
from quaestor.evidence.sources.stackexchange.schema import DumpTable
from quaestor.evidence.sources.stackexchange.xml_scan import Bytes, Flags, MarkPositions, Positions

_ELEMENT = re.compile(rb"""<row(?:[^"'>]|"[^"]*"|'[^']*')*>""")


@dataclass(frozen=True)
class ParsedChunk:
    """The rows and rejects of one chunk; reject offsets count from the beginning of the chunk."""

    batch: pa.RecordBatch
    rejects: list[Reject] = field(default_factory=list)


def parse_chunk(data: bytes, table: DumpTable) -> ParsedChunk:
    """Parses all rows of a chunk that begins at a `<` (or at the file's beginning) and ends where a frame ends."""
    buffer = xml_scan.pad(data)
    marks = xml_scan.find_marks(buffer, len(data))
    starts = marks.at[marks.less]
    if (buffer[starts + 1] == ord("!")).any() and (blanked := xml_scan.blank_comments(data)) != data:
        return parse_chunk(blanked, table)
    ends = np.append(starts[1:], len(data))
    is_row = xml_scan.begins_with(buffer, starts, xml_scan.ROW_START)
    entities = xml_scan.read_entities(buffer, marks.at[marks.ampersands])
    regular = is_row & _find_regular(buffer, marks, entities, starts, ends)
    batch, late = build_batch(_locate_attributes(buffer, len(data), marks, entities, regular), table)
    fast = np.flatnonzero(regular)
    if late.any():
        regular[fast[late]] = False
        fast = fast[~late]
        batch = batch.filter(arrow.flags(~late))
    rejects = list(_reject_stray_beginning(data, starts))
    if len(fast) == len(starts):
        return ParsedChunk(batch, rejects)
    slow = _SlowParser(data, table, starts, ends)
    slow.read(regular, is_row)
    if slow.rows:
        batch = _merge_rows(batch, fast, slow.rows, table)
    return ParsedChunk(batch, rejects + slow.rejects)


def _reject_stray_beginning(data: bytes, starts: Positions) -> Iterator[Reject]:
    lead = data[: starts[0] if len(starts) else len(data)]
    if lead.removeprefix(b"\xef\xbb\xbf").strip():
        yield build_reject(0, "text outside any row", lead)


def describe_markup(raw: bytes, table: DumpTable) -> str | None:
    """Returns what is wrong with a frame that is not a row; None for the usual markup around rows."""
    name, bracket, rest = raw.partition(b">")
    if raw.startswith(b"<!"):
        return "a declaration is not part of a dump and was not read"
    expected = (f"<{table.root}".encode(), f"</{table.root}".encode(), b"</row")
    if not bracket or not (name.startswith(b"<?") or name.rstrip() in expected):
        return "markup that is not a row"
    return "text outside any row" if rest.strip() else None


def find_element_end(raw: bytes) -> int | None:
    """Returns the end of the row at the beginning of a text, or None if it is not closed."""
    element = _ELEMENT.match(raw)
    return element.end() if element else None


def build_reject(offset: int, reason: str, raw: bytes) -> Reject:
    """Builds a reject with a printable excerpt of any bytes."""
    return Reject(int(offset), reason, raw[:REJECT_EXCERPT].decode("utf-8", "backslashreplace"))


def _find_regular(
    buffer: Bytes, marks: MarkPositions, entities: xml_scan.Entities, starts: Positions, ends: Positions
) -> Flags:
    """Flags the frames of the usual form: paired quotes, common entities, a valid end."""
    quotes = marks.quotes & (marks.frame >= 0)
    count = np.bincount(marks.frame[quotes], minlength=len(starts))
    regular: Flags = (count % 2 == 0) & (count > 0)

    # White space between rows is harmless; a control character before a quote or an entity is not.
    control = np.flatnonzero(marks.byte < 32)
    following = np.append(marks.byte, np.uint8(xml_scan.LESS))[control + 1]
    inside = (following == xml_scan.QUOTE) | (following == xml_scan.AMPERSAND)
    spoiled = [marks.frame[control[inside | ~xml_scan.is_space(marks.byte[control])]]]
    if not entities.known.all():
        spoiled.append(marks.frame[marks.ampersands][~entities.known])
    frame = np.concatenate(spoiled)
    regular[frame[frame >= 0]] = False

    last_quote = np.zeros(len(starts), dtype=np.int64)
    last_quote[marks.frame[quotes]] = marks.at[quotes]
    return regular & xml_scan.is_closed(buffer, last_quote, ends)


def _locate_attributes(
    buffer: Bytes, length: int, marks: MarkPositions, entities: xml_scan.Entities, regular: Flags
) -> AttributeFields:
    """Resolves the entities of the chunk and returns the attributes of its regular frames."""
    amp = np.flatnonzero(marks.ampersands)
    extra, becomes, cuts = entities.extra, entities.becomes, marks.at[amp]
    shrink = np.zeros(len(marks.at), dtype=np.int32)
    shrink[amp] = extra
    moved = marks.at - (np.cumsum(shrink, dtype=np.int32) - shrink)
    if not entities.known.all():
        extra, becomes, cuts = extra[entities.known], becomes[entities.known], cuts[entities.known]
    buffer[cuts] = becomes
    text = xml_scan.cut_out(buffer, length, cuts, extra)

    quotes = np.flatnonzero(marks.quotes & (marks.frame >= 0))
    starts = np.flatnonzero(marks.less)
    frame = marks.frame[quotes[0::2]] if regular.all() else marks.frame[quotes]
    if not regular.all():
        quotes = quotes[regular[frame]]
        frame = (np.cumsum(regular) - 1)[marks.frame[quotes[0::2]]]
        starts = starts[regular]
    return AttributeFields(
        text=text,
        opening=moved[quotes[0::2]],
        closing=moved[quotes[1::2]],
        row=frame.astype(np.int64),
        row_start=moved[starts],
    )


@dataclass
class _SlowParser:
    """Reads the frames that are not regular rows one by one: rows with an XML parser, other markup by its name."""

    data: bytes
    table: DumpTable
    starts: Positions
    ends: Positions
    rows: dict[int, Row] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)

    def read(self, regular: Flags, is_row: Flags) -> None:
        after_reject = -2
        for frame in np.flatnonzero(~regular).tolist():
            raw = self.data[self.starts[frame] : self.ends[frame]]
            at, reason = self._parse_row(frame, raw) if is_row[frame] else (0, describe_markup(raw, self.table))
            if reason is None:
                continue
            # Unescaped markup inside a row belongs to that bad row and is not rejected again.
            if is_row[frame] or after_reject != frame - 1:
                self.rejects.append(build_reject(self.starts[frame] + at, reason, raw[at:]))
            after_reject = frame

    def _parse_row(self, frame: int, raw: bytes) -> tuple[int, str | None]:
        """Parses a row; text after it is rejected while the row is kept."""
        end = find_element_end(raw) or len(raw)
        if not raw[:end].endswith(b"/>"):
            end = len(raw)  # an open element contains everything that follows
        try:
            self.rows[frame] = parse_row(raw[:end], self.table)
        except BadRow as bad:
            return 0, str(bad)
        return (end, "text outside any row") if raw[end:].strip() else (0, None)


def _merge_rows(batch: pa.RecordBatch, fast: Positions, slow: dict[int, Row], table: DumpTable) -> pa.RecordBatch:
    """Merges rows of the fast and the slow parser in the order of the file."""
    slow_batch = pa.RecordBatch.from_pylist(list(slow.values()), schema=table.schema)
    both = pa.Table.from_batches([batch, slow_batch], schema=table.schema).combine_chunks()
    order = np.argsort(np.concatenate([fast, np.fromiter(slow, dtype=np.int64)]), kind="stable")
    sorted_rows = both.take(arrow.whole_numbers(order)).combine_chunks().to_batches()
    return sorted_rows[0]
