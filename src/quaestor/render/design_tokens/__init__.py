"""The design tokens of all pages and figures: colours, type and space."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

FOLDER = Path(str(resources.files("quaestor.render.design_tokens")))
TOKENS = FOLDER / "tokens.css"
"""Colours, type and space as custom properties, light and dark."""
ICON = FOLDER / "mark.svg"
"""The icon of every page in the browser."""
