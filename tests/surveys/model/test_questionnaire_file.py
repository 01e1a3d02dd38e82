"""Questionnaire files are parsed in one language, and every mistake gives a one-sentence error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel
from tests.support.paths import DOCS

from quaestor.base.errors import InputError
from quaestor.surveys.model.question_kinds import QUESTION_KINDS
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import (
    OptionSettings,
    PageSettings,
    PaySettings,
    QuestionnaireSettings,
    QuestionSettings,
    QuotaSettings,
    RowSettings,
    SurveySettings,
    derive_code,
    parse_questionnaire,
    read_questionnaire,
    untranslated,
)

REFERENCE = (DOCS / "reference" / "questionnaire.md").read_text("utf-8")

WHOLE = """
[survey]
title = { en = "Tools", de = "Werkzeuge" }
languages = ["en", "de"]
minutes = 3
strata = ["pro", "normal"]
quotas = [{ of = "onnx = yes", most = 40 }]

[research]
rq1 = "Which tools?"

[pay]
amount = 10
words = { en = "A card.", de = "Eine Karte." }

[[pages]]
page = "start"

[[pages.questions]]
id = "consent"
kind = "consent"
text = "May we?"

[[pages]]
page = "tools"
show_if = "consent = agree"

[[pages.questions]]
id = "onnx"
kind = "yes-no"
text = { en = "Do you use it?", de = "Nutzen Sie es?" }
answers = ["rq1"]

[[pages.questions]]
id = "often"
kind = "matrix"
text = "How often?"
show_if = "onnx = yes"
options = ["Never", { code = "often", label = { en = "Often", de = "Oft" } }]
rows = ["Crashes (of any kind)", { label = "Other", text = true }]
centre = "never"
"""


def test_a_file_is_parsed_into_its_questionnaire(tmp_path: Path) -> None:
    (tmp_path / "tools.toml").write_text("\ufeff" + WHOLE, "utf-8")
    asked = read_questionnaire(tmp_path / "tools.toml")
    assert (asked.id, asked.title, asked.language, asked.languages) == ("tools", "Tools", "en", ("en", "de"))
    assert asked.research == {"rq1": "Which tools?"}
    assert asked.pay is not None
    assert (asked.pay.amount, asked.pay.currency, asked.pay.words) == (10, "USD", "A card.")
    assert [(quota.condition.words, quota.most) for quota in asked.quotas] == [("onnx = yes", 40)]
    assert [question.id for question in asked.questions()] == ["consent", "onnx", "often"]
    consent, onnx, often = asked.questions()
    assert consent.required
    assert [(option.code, option.ends) for option in consent.options] == [("agree", False), ("decline", True)]
    assert [option.code for option in onnx.options] == ["yes", "no"]
    assert often.kind == "matrix"
    assert [(option.code, option.label) for option in often.options] == [("never", "Never"), ("often", "Often")]
    assert [(row.code, row.label, row.text) for row in often.rows] == [
        ("crashes", "Crashes (of any kind)", False),
        ("other", "Other", True),
    ]
    assert often.show_if is not None
    assert often.show_if.holds({"onnx": {"choices": ["yes"]}})


def test_codes_are_the_same_in_every_language() -> None:
    english, german = (parse_questionnaire(WHOLE, "tools", language) for language in ("en", "de"))
    assert german.title == "Werkzeuge"
    assert [question.text for question in german.questions()] == ["May we?", "Nutzen Sie es?", "How often?"]
    for first, second in zip(english.questions(), german.questions(), strict=True):
        assert [option.code for option in first.options] == [option.code for option in second.options]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("[survey]", "[survey", "tools is not valid TOML"),
        ('kind = "yes-no"', 'kind = "maybe"', "question onnx, kind: 'maybe' is not allowed, use "),
        ('id = "onnx"', 'id = "O N"', "question O N, id: 'O N' is not valid: use lowercase letters, digits"),
        ('id = "onnx"', 'id = "onnx"\nshw_if = "x = y"', "question onnx, shw_if is not a known key"),
        ('text = "How often?"\n', "", "question often, text is missing"),
        ('show_if = "onnx = yes"', 'show_if = "onnx = "', "the question 'often': the condition 'onnx = '"),
        ("minutes = 3", "minutes = 0", "survey, minutes: 0 is not valid: expected 1 or more"),
        ("minutes = 3", "least_seconds = inf", "survey, least_seconds: inf is not valid: expected a finite"),
        ('id = "onnx"', 'id = "onnx"\nlow = -inf', "question onnx, low: -inf is not valid: expected a finite"),
        ('id = "onnx"', 'id = "onnx"\nhigh = nan', "question onnx, high: nan is not valid: expected a finite"),
        ("amount = 10", "amount = inf", "pay, amount: inf is not valid: expected a finite"),
        ("amount = 10", "amount = 0", "pay, amount: 0 is not valid: expected more than 0"),
        ('languages = ["en", "de"]', "languages = []", "survey, languages: the list is empty: add at least one entry"),
        ('id = "onnx"', 'id = ""', "id: the text is empty: write one"),
        ("minutes = 3", 'minutes = "three"', "survey, minutes: 'three' is not valid: expected a whole number"),
        ("minutes = 3", 'closes = "soon"', "survey, closes"),
        ('title = { en = "Tools", de = "Werkzeuge" }', "title = 3", "survey, title: 3 is not valid: "),
        ('of = "onnx = yes"', 'of = "onnx ="', "the condition 'onnx ='"),
        ('{ label = "Other", text = true }', "{ text = true }", "label"),
    ],
)
def test_a_mistake_gives_a_one_sentence_error_with_its_place(old: str, new: str, complaint: str) -> None:
    assert old in WHOLE
    with pytest.raises(InputError, match=complaint) as told:
        parse_questionnaire(WHOLE.replace(old, new), "tools")
    assert str(told.value).startswith("tools")
    assert "\n" not in str(told.value).partition("Input")[0]


def test_an_undefined_language_is_refused() -> None:
    with pytest.raises(InputError, match="the language 'fr' is not defined; choose from: en or de"):
        parse_questionnaire(WHOLE, "tools", "fr")


def test_a_missing_file_gives_a_one_sentence_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_questionnaire(tmp_path / "none.toml")


def test_missing_translations_are_found() -> None:
    assert untranslated(WHOLE, "tools") == []
    assert untranslated(WHOLE.replace(', de = "Nutzen Sie es?"', ""), "tools") == ["onnx text in de"]
    assert untranslated(WHOLE.replace('languages = ["en", "de"]\n', ""), "tools") == []


@pytest.mark.parametrize(
    ("heading", "model"),
    [
        ("`[survey]`", SurveySettings),
        ("`[survey]`", QuotaSettings),
        ("`[pay]`", PaySettings),
        ("`[[pages]]`", PageSettings),
        ("`[[pages.questions]]`", QuestionSettings),
        ("`[[pages.questions]]`", OptionSettings),
        ("`[[pages.questions]]`", RowSettings),
    ],
)
def test_every_key_is_documented_in_its_section(heading: str, model: type[BaseModel]) -> None:
    section = REFERENCE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    for name in model.model_fields:
        assert f"`{name}`" in section, name


def test_every_section_and_kind_is_documented() -> None:
    for name in QuestionnaireSettings.model_fields:
        assert f"`[{name}]`" in REFERENCE or f"`[[{name}]]`" in REFERENCE, name
    for kind in QUESTION_KINDS:
        assert f"`{kind}`" in REFERENCE, kind


def test_the_example_in_the_reference_is_valid() -> None:
    example, *_ = re.findall(r"```toml\n(.*?)```", REFERENCE, flags=re.DOTALL)
    assert find_problems(parse_questionnaire(example, "example")) == []


@pytest.mark.parametrize(
    ("label", "code"),
    [
        ("Crashes (e.g., it stops)", "crashes"),
        ("1 - 2 years", "1-2-years"),
        ("JAX/FLAX", "jax-flax"),
        ("其他", "option"),
        ("(none)", "none"),
    ],
)
def test_codes_are_derived_from_labels(label: str, code: str) -> None:
    assert derive_code(label) == code
