"""The kinds of facets, one class each; a new kind is one more module and one more line here."""

from __future__ import annotations

from quaestor.coding.model.facet_kinds.base import FacetKind
from quaestor.coding.model.facet_kinds.choices import MultipleChoice, SingleChoice
from quaestor.coding.model.facet_kinds.confirm import Confirm
from quaestor.coding.model.facet_kinds.keep import Keep
from quaestor.coding.model.facet_kinds.passages import Passages
from quaestor.coding.model.facet_kinds.phrase import PhraseKind
from quaestor.coding.model.facet_kinds.text import Text
from quaestor.coding.model.records import Facet

FACET_KINDS: dict[str, FacetKind] = {
    SingleChoice.name: SingleChoice(),
    MultipleChoice.name: MultipleChoice(),
    Keep.name: Keep(),
    Text.name: Text(),
    PhraseKind.name: PhraseKind(),
    Confirm.name: Confirm(),
    Passages.name: Passages(),
}


def find_kind(facet: Facet) -> FacetKind:
    return FACET_KINDS[facet.kind]
