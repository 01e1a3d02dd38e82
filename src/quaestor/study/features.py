"""The features of Quaestor, their contributions to a study, and its status, combined from theirs.

Features are listed in one tuple (`FEATURES`) and loaded on first use. They never register themselves on import: a
command that happens not to import `surveys` would then write a backup without answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from quaestor.store.erasure import describe_pending_erasures, finish_erasures
from quaestor.study.contributions import (
    ActKind,
    BackupPart,
    FeatureBackup,
    LiveSource,
    Next,
    NoNames,
    PublicationGuard,
    ReportSection,
    RoundOutcomes,
    StatusLine,
    StatusPart,
    StatusRequest,
    TextMask,
)
from quaestor.study.feature_modules import FEATURES, load_feature
from quaestor.study.folder import Study, has_journal
from quaestor.study.free_text import FreeTextStore
from quaestor.study.session import Session
from quaestor.study.settings.sources import COPIES_FOLDERS


@dataclass(frozen=True)
class Feature:
    """The contributions of one feature; everything but its name is optional."""

    name: str
    """Stored with each round as the origin of its items: never change it."""
    status: Callable[[StatusRequest], StatusPart] | None = None
    backup: FeatureBackup | None = None
    act_kinds: Mapping[str, ActKind] = field(default_factory=dict)
    """The acts that the feature records, by their kind in the journal."""
    source_kinds: Mapping[str, str] = field(default_factory=dict)
    """Kinds of sources by their name in study.toml, as `module:Class`, loaded on first use."""
    live_source: LiveSource | None = None
    """The source of items made of people's answers; they have the feature's name as their origin."""
    free_text: Callable[[Study], FreeTextStore[Any]] | None = None
    withdrawn_items: Callable[[Study], Callable[[str], bool]] | None = None
    """Returns a test for the ids of items whose author has withdrawn."""
    known_names: Callable[[Study | Session[Any]], AbstractContextManager[TextMask]] | None = None
    """Opens the known names of a study; at most one feature declares it."""
    fingerprint: Callable[[Study], str] | None = None
    """Returns a stamp that changes with everything outside the journal that affects a report."""
    report_section: ReportSection | None = None
    publication_guard: PublicationGuard | None = None
    open_session: Callable[[Study], AbstractContextManager[Session[Any]]] | None = None
    """Opens the session on the journal and defines its state; at most one feature declares it."""
    round_outcomes: Callable[[Study | Session[Any]], RoundOutcomes] | None = None
    """Opens the outcomes of rounds for the funnel; at most one feature declares it."""


@cache
def features() -> tuple[Feature, ...]:
    """Returns every feature, loaded on the first call."""
    return tuple(map(load_feature, FEATURES))


def backup_parts() -> tuple[BackupPart, ...]:
    """Returns the files that a backup contains besides the acts, in lock order (`contributions`)."""
    return tuple(part for feature in features() if feature.backup for part in feature.backup.parts)


def fingerprints(study: Study) -> dict[str, str]:
    """Returns by feature the stamp of what it contributes to a report from outside the journal."""
    return {feature.name: feature.fingerprint(study) for feature in features() if feature.fingerprint}


def report_sections() -> tuple[ReportSection, ...]:
    """Returns the sections that features add to a report, in order."""
    return tuple(feature.report_section for feature in features() if feature.report_section)


def publication_guards() -> Mapping[str, PublicationGuard]:
    """Returns by feature the guard that keeps its data out of publications."""
    return {feature.name: feature.publication_guard for feature in features() if feature.publication_guard}


def open_session(study: Study) -> AbstractContextManager[Session[Any]]:
    """Opens the session on a study's journal."""
    opener: Callable[[Study], AbstractContextManager[Session[Any]]] = _declared_once("open_session")
    return opener(study)


def open_round_outcomes(where: Study | Session[Any]) -> RoundOutcomes:
    """Returns the outcomes of a study's rounds."""
    opener: Callable[[Study | Session[Any]], RoundOutcomes] = _declared_once("round_outcomes")
    return opener(where)


def open_known_names(where: Study | Session[Any]) -> AbstractContextManager[TextMask]:
    """Opens the known names of a study; raises an error if they cannot be read."""
    opener: Callable[[Study | Session[Any]], AbstractContextManager[TextMask]] | None = _declared_once("known_names")
    return opener(where) if opener is not None else nullcontext(NoNames())


def _declared_once(name: str) -> Any:
    """Returns the contribution of the only feature that declares it; None if none does."""
    declared = {feature.name: getattr(feature, name) for feature in features() if getattr(feature, name) is not None}
    if len(declared) > 1:
        raise RuntimeError(f"{' and '.join(declared)} both declare {name}: only one feature may")
    return next(iter(declared.values()), None)


def find_live_feature(study: Study, source: str) -> Feature | None:
    """Returns the feature whose private file has the items of a source; None for a source with input of its own."""
    declared, folder = study.source(source).kind, study.path_of(source).parent
    for kind, copies in COPIES_FOLDERS.items():
        if kind == declared or folder == study.root / copies:
            return next(feature for feature in features() if feature.live_source and feature.live_source.kind == kind)
    return None


def find_live_source(study: Study, source: str) -> LiveSource | None:
    """Returns how the items of a source are read from a private file; None for a source with input of its own."""
    feature = find_live_feature(study, source)
    return feature.live_source if feature else None


@dataclass(frozen=True)
class Status:
    """All parts of a study, and the next step."""

    title: str
    stages: tuple[StatusLine, ...]
    next: str


NOTHING_LEFT = "nothing is left to do; `quaestor report` can be run again at any time"
"""The next step of a study in which everything planned is done."""


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
    order.sort(key=lambda part: part.is_last)
    steps = [part.next for part in order if part.next is not None]
    following = min(steps, key=lambda step: step.is_optional, default=None)
    lines = [line for part in parts if not (part.is_empty and asks_people) for line in part.lines]
    pending = describe_pending_erasures(study.root)
    if pending:
        lines.append(StatusLine("erasure", "stale", pending))
    command = following.command if following else NOTHING_LEFT
    status = Status(study.settings.study.title or study.settings.study.name, tuple(lines), command)
    return status, following if following is not None and following.words else None
