"""What evidence contributes to a study."""

from __future__ import annotations

from quaestor.study.contributions import ActKind, StatusPart, StatusRequest
from quaestor.study.features import Feature

COPIES_ACT = "evidence.copies"


def _status(request: StatusRequest) -> StatusPart:
    # Imported here: every study file that names a source loads this module, and the engine takes most of a second.
    from quaestor.evidence.status import evidence_status

    return evidence_status(request)


FEATURE = Feature(
    "evidence",
    status=_status,
    act_kinds={COPIES_ACT: ActKind("removed copies of answers and interviews that an earlier version made")},
    source_kinds={
        "stackexchange": "quaestor.evidence.sources.stackexchange.source:StackExchangeSource",
        "table": "quaestor.evidence.sources.tables.source:TableSource",
    },
)
