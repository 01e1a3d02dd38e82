"""What is published, at a glance: how fresh it is, which findings hold, what the audit counted; and it packed."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from quaestor.base.errors import StateError
from quaestor.coding.state import State
from quaestor.study.folder import Study
from quaestor.study.results.freshness import PUBLISHED, Freshness, freshness

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""What a ZIP can say at the earliest: the same files give the same bytes."""


@dataclass(frozen=True)
class Claim:
    """A finding as the last report has it."""

    name: str
    sentence: str
    holds: bool


@dataclass(frozen=True)
class Standing:
    """What a reader can open, and whether it is what would be made now."""

    published: tuple[Freshness, ...]
    findings: tuple[Claim, ...] = ()
    audit: Mapping[str, int] = field(default_factory=dict)

    @property
    def stale(self) -> tuple[str, ...]:
        """What there is and no longer holds."""
        return tuple(one.name for one in self.published if one.made is not None and not one.holds)

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.published if one.made is None)


def standing(study: Study, state: State) -> Standing:
    report = study.published / "report"
    findings = _document(report / "findings.json") or []
    audit = _document(report / "audit.json") or {}
    claims = tuple(Claim(str(one["finding"]), str(one["sentence"]), bool(one["holds"])) for one in findings)
    return Standing(tuple(freshness(study, state)), claims, audit.get("summary", {}))


def without(found: Standing, withheld: Collection[str]) -> Standing:
    """The same for those who may not read all of it."""
    if not withheld:
        return found
    published = tuple(one for one in found.published if one.name not in withheld)
    return Standing(published) if "report" in withheld else replace(found, published=published)


def _document(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def pack(study: Study, name: str, into: IO[bytes]) -> None:
    """A published folder as one ZIP, to be opened anywhere without a server."""
    folder = study.published / name
    if name not in PUBLISHED or not (folder / "index.html").exists():
        raise StateError(f"There is no {name} yet: make it first.")
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.rglob("*")):
            if file.is_file() and not file.is_symlink():
                entry = zipfile.ZipInfo(f"{name}/{file.relative_to(folder).as_posix()}", _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(entry, file.read_bytes())
