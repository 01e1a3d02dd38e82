"""The response page shows the shuffled order that the respondent saw."""

from __future__ import annotations

from pathlib import Path

from tests.support.small_survey import FORMS, NAME, fielded, send, small_survey

from quaestor.surveys.exchange.export import export_answers
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.pages.responses import ResponseSheet, response_sheet
from quaestor.surveys.respond import SurveyPage, begin_response, show_page


def orders(sheet: ResponseSheet) -> dict[str, tuple[str, ...]]:
    return {answer.question.id: answer.order for _, answers in sheet.pages for answer in answers if answer.order}


def test_the_shuffled_order_is_shown_on_the_response_page_and_survives_import(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        code, response = begin_response(surveys, NAME)
        send(surveys, code, "consent", FORMS["consent"])
        send(surveys, code, "you", FORMS["you"])
        page = show_page(surveys, code)
        assert isinstance(page, SurveyPage)
        met = {one.id: tuple(part.label for part in one.rows or one.options) for one in page.questions if one.shuffle}
        assert orders(response_sheet(surveys, NAME, response.id, {})) == {}  # the page has not been sent
        for name in ("tools", "words"):
            send(surveys, code, name, FORMS[name])
        assert orders(response_sheet(surveys, NAME, response.id, {})) == met
        export_answers(surveys, NAME, tmp_path / "answers.csv")
    assert set(met) == {"used", "met"}
    with open_surveys(small_survey(tmp_path / "other")) as surveys:
        import_answers(surveys, NAME, tmp_path / "answers.csv", None)
        assert orders(response_sheet(surveys, NAME, response.id, {})) == met
