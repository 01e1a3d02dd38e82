"""A study folder: its settings, the paths of its parts, and edits of study.toml that keep all other bytes unchanged."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import tomlkit
from tomlkit.items import Item, Table

from quaestor.base.clock import Clock, exact_now
from quaestor.base.errors import InputError, SettingsError, StateError
from quaestor.base.files import lock_folder, write_atomically
from quaestor.base.names import join_with_and, join_with_or, suggest
from quaestor.store.journal import Journal
from quaestor.study.settings.evidence import FunnelSettings
from quaestor.study.settings.schema import STUDY_FILE, StudySettings, read_settings
from quaestor.study.settings.sources import SourceSettings


@dataclass(frozen=True)
class Study:
    """An open study folder with its settings, as seen from one of its strands.

    Functions that read evidence take the strand from here; by default it is the first one.
    """

    root: Path
    settings: StudySettings
    chosen_strand: str | None = None

    @property
    def strand(self) -> str:
        """The name of the strand; empty for the one that `[funnel]` describes."""
        return self.strands[0] if self.chosen_strand is None else self.chosen_strand

    @property
    def strands(self) -> tuple[str, ...]:
        return tuple(self.settings.all_strands())

    @property
    def strand_title(self) -> str:
        """Returns what pages and tables call the strand."""
        return (
            self.funnel.title
            or self.strand
            or (join_with_and(self.funnel.sources) if self.funnel.sources else "funnel")
        )

    @property
    def funnel(self) -> FunnelSettings:
        return self.settings.all_strands()[self.strand]

    @property
    def prefix(self) -> str:
        """Returns the beginning of the ids of this strand's items."""
        return f"{self.strand}:" if self.strand else ""

    def in_strand(self, name: str) -> Study:
        """Returns the study as seen from a strand."""
        if name not in self.strands:
            options = suggest(name, filter(None, self.strands)) or "none is defined"
            raise SettingsError(f"{self.file}: there is no strand {name!r}; choose from: {options}")
        return replace(self, chosen_strand=name)

    def in_strand_with_step(self, step: str) -> Study:
        """Returns the study as seen from the strand that has a step; the names of steps differ between strands."""
        for study in self.in_each_strand():
            if step in (known.step for known in study.funnel.steps):
                return study
        steps = [known.step for study in self.in_each_strand() for known in study.funnel.steps]
        raise StateError(f"the funnel has no step {step!r}; choose from: {suggest(step, steps)}")

    def in_each_strand(self) -> list[Study]:
        return [self.in_strand(name) for name in self.strands]

    def in_strand_of(self, item: str) -> Study:
        """Returns the study as seen from the strand of an item; an id without a strand belongs to the first one."""
        name = item.partition(":")[0]
        return self.in_strand(name if name in self.settings.strands else self.strands[0])

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
        return self.evidence / "strands" / self.strand if self.strand else self.evidence / "funnel"

    def evidence_of(self, source: str) -> Path:
        return self.evidence / "sources" / source

    def source(self, name: str) -> SourceSettings:
        """Returns the settings of a source."""
        if name not in self.settings.sources:
            options = suggest(name, self.settings.sources) or "none"
            raise SettingsError(f"{self.file}: there is no source {name!r}; choose from: {options}")
        return self.settings.sources[name]

    def path_of(self, name: str) -> Path:
        """Returns the path of a source's input, relative to the study folder."""
        return self.root / Path(self.source(name).path).expanduser()

    def funnel_sources(self) -> tuple[str, ...]:
        """Returns the sources of the strand, all of one kind; `[funnel]` may omit them if there is only one for it."""
        if self.funnel.sources:
            return self.funnel.sources
        of_other_strands = {source for funnel in self.settings.strands.values() for source in funnel.sources}
        possible = [name for name in self.settings.sources if name not in of_other_strands]
        if len(possible) == 1:
            return (possible[0],)
        allowed = join_with_or(self.settings.sources) or "add a source first"
        raise SettingsError(f"{self.file}: funnel.source is missing; choose from: {allowed}")

    def funnel_source(self) -> str:
        """Returns the first source of the strand."""
        return self.funnel_sources()[0]

    def results_sources(self) -> tuple[str, ...]:
        """Returns the sources that results are computed from."""
        source = self.settings.results.source
        return (source,) if source is not None else self.funnel_sources()

    def in_results_strand(self) -> Study:
        """Returns the study as seen from the strand whose sources the results are computed from."""
        source = self.settings.results.source
        strands = self.in_each_strand() if source is not None else []
        return next((strand for strand in strands if source in strand.funnel.sources), self.in_strand(self.strands[0]))


def open_study(start: Path) -> Study:
    """Finds and reads the study in a folder or its parents."""
    start = start.resolve()
    if not start.exists():
        raise StateError(f"{start} does not exist: name a study folder with --study")
    for folder in (start, *start.parents):
        if (folder / STUDY_FILE).is_file():
            return Study(folder, read_settings(folder / STUDY_FILE))
    raise StateError(
        f"no {STUDY_FILE} in {start} or its parent folders: change to a study folder, name one with --study, "
        "or create one with `quaestor new DIR`"
    )


STORE_FILE = "study.db"
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SQLITE = "sqlite:///"


def open_journal(study: Study, clock: Clock = exact_now) -> Journal:
    """Opens the study's journal and creates it if there is none."""
    return Journal.open(store_address(study), clock, backup_folder(study))


def has_journal(study: Study) -> bool:
    """Tells whether anything may have been recorded, without creating a store."""
    address = store_address(study)
    return not isinstance(address, Path) or address.exists()


def backup_folder(study: Study) -> Path:
    return study.root / "backups"


def store_address(study: Study, environment: Mapping[str, str] = os.environ) -> str | Path:
    """Returns the store's address with variables filled in; a file path is relative to the study folder."""
    address = study.settings.store.address
    if address is None:
        return study.root / STORE_FILE
    address = _fill_in_variables(address, study.file, environment)
    if address.startswith(_SQLITE):
        return study.root / address.removeprefix(_SQLITE)
    return address


def _fill_in_variables(address: str, file: Path, environment: Mapping[str, str]) -> str:
    """Fills in `${NAME}` variables, which keep passwords out of git; escapes their special characters."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in environment:
            raise SettingsError(f"{file}: store.address names ${{{match[1]}}}, which is not set: set it and try again")
        return environment[match[1]] if match[0] == address else quote(environment[match[1]], safe="")

    return _VARIABLE.sub(value, address)


def read_study_text(study: Study) -> str:
    """Reads study.toml with its line endings."""
    try:
        return study.file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{study.file} is not UTF-8 (byte {error.start}): save it as UTF-8") from None


def append_tables(text: str, tables: str) -> str:
    """Appends tables to the text of a study file, after an empty line."""
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + use_line_endings(text, gap + tables)


def use_line_endings(text: str, addition: str) -> str:
    """Converts an addition to the line endings of a text."""
    return addition.replace("\n", "\r\n") if "\r\n" in text else addition


def edit_study_file(study: Study, change: Callable[[str], str]) -> None:
    """Replaces study.toml atomically under a lock; keeps its permissions and follows a symbolic link."""
    study.evidence.mkdir(exist_ok=True)  # the lock file is in this folder, which git ignores
    with lock_folder(study.evidence, "study.toml"):
        file = study.file.resolve()
        mode = file.stat().st_mode
        write_atomically(file, change(read_study_text(study)).encode("utf-8"))
        file.chmod(mode)


def toml_item(value: Any) -> Item:
    """Converts a value for tomlkit: tables stay on one line, multi-line texts keep their lines."""
    if isinstance(value, str):
        if re.search("[\ud800-\udfff]", value):
            raise InputError(f"{value!r} contains a lone surrogate, which no file can store: remove it")
        return tomlkit.string(value, multiline="\n" in value and "\r" not in value)
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, inner in value.items():
            table.add(key, toml_item(inner))
        return table
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        array.extend(toml_item(inner) for inner in value)
        return array
    plain: Item = tomlkit.item(value)
    return plain


def toml_table(values: Mapping[str, Any]) -> Table:
    """Converts values to a table, one per line."""
    table = tomlkit.table()
    for key, value in values.items():
        table.add(key, toml_item(value))
    return table
