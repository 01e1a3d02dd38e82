"""Files of people to be invited: detected, checked as a whole, and stored encrypted."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.small_survey import NAME
from xlsxwriter import Workbook

from quaestor.base.errors import InputError
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import Questionnaire
from quaestor.surveys.recipients import read_recipients

QUESTIONNAIRE = """
[survey]
title = "Tools"
languages = ["en", "de"]
anonymous = false
strata = ["pro", "normal"]

[[pages]]
page = "consent"

[[pages.questions]]
id = "channel"
kind = "link-value"
text = "Where the link was published"
max_length = 8

[[pages.questions]]
id = "consent"
kind = "consent"
text = "Do you agree to take part?"
"""


@pytest.fixture(scope="module")
def questionnaire() -> Questionnaire:
    return parse_questionnaire(QUESTIONNAIRE, NAME)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_encoding_and_separator_are_detected(
    tmp_path: Path, questionnaire: Questionnaire, encoding: str, delimiter: str
) -> None:
    lines = [("Name", "E-Mail", "stratum", "phone"), ("Jörg", "joerg@example.org", "pro", "123")]
    file = tmp_path / "people.csv"
    file.write_bytes("\n".join(delimiter.join(line) for line in lines).encode(encoding))
    table = read_recipients(file, questionnaire)
    assert [(row.cell, row.address, row.name, row.stratum) for row in table.rows] == [
        ("B2", "joerg@example.org", "Jörg", "pro")
    ]
    assert table.ignored == ("phone",)


def test_a_workbook_is_read(tmp_path: Path, questionnaire: Questionnaire) -> None:
    with Workbook(tmp_path / "people.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["email", "channel"])
        sheet.write_row(1, 0, ["anna@example.org", "news"])
        sheet.write_row(3, 0, ["ben@example.org"])
    table = read_recipients(tmp_path / "people.xlsx", questionnaire, "normal")
    assert [(row.cell, row.address, dict(row.columns), row.stratum) for row in table.rows] == [
        ("A2", "anna@example.org", {"channel": "news"}, "normal"),
        ("A4", "ben@example.org", {"channel": ""}, "normal"),
    ]


def test_all_mistakes_are_reported_at_once_with_their_cells(tmp_path: Path, questionnaire: Questionnaire) -> None:
    file = tmp_path / "people.csv"
    file.write_text(
        "e-mail,name,language,stratum,channel\n"
        "anna@example.org,Anna,en,pro,news\n"
        ",Ben,en,pro,\n"
        "cleo@example,Cleo,en,pro,\n"
        'dora@example.org,"Dora\nBcc: x@example.org",en,pro,\n'
        "eve@example.org,Eve,fr,amateur,much too long\n"
        "ANNA@example.org,Anna,en,pro,\n",
        "utf-8",
    )
    with pytest.raises(InputError) as refused:
        read_recipients(file, questionnaire)
    lines = [line.strip() for line in str(refused.value).splitlines()[1:]]
    assert [line.partition(":")[0] for line in lines] == ["A3", "A4", "B5", "E6", "C6", "D6", "A7"]
    assert lines[2] == r"B5: 'Dora\nBcc: x@example.org' contains a line break or a control character"
    assert lines[-1] == "A7: the address is also in A2"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name\nAnna\n", "has no column 'e-mail' in its first row; found: 'name'"),
        ("e-mail,email\na@example.org,b@example.org\n", "B1 is a second column 'e-mail'"),
        ("e-mail\n", "has no rows below its header"),
        ("", "is empty"),
    ],
)
def test_a_file_without_people_is_refused(tmp_path: Path, questionnaire: Questionnaire, text: str, words: str) -> None:
    (tmp_path / "people.csv").write_text(text, "utf-8")
    with pytest.raises(InputError, match=words):
        read_recipients(tmp_path / "people.csv", questionnaire, "pro")
    with pytest.raises(InputError, match="does not exist"):
        read_recipients(tmp_path / "missing.csv", questionnaire)


def test_values_of_the_link_are_refused_in_an_anonymous_survey(tmp_path: Path) -> None:
    anonymous = parse_questionnaire(QUESTIONNAIRE.replace("anonymous = false", ""), NAME)
    (tmp_path / "people.csv").write_text("e-mail,channel\na@example.org,news\n", "utf-8")
    with pytest.raises(InputError, match="would connect people to their answers"):
        read_recipients(tmp_path / "people.csv", anonymous, "pro")
