"""Lists the modules that declare features; each is loaded on first use.

Separate from `features`, which imports the schema of study.toml, because the schema reads source kinds from here.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

FEATURES = (
    "quaestor.evidence.feature",
    "quaestor.surveys.feature",
    "quaestor.interviews.feature",
    "quaestor.coding.feature",
    "quaestor.publication.feature",
)
"""Modules with a `FEATURE`, in the order of status lines and of locks (`contributions`)."""


@cache
def load_feature(module: str) -> Any:
    """Returns the `features.Feature` that a module declares."""
    return importlib.import_module(module).FEATURE
