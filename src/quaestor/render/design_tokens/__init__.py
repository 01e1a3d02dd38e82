"""How every page of Quaestor looks: ink, paper, one accent."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

FOLDER = Path(str(resources.files("quaestor.render.design_tokens")))
TOKENS = FOLDER / "tokens.css"
"""Colours, type and space as custom properties, light and dark."""
ICON = FOLDER / "mark.svg"
"""The sign of a page, beside its title in the browser."""
