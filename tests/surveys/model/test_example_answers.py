"""Examples of answers: one of each kind that conditions tell apart."""

from __future__ import annotations

from quaestor.surveys.model.conditions import read_condition
from quaestor.surveys.model.reachability import examples
from quaestor.surveys.model.records import MatrixRow, Option, Question


def test_examples_include_a_matrix_with_only_its_other_row_answered() -> None:
    rows = (MatrixRow("r", "Row"), MatrixRow("s", "Other", text=True))
    question = Question("q", "matrix", "How often?", options=(Option("a", "A"), Option("b", "B")), rows=rows)
    tests = [read_condition("q.r answered"), read_condition("q answered")]
    found, whole = examples(question, tests)
    assert whole
    told = {tuple(test.holds({"q": one.answer}) for test in tests) for one in found}
    assert (False, True) in told, "the row that is looked at is empty, and the question is answered all the same"
