"""The lead erases a response whose code is lost; the erasure is permanent and recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.small_survey import NAME, answered, fielded, imported

from quaestor.base.errors import InputError, StateError
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.open_answers import erase_response


def test_an_erased_imported_response_is_not_imported_again(tmp_path: Path) -> None:
    study = imported(tmp_path / "study", 2)
    with open_surveys(study) as surveys:
        first, second = sorted(response.id for response in surveys.answers.listed(NAME))
        erase_response(surveys, NAME, first, " asked to by letter ")
        assert [response.id for response in surveys.answers.listed(NAME)] == [second]
        assert (surveys.answers.erased(NAME), surveys.answers.is_erased(first)) == (1, True)
        import_answers(surveys, NAME, tmp_path / "study-answers.csv", None)
        assert [response.id for response in surveys.answers.listed(NAME)] == [second]
        with surveys.coding.locked_state() as state:
            acts = [act for act in state.unhandled_acts if act.kind == "survey.erase"]
    assert [(act.actor, act.payload) for act in acts] == [("lead", {"survey": NAME, "why": "asked to by letter"})]
    for path in study.root.glob("study.db*"):
        assert first.encode() not in path.read_bytes(), "the journal never forgets, so it does not say which"


def test_only_the_lead_erases_an_existing_response_and_only_with_a_reason(tmp_path: Path) -> None:
    with fielded(tmp_path) as surveys:
        _, kept = answered(surveys)
        with pytest.raises(StateError, match="is not the lead"):
            erase_response(surveys, NAME, kept.id, "asked", "rater-1")
        with pytest.raises(InputError, match="give a reason for erasing"):
            erase_response(surveys, NAME, kept.id, " ")
        for name, response in ((NAME, "0" * 16), ("other", kept.id)):
            with pytest.raises(InputError, match="has no response"):
                erase_response(surveys, name, response, "asked")
        assert surveys.answers.response(kept.id) == kept
        assert surveys.answers.erased(NAME) == 0
