"""A file of answers in the layout of the public one, planted so that the printed figures of the survey come out."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from quaestor.study.templates import template_folder
from quaestor.surveys.model.questionnaire_file import read_questionnaire
from quaestor.surveys.model.records import Questionnaire
from tests.support.paths import SHARED

STUDY = "onnx-interoperability"
MARKER = "AnswerDisplayOrder"
PUBLIC = SHARED / "data" / "onnx"
CONSENTING = 91
TOLD = 89
"""Of those who consented, how many told anything about themselves."""
COLUMNS = {
    "Q52": "consent", "Q71": "platform", "Q1": "ml-years", "Q2": "se-years", "Q5": "size", "Q67": "deployment",
    "Q67_6_TEXT": "", "Q20": "", "Q60": "frameworks", "Q60_5_TEXT": "", "Q61": "uses-onnx", "Q62": "other-tools",
    "Q62_3_TEXT": "", "Q63": "purposes", "Q63_3_TEXT": "", "Q78": "conversion-case", "Q64": "direct-deployment",
    "Q65": "problems", "Q65_3_TEXT": "", "Q66": "remedies",
}  # fmt: skip
_YEARS = ("under-1", "1-2", "3-5", "over-5")
Row = dict[str, str]


def planted_rows(*, marker_row: bool = True) -> list[Row]:
    """92 rows that give every printed figure, one of them without consent; the page counts it with its marker."""
    questionnaire = read_questionnaire(template_folder(STUDY) / "instruments" / "fielded.toml")
    rows = [_row(questionnaire, place) for place in range(CONSENTING)]
    without = {
        "Q67": _labels(questionnaire, "deployment", ["desktop"]),
        "Q20": MARKER,
        "Q61": _labels(questionnaire, "uses-onnx", ["yes"]),
        "Q65": MARKER,
    }
    return [without, *rows] if marker_row else rows


def write_answers(path: Path, rows: Sequence[Row]) -> Path:
    """The rows below two rows of header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
        lines.writerow(COLUMNS)
        lines.writerow([f"What is asked in {column}" for column in COLUMNS])
        lines.writerows([row.get(column, "") for column in COLUMNS] for row in rows)
    return path


def _row(asked: Questionnaire, place: int) -> Row:
    said: dict[str, list[str]] = {
        "consent": ["agree"],
        "platform": ["regularly"],
        "uses-onnx": ["yes" if place < 38 else "no"],
        "problems": _problems(place),
    }
    if place < TOLD:
        said["ml-years"] = [_one_of(_YEARS, (8, 17, 32, 32), place)]
        said["se-years"] = [_one_of(_YEARS, (4, 12, 20, 53), place)]
        said["size"] = [_one_of(("small", "medium", "large"), (48, 17, 24), place)]
        said["deployment"] = _deployment(place)
    row = {column: _labels(asked, name, said[name]) for column, name in COLUMNS.items() if said.get(name)}
    return row | ({"Q67_6_TEXT": "a robot"} if "other" in said.get("deployment", ()) else {})


def _problems(place: int) -> list[str]:
    """53 answer; 22 do not commonly meet problems, and two of these name one all the same."""
    if place < 22:
        return ["none", "performance"] if place < 2 else ["none"]
    chosen = {"crashes": 22 <= place < 41, "performance": 36 <= place < 53, "other": 22 <= place < 28}
    return [code for code, holds in chosen.items() if holds]


def _deployment(place: int) -> list[str]:
    chosen = {
        "web": place < 59, "desktop": place < 18, "cloud": place >= TOLD - 52, "embedded": 20 <= place < 34,
        "mobile": 30 <= place < 44, "other": place < 4,
    }  # fmt: skip
    return [code for code, holds in chosen.items() if holds]


def _one_of(codes: Sequence[str], counts: Sequence[int], place: int) -> str:
    for code, count in zip(codes, counts, strict=True):
        if place < count:
            return code
        place -= count
    raise IndexError(place)


def _labels(asked: Questionnaire, name: str, codes: Sequence[str]) -> str:
    question = asked.question(name)
    assert question is not None
    options = [question.option(code) for code in codes]
    return ",".join(option.label for option in options if option is not None)
