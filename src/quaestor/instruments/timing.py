"""About how long a questionnaire takes: time to read, and time to answer by the kind of question."""

from __future__ import annotations

from quaestor.instruments.records import Kind, Question

_WORDS_A_SECOND = 4.0
_SECONDS = {
    Kind.SINGLE: 3.0, Kind.MULTIPLE: 5.0, Kind.YES_NO: 2.0, Kind.NUMBER: 6.0, Kind.MATRIX: 2.0, Kind.TEXT: 15.0,
    Kind.LONG_TEXT: 60.0, Kind.RANKING: 2.0, Kind.CONSENT: 3.0,
}  # fmt: skip
_EACH_LINE = 4.0
"""For every row of a matrix and every option that is ranked."""


def seconds_of(question: Question) -> float:
    """To read a question with its options and to answer it."""
    words = [question.text, question.hint, *(row.label for row in question.rows)]
    words += [f"{option.label} {option.description}" for option in question.options]
    lines = len(question.rows) if question.kind is Kind.MATRIX else 0
    lines = len(question.options) if question.kind is Kind.RANKING else lines
    return seconds_to_read(" ".join(words)) + _SECONDS[question.kind] + lines * _EACH_LINE


def seconds_to_read(text: str) -> float:
    return len(text.split()) / _WORDS_A_SECOND
