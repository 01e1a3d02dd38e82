"""Names of questions across all versions: answers of different shapes are not counted together."""

from __future__ import annotations

from collections.abc import Mapping

from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import Questionnaire

_AT = "@"
"""A character that no id contains."""


def name_questions(versions: Mapping[int, Questionnaire]) -> dict[int, dict[str, str]]:
    """Returns by version the name of each of its questions, newest version first.

    The name is the question's id, or `ID@N` if newer versions ask a question of another shape under this id; older
    versions with the same shape share a name with the newest of them.
    """
    by_shape: dict[str, dict[str, str]] = {}
    names: dict[int, dict[str, str]] = {}
    for number in sorted(versions, reverse=True):
        names[number] = {}
        for question in versions[number].questions():
            known = by_shape.setdefault(question.id, {})
            name = f"{question.id}{_AT}{number}" if known else question.id
            names[number][question.id] = known.setdefault(kind_of(question).shape or question.kind, name)
    return names


def stored_id(name: str) -> str:
    """Returns the id under which the answers of a question with this name are stored."""
    return name.partition(_AT)[0]
