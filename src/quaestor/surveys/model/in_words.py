"""Conditions and answers in words that a person reads who did not write the questionnaire."""

from __future__ import annotations

from quaestor.surveys.model.answer_forms import in_words
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.records import CHOSEN, Answer, Kind, Question, Questionnaire

_LONGEST = 70
_COMPARED = {
    "=": "is", "!=": "is not", "includes": "includes", ">": "is more than", ">=": "is at least",
    "<": "is less than", "<=": "is at most",
}  # fmt: skip


def condition_in_words(condition: Condition, questionnaire: Questionnaire) -> str:
    """A condition with texts in place of ids: `“Do you use it?” is “Yes”`; what is unknown stands as it was written."""
    if condition.kind == "not":
        return f"not ({condition_in_words(condition.parts[0], questionnaire)})"
    if condition.kind != "test":
        parts = [
            f"({words})" if part.kind not in ("test", "not") else words
            for part in condition.parts
            for words in (condition_in_words(part, questionnaire),)
        ]
        return f" {condition.kind} ".join(parts)
    return _tested(condition, questionnaire.question(condition.question))


def _tested(condition: Condition, question: Question | None) -> str:
    row = next((one.label for one in question.rows if one.code == condition.row), condition.row) if question else ""
    asked = quoted(question.text) if question else condition.question
    if condition.row:
        asked = f"{quoted(row or condition.row)} of {asked}"
    if condition.compare == "answered":
        return f"{asked} is answered"
    option = question.option(condition.value) if question else None
    return f"{asked} {_COMPARED[condition.compare]} {quoted(option.label) if option else condition.value}"


def quoted(text: str) -> str:
    """A text in quotation marks, cut at a word where it is long."""
    plain = " ".join(text.split())
    if len(plain) > _LONGEST:
        plain = plain[:_LONGEST].rpartition(" ")[0].rstrip(".,;:") + "…"
    return f"“{plain}”"


def answer_lines(question: Question, answer: Answer) -> list[str]:
    """An answer as lines, one for each thing that was said; none where nothing was."""
    texts = answer.get("texts", {})
    if question.kind in CHOSEN:
        return [in_words(question, {"choices": [code], "texts": texts}) for code in answer.get("choices", ())]
    if question.kind is Kind.MATRIX:
        said = answer.get("rows", {})
        labels = {row.code: row.label for row in question.rows}
        lines = [in_words(question, {"rows": {row: step}, "texts": texts}) for row, step in said.items()]
        return [*lines, *(f"{labels.get(row, row)}: {words}" for row, words in texts.items() if row not in said)]
    if question.kind is Kind.RANKING:
        ranks = answer.get("ranks", ())
        return [
            in_words(question, {"ranks": [code]}).replace("1.", f"{place}.", 1) for place, code in enumerate(ranks, 1)
        ]
    words = in_words(question, answer)
    return [f"{words} {question.unit}".strip()] if words else []
