"""A study folder that was copied, restored or unpacked is the same study: content decides, not file times."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.support.labelled_study import labelled_study
from tests.support.rated_study import rated_study

from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import last_result
from quaestor.evidence.ingest import describe_change, ingest_source
from quaestor.publication.publication_status import check_freshness
from quaestor.publication.report.make import build_report
from quaestor.study.features import study_status
from quaestor.study.folder import Study, open_study


def copy(study: Study, folder: Path) -> Study:
    """Copies a study as tools do that keep no times."""
    shutil.copytree(study.root, folder, copy_function=shutil.copyfile)
    for number, path in enumerate(sorted(folder.rglob("*"))):
        os.utime(path, (1_000_000_000 + number, 1_000_000_000 + number))
    return open_study(folder)


def test_a_copied_study_has_the_same_status(tmp_path: Path) -> None:
    study = rated_study(tmp_path / "study", items=20)
    before = study_status(study)
    copied = copy(study, tmp_path / "copy")
    assert study_status(copied) == before
    result = last_result(copied)
    assert result is not None
    assert result[1], "the funnel is current"
    assert ingest_source(copied, "sheet").unchanged


def test_a_changed_input_of_the_same_size_is_noticed(tmp_path: Path) -> None:
    copied = copy(rated_study(tmp_path / "study", items=20), tmp_path / "copy")
    assert describe_change(copied, "sheet") == ""
    posts = copied.root / "posts.csv"
    posts.write_bytes(posts.read_bytes().replace(b"layer 1,", b"layer 9,"))
    assert "changed since it was ingested" in describe_change(copied, "sheet")
    posts.write_bytes(posts.read_bytes().replace(b"layer 9,", b"layer 1,", 1))
    assert describe_change(copied, "sheet") == ""


def test_an_input_with_a_new_time_is_hashed_once(tmp_path: Path) -> None:
    copied = copy(rated_study(tmp_path / "study", items=20), tmp_path / "copy")
    assert describe_change(copied, "sheet") == ""
    posts = copied.root / "posts.csv"
    time = posts.stat().st_mtime_ns
    posts.write_bytes(b"x" * posts.stat().st_size)
    os.utime(posts, ns=(time, time))
    assert describe_change(copied, "sheet") == "", "with the same size and time it is not read again"


def test_a_report_stays_up_to_date_in_a_copy(tmp_path: Path) -> None:
    study = labelled_study(tmp_path / "study")
    build_report(study, lambda words: None)
    copied = copy(study, tmp_path / "copy")
    with open_coding(copied) as coding:
        assert check_freshness(copied, coding.state)[0].is_current
