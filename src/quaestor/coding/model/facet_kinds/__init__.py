"""The facet kinds, one class each; a new kind needs a module and an entry here."""

from __future__ import annotations

from quaestor.coding.model.facet_kinds.base import FacetKind
from quaestor.coding.model.facet_kinds.choices import MultipleChoiceKind, SingleChoiceKind
from quaestor.coding.model.facet_kinds.confirm import ConfirmKind
from quaestor.coding.model.facet_kinds.keep import KeepKind
from quaestor.coding.model.facet_kinds.passages import PassagesKind
from quaestor.coding.model.facet_kinds.phrase import PhraseKind
from quaestor.coding.model.facet_kinds.text import TextKind
from quaestor.coding.model.records import Facet

FACET_KINDS: dict[str, FacetKind] = {
    SingleChoiceKind.name: SingleChoiceKind(),
    MultipleChoiceKind.name: MultipleChoiceKind(),
    KeepKind.name: KeepKind(),
    TextKind.name: TextKind(),
    PhraseKind.name: PhraseKind(),
    ConfirmKind.name: ConfirmKind(),
    PassagesKind.name: PassagesKind(),
}


def find_kind(facet: Facet) -> FacetKind:
    return FACET_KINDS[facet.kind]
