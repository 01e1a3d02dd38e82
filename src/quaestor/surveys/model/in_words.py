"""Formats conditions for readers who did not write the questionnaire."""

from __future__ import annotations

from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.records import Question, Questionnaire

_LONGEST = 70
_COMPARED = {
    "=": "is", "!=": "is not", "includes": "includes", ">": "is more than", ">=": "is at least",
    "<": "is less than", "<=": "is at most",
}  # fmt: skip


def condition_in_words(condition: Condition, questionnaire: Questionnaire) -> str:
    """Formats a condition with texts instead of ids: `“Do you use it?” is “Yes”`; unknown ids stay."""
    if condition.kind == "not":
        return f"not ({condition_in_words(condition.parts[0], questionnaire)})"
    if condition.kind != "test":
        parts = [
            f"({words})" if part.kind not in ("test", "not") else words
            for part in condition.parts
            for words in (condition_in_words(part, questionnaire),)
        ]
        return f" {condition.kind} ".join(parts)
    return _test_in_words(condition, questionnaire.question(condition.question))


def _test_in_words(test: Condition, question: Question | None) -> str:
    row = next((row.label for row in question.rows if row.code == test.row), test.row) if question else ""
    subject = quoted(question.text) if question else test.question
    if test.row:
        subject = f"{quoted(row or test.row)} of {subject}"
    if test.compare == "answered":
        return f"{subject} is answered"
    option = question.option(test.value) if question else None
    return f"{subject} {_COMPARED[test.compare]} {quoted(option.label) if option else test.value}"


def quoted(text: str) -> str:
    """Returns a text in quotation marks, truncated at a word if it is long."""
    plain = " ".join(text.split())
    if len(plain) > _LONGEST:
        plain = plain[:_LONGEST].rpartition(" ")[0].rstrip(".,;:") + "…"
    return f"“{plain}”"
