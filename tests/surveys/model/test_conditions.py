"""Conditions on earlier answers are parsed and evaluated."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.base.errors import InputError
from quaestor.surveys.model.conditions import Condition, read_condition

SAID = {
    "onnx": {"choices": ["yes"]},
    "tools": {"choices": ["mmdnn", "nnef"]},
    "years": {"number": "7"},
    "why": {"text": "speed"},
    "often": {"rows": {"crashes": "never"}, "texts": {"other": "drivers"}},
    "left": {},
}


@pytest.mark.parametrize(
    ("words", "holds"),
    [
        ("onnx = yes", True),
        ("onnx = no", False),
        ("onnx != no", True),
        ("tools = mmdnn", False),
        ("tools includes mmdnn", True),
        ("tools includes other", False),
        ("tools != mmdnn", False),
        ("years >= 7", True),
        ("years > 7", False),
        ("years < 7.5", True),
        ("years <= 6", False),
        ("years = 7.0", True),
        ("years != 7", False),
        ("years includes 7", False),
        ("why answered", True),
        ("left answered", False),
        ("nobody answered", False),
        ("not left answered", True),
        ("left != yes", False),
        ("not left = yes", True),
        ("often.crashes = never", True),
        ("often.crashes != never", False),
        ("often.speed = never", False),
        ("often.speed != never", False),
        ("often answered", True),
        ("often.crashes answered", True),
        ("often.other answered", True),
        ("often.speed answered", False),
        ('onnx = "yes"', True),
        ("onnx = no or years > 3 and why answered", True),
        ("(onnx = no or years > 3) and left answered", False),
        ("not (onnx = no or years < 3)", True),
        ("not not onnx = yes", True),
        ("onnx=yes and years>=7", True),
    ],
)
def test_a_condition_is_evaluated_on_answers(words: str, holds: bool) -> None:
    assert read_condition(words).holds(SAID) is holds


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        ("onnx", "write a test such as"),
        ("onnx =", "write a test such as"),
        ("onnx = yes and", "ends where a test is expected"),
        ("onnx = yes years = 3", "has unexpected text at 'years'"),
        ("(onnx = yes", "unclosed parenthesis"),
        ("onnx = yes)", r"has unexpected text at '\)'"),
        ("years > many", "use a number"),
        ("onnx ~ yes", "cannot be read"),
        ('onnx = "yes', "cannot be read at"),
        ("(" * 80 + "onnx = yes" + ")" * 80, "nested too deeply"),
        ("not " * 80 + "onnx = yes", "nested too deeply"),
    ],
)
def test_an_unreadable_condition_is_refused_in_one_sentence(words: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read_condition(words)


def test_the_tests_of_a_condition_are_in_written_order() -> None:
    found = read_condition("a = 1 and (b.row != 2 or not c answered)").tests()
    assert [(one.question, one.row, one.compare, one.value) for one in found] == [
        ("a", "", "=", "1"),
        ("b", "row", "!=", "2"),
        ("c", "", "answered", ""),
    ]


trees = st.recursive(
    st.tuples(st.just("test"), st.sampled_from("abc"), st.sampled_from(["yes", "no"])),
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3)),
    ),
    max_leaves=8,
)


def written(tree: Any) -> str:
    if tree[0] == "test":
        return f"{tree[1]} = {tree[2]}"
    if tree[0] == "not":
        return f"not ({written(tree[1])})"
    return "(" + f" {tree[0]} ".join(written(part) for part in tree[1]) + ")"


def true_of(tree: Any, said: dict[str, str]) -> bool:
    if tree[0] == "test":
        return said.get(tree[1]) == tree[2]
    if tree[0] == "not":
        return not true_of(tree[1], said)
    return (all if tree[0] == "and" else any)(true_of(part, said) for part in tree[1])


@given(trees, st.dictionaries(st.sampled_from("abc"), st.sampled_from(["yes", "no"])))
def test_a_written_condition_evaluates_like_its_expression_tree(tree: Any, said: dict[str, str]) -> None:
    condition = read_condition(written(tree))
    assert isinstance(condition, Condition)
    assert condition.holds({name: {"choices": [code]} for name, code in said.items()}) is true_of(tree, said)
