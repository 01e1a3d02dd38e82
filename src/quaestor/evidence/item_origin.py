"""Which feature items come from, and which of them belong to people who withdrew.

A withdrawal removes items from the evidence. It cannot remove them from earlier rounds, nor from evidence that somebody
puts back from a copy: so whatever draws items asks here.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from quaestor.base.errors import SettingsError
from quaestor.evidence.erasure import list_sources_in_folder
from quaestor.study.features import features
from quaestor.study.folder import Study

EVIDENCE = "evidence"
"""The origin of items that nobody can withdraw; any other origin is the name of a feature."""


def find_origin(study: Study) -> str:
    """The feature that writes the source of the study's funnel, or `EVIDENCE`; empty where there is no source yet."""
    with suppress(SettingsError):
        source = study.funnel_source()
        makers = (one.name for one in features() if one.input_folder and source in list_sources_in_folder(study, one.input_folder))
        return next(makers, EVIDENCE)
    return ""


def drop_withdrawn(study: Study, items: Iterable[str], origin: str | None = None) -> list[str]:
    """The same items in the same order without those of people who withdrew.

    The origin says which feature the items come from; None stands for that of the study's funnel. Plans of older
    rounds name none (an empty origin): there every feature is asked.
    """
    if origin is None:
        origin = find_origin(study)
    tests = [one.withdrawn_items(study) for one in features() if one.withdrawn_items and origin in (one.name, "")]
    return [item for item in items if not any(is_withdrawn(item) for is_withdrawn in tests)]
