"""Notes about evidence are on every page, so a manifest is read again only if it changed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.support.small_study import small_study

from quaestor.base.files import write_atomically
from quaestor.evidence.ingest import ingest_source, list_notes
from quaestor.study.folder import Study

MADE_UP = "synthetic: made up"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = small_study(tmp_path / "study")
    ingest_source(made, "sheet")
    return made


def manifest(study: Study, *notes: str) -> tuple[Path, bytes]:
    """Where the manifest of the sheet is, and the same with other notes."""
    path = study.evidence_of("sheet") / "manifest.json"
    return path, json.dumps({**json.loads(path.read_text("utf-8")), "notes": notes}).encode()


def test_notes_of_new_evidence_are_shown_at_once(study: Study) -> None:
    assert list_notes(study) == []
    write_atomically(*manifest(study, MADE_UP))
    assert list_notes(study) == [MADE_UP]
    (study.evidence_of("sheet") / "manifest.json").unlink()
    assert list_notes(study) == []


def test_a_manifest_is_not_read_for_every_page(study: Study) -> None:
    write_atomically(*manifest(study, MADE_UP))
    assert list_notes(study) == [MADE_UP]
    path, other = manifest(study, MADE_UP.replace("up", "UP"))
    before = path.stat()
    with path.open("r+b") as file:  # as nobody writes it: in place, and with the time it had
        file.write(other)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert list_notes(study) == [MADE_UP]
