"""The journal of a study, and where it is."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from quaestor.base.clock import Clock
from quaestor.base.errors import SettingsError
from quaestor.store.journal import Journal
from quaestor.store.moments import exact_now
from quaestor.study.folder import Study

STORE_FILE = "study.db"
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SQLITE = "sqlite:///"


def open_journal(study: Study, clock: Clock = exact_now) -> Journal:
    """The study's journal, made where there is none yet."""
    return Journal.open(store_address(study), clock, backups_of(study))


def has_journal(study: Study) -> bool:
    """Whether anything may have been recorded; asking makes no store."""
    address = store_address(study)
    return not isinstance(address, Path) or address.exists()


def backups_of(study: Study) -> Path:
    return study.root / "backups"


def store_address(study: Study, environment: Mapping[str, str] = os.environ) -> str | Path:
    """The address with its variables filled in; a file counts from the study folder."""
    address = study.settings.store.address
    if address is None:
        return study.root / STORE_FILE
    address = _filled_in(address, study.file, environment)
    if address.startswith(_SQLITE):
        return study.root / address.removeprefix(_SQLITE)
    return address


def _filled_in(address: str, file: Path, environment: Mapping[str, str]) -> str:
    """A password stays out of git as `${NAME}`, and may contain what would otherwise end it."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in environment:
            raise SettingsError(f"{file}: store.address names ${{{found[1]}}}, which is not set: set it and try again")
        return environment[found[1]] if found[0] == address else quote(environment[found[1]], safe="")

    return _VARIABLE.sub(value, address)
