"""Items by their titles, from the evidence of the funnel, or from that of the results where it lies elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from quaestor.corpus.evidence import read_manifest
from quaestor.study.folder import Study
from quaestor.study.reading import readings_of
from quaestor.study.results.evidence import known_items, results_source


def titles_of(study: Study, items: Sequence[str]) -> dict[str, str]:
    """Each item with its title; its id where no evidence holds it."""
    found = {item: item for item in items}
    if not items or not study.settings.sources:
        return found
    found |= {item: reading.title for item, reading in readings_of(study, items).items()}
    missing = [item for item in items if found[item] == item]
    if missing and read_manifest(study.evidence_of(results_source(study))) is not None:
        found |= {known.item: known.title for known in known_items(study, missing)}
    return found
