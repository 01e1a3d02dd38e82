"""Small studies with their evidence: built once in a process, then copied for each test."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.study.folder import Study, open_study


def study_of(folder: Path, files: Mapping[str, str], source: str = "sheet") -> Study:
    """A study of these files in `folder`, a test's own, with its source ingested and its funnel run."""
    shutil.copytree(_made(tuple(files.items()), source), folder, dirs_exist_ok=True)
    return open_study(folder)


@cache
def _made(files: tuple[tuple[str, str], ...], source: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="quaestor-made-once-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, text in files:
        (folder / name).write_text(text, "utf-8", newline="")
    study = open_study(folder)
    ingest_source(study, source)
    run_funnel(study)
    return folder
