"""The search index is complete or missing, matches the funnel, and is built once."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.searched_study import POSTS, searched_study

from quaestor.base.errors import Interrupted, StateError
from quaestor.base.files import lock_folder
from quaestor.coding.visibility import Viewer
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.text_index import Index, build_index, find_index, index_folder
from quaestor.people.roles import Role
from quaestor.search.index_job import IndexJob, IndexProgress
from quaestor.search.index_query import Search
from quaestor.search.query import Query
from quaestor.search.results import find_items
from quaestor.study.folder import Study, open_study

BUILD = """
import sys
from pathlib import Path
from quaestor.base.errors import StateError
from quaestor.study.folder import open_study
from quaestor.evidence.text_index import build_index
try:
    build_index(open_study(Path(sys.argv[1])), lambda *told: None)
except StateError as busy:
    assert "another process is busy with the search index" in str(busy)
"""


def quiet(what: str, done: int, total: int) -> None:
    return None


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return searched_study(tmp_path / "study")


def test_the_index_is_built_once_reports_progress_and_leaves_one_file(study: Study) -> None:
    assert find_index(study) is None
    told: list[tuple[int, int]] = []
    index = build_index(study, lambda what, done, total: told.append((done, total)))
    assert told == [(0, 0), (0, len(POSTS)), (len(POSTS), len(POSTS))]
    assert [path.name for path in sorted(index_folder(study).iterdir())] == [".lock", "search.db"]
    assert find_index(study) == index
    told.clear()
    assert build_index(study, lambda what, done, total: told.append((done, total))) == index
    assert told == []


def test_an_interrupted_build_leaves_nothing_and_the_next_one_is_complete(study: Study) -> None:
    def stop(what: str, done: int, total: int) -> None:
        if done:
            raise Interrupted("stop")

    with pytest.raises(Interrupted):
        build_index(study, stop)
    assert find_index(study) is None
    assert [path.name for path in index_folder(study).iterdir()] == [".lock"]
    (index_folder(study) / ".search.db").write_text("what a killed build left")
    index = build_index(study, quiet)
    with index.reading() as connection:
        assert connection.execute("SELECT count(*) FROM items").fetchone() == (len(POSTS),)


def test_the_index_is_rebuilt_when_the_funnel_has_another_result(study: Study) -> None:
    build_index(study, quiet)
    study.file.write_text(study.file.read_text("utf-8").replace("view_count > 10", "view_count > 75"), "utf-8")
    study = open_study(study.root)
    index = find_index(study)
    assert index is not None
    with pytest.raises(StateError, match="changed since the funnel ran"):
        find_items(Search(study, None, index, Viewer("lead", Role.LEAD)), Query())
    run_funnel(study)
    assert find_index(study) is None
    index = build_index(study, quiet)
    assert find_items(Search(study, None, index, Viewer("lead", Role.LEAD)), Query(step="viewed")).total == 3


def test_a_damaged_index_counts_as_missing(study: Study) -> None:
    index_folder(study).mkdir(parents=True)
    (index_folder(study) / "search.db").write_text("no database at all, but long enough to be looked at as one" * 20)
    assert find_index(study) is None
    build_index(study, quiet)
    assert find_index(study) is not None


@pytest.mark.slow
def test_two_processes_can_build_the_index_at_once(study: Study) -> None:
    builders = [
        subprocess.Popen([sys.executable, "-c", BUILD, str(study.root)], stderr=subprocess.PIPE) for _ in range(2)
    ]
    for builder in builders:
        _, said = builder.communicate(timeout=60)
        assert builder.returncode == 0, said
    index = find_index(study)
    assert index is not None
    assert find_items(Search(study, None, index, Viewer("lead", Role.LEAD)), Query(words="layer")).total == 4


@pytest.fixture
def indexing() -> Iterator[IndexJob]:
    made = IndexJob()
    yield made
    made.close()


def test_the_index_is_built_in_the_background_of_search_pages(study: Study, indexing: IndexJob) -> None:
    assert isinstance(indexing.get_or_start(study), IndexProgress)
    indexing.wait()
    assert isinstance(indexing.get_or_start(study), Index)


def test_a_failed_build_reports_its_reason(study: Study, indexing: IndexJob) -> None:
    index_folder(study).mkdir(parents=True)
    with lock_folder(index_folder(study), "a test"):
        indexing.start(study)
        indexing.wait()
        seen = indexing.get_or_start(study)
        assert isinstance(seen, IndexProgress)
        assert "another process is busy with the search index" in seen.failed
        indexing.wait()
    indexing.start(study)
    indexing.wait()
    assert isinstance(indexing.get_or_start(study), Index)


def test_stopping_the_server_stops_the_build(study: Study) -> None:
    indexing = IndexJob()
    indexing.close()
    indexing.start(study)
    assert find_index(study) is None
    assert not [one for one in threading.enumerate() if one.name == "search index"]


def test_without_a_funnel_there_is_nothing_to_search(tmp_path: Path) -> None:
    study = searched_study(tmp_path / "study")
    (study.funnel_folder / "funnel.json").unlink()
    with pytest.raises(StateError, match="has not run yet"):
        build_index(study, quiet)
