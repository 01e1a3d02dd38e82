"""A real report of a small labelled study, built once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.support.labelled_study import labelled_study

from quaestor.publication.report.make import build_report
from quaestor.study.folder import Study, open_study


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The study with its report; tests look at it and change nothing."""
    made = labelled_study(tmp_path_factory.mktemp("report") / "study")
    build_report(made, lambda words: None)
    return made


@pytest.fixture(scope="session")
def report(study: Study) -> Path:
    return study.published / "report"


@pytest.fixture
def copied(study: Study, tmp_path: Path) -> Study:
    """The same study elsewhere, with its report, for a test that changes it."""
    shutil.copytree(study.root, tmp_path / "study")
    return open_study(tmp_path / "study")
