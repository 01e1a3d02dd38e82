"""Facets answered in the rater's own words."""

from __future__ import annotations

from typing import Any

from quaestor.coding.model.facet_kinds.base import FacetKind, Label, ReplaceText
from quaestor.coding.model.records import Codebook, Facet


class TextKind(FacetKind):
    """Any text, on which raters cannot agree."""

    name = "text"
    is_compared = False
    is_free_text = True

    def read(self, facet: Facet, book: Codebook, answer: Any) -> str:
        return str(answer)

    def label(self, facet: Facet, answer: Any) -> Label | None:
        return None

    def hint(self, facet: Facet, book: Codebook) -> str:
        return "any text"

    def replace_free_text(self, facet: Facet, answer: Any, replace: ReplaceText) -> Any:
        return replace(answer, False) if isinstance(answer, str) else answer
