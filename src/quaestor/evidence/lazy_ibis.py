"""Ibis, imported when it is first used: that takes a third of a second, and most commands run no query."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["Backend", "ibis", "ir"]

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
