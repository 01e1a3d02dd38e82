"""What evidence contributes to a study."""

from __future__ import annotations

from quaestor.evidence.status import evidence_status
from quaestor.study.features import Feature

FEATURE = Feature("evidence", status=evidence_status)
