"""What is wrong with a questionnaire, before anybody answers it."""

from __future__ import annotations

from quaestor.instruments.records import Problem, Questionnaire


def problems_of(questionnaire: Questionnaire) -> list[Problem]:
    """Every problem, in the order of the questionnaire."""
    return []
