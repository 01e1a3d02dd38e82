"""Values passed in the link: declared, shown before consent, limited in length, exported, and never trusted."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.support.answering import START, asking, fields_on, kept, send, sent_again
from tests.support.desk import browser, signed_in
from tests.support.small_survey import NAME, answered, fielded, small_survey
from tests.support.small_survey import send as send_page

from quaestor.people.roles import Role
from quaestor.surveys.exchange.export import export_answers
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.invitations import accept_invitation, invite
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.respond import begin_response, read_link_values
from quaestor.surveys.results.compute import survey_results
from quaestor.synth.simulated_respondents import simulate_responses

QUESTIONNAIRE = """
[survey]
title = { en = "Where from", de = "Woher" }
languages = ["en", "de"]

[[pages]]
page = "consent"

[[pages.questions]]
id = "channel"
kind = "link-value"
text = { en = "Where the link was published", de = "Wo der Link stand" }
max_length = 20

[[pages.questions]]
id = "consent"
kind = "consent"
text = { en = "Do you agree to take part?", de = "Nehmen Sie teil?" }

[[pages]]
page = "use"

[[pages.questions]]
id = "use"
kind = "yes-no"
text = { en = "Do you use it?", de = "Nutzen Sie es?" }
"""
SHOWN = "The link you used contains the following, which is stored with your answers:"


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("newsletter", "newsletter"),
        ("  forum  ", "forum"),
        ("Zürich", "Zürich"),
        ("=1+1", "=1+1"),
        ("x" * 20, "x" * 20),
        ("x" * 21, None),
        ("two\nlines", None),
        ("\x00", None),
        ("a\u202eb", None),
        ("", None),
    ],
)
def test_values_that_are_too_long_or_not_printable_are_ignored(value: str, stored: str | None) -> None:
    questionnaire = parse_questionnaire(QUESTIONNAIRE, NAME)
    values = read_link_values(questionnaire, {"channel": value, "use": "yes", "other": "x"})
    assert values == ({} if stored is None else {"channel": {"text": stored}})


def test_a_value_is_shown_before_consent_and_stored_when_the_response_begins(tmp_path: Path) -> None:
    with asking(tmp_path / "study", QUESTIONNAIRE) as app:
        respondent = browser(app)
        first = respondent.get(f"{START}?channel=%3Cb%3Enews&other=x").text
        assert SHOWN in first
        assert "Where the link was published: <strong>&lt;b&gt;news</strong>" in first
        assert 'href="?language=de&amp;channel=%3Cb%3Enews"' in first
        answer = sent_again(respondent, START, {**fields_on(first), "language": "en"}, {"v.channel": ["<b>news"]})
        link = str(answer.headers["location"])
        consent = respondent.get(link).text
        assert SHOWN in consent
        assert "&lt;b&gt;news" in consent
        assert 'name="q.channel"' not in consent
        assert kept(tmp_path / "study", link)[1] == {"channel": {"text": "<b>news"}}
        send(respondent, link, {"q.consent": ["agree"], "q.channel": ["forged"]}, shown="channel consent")
        assert SHOWN not in respondent.get(link).text
        send(respondent, link, {"q.use": ["yes"]})
        assert kept(tmp_path / "study", link)[1]["channel"] == {"text": "<b>news"}
        results = signed_in(app, tmp_path / "study", Role.REVIEWER).get(f"/surveys/{NAME}/results").text
        assert "Where the link was published" in results
    german = parse_questionnaire(QUESTIONNAIRE, NAME, "de")
    assert german.question("channel").text == "Wo der Link stand"  # type: ignore[union-attr]


def test_without_a_value_the_page_says_nothing_about_the_link(tmp_path: Path) -> None:
    with asking(tmp_path / "study", QUESTIONNAIRE) as app:
        respondent = browser(app)
        for query in ("", "?channel=", f"?channel={'x' * 21}", "?unknown=1"):
            assert SHOWN not in respondent.get(f"{START}{query}").text


def test_declining_erases_the_value(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        given = read_link_values(surveys.questionnaire(NAME), {"channel": "forum"})
        code, _ = begin_response(surveys, NAME, hidden_answers=given)
        response = send_page(surveys, code, "consent", {"q.consent": ["decline"]})
        assert response.answers["channel"] == {}


@pytest.mark.parametrize(("anonymous", "stored"), [("true", {}), ("false", {"channel": {"text": "forum"}})])
def test_an_invitation_to_an_anonymous_survey_carries_no_value(
    tmp_path: Path, anonymous: str, stored: dict[str, object]
) -> None:
    text = QUESTIONNAIRE.replace("[survey]", f"[survey]\nanonymous = {anonymous}", 1)
    with fielded(tmp_path / "study", text) as surveys:
        token = invite(surveys, NAME, "first", count=1)[0].token
        _, code = accept_invitation(surveys, token, key="k" * 40, link_values={"channel": {"text": "forum"}})
        response = surveys.answers.find(code)
        assert response is not None
        assert response.answers == stored


@pytest.mark.parametrize("wide", [True, False])
def test_values_are_exported_and_imported(tmp_path: Path, wide: bool) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        forms = {"consent": {"q.consent": ["agree"]}, "use": {"q.use": ["yes"]}}
        answered(surveys, NAME, forms, hidden_answers={"channel": {"text": "=forum"}})  # type: ignore[arg-type]
        answered(surveys, NAME, forms)
        export_answers(surveys, NAME, tmp_path / "answers.csv", wide=wide)
        with (tmp_path / "answers.csv").open(newline="", encoding="utf-8") as opened:
            rows = list(csv.DictReader(opened))
        cells = (
            [row["channel"] for row in rows] if wide else [row["text"] for row in rows if row["question"] == "channel"]
        )
        assert sorted(cells) == ["", "'=forum"]
        with open_surveys(small_survey(tmp_path / "elsewhere", QUESTIONNAIRE)) as elsewhere:
            done = import_answers(elsewhere, NAME, tmp_path / "answers.csv", None)
            assert (done.unread, done.unmapped_columns) == ((), ())
            stored = {response.id: response.answers.get("channel") for response in elsewhere.answers.responses(NAME)}
        assert {"text": "=forum"} in stored.values()
        channel = survey_results(surveys, NAME).question("channel")
        assert channel is not None
        assert channel.base == 1


def test_simulated_respondents_come_with_a_value(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        simulate_responses(surveys, NAME, seed=1, responses=10)
        channel = survey_results(surveys, NAME).question("channel")
        assert channel is not None
        assert channel.base == 9


@pytest.mark.parametrize(
    ("before", "after", "words", "grave"),
    [
        ('id = "channel"', 'id = "language"', "'language' has a meaning of its own in addresses or exports", True),
        ('kind = "link-value"', 'kind = "link-value"\nrequired = true', "required has no effect", False),
        ('kind = "yes-no"', 'kind = "yes-no"\nmax_length = 5', "max_length has no effect", False),
    ],
)
def test_unusable_declarations_are_reported(before: str, after: str, words: str, grave: bool) -> None:
    assert find_problems(parse_questionnaire(QUESTIONNAIRE, NAME)) == []
    problems = find_problems(parse_questionnaire(QUESTIONNAIRE.replace(before, after, 1), NAME))
    assert grave in [problem.grave for problem in problems if words in problem.words], problems


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        ({"forum": 6, "list": 5}, {"forum": 6, "list": 5}),
        ({"forum": 6, "a": 4, "b": 1}, {"forum": 6, "other values": 5}),
        ({"forum": 6, "list": 7, "a": 1}, {"list": 7, "other values": 7}),
        ({"a": 2}, {"other values": 2}),
    ],
)
def test_values_that_few_responses_share_are_one_group(counts: dict[str, int], groups: dict[str, int]) -> None:
    question = parse_questionnaire(QUESTIONNAIRE, "channels").question("channel")
    assert question is not None
    values = [value for value, count in counts.items() for _ in range(count)] + [None]
    answers = pa.array([{"text": value} for value in values], pa.struct([("text", pa.string())]))
    column = kind_of(question).read_column(question, answers, np.ones(len(values), np.bool_))
    found = kind_of(question).group(column, "channel", "", "Channel")
    assert dict(zip(found.keys, found.members.sum(axis=0).tolist(), strict=True)) == groups
