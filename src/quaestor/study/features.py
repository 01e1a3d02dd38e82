"""The features of Quaestor and what each of them contributes to a study.

Features are named in one visible tuple (`FEATURES`) and loaded on first use. They never register themselves when they
are imported: a command that happens not to import `surveys` would then write a backup without answers.
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
    """What one feature contributes; everything but its name is optional."""

    name: str
    """Stored with each round as the origin of its items: never change it."""
    status: Callable[[StatusRequest], StatusPart] | None = None
    backup: FeatureBackup | None = None
    act_kinds: Mapping[str, ActKind] = field(default_factory=dict)
    """By name, as the journal has it, the acts that the feature records."""
    source_kinds: Mapping[str, str] = field(default_factory=dict)
    """By name, as study.toml has it, the class of a kind of source as `module:Class`, loaded where a study names it."""
    input_folder: str = ""
    """Where the inputs of the sources lie that the feature writes of what people said, within the study folder.

    Items from there have the feature's name as their origin.
    """
    input_made_of: str = ""
    """What these inputs are made of, in a word."""
    input_command: str = ""
    """The command that writes these inputs."""
    free_text: Callable[[Study], FreeTextStore[Any]] | None = None
    withdrawn_items: Callable[[Study], Callable[[str], bool]] | None = None
    """Returns a test for the ids of items whose author has withdrawn."""
    known_names: Callable[[Study | Session[Any]], AbstractContextManager[TextMask]] | None = None
    """Opens the names that a study knows; one feature alone may declare it."""
    fingerprint: Callable[[Study], str] | None = None
    """Changes whenever a report could come out differently, for what the journal does not tell."""
    report_section: ReportSection | None = None
    publication_guard: PublicationGuard | None = None
    open_session: Callable[[Study], AbstractContextManager[Session[Any]]] | None = None
    """Opens the session on the journal, whose state it defines; one feature alone may declare it."""
    round_outcomes: Callable[[Study | Session[Any]], RoundOutcomes] | None = None
    """Opens what rounds decided, for the funnel steps that go by it; one feature alone may declare it."""


@cache
def features() -> tuple[Feature, ...]:
    """Every feature, loaded on the first call."""
    return tuple(map(load_feature, FEATURES))


def backup_parts() -> tuple[BackupPart, ...]:
    """The files that a backup holds next to the acts, in the order of their locks (`contributions`)."""
    return tuple(part for feature in features() if feature.backup for part in feature.backup.parts)


def fingerprints(study: Study) -> str:
    """Changes whenever the fingerprint of any feature does."""
    return "".join(feature.fingerprint(study) for feature in features() if feature.fingerprint)


def report_sections() -> tuple[ReportSection, ...]:
    """The sections that features add to a report, in their order."""
    return tuple(feature.report_section for feature in features() if feature.report_section)


def publication_guards() -> Mapping[str, PublicationGuard]:
    """By feature, what keeps its data out of what is published."""
    return {feature.name: feature.publication_guard for feature in features() if feature.publication_guard}


def open_session(study: Study) -> AbstractContextManager[Session[Any]]:
    """The session on a study's journal."""
    opener: Callable[[Study], AbstractContextManager[Session[Any]]] = _declared_once("open_session")
    return opener(study)


def open_round_outcomes(where: Study | Session[Any]) -> RoundOutcomes:
    """What the rounds of a study decided."""
    opener: Callable[[Study | Session[Any]], RoundOutcomes] = _declared_once("round_outcomes")
    return opener(where)


def open_known_names(where: Study | Session[Any]) -> AbstractContextManager[TextMask]:
    """The names that a study knows; refuses where the file of names cannot be read."""
    opener: Callable[[Study | Session[Any]], AbstractContextManager[TextMask]] | None = _declared_once("known_names")
    return opener(where) if opener is not None else nullcontext(NoNames())


def _declared_once(name: str) -> Any:
    """What the only feature that declares it contributes; None where no feature does."""
    declared = {feature.name: getattr(feature, name) for feature in features() if getattr(feature, name) is not None}
    if len(declared) > 1:
        raise RuntimeError(f"{' and '.join(declared)} both declare {name}: only one feature may")
    return next(iter(declared.values()), None)


def maker_of_input(study: Study, source: str) -> Feature | None:
    """The feature that writes the input of a source; None where somebody puts it there."""
    folder = study.path_of(source).parent
    return next(
        (feature for feature in features() if feature.input_folder and study.root / feature.input_folder == folder),
        None,
    )
