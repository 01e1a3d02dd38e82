"""Texts of respondent pages: complete in every language, and used for everything the pages say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.paths import DOCS, ROOT
from tests.support.small_survey import QUESTIONNAIRE

from quaestor.base.errors import InputError
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import parse_questionnaire, untranslated
from quaestor.surveys.model.wording.catalogue import (
    InvalidAnswer,
    browser_wording,
    find_placeholders,
    list_languages,
    load_wording,
    read_texts,
    refusal_in_words,
)

WEB = ROOT / "src" / "quaestor" / "web"
ENGLISH = read_texts("en")
PACKAGES = ("web", "surveys")
PAGES = (
    "claim", "claim_taken", "invited", "invited_stop", "invited_used", "survey_base", "survey_begin", "survey_end",
    "survey_facts", "survey_fields", "survey_page", "survey_refused", "survey_shut", "survey_withdraw",
    "survey_withdrawn",
)  # fmt: skip


def test_every_language_has_the_same_texts_and_placeholders() -> None:
    assert set(list_languages()) == {"ar", "de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "zh"}
    for language in list_languages():
        texts = read_texts(language)
        assert list(texts) == list(ENGLISH), language
        assert {key: find_placeholders(text) for key, text in texts.items()} == {
            key: find_placeholders(text) for key, text in ENGLISH.items()
        }, language
        assert all(text.strip() == text != "" for text in texts.values()), language
        same = {key for key in texts if texts[key] == ENGLISH[key]}
        assert language == "en" or same <= {"no", "page"}, language


def test_respondent_pages_contain_only_catalogue_texts() -> None:
    for page in PAGES:
        text = (WEB / "templates" / f"{page}.html").read_text("utf-8")
        plain = re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", "", text, flags=re.S)
        said = re.findall(r'(?:aria-label|title|alt|placeholder)="([^"]*)"', plain)
        between = re.sub(r'<[^>]*>|[\w-]+="[^"]*"', "", plain)
        assert not re.search(r"[^\W\d_]", " ".join([*said, between])), page


def test_every_text_is_used_and_listed_in_the_reference() -> None:
    code = " ".join(path.read_text("utf-8") for package in PACKAGES for path in files(package))
    reference = (DOCS / "reference" / "survey-texts.md").read_text("utf-8")
    for key, text in ENGLISH.items():
        assert f'"{key}"' in code, key
        assert f"| `{key}` | {text} |\n" in reference, key
    assert reference.count("\n| `") == len(ENGLISH)


def files(package: str) -> list[Path]:
    folder = WEB.parent / package
    return [*folder.rglob("*.py"), *folder.glob("templates/**/*.html")]


def test_a_study_can_override_texts_and_missing_ones_are_in_english() -> None:
    own = {"fi": {"begin": "Aloita", "next": " ", "page-of": "Sivu {page}/{pages}"}, "de": {"begin": "Los"}}
    finnish, german = load_wording("fi", own), load_wording("de", own)
    assert (finnish.say("begin"), finnish.say("page-of", page=1, pages=4)) == ("Aloita", "Sivu 1/4")
    assert finnish.say("next") == "Next"
    assert finnish.lacking == set(ENGLISH) - {"begin", "page-of"}
    assert (german.say("begin"), german.say("next"), german.lacking) == ("Los", "Weiter", frozenset())
    assert (load_wording("pt-br").say("back"), load_wording("pt-br").lacking) == ("Voltar", frozenset())
    assert [load_wording(one).direction for one in ("ar", "he", "ar-eg", "de", "fi")] == [
        "rtl",
        "rtl",
        "rtl",
        "ltr",
        "ltr",
    ]


@pytest.mark.parametrize(
    ("header", "language"),
    [("de-CH,de;q=0.9,en;q=0.8", "de"), ("fi, fr;q=0.5", "fr"), ("fi", "en"), ("", "en"), (";;,,x" * 999, "en")],
)
def test_a_visitor_gets_the_language_of_their_browser(header: str, language: str) -> None:
    assert browser_wording(header).language == language


def with_words(more: str, languages: str = '["en", "de"]') -> str:
    return QUESTIONNAIRE.replace('languages = ["en", "de"]', f"languages = {languages}") + f"\n{more}\n"


@pytest.mark.parametrize(
    ("more", "words", "grave"),
    [
        ('[words.en]\nbegn = "Go"', "words.en.begn is not a page text, nearest: begin", True),
        ('[words.de]\nbegin = "Los, {name}"', "contains {name}, which is not available there; choose from: none", True),
        (
            '[words.de]\nopen-until = "Bis {dag}"',
            "contains {dag}, which is not available there; choose from: {day}",
            True,
        ),
        ('[words.de]\nopen-until = "Offen"', "words.de.open-until does not contain {day}", False),
        ('[words.fi]\nbegin = "Aloita"', "[words.fi] is for a language that is not in survey.languages", False),
    ],
)
def test_unusable_custom_texts_are_reported_before_opening(more: str, words: str, grave: bool) -> None:
    problems = find_problems(parse_questionnaire(with_words(more), "tools"))
    assert [(one.where, one.grave) for one in problems if words in one.words] == [("survey", grave)], problems


def test_a_language_with_missing_texts_gives_a_warning() -> None:
    text = with_words('[words.no]\nno = "Nei"\nyes = "Ja"', '["en", "no"]')
    told_of = [one for one in find_problems(parse_questionnaire(text, "tools")) if "page texts" in one.words]
    assert [one.grave for one in told_of] == [False]
    assert "missing in 'no' and shown in English: skip, survey, contact" in told_of[0].words
    assert f"{len(ENGLISH) - 2 - 6} more" in told_of[0].words  # two are given, six are named
    assert not [place for place in untranslated(text, "tools") if "words" in place]
    for language in list_languages():
        questionnaire = parse_questionnaire(with_words("", f'["{language}"]'), "tools")
        assert not [problem for problem in find_problems(questionnaire) if "page texts" in problem.words]


def test_default_options_are_in_the_language_of_the_questionnaire() -> None:
    text = QUESTIONNAIRE.replace(
        'options = [{ code = "yes", label = "Yes" }, { code = "no", label = "No", ends = true }]', ""
    )
    for language, labels in (("en", ["I agree", "I do not agree", "Yes", "No"]), ("de", ["Ja", "Nein"])):
        asked = parse_questionnaire(text, "tools", language)
        usual = [one for name in ("consent", "converted") for one in getattr(asked.question(name), "options", ())]
        assert [one.code for one in usual] == ["agree", "decline", "yes", "no"]
        assert [one.label for one in usual][-len(labels) :] == labels


def test_an_invalid_answer_is_explained_in_any_language_and_on_the_command_line() -> None:
    error = InvalidAnswer("too-low", said="{low} <b>", low="3")
    assert str(error) == "'{low} <b>' is less than 3"
    assert refusal_in_words(error, load_wording("de")) == "„{low} <b>“ ist kleiner als 3."
    assert (
        refusal_in_words(InputError("what a respondent does not understand"), load_wording("nl"))
        == read_texts("nl")["not-offered"]
    )
