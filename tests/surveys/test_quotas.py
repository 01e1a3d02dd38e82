"""Quota groups never exceed their limit, even with simultaneous respondents, and no page is lost."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.small_survey import fielded, send

from quaestor.base.clock import now
from quaestor.surveys.lifecycle import Surveys, open_surveys
from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.respond import begin_response, withdraw

NAME, PLACES = "groups", 3
ASKED = f"""
[survey]
title = "Groups"
quotas = [{{ of = "group = many", most = {PLACES} }}]

[[pages]]
page = "consent"
questions = [{{ id = "consent", kind = "consent", text = "May we?" }}]

[[pages]]
page = "which"
questions = [{{ id = "group", kind = "single", text = "Which group?", options = ["Few", "Many"] }}]

[[pages]]
page = "last"
questions = [{{ id = "words", kind = "text", text = "A last word?" }}]
"""


@pytest.fixture
def surveys(tmp_path: Path) -> Iterator[Surveys]:
    with fielded(tmp_path / "study", ASKED, NAME) as opened:
        yield opened


def entered(surveys: Surveys, group: str = "many") -> tuple[str, ResponseStatus]:
    """A new respondent who names their group, with the resulting status."""
    code, _ = begin_response(surveys, NAME)
    send(surveys, code, "consent", {"q.consent": ["agree"]})
    return code, send(surveys, code, "which", {"q.group": [group]}).standing


def finish(surveys: Surveys, code: str) -> ResponseStatus:
    return send(surveys, code, "last", {"q.words": ["done"]}).standing


def test_simultaneous_respondents_never_exceed_a_quota(surveys: Surveys) -> None:
    respondents = 24
    told: list[tuple[str, ResponseStatus]] = []
    begin_all = threading.Barrier(respondents)

    def come(place: Surveys) -> None:
        begin_all.wait()
        code, standing = entered(place)
        told.append((code, finish(place, code) if standing is ResponseStatus.OPEN else standing))

    with open_surveys(surveys.study) as elsewhere:  # as another process would have the file open
        each = [threading.Thread(target=come, args=(place,)) for place in [surveys, elsewhere] * (respondents // 2)]
        for thread in each:
            thread.start()
        for thread in each:
            thread.join()
    counted = Counter(standing for _, standing in told)
    assert counted == {ResponseStatus.FINISHED: PLACES, ResponseStatus.SCREENED_OUT: respondents - PLACES}
    for code, standing in told:
        kept = surveys.answers.find(code)
        assert kept is not None
        assert (kept.standing, kept.answers["group"]) == (standing, {"choices": ["many"]})
        pages = ["consent", "which", *(["last"] if standing is ResponseStatus.FINISHED else [])]
        assert [page for _, page, _ in surveys.answers.journal(kept.id)] == pages


def test_a_quota_place_is_reserved_during_a_response_and_freed_by_a_withdrawal(surveys: Surveys) -> None:
    holders = [entered(surveys) for _ in range(PLACES)]
    assert {standing for _, standing in holders} == {ResponseStatus.OPEN}
    assert entered(surveys)[1] is ResponseStatus.SCREENED_OUT
    assert entered(surveys, "few")[1] is ResponseStatus.OPEN
    withdraw(surveys, holders[0][0])
    late, standing = entered(surveys)
    assert standing is ResponseStatus.OPEN
    assert [finish(surveys, code) for code in (holders[1][0], holders[2][0], late)] == [
        ResponseStatus.FINISHED
    ] * PLACES
    withdraw(surveys, late)
    assert entered(surveys)[1] is ResponseStatus.OPEN


def test_a_quota_place_is_freed_by_a_changed_answer(surveys: Surveys) -> None:
    holders = [entered(surveys)[0] for _ in range(PLACES)]
    send(surveys, holders[0], "which", {"q.group": ["few"]})
    assert entered(surveys)[1] is ResponseStatus.OPEN
    assert send(surveys, holders[0], "which", {"q.group": ["many"]}).standing is ResponseStatus.SCREENED_OUT


def test_an_inactive_respondent_loses_the_quota_place_and_is_informed_on_return(surveys: Surveys) -> None:
    begun = now()
    surveys.coding.journal.clock = lambda: begun
    away = [entered(surveys)[0] for _ in range(PLACES)]
    surveys.coding.journal.clock = lambda: begun + timedelta(days=1)
    assert entered(surveys)[1] is ResponseStatus.SCREENED_OUT
    surveys.coding.journal.clock = lambda: begun + timedelta(days=2)
    assert finish(surveys, away[0]) is ResponseStatus.FINISHED  # there is room still
    others = [entered(surveys)[0] for _ in range(PLACES - 1)]
    assert [finish(surveys, code) for code in (*others, *away[1:])] == [
        ResponseStatus.FINISHED, ResponseStatus.FINISHED, ResponseStatus.SCREENED_OUT, ResponseStatus.SCREENED_OUT
    ]  # fmt: skip


def test_the_last_quota_place_stays_free_if_saving_a_page_fails(surveys: Surveys) -> None:
    for _ in range(PLACES - 1):
        entered(surveys)
    code, _ = begin_response(surveys, NAME)
    send(surveys, code, "consent", {"q.consent": ["agree"]})
    with surveys.answers._file.writing() as writing:
        writing.execute("CREATE TRIGGER fails BEFORE UPDATE ON responses BEGIN SELECT RAISE(ABORT, 'no'); END")
    with pytest.raises(Exception, match="cannot be used"):
        send(surveys, code, "which", {"q.group": ["many"]})
    with surveys.answers._file.writing() as writing:
        writing.execute("DROP TRIGGER fails")
    assert entered(surveys)[1] is ResponseStatus.OPEN
    assert send(surveys, code, "which", {"q.group": ["many"]}).standing is ResponseStatus.SCREENED_OUT
