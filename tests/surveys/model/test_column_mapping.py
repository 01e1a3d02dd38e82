"""A mapping that does not fit its questionnaire is refused in a sentence that names file, column and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.paths import ROOT
from tests.support.small_survey import QUESTIONNAIRE

from quaestor.base.errors import InputError
from quaestor.surveys.model.column_mapping import (
    ColumnSettings,
    MappingSettings,
    is_own_tidy,
    is_own_wide,
    own_mapping,
    read_mapping,
)
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.tidy_layout import TIDY, build_layout

ASKED = parse_questionnaire(QUESTIONNAIRE, "tools")


def written(folder: Path, text: str) -> Path:
    path = folder / "tools.mapping.toml"
    path.write_text(text, "utf-8")
    return path


def test_columns_map_to_parts_of_an_answer(tmp_path: Path) -> None:
    text = """
    [columns]
    Q1 = "consent"
    Q2_3_TEXT = { question = "role", text = true }
    Q3_1 = { question = "used", option = "torchscript" }
    Q4_2 = { question = "met", row = "a-crash" }
    Q4_4_TEXT = { question = "met", text = "other" }
    Q5_1 = { question = "order", rank = "speed" }
    """
    parts = read_mapping(written(tmp_path, text), ASKED).parts
    assert [(part.question.id, part.kind, part.code) for part in parts.values()] == [
        ("consent", "answer", ""), ("role", "text", "other"), ("used", "option", "torchscript"),
        ("met", "row", "a-crash"), ("met", "text", "other"), ("order", "rank", "speed"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('columns = { Q1 = "consnt" }', "column 'Q1': 'tools' has no question 'consnt', available: consent"),
        ('columns = { Q1 = "met" }', "'met' has a column for each part: add row ="),
        ('columns = { Q1 = "order" }', "'order' has a column for each part: add rank ="),
        ('columns = { Q1 = { question = "met", row = "crash" } }', "'met' has no row 'crash', available: a-crash"),
        ('columns = { Q1 = { question = "role", option = "research" } }', "'role' has no option 'research'"),
        ('columns = { Q1 = { question = "years", text = true } }', "0 parts of 'years' have free text"),
        ('columns = { Q1 = { question = "met", row = "other", text = true } }', "it sets row or text"),
        ('columns = { Q1 = "role", Q2 = "role" }', "the columns 'Q1' and 'Q2' both answer 'role': keep one"),
        ('columns = { Q1 = "role" }\n[values.role]\nX = "sport"', "values.role: 'X' is mapped to 'sport'; choose"),
        ('columns = { Q1 = "role" }\n[values.roll]\nX = "other"', "has no question 'roll'"),
        ('columns = { Q1 = "role" }\ncollumns = 1', "collumns is not a known key"),
        ('columns = { Q1 = { text = true } }', "columns.Q1.question is missing: add it"),
        ('nothing = ["x"]', "columns is missing: add it"),
        ('encoding = "utf-99"\ncolumns = { Q1 = "role" }', "'utf-99' is not a text encoding"),
        ("columns = [", "is not valid TOML"),
    ],
)  # fmt: skip
def test_an_invalid_mapping_is_refused_in_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_mapping(written(tmp_path, text), ASKED)
    assert words in str(refusal.value)
    assert "tools.mapping.toml" in str(refusal.value)


def test_exports_of_quaestor_are_recognized_by_their_columns() -> None:
    wide = ("response", *(column.name for one in ASKED.questions() for column in kind_of(one).columns(one)))
    assert is_own_wide(wide)
    assert is_own_tidy(("response", "stratum", *TIDY))
    assert not is_own_wide(("Q1", "Q2"))
    assert not is_own_tidy(wide)
    assert set(own_mapping(build_layout({1: ASKED}), 1, wide).parts) == set(wide[1:])


def test_every_key_of_a_mapping_is_documented() -> None:
    page = (ROOT / "docs" / "how-to" / "survey-answers-in-and-out.md").read_text("utf-8")
    for key in (*MappingSettings.model_fields, *ColumnSettings.model_fields):
        assert f"| `{key}` |" in page, key
