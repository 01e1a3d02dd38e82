"""Writes codes and conversions into the text of a questionnaire, and leaves the rest of it as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomlkit

from quaestor.surveys.model.question_versions import ROW
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.version_edits import UNIT, PartKey


def write_same_parts(text: str, name: str, same: Mapping[PartKey, str]) -> str:
    """Returns a questionnaire in which each new part has the code of the earlier one that it is the same as.

    A unit gets the factor that converts the earlier one.
    """
    questionnaire, document = parse_questionnaire(text, name), tomlkit.parse(text)
    tables = {str(question["id"]): question for page in document["pages"] for question in page.get("questions", ())}
    for (question_id, part, earlier), new in same.items():
        question, table = questionnaire.question(question_id), tables[question_id]
        if question is None:
            continue
        if part == UNIT:
            table.setdefault("convert", tomlkit.inline_table())[earlier] = new
            continue
        codes = [known.code for known in (question.rows if part == ROW else question.options)]
        listed = table["rows" if part == ROW else "options"]
        listed[codes.index(new)] = _with_code(listed[codes.index(new)], earlier)
    return tomlkit.dumps(document)


def _with_code(part: Any, code: str) -> Any:
    """Returns an option or row with a code; one that is only a label, in one language or several, becomes a table."""
    if isinstance(part, dict) and ("label" in part or "code" in part):
        part["code"] = code
        return part
    table = tomlkit.inline_table()
    table["code"] = code
    table["label"] = part
    return table
