"""The open study behind the server: it reloads a changed study file and serves concurrent readers and raters."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.small_study import small_study

from quaestor.base.errors import StateError
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.session import open_coding
from quaestor.study.folder import Study
from quaestor.web.study_session import StudySession


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return small_study(tmp_path / "study")


@pytest.fixture
def opened(study: Study) -> Iterator[StudySession]:
    kept = StudySession(study.root)
    yield kept
    kept.close()


def test_reading_creates_no_journal(opened: StudySession, study: Study) -> None:
    with opened.locked_state() as state:
        assert state.rounds == {}
    assert opened.coding_if_any is None
    with pytest.raises(StateError, match="the lead opens rounds"):
        _ = opened.desk
    assert not (study.root / "study.db").exists()


def test_preparing_reads_the_journal_before_the_first_page(opened: StudySession, study: Study) -> None:
    open_by_name(study, "pilot", None)
    opened.prepare()
    desk = opened.open_desk
    assert desk is not None
    assert desk.coding.journal.head() == 1
    with opened.locked_state() as state:
        assert list(state.rounds) == ["pilot"]


def test_preparing_creates_no_journal_and_raises_no_error(opened: StudySession, study: Study) -> None:
    opened.prepare()
    assert not (study.root / "study.db").exists()
    (study.root / "study.db").write_text("no journal", "utf-8")
    opened.prepare()
    assert opened.open_desk is None


def test_reading_creates_no_answers_file_and_the_file_is_opened_once(opened: StudySession, study: Study) -> None:
    assert opened.surveys_if_any is None
    assert not (study.root / "answers.db").exists()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: opened.surveys, range(16)))
    assert len({id(one) for one in found}) == 1
    assert opened.surveys_if_any is found[0]
    assert (study.root / "answers.db").exists()


def test_a_changed_study_file_is_reloaded_for_everyone(opened: StudySession, study: Study) -> None:
    coding = opened.coding
    assert opened.study is opened.study
    text = study.file.read_text("utf-8")
    study.file.write_text(f'{text}\n[families]\nnew = ["newer"]\n' if "[families]" not in text else f"{text}\n# more\n")
    before = coding.study
    assert opened.study is not before
    assert coding.study is opened.study


def test_acts_recorded_by_another_process_are_visible(opened: StudySession, study: Study) -> None:
    assert opened.coding.state.rounds == {}
    open_by_name(study, "pilot", None)
    with opened.locked_state() as state:
        assert "pilot" in state.rounds


def test_many_threads_can_read_while_others_rate(opened: StudySession, study: Study) -> None:
    """The state does not change while a reader iterates over the ratings."""
    open_by_name(study, "pilot", None)
    coding = opened.coding
    items = coding.state.rounds["pilot"].plan.items

    def look() -> None:
        for _ in range(200):
            with opened.locked_state() as state:
                for given in state.rounds["pilot"].ratings.values():
                    for _item in given:
                        pass

    def give(rater: str) -> None:
        for item in items:
            rate(coding, "pilot", rater, item, {"relevance": "keep"})

    def act_after_looking(rater: str) -> None:
        for item in items:
            with open_coding(coding) as held:
                assert held is coding
                rate(held, "pilot", rater, item, {"relevance": "exclude: crash"})

    with ThreadPoolExecutor(4) as pool:
        works = [pool.submit(look), pool.submit(look), pool.submit(give, "rater-1")]
        for work in [*works, pool.submit(act_after_looking, "rater-2")]:
            work.result(timeout=60)
    assert {rater: len(given) for rater, given in coding.state.rounds["pilot"].ratings.items()} == {
        "rater-1": len(items),
        "rater-2": len(items),
    }
