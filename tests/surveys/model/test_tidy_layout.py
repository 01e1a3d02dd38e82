"""Rows and columns of responses contain the answers and the reasons for missing ones."""

from __future__ import annotations

from dataclasses import replace

from tests.support.small_survey import QUESTIONNAIRE

from quaestor.surveys.model.flow import missing_reason
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import Response, ResponseStatus
from quaestor.surveys.model.tidy_layout import (
    CODEBOOK,
    TIDY,
    build_layout,
    codebook_lines,
    tidy_lines,
    wide_from_tidy,
    wide_row,
)

ASKED = parse_questionnaire(QUESTIONNAIRE, "tools")
LAYOUT = build_layout({1: ASKED})
SAID = Response(
    "0" * 16,
    "tools",
    1,
    ResponseStatus.FINISHED,
    {
        "consent": {"choices": ["agree"]},
        "converted": {"choices": ["yes"]},
        "role": {"choices": ["other"], "texts": {"other": "Teaching"}},
        "years": {"number": "4.50"},
        "used": {"choices": ["torchscript", "other"], "texts": {"other": "=1, of our own"}},
        "met": {"rows": {"a-crash": "often"}, "texts": {"other": "licences"}},
        "careful": {},
        "order": {"ranks": ["accuracy", "speed"]},
        "hardest": {"text": "It\nnever fit."},
    },
    sent=("consent", "you", "tools", "words"),
)


def lines_of(response: Response, question: str) -> list[tuple[str, ...]]:
    return [line[1:] for line in tidy_lines(LAYOUT, response) if line[0] == question]


def wide_of(response: Response) -> dict[str, str]:
    return dict(zip([column.name for column in LAYOUT.columns()], wide_row(LAYOUT, response), strict=True))


def test_each_part_of_an_answer_is_a_row() -> None:
    assert lines_of(SAID, "role") == [("", "other", "Other", "3", "Teaching", "", "")]
    assert lines_of(SAID, "years") == [("", "", "", "", "4.50", "4.50", "")]
    assert lines_of(SAID, "used") == [
        ("onnx-the-exchange-format", "", "ONNX, the exchange format", "1", "", "0", ""),
        ("torchscript", "torchscript", "TorchScript", "2", "", "1", ""),
        ("other", "other", "Other", "3", "=1, of our own", "1", ""),
        ("none", "", "None of these", "4", "", "0", ""),
    ]
    assert lines_of(SAID, "met") == [
        ("wrong-results", "", "", "", "", "", "skipped"),
        ("a-crash", "often", "Often", "4", "", "", ""),
        ("missing-operators", "", "", "", "", "", "skipped"),
        ("other", "", "", "", "licences", "", "skipped"),
    ]
    assert lines_of(SAID, "order") == [
        ("speed", "speed", "Speed", "1", "", "2", ""),
        ("accuracy", "accuracy", "Accuracy", "2", "", "1", ""),
        ("size", "", "Size", "3", "", "", "skipped"),
    ]


def test_a_wide_row_has_the_same_content() -> None:
    row = wide_of(SAID)
    assert (row["role"], row["role.other.text"], row["years"]) == ("other", "Teaching", "4.50")
    assert (row["used.torchscript"], row["used.none"], row["used.other.text"]) == ("1", "0", "=1, of our own")
    assert (row["met.a-crash"], row["met.wrong-results"], row["met.other.text"]) == ("often", "", "licences")
    assert (row["order.accuracy"], row["order.speed"], row["order.size"]) == ("1", "2", "")
    assert (row["careful"], row["careful:missing"], row["role:missing"]) == ("", "skipped", "")


def test_missing_reasons_equal_those_in_the_results() -> None:
    begun = replace(SAID, standing=ResponseStatus.OPEN, answers={"consent": {"choices": ["agree"]}}, sent=("consent",))
    for response in (SAID, begun):
        row = wide_of(response)
        for question in ASKED.questions():
            reason = missing_reason(ASKED, response, question)
            assert row[f"{question.id}:missing"] == (reason.value if reason else "")
    assert wide_of(begun)["years:missing"] == "not reached"
    assert wide_of(SAID)["why-none:missing"] == "not shown"


def test_combined_tidy_rows_equal_the_wide_row() -> None:
    found: dict[str, str] = {}
    for question in LAYOUT.questions:
        told = [dict(zip(TIDY, line, strict=True)) for line in tidy_lines(LAYOUT, SAID) if line[0] == question.id]
        found |= wide_from_tidy(question, told)
    assert {name: cell for name, cell in found.items() if cell} == {
        name: cell for name, cell in wide_of(SAID).items() if cell
    }


def test_an_answer_keeps_its_column_when_the_questionnaire_changes() -> None:
    newer = QUESTIONNAIRE.replace('"Research", "Engineering"', '"Study", "Engineering"').replace(
        'id = "hardest"\nkind = "long-text"', 'id = "hardest"\nkind = "number"'
    )
    layout = build_layout({1: ASKED, 2: parse_questionnaire(newer, "tools")})
    old = replace(SAID, answers={**SAID.answers, "role": {"choices": ["research"]}})
    new = replace(SAID, version=2, answers={**SAID.answers, "hardest": {"number": "3"}})
    said = {
        response.version: {line[0]: line for line in tidy_lines(layout, response) if line[1] == ""}
        for response in (old, new)
    }
    assert said[1]["role"][2:5] == ("research", "Research", "2")
    assert (said[1]["hardest@1"][5], said[1]["hardest"][7]) == ("It\nnever fit.", "not shown")
    assert (said[2]["hardest"][6], said[2]["hardest@1"][7]) == ("3", "not shown")
    assert len(list(tidy_lines(layout, old))) == len(list(tidy_lines(layout, new))) == layout.parts()


def test_the_codebook_lists_every_exported_code() -> None:
    book = [dict(zip(CODEBOOK, line, strict=True)) for line in codebook_lines(LAYOUT, withdrawn=2)]
    known = {(one["question"], one["part"], one["code"], one["label"], one["order"]) for one in book}
    for question, part, code, label, order, *_ in tidy_lines(LAYOUT, SAID):
        assert not code or (question, part, code, label, order) in known
    assert {(one["question"], one["part"]) for one in book[:-1]} == {line[:2] for line in tidy_lines(LAYOUT, SAID)}
    reasons = {one["question"]: one["missing"] for one in book}
    assert reasons["why-none"] == "skipped; not reached; not shown"
    assert reasons["consent"] == "not reached"
    assert book[-1]["missing"] == "withdrawn"
    assert "2 withdrew" in book[-1]["text"]
    assert {one["research questions"] for one in book if one["question"] == "used"} == {"tools"}
