"""The features of Quaestor and their contributions to a study.

Features are listed in one tuple (`FEATURES`) and loaded on first use. They never register themselves on import: a
command that happens not to import `surveys` would then write a backup without answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from quaestor.study.contributions import (
    ActKind,
    BackupPart,
    FeatureBackup,
    NoNames,
    PublicationGuard,
    ReportSection,
    RoundOutcomes,
    StatusPart,
    StatusRequest,
    TextMask,
)
from quaestor.study.feature_modules import FEATURES, load_feature
from quaestor.study.folder import Study
from quaestor.study.free_text import FreeTextStore
from quaestor.study.session import Session


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
    input_folder: str = ""
    """The folder within the study for source inputs that the feature writes from people's answers.

    Items from there have the feature's name as their origin.
    """
    input_made_of: str = ""
    """What these inputs contain, as a noun."""
    input_command: str = ""
    """The command that writes these inputs."""
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


def fingerprints(study: Study) -> str:
    """Returns a stamp that changes with the fingerprint of any feature."""
    return "".join(feature.fingerprint(study) for feature in features() if feature.fingerprint)


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


def find_input_maker(study: Study, source: str) -> Feature | None:
    """Returns the feature that writes the input of a source; None if a person provides it."""
    folder = study.path_of(source).parent
    return next(
        (feature for feature in features() if feature.input_folder and study.root / feature.input_folder == folder),
        None,
    )
