"""The modules that declare features, in one visible tuple; each is loaded on first use.

They are named apart from `features`, which imports the schema of study.toml: the schema reads source kinds from here.
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
)
"""Modules with a `FEATURE`, in the order of status lines and of locks (`contributions`)."""


@cache
def load_feature(module: str) -> Any:
    """The `features.Feature` that a module declares."""
    return importlib.import_module(module).FEATURE
