"""The query engine for evidence: Ibis expressions, run by DuckDB in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quaestor.base.errors import StateError
from quaestor.evidence.dataset import list_table_files
from quaestor.evidence.lazy_ibis import Backend, ibis, ir

_MEMORY = "2GB"


@contextmanager
def engine(scratch: Path) -> Iterator[Backend]:
    """Opens a connection with limited memory, which spills to a scratch folder."""
    connection = ibis.duckdb.connect(
        threads=max(1, os.cpu_count() or 1), memory_limit=_MEMORY, temp_directory=str(scratch / "engine")
    )
    try:
        yield connection
    finally:
        connection.disconnect()


def read_table(connection: Backend, evidence: Path, table: str) -> ir.Table:
    """Returns a table of the evidence as an Ibis expression."""
    files = [str(path) for path in list_table_files(evidence, table)]
    if not files:
        raise StateError(f"the evidence in {evidence} has no rows of {table}: check its input, then ingest it again")
    return connection.read_parquet(files)
