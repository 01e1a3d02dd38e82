"""Random assignment to variants: recorded when a response begins, balanced, and out of the respondent's hands."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from tests.support.answering import asking, begun, kept, send
from tests.support.desk import browser, signed_in
from tests.support.small_survey import NAME, answered, fielded, small_survey

from quaestor.people.roles import Role
from quaestor.surveys.exchange.export import export_answers
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.lifecycle import Surveys, open_surveys
from quaestor.surveys.model.paths import paths
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.pages.preview import NEXT, walk
from quaestor.surveys.respond import SurveyPage, begin_response, show_page, withdraw
from quaestor.surveys.results.compute import survey_results
from quaestor.synth.simulated_respondents import simulate_responses

QUESTIONNAIRE = """
[survey]
title = "Two wordings"

[[pages]]
page = "consent"

[[pages.questions]]
id = "consent"
kind = "consent"
text = "Do you agree to take part?"

[[pages]]
page = "rating"

[[pages.questions]]
id = "variant"
kind = "variant"
text = "Wording of the question"
options = ["Short", "Long"]

[[pages.questions]]
id = "short"
kind = "yes-no"
text = "Useful?"
show_if = "variant = short"

[[pages.questions]]
id = "long"
kind = "yes-no"
text = "Would you say that it was useful?"
show_if = "variant = long"

[[pages]]
page = "more"
title = "Wording: {variant}"
show_if = "variant = long"

[[pages.questions]]
id = "more"
kind = "text"
text = "Anything else?"
"""
FORMS = {
    "consent": {"q.consent": ["agree"]},
    "rating": {"q.short": ["yes"], "q.long": ["no"]},
    "more": {"q.more": ["no"]},
}


def counts(surveys: Surveys, *standings: ResponseStatus) -> Counter[str]:
    return Counter(
        response.answers["variant"]["choices"][0]
        for response in surveys.answers.responses(NAME)
        if not standings or response.standing in standings
    )


def test_variants_are_balanced_over_open_and_finished_responses(tmp_path: Path) -> None:
    chance = random.Random(7)
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        for begun_so_far in range(1, 31):
            answered(surveys, NAME, FORMS if chance.random() < 0.5 else {})
            assert abs(2 * counts(surveys)["short"] - begun_so_far) <= 1
        assert counts(surveys) == {"short": 15, "long": 15}
        assert len({response.answers["variant"]["choices"][0] for response in surveys.answers.responses(NAME)}) == 2


def test_declined_and_withdrawn_responses_make_room_for_others(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        first = [answered(surveys, NAME, FORMS) for _ in range(4)]
        short = [code for code, response in first if response.answers["variant"] == {"choices": ["short"]}]
        for code in short:
            withdraw(surveys, code)
        after = [begin_response(surveys, NAME)[1].answers["variant"] for _ in range(2)]
        assert after == [{"choices": ["short"]}] * 2
        answered(surveys, NAME, {"consent": {"q.consent": ["decline"]}})
        remaining = Counter(
            response.answers["variant"]["choices"][0]
            for response in surveys.answers.responses(NAME)
            if response.standing is not ResponseStatus.DECLINED
        )
        assert remaining == {"short": 2, "long": 2}


def test_beginning_twice_from_one_page_assigns_once(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        first = begin_response(surveys, NAME, code="the same code")[1]
        assert begin_response(surveys, NAME, code="the same code")[1] == first
        assert sum(counts(surveys).values()) == 1


def test_a_respondent_sees_the_questions_of_their_variant_and_cannot_change_it(tmp_path: Path) -> None:
    with asking(tmp_path / "study", QUESTIONNAIRE) as app:
        respondent = browser(app)
        for _ in range(2):
            link = begun(respondent)
            send(respondent, link, {"q.consent": ["agree"]})
            variant = kept(tmp_path / "study", link)[1]["variant"]["choices"][0]  # type: ignore[index]
            page = respondent.get(link).text
            assert "Wording of the question" not in page
            assert ("Would you say" in page) is (variant == "long")
            other = "long" if variant == "short" else "short"
            spoofed = {"q.variant": [other], f"q.{other}": ["yes"], f"q.{variant}": ["yes"]}
            assert send(respondent, link, spoofed, shown=f"variant {variant} {other}").status_code == 303
            answers = kept(tmp_path / "study", link)[1]
            assert answers["variant"] == {"choices": [variant]}
            assert (variant in answers, other in answers) == (True, False)
            if variant == "long":
                assert "Wording: Long" in respondent.get(link).text
                send(respondent, link, {}, go="back")
                assert kept(tmp_path / "study", link)[1]["variant"] == {"choices": ["long"]}


def test_a_page_that_only_assigns_a_variant_is_not_shown(tmp_path: Path) -> None:
    apart = QUESTIONNAIRE.replace(
        '[[pages.questions]]\nid = "short"', '[[pages]]\npage = "asked"\n\n[[pages.questions]]\nid = "short"'
    )
    with fielded(tmp_path / "study", apart) as surveys:
        code, _ = answered(surveys, NAME, {"consent": FORMS["consent"]})
        page = show_page(surveys, code)
        assert isinstance(page, SurveyPage)
        assert (page.page.id, page.done) == ("asked", 1)
        _, response = answered(surveys, NAME, {**FORMS, "asked": FORMS["rating"]})
        assert response.standing is ResponseStatus.FINISHED


def test_the_lead_chooses_the_variant_of_a_preview(tmp_path: Path) -> None:
    with asking(tmp_path / "study", QUESTIONNAIRE) as app:
        lead = signed_in(app, tmp_path / "study", Role.LEAD)
        page = lead.get(f"/surveys/{NAME}/preview?q.variant=long").text
    assert '<option value="long" selected>Long</option>' in page
    assert '<input type="hidden" name="q.variant" value="long">' in page


def test_results_compare_by_variant(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        for _ in range(6):
            answered(surveys, NAME, FORMS)
        results = survey_results(surveys, NAME, by="variant")
        assert results.groups is not None
        assert (results.groups.keys, results.sizes) == (("short", "long"), (3, 3))
        short = results.question("short")
        assert short is not None
        assert (short.base, short.bases) == (3, (3, 0))
        assert survey_results(surveys, NAME, where=["variant=long"]).base == 3


@pytest.mark.parametrize("wide", [True, False])
def test_variants_are_exported_and_imported(tmp_path: Path, wide: bool) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        for _ in range(4):
            answered(surveys, NAME, FORMS)
        export_answers(surveys, NAME, tmp_path / "answers.csv", wide=wide)
        assert "variant" in (tmp_path / "answers.csv").read_text("utf-8")
        with open_surveys(small_survey(tmp_path / "elsewhere", QUESTIONNAIRE)) as elsewhere:
            done = import_answers(elsewhere, NAME, tmp_path / "answers.csv", None)
            assert (done.unread, done.odd, done.unmapped_columns) == ((), (), ())
            stored = {response.id: response.answers for response in elsewhere.answers.responses(NAME)}
            assert stored == {response.id: response.answers for response in surveys.answers.responses(NAME)}


def test_paths_previews_and_simulated_respondents_know_variants(tmp_path: Path) -> None:
    questionnaire = parse_questionnaire(QUESTIONNAIRE, NAME)
    assert find_problems(questionnaire) == []
    assert {path.questions for path in paths(questionnaire)} == {
        ("consent", "variant", "short"), ("consent", "variant", "long", "more"), ("consent",),
    }  # fmt: skip
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        for variant, questions in (("short", ["short"]), ("long", ["long"])):
            form = {"q.consent": ["agree"], "q.variant": [variant]}
            page = walk(surveys.study, NAME, form, step=NEXT, at="consent").page
            assert page is not None
            assert [question.id for question in page.questions] == questions
        first = walk(surveys.study, NAME, {"q.consent": ["agree"]}, step=NEXT, at="consent").page
        assert first is not None
        assert [question.id for question in first.questions] == ["short"]
        simulated = simulate_responses(surveys, NAME, seed=1, responses=20)
        assert simulated.truth["variant"].counts == {"short": 10, "long": 10}
        assert {response.standing for response in surveys.answers.responses(NAME)} == {ResponseStatus.FINISHED}
        variant = survey_results(surveys, NAME).question("variant")
        assert variant is not None
        planted = {line.key: line.share.count for line in variant.rows[0].lines}
        assert planted == dict(simulated.truth["variant"].counts)


@pytest.mark.parametrize(
    ("before", "after", "words", "grave"),
    [
        ('options = ["Short", "Long"]', 'options = ["Short"]', "there is one variant only", True),
        ('kind = "variant"', 'kind = "variant"\nshow_if = "consent = agree"', "remove the condition", True),
        ('page = "rating"', 'page = "rating"\nshow_if = "consent = agree"', "remove the condition", True),
        ('kind = "variant"', 'kind = "variant"\nshuffle = true', "shuffle has no effect", False),
    ],
)
def test_unusable_variants_are_reported(before: str, after: str, words: str, grave: bool) -> None:
    problems = find_problems(parse_questionnaire(QUESTIONNAIRE.replace(before, after, 1), NAME))
    assert grave in [problem.grave for problem in problems if words in problem.words], problems
