"""A study folder: where its file is, what it says, and where everything of it lives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import SettingsError, StateError
from quaestor.base.names import listed, nearest_first
from quaestor.study.settings import STUDY_FILE, SourceSettings, StudySettings, read_settings


@dataclass(frozen=True)
class Study:
    """A study that has been read."""

    root: Path
    settings: StudySettings

    @property
    def file(self) -> Path:
        return self.root / STUDY_FILE

    @property
    def evidence(self) -> Path:
        return self.root / "evidence"

    @property
    def published(self) -> Path:
        return self.root / "published"

    @property
    def funnel_folder(self) -> Path:
        return self.evidence / "funnel"

    def evidence_of(self, source: str) -> Path:
        return self.evidence / "sources" / source

    def source(self, name: str) -> SourceSettings:
        """The settings of a source by its name."""
        if name not in self.settings.sources:
            options = listed(nearest_first(name, self.settings.sources)) or "none"
            raise SettingsError(f"{self.file}: there is no source {name!r}, allowed: {options}")
        return self.settings.sources[name]

    def path_of(self, name: str) -> Path:
        """Where a source's input is; a path in a study file counts from the study folder."""
        return self.root / Path(self.source(name).path).expanduser()

    def funnel_source(self) -> str:
        """The source the funnel reads; where there is only one it need not be named."""
        if self.settings.funnel.source is not None:
            return self.settings.funnel.source
        if len(self.settings.sources) == 1:
            return next(iter(self.settings.sources))
        raise SettingsError(
            f"{self.file}: funnel.source is missing, allowed: {listed(self.settings.sources) or 'add a source first'}"
        )


def open_study(start: Path) -> Study:
    """The study that a folder is, or lies in."""
    start = start.resolve()
    if not start.exists():
        raise StateError(f"{start} does not exist: name a study folder with --study")
    for folder in (start, *start.parents):
        if (folder / STUDY_FILE).is_file():
            return Study(folder, read_settings(folder / STUDY_FILE))
    raise StateError(
        f"there is no {STUDY_FILE} in {start} or above it: go into a study folder, name one with --study, "
        "or make one with `quaestor new DIR`"
    )
