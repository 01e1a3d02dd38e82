"""Whether what is published still says what the study says: each build leaves word of what it was made from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quaestor import __version__
from quaestor.base.files import write_whole
from quaestor.coding.state import State
from quaestor.store.sealed_file import mark_of
from quaestor.study.codebook import CODEBOOK_FILE
from quaestor.study.folder import Study
from quaestor.study.funnel import RESULT
from quaestor.study.interviews.files import identities_path, interviews_path

PUBLISHED = ("report", "handbook")
_BESIDE = ("study.toml", CODEBOOK_FILE, "placing.toml", "labels.toml")


@dataclass(frozen=True)
class Freshness:
    """One thing that is published: whether it is there, and whether it is what would be made now."""

    name: str
    made: float | None
    """When, as seconds since the epoch; none where there is none yet."""
    holds: bool


def made_from(study: Study, state: State) -> str:
    """Changes whenever a report or a handbook could come out differently."""
    digest = hashlib.sha256(f"{__version__}/{state.changed}".encode())
    folders = sorted((study.root / "printed").glob("**/*"))
    for file in (*(study.root / name for name in _BESIDE), *folders, study.funnel_folder / RESULT):
        if file.is_file():
            digest.update(f"{file.relative_to(study.root)}\0".encode() + file.read_bytes())
    for path in (interviews_path(study), identities_path(study)):
        digest.update(f"{mark_of(path)}\0".encode())
    return digest.hexdigest()


def note_made(study: Study, name: str, fingerprint: str, replaced: Mapping[str, str]) -> None:
    """Leave word of it and of the names replaced; beside what is published, whose bytes depend on the study alone."""
    text = json.dumps({"made_from": fingerprint, "replaced": dict(replaced)})
    _word(study, name).parent.mkdir(parents=True, exist_ok=True)
    write_whole(_word(study, name), f"{text}\n".encode())


def freshness(study: Study, state: State) -> list[Freshness]:
    now = made_from(study, state)
    return [_of(study, name, now) for name in PUBLISHED]


def replaced_when_made(study: Study, name: str) -> dict[str, str]:
    """By transcript the mark of the names replaced when something was made; none where nobody left word of it."""
    try:
        return dict(json.loads(_word(study, name).read_text("utf-8"))["replaced"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _of(study: Study, name: str, now: str) -> Freshness:
    index = study.published / name / "index.html"
    if not index.exists():
        return Freshness(name, None, False)
    try:
        holds = json.loads(_word(study, name).read_text("utf-8"))["made_from"] == now
    except (OSError, ValueError, KeyError, TypeError):
        holds = False  # made by another version, or copied here
    return Freshness(name, index.stat().st_mtime, holds)


def _word(study: Study, name: str) -> Path:
    return study.evidence / "made" / f"{name}.json"
