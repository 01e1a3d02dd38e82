"""The query engine for evidence: Ibis expressions, run by DuckDB in this process.

Ibis is imported when it is first used: that takes a third of a second, and most commands run no query.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quaestor.base.errors import StateError
from quaestor.evidence.dataset import list_table_files

__all__ = ["Backend", "engine", "ibis", "ir", "read_table"]

if TYPE_CHECKING:
    import ibis
    import ibis.expr.types as ir
    from ibis.backends.duckdb import Backend
else:

    class _LazyModule:
        """Imports a module at the first use of one of its names; safe in threads, as every import is."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._name), name)

    ibis = _LazyModule("ibis")
    ir = _LazyModule("ibis.expr.types")
    Backend = Any  # used in annotations only

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
