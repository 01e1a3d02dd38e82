"""What publication contributes to a study: the status of report, audit and handbook."""

from __future__ import annotations

from quaestor.study.contributions import StatusPart, StatusRequest
from quaestor.study.features import Feature


def _status(request: StatusRequest) -> StatusPart:
    # Imported here: every command loads the features, and the modules of results take long to import.
    from quaestor.publication.publication_status import publications_status

    return publications_status(request)


FEATURE = Feature("publication", status=_status)
