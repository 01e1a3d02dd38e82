"""Finds the feature that items come from, and drops the items of withdrawn participants.

A withdrawal removes items from the evidence, but not from earlier rounds or from evidence restored from a copy.
Therefore everything that draws items filters them here.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from quaestor.base.errors import SettingsError
from quaestor.evidence.erasure import list_sources_in_folder
from quaestor.study.features import features
from quaestor.study.folder import Study

EVIDENCE = "evidence"
"""The origin of items that cannot be withdrawn; any other origin is the name of a feature."""


def find_origin(study: Study) -> str:
    """Returns which feature writes the source of the study's funnel, or `EVIDENCE`; empty if it has no source yet."""
    with suppress(SettingsError):
        source = study.funnel_source()
        for feature in features():
            if feature.input_folder and source in list_sources_in_folder(study, feature.input_folder):
                return feature.name
        return EVIDENCE
    return ""


def drop_withdrawn(study: Study, items: Iterable[str], origin: str | None = None) -> list[str]:
    """Returns the items of participants who have not withdrawn, in the same order.

    The origin is the feature that the items come from; None means that of the study's funnel. Plans of older rounds
    have no origin (an empty text): then the items are checked against every feature.
    """
    if origin is None:
        origin = find_origin(study)
    tests = [
        feature.withdrawn_items(study)
        for feature in features()
        if feature.withdrawn_items and origin in (feature.name, "")
    ]
    return [item for item in items if not any(is_withdrawn(item) for is_withdrawn in tests)]
