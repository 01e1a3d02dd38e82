"""What a question is called over all versions of its questionnaire: answers of two shapes cannot stand together."""

from __future__ import annotations

from collections.abc import Mapping

from quaestor.surveys.model.records import Kind, Question, Questionnaire

_AT = "@"
"""Stands in no id."""
_SHAPES = {Kind.YES_NO: Kind.SINGLE, Kind.CONSENT: Kind.SINGLE, Kind.LONG_TEXT: Kind.TEXT}


def names_over(versions: Mapping[int, Questionnaire]) -> dict[int, dict[str, str]]:
    """By version, the name of each of its questions, newest version first.

    It is the question's id, or `ID@N` where newer versions ask something of another shape under this id; older ones
    that ask it the same way share a name, which tells the newest of them.
    """
    taken: dict[str, dict[Kind, str]] = {}
    found: dict[int, dict[str, str]] = {}
    for number in sorted(versions, reverse=True):
        found[number] = {}
        for one in versions[number].questions():
            known = taken.setdefault(one.id, {})
            found[number][one.id] = known.setdefault(_shape(one), f"{one.id}{_AT}{number}" if known else one.id)
    return found


def id_of(name: str) -> str:
    """The id under which the answers to a question of this name are kept."""
    return name.partition(_AT)[0]


def _shape(question: Question) -> Kind:
    """The kind, or another whose answers look the same."""
    return _SHAPES.get(question.kind, question.kind)
