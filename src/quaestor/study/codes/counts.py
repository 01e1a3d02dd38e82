"""How many decided items have each code, under any version of the codebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quaestor.coding.records import Codebook
from quaestor.study.codes.readings import Material, Said


@dataclass(frozen=True)
class Counts:
    """Decided items by code: those decided to be that very code, and those at it or below it."""

    own: Mapping[str, frozenset[str]]
    below: Mapping[str, frozenset[str]]
    decided: int
    """Items that have any code."""

    def items(self, code: str) -> frozenset[str]:
        return self.below.get(code, frozenset())


def count_items(material: Material, book: Codebook) -> Counts:
    """The newest decision on an item counts where several rounds decided on the same facet."""
    newest: dict[tuple[str, str], Said] = {}
    for said in material.decided():
        known = newest.get((said.facet, said.item))
        if known is None or known.number < said.number:
            newest[said.facet, said.item] = said
    own: dict[str, set[str]] = {}
    for said in newest.values():
        for code in said.codes:
            read = material.history.read(code, book.version, said.item, said.answers).code
            if read is not None:
                own.setdefault(read, set()).add(said.item)
    below: dict[str, set[str]] = {}
    for code, items in own.items():
        for above in book.way(code):
            below.setdefault(above, set()).update(items)
    return Counts(_frozen(own), _frozen(below), len(set().union(*own.values())))


def _frozen(found: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {code: frozenset(items) for code, items in found.items()}
