"""How every page of Quaestor looks: ink, paper, one accent."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

FOLDER = Path(str(resources.files("quaestor.base.look")))
TOKENS = FOLDER / "tokens.css"
"""Colours, type and space as custom properties, light and dark."""
