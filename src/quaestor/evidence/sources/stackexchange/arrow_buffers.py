"""Converts between NumPy and Arrow arrays without copying.

`pyarrow.array` and `pyarrow.scalar` first try to import pandas, which takes longer than reading a small dump.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def whole_numbers(values: npt.NDArray[np.int64], present: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """Returns numbers as an Arrow array without a copy; those not `present` are null."""
    bitmap = None if present is None else pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(pa.int64(), len(values), [bitmap, pa.py_buffer(np.ascontiguousarray(values))])


def flags(values: npt.NDArray[np.bool_]) -> pa.Array:
    bits = pa.py_buffer(np.packbits(values, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, bits])


def slices(edges: npt.NDArray[np.int32], text: pa.Buffer) -> pa.Array:
    """Returns the ranges of a text between neighbouring edges, without a copy."""
    return pa.Array.from_buffers(pa.binary(), len(edges) - 1, [None, pa.py_buffer(edges), text])


def texts(values: Sequence[bytes], kind: pa.DataType) -> pa.Array:
    """Returns a few short texts as an Arrow array."""
    edges = np.cumsum([0, *(len(value) for value in values)], dtype=np.int32)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(edges), pa.py_buffer(b"".join(values))])


def distinct(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Returns each number once, sorted; `numpy.unique` would import masked arrays first."""
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def to_flags(values: pa.Array) -> npt.NDArray[np.bool_]:
    """Returns a boolean column as a NumPy array; null counts as false."""
    result = _unpack_bits(values.buffers()[1], values)
    if values.null_count:
        result &= present(values)
    return result


def to_numbers(values: pa.Array, missing: int) -> npt.NDArray[np.int64]:
    """Returns an integer column as a NumPy array, with `missing` for null."""
    width = values.type.bit_width // 8
    raw = np.frombuffer(values.buffers()[1], dtype=f"<i{width}", count=len(values), offset=values.offset * width)
    return np.where(present(values), raw, missing).astype(np.int64) if values.null_count else raw.astype(np.int64)


def present(values: pa.Array) -> npt.NDArray[np.bool_]:
    """Flags the values of a column that are not null."""
    bitmap = values.buffers()[0]
    if bitmap is None or not values.null_count:
        return np.full(len(values), values.null_count == 0)
    return _unpack_bits(bitmap, values)


def _unpack_bits(bitmap: pa.Buffer, values: pa.Array) -> npt.NDArray[np.bool_]:
    raw = np.frombuffer(bitmap, dtype=np.uint8)
    bits = np.unpackbits(raw, bitorder="little")[values.offset : values.offset + len(values)]
    return bits.astype(bool)
