"""What raters and leads write about an open answer goes when its respondent withdraws; codes and agreement stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import new_database
from quaestor.study.coding import open_coding, rebuilt
from quaestor.study.folder import open_study
from quaestor.study.surveys.answering import withdraw
from quaestor.study.surveys.fielding import open_surveys
from quoted_survey import (
    MAIN,
    PLANTED,
    Quoted,
    agreement_told,
    quoted_everywhere,
    words_in_journal,
    words_on_disk,
    words_read,
)


@pytest.fixture(params=["sqlite", "postgresql"])
def quoted(request: pytest.FixtureRequest, tmp_path: Path) -> Quoted:
    """The journal in a file, or in a new database on a real server."""
    store = ""
    if request.param == "postgresql":
        store = new_database(request.getfixturevalue("postgresql_server"))
    return quoted_everywhere(tmp_path / "study", store)


def test_the_journal_never_holds_what_was_written_about_an_answer_and_readers_get_it(quoted: Quoted) -> None:
    assert words_in_journal(quoted.study) == set()
    assert set(words_on_disk(quoted.study.root)) <= {"answers.db", "answers.db-wal"}
    with open_coding(quoted.study) as coding:
        # What somebody tried on a practice item is on record and nobody reads it.
        assert words_read(coding) == set(PLANTED.values()) - {PLANTED["practised text"]}


def test_after_a_withdrawal_no_byte_of_it_is_left_and_agreement_is_the_same_to_the_last_bit(quoted: Quoted) -> None:
    with open_coding(quoted.study) as elsewhere:
        before = agreement_told(elsewhere)
        with open_surveys(quoted.study) as surveys:
            assert withdraw(surveys, quoted.code)
            assert words_read(surveys.coding) == set()
        assert words_read(elsewhere) == set(), "another process reads its state again"
        assert agreement_told(elsewhere) == before
    assert words_on_disk(quoted.study.root) == {}
    with open_coding(open_study(quoted.study.root)) as coding:
        assert agreement_told(coding) == before
        one = coding.state.round(MAIN)
        rating = one.current("rater-1", quoted.item)
        assert rating is not None
        assert (rating.memo, rating.answers["theme"], rating.answers["fit"]["answer"]) == ("", "layers", "exclude")
        kept = one.current("rater-2", quoted.others[0])
        assert kept is not None
        assert (kept.memo, kept.answers["note"]) == ("kept: theirs 0", "theirs 0")
        assert kept.answers["phrase"] == {"verb": "explain", "object": "model"}
        assert rebuilt(coding.journal).head == coding.state.head, "the journal alone can be folded too"
