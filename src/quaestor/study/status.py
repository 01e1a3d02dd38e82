"""Progress of a study and its next step, combined from its features' reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quaestor.store.erasure import describe_pending_erasures, finish_erasures
from quaestor.study.contributions import Next, StatusLine, StatusRequest
from quaestor.study.features import features, open_session
from quaestor.study.folder import Study, has_journal
from quaestor.study.session import Session


@dataclass(frozen=True)
class Status:
    """All parts of a study, and the next step."""

    title: str
    stages: tuple[StatusLine, ...]
    next: str


def study_status(study: Study, session: Session[Any] | None = None, opened: Mapping[str, Any] | None = None) -> Status:
    """Returns the status; computes nothing but the thresholds of rounds."""
    return status_and_next(study, session, opened)[0]


def status_and_next(
    study: Study, session: Session[Any] | None, opened: Mapping[str, Any] | None = None, *, wait: bool = True
) -> tuple[Status, Next | None]:
    """Returns the status and the next step, if that is in rounds, codebook, surveys or interviews."""
    if session is None and has_journal(study):
        with open_session(study) as own:
            return status_and_next(study, own, opened, wait=wait)
    finish_erasures(study.root)
    request = StatusRequest(study, session, opened or {}, wait)
    parts = [feature.status(request) for feature in features() if feature.status is not None]
    asks_people = any(part.collects and part.lines for part in parts)
    people_first = not study.settings.sources or any(part.precedes_evidence for part in parts)
    evidence = [part for part in parts if part.is_evidence]
    people = [part for part in parts if part.collects]
    coding = [part for part in parts if not part.is_evidence and not part.collects]
    if not people_first:
        order = [*evidence, *coding, *people]
    else:  # if people are asked first, their answers become the evidence, so there is nothing to ingest yet
        order = [*people, *coding] if asks_people else [*evidence, *people, *coding]
    following = next((part.next for part in order if part.next is not None), None)
    lines = [line for part in parts if not (part.is_empty and asks_people) for line in part.lines]
    pending = describe_pending_erasures(study.root)
    if pending:
        lines.append(StatusLine("erasure", "stale", pending))
    command = following.command if following else "quaestor serve, to see what each step kept and dropped"
    status = Status(study.settings.study.title or study.settings.study.name, tuple(lines), command)
    return status, following if following is not None and following.words else None
