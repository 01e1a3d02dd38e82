"""What evidence contributes to a study."""

from __future__ import annotations

from quaestor.study.contributions import StatusPart, StatusRequest
from quaestor.study.features import Feature


def _status(request: StatusRequest) -> StatusPart:
    # Imported here: every study file that names a source loads this module, and the engine takes most of a second.
    from quaestor.evidence.status import evidence_status

    return evidence_status(request)


FEATURE = Feature(
    "evidence",
    status=_status,
    source_kinds={
        "stackexchange": "quaestor.evidence.sources.stackexchange.source:StackExchangeSource",
        "table": "quaestor.evidence.sources.tables.source:TableSource",
    },
)
