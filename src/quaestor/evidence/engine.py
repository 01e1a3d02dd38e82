"""The engine that queries evidence: Ibis expressions, run by DuckDB in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ibis
import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from quaestor.base.errors import StateError
from quaestor.evidence.dataset import list_table_files

_MEMORY = "2GB"


@contextmanager
def engine(scratch: Path) -> Iterator[Backend]:
    """A connection that spills to a scratch folder instead of growing without end."""
    connection = ibis.duckdb.connect(
        threads=max(1, os.cpu_count() or 1), memory_limit=_MEMORY, temp_directory=str(scratch / "engine")
    )
    try:
        yield connection
    finally:
        connection.disconnect()


def read_table(connection: Backend, evidence: Path, table: str) -> ir.Table:
    """A table of the evidence as an expression."""
    files = [str(path) for path in list_table_files(evidence, table)]
    if not files:
        raise StateError(f"there is nothing in the evidence in {evidence}: check its input, then ingest it again")
    return connection.read_parquet(files)
