"""Converts the attributes of many rows at once from positions in a text to typed columns."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quaestor.evidence.sources.stackexchange import arrow_buffers as arrow
from quaestor.evidence.sources.stackexchange.schema import FLAG, TAGS, TIME, WHOLE, DumpTable
from quaestor.evidence.sources.stackexchange.xml_scan import Flags, Positions

_LABEL = re.compile(rb'"? ([A-Za-z_][A-Za-z0-9_.-]*)="')
_WHOLE = r"^-?[0-9]{1,18}$"
_TIME = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?$"
_FLAG = arrow.texts([b"True", b"False", b"true", b"false", b"1", b"0"], pa.string())


@dataclass(frozen=True)
class AttributeFields:
    """The positions of the attributes of consecutive rows: their quotes, the row of each, and where the rows start."""

    text: pa.Buffer
    opening: Positions
    closing: Positions
    row: Positions
    row_start: Positions

    def split_text(self) -> tuple[pa.Array, Positions]:
        """Splits the text at every quote, without a copy, and returns the slots and the slot of each attribute's label.

        A label is the text before a value, including quotes: `" Score="`; its value is the next slot.
        """
        label = 2 * np.arange(len(self.opening)) + self.row
        edges = np.empty(2 * len(self.opening) + len(self.row_start), dtype=np.int32)
        edges[label + 1] = self.opening + 1
        edges[label + 2] = self.closing
        first = np.flatnonzero(np.diff(self.row, prepend=-1))
        edges[label[first]] = self.row_start + len("<row")
        return arrow.slices(edges, self.text), label


def build_batch(fields: AttributeFields, table: DumpTable) -> tuple[pa.RecordBatch, Flags]:
    """Returns the rows as a batch, and flags those that must be parsed again by `row_parser`."""
    total = len(fields.row_start)
    late = np.zeros(total, dtype=bool)
    if not total:
        return arrow.empty_batch(table.schema), late
    slots, label = fields.split_text()
    names = [name for name, _ in table.attributes]
    which = _recognise(slots.take(arrow.whole_numbers(label)), names)
    late |= _find_undecodable(fields)
    columns = []
    by_attribute = np.argsort(which, kind="stable")
    limits = np.searchsorted(which[by_attribute], np.arange(len(names) + 1))
    for number, (_, kind) in enumerate(table.attributes):
        chosen = by_attribute[limits[number] : limits[number + 1]]
        if not len(chosen):
            columns.append(pa.nulls(total, kind))
            continue
        rows = fields.row[chosen]
        late[rows[1:][np.diff(rows) == 0]] = True
        value_slot = np.full(total, -1, dtype=np.int64)
        value_slot[rows] = label[chosen] + 1
        present = value_slot >= 0
        values = _as_text(slots.take(arrow.whole_numbers(value_slot, present)))
        column, doubtful = _convert(values, kind)
        late |= doubtful
        columns.append(column)
    late |= ~arrow.present(columns[0])
    columns.append(_collect_unknown(fields, slots, label, by_attribute[: limits[0]], late))
    return pa.RecordBatch.from_arrays(columns, schema=table.schema), late


def _recognise(labels: pa.Array, names: list[str]) -> npt.NDArray[np.int8]:
    """Returns the number of each label's attribute, or -1; the first label of a row has no quote before it."""
    known = [f' {name}="'.encode() for name in names]
    options = arrow.texts([b'"' + label for label in known] + known, pa.binary())
    index = arrow.to_numbers(pc.index_in(labels, value_set=options), missing=-1)
    return np.where(index >= len(names), index - len(names), index).astype(np.int8)


def _find_undecodable(fields: AttributeFields) -> Flags:
    """Flags rows that are not UTF-8; the whole chunk is checked first, its rows only if that fails."""
    bad = np.zeros(len(fields.row_start), dtype=bool)
    whole = np.array([0, fields.text.size], dtype=np.int32)
    try:
        pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(whole), fields.text]).validate(full=True)
    except pa.ArrowInvalid:
        last = np.flatnonzero(np.diff(fields.row, append=len(bad)))
        for row, (start, end) in enumerate(zip(fields.row_start, fields.closing[last], strict=True)):
            try:
                fields.text.slice(start, end - start).to_pybytes().decode("utf-8")
            except UnicodeDecodeError:
                bad[row] = True
    return bad


def _as_text(values: pa.Array) -> pa.Array:
    return pa.Array.from_buffers(pa.string(), len(values), values.buffers(), values.null_count)


def _convert(values: pa.Array, kind: pa.DataType) -> tuple[pa.Array, Flags]:
    if kind == TAGS:
        return _split(values)
    if kind == WHOLE:
        return _cast(values, kind, lambda: pc.match_substring_regex(values, _WHOLE), digits=True)
    if kind == TIME:
        return _cast(values, kind, lambda: pc.match_substring_regex(values, _TIME))
    if kind == FLAG:
        return _cast(values, kind, lambda: pc.is_in(values, value_set=_FLAG))
    return values, np.zeros(len(values), dtype=bool)


def _cast(
    values: pa.Array, kind: pa.DataType, match: Callable[[], pa.Array], *, digits: bool = False
) -> tuple[pa.Array, Flags]:
    """Casts all values; if that fails, casts those that match the pattern and leaves the others to `row_parser`."""
    if not digits or _only_digits(values):
        try:
            return pc.cast(values, kind), np.zeros(len(values), dtype=bool)
        except pa.ArrowInvalid:
            pass
    good = arrow.to_flags(match())
    usable = values.take(arrow.whole_numbers(np.arange(len(values)), good))
    try:
        return pc.cast(usable, kind), arrow.present(values) & ~good
    except pa.ArrowInvalid:
        return pa.nulls(len(values), kind), arrow.present(values)


def _only_digits(values: pa.Array) -> bool:
    """Returns whether no character is above "9": Arrow reads `0x1F` as a number, which a dump never means."""
    data = values.buffers()[2]
    return data is None or not data.size or int(np.frombuffer(data, np.uint8).max()) <= ord("9")


def _split(values: pa.Array) -> tuple[pa.Array, Flags]:
    """Splits `<a><b>` and `|a|b|` into lists; anything else is left to `row_parser`."""
    inner = pc.ascii_trim(pc.replace_substring(values, "><", "|"), "<>|")
    odd = arrow.to_flags(pc.match_substring_regex(inner, r"^$|[<>]|\|\|"))
    return pc.split_pattern(inner, "|"), odd


def _collect_unknown(
    fields: AttributeFields, slots: pa.Array, label: Positions, chosen: Positions, late: Flags
) -> pa.Array:
    """Returns the attributes outside the schema as a map per row; a row with an invalid name is flagged as late."""
    kind = pa.map_(pa.string(), pa.string())
    total = len(late)
    if not len(chosen):
        return pa.nulls(total, kind)
    labels = slots.take(arrow.whole_numbers(label[chosen])).to_pylist()
    values = _as_text(slots.take(arrow.whole_numbers(label[chosen] + 1)))
    by_row: dict[int, dict[str, str]] = {}
    for row, text, value in zip(fields.row[chosen].tolist(), labels, values, strict=True):
        match = _LABEL.fullmatch(text)
        seen = by_row.setdefault(row, {})
        name = match[1].decode() if match else ""
        if late[row] or not match or name in seen:
            late[row] = True
        else:
            seen[name] = value.as_py()
    return pa.array([list(by_row[row].items()) if row in by_row else None for row in range(total)], type=kind)
