"""The benchmarks can be imported: `make bench` runs rarely, so a renamed function would go unnoticed."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.support.paths import ROOT

MODULES = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if path.stem != "__main__")


@pytest.mark.parametrize("name", MODULES)
def test_a_benchmark_can_be_imported(name: str) -> None:
    import_module(f"benchmarks.{name}")
