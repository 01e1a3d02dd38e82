"""Each condition of the funnel keeps the same rows as plain Python."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import ibis
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.paths import TESTS

from quaestor.base.errors import SettingsError
from quaestor.evidence.funnel_expression import (
    Funnel,
    count_items_per_step,
    describe_step,
    measure_kinds,
    read_condition,
    shuffle_key,
)
from quaestor.study.settings.evidence import KindSettings, StepSettings, bundled_kinds

Row = dict[str, Any]


def row(number: int, **values: Any) -> Row:
    return {
        "id": number, "item": f"s/question/{number}",
        "title": "a title", "body": "<p>a body</p>", "tags": ["python"], "score": 0, "view_count": 10,
        "creation_date": datetime(2020, 1, 1), "closed_date": None, "accepted_answer_id": None, **values,
    }  # fmt: skip


SCHEMA = pa.schema(
    [
        ("id", pa.int64()), ("item", pa.string()),
        ("title", pa.string()), ("body", pa.string()), ("tags", pa.list_(pa.string())),
        ("score", pa.int64()), ("view_count", pa.int64()), ("creation_date", pa.timestamp("ms")),
        ("closed_date", pa.timestamp("ms")), ("accepted_answer_id", pa.int64()),
    ]
)  # fmt: skip

ROWS = [
    row(1, title="How to freeze a layer?", tags=["tensorflow2.0", "keras"], accepted_answer_id=101, score=5),
    row(2, title="Why does it crash", tags=["pytorch"], closed_date=datetime(2020, 2, 2), view_count=5_000),
    row(3, title="tensorflow: HOW TO rotate", tags=["gpytorch", "c++"], accepted_answer_id=102, score=-2),
    row(4, title=None, tags=None, score=None, view_count=None, body=None, creation_date=None),
    row(5, title="x" * 40, tags=["theano-cuda", ".net"], creation_date=datetime(2015, 5, 5), body="short"),
    row(6, title="(how|to)", tags=["tensor", "flow"], score=3, view_count=7),
]
ANSWERS = pa.table({"id": [101, 102], "body": ["<pre><code>x</code></pre>", "no code"]})
KINDS = {"how-to": KindSettings(title=("how to",)), "shouty": KindSettings(body=("BODY",), unless_title=("crash",))}
FAMILIES = {"tf": ["tensorflow*"], "torch": ["*pytorch"]}


def kept(step: Row) -> list[int]:
    questions = ibis.memtable(pa.Table.from_pylist(ROWS, schema=SCHEMA))
    answers = ibis.memtable(ANSWERS)
    funnel = Funnel(questions, answers, FAMILIES, KINDS, {"refinement": ["s/question/1", "s/question/5"]})
    fell = funnel.dropped_at([StepSettings(step="s", **step)])
    found = questions.select("id", fell=fell).to_pyarrow().to_pylist()
    return sorted(one["id"] for one in found if one["fell"] == 1)


def some(value: Any, test: Callable[[Any], bool]) -> bool:
    return value is not None and test(value)


CASES: list[tuple[Row, Callable[[Row], bool]]] = [
    ({"tags": ["python"]}, lambda r: "python" in (r["tags"] or [])),
    (
        {"tags": ["tf", "torch"]},
        lambda r: any(t.startswith("tensorflow") or t.endswith("pytorch") for t in r["tags"] or []),
    ),
    (
        {"tags": ["c++", ".net", "theano*"]},
        lambda r: any(t in ("c++", ".net") or t.startswith("theano") for t in r["tags"] or []),
    ),
    ({"without_tags": ["tf"], "tags": ["keras", "c++"]}, lambda r: r["id"] == 3),
    ({"kind": "how-to"}, lambda r: some(r["title"], lambda t: "how to" in t.lower())),
    ({"not_kind": "how-to"}, lambda r: not some(r["title"], lambda t: "how to" in t.lower())),
    ({"kind": "shouty"}, lambda r: some(r["body"], lambda b: "body" in b.lower()) and "crash" not in r["title"]),
    ({"accepted_answer": True}, lambda r: r["accepted_answer_id"] is not None),
    ({"accepted_answer": False}, lambda r: r["accepted_answer_id"] is None),
    ({"accepted_answer_with_code": True}, lambda r: r["accepted_answer_id"] == 101),
    ({"accepted_answer_with_code": False}, lambda r: r["accepted_answer_id"] != 101),
    ({"closed": False}, lambda r: r["closed_date"] is None),
    ({"closed": True}, lambda r: r["closed_date"] is not None),
    ({"created_from": date(2016, 1, 1)}, lambda r: some(r["creation_date"], lambda c: c >= datetime(2016, 1, 1))),
    ({"created_before": date(2020, 1, 1)}, lambda r: some(r["creation_date"], lambda c: c < datetime(2020, 1, 1))),
    ({"score_at_least": 0, "score_at_most": 3}, lambda r: some(r["score"], lambda s: 0 <= s <= 3)),
    ({"views_at_least": 8, "views_at_most": 100}, lambda r: some(r["view_count"], lambda v: 8 <= v <= 100)),
    ({"title_at_least": 10}, lambda r: some(r["title"], lambda t: len(t) >= 10)),
    ({"body_at_least": 6}, lambda r: some(r["body"], lambda b: len(b) >= 6)),
    (
        {"where": "score > 2 and not title.contains('how')"},
        lambda r: some(r["score"], lambda s: s > 2) and "how" not in r["title"],
    ),
    (
        {"where": "'keras' in tags or view_count * 2 >= 10000"},
        lambda r: "keras" in (r["tags"] or []) or some(r["view_count"], lambda v: v >= 5000),
    ),
    ({"where": "1 <= score <= 3"}, lambda r: some(r["score"], lambda s: 1 <= s <= 3)),
    ({"where": "creation_date.year() == 2015"}, lambda r: some(r["creation_date"], lambda c: c.year == 2015)),
    ({"where": "id.isin([2, 4]) or title.lower().re_search('^how')"}, lambda r: r["id"] in (1, 2, 4)),
    ({"round": "refinement"}, lambda r: r["id"] in (1, 5)),
]


@pytest.mark.parametrize(("step", "expected"), CASES, ids=[str(case[0]) for case in CASES])
def test_a_condition_selects_the_matching_rows(step: Row, expected: Callable[[Row], bool]) -> None:
    assert kept(step) == [one["id"] for one in ROWS if expected(one)]


def test_an_item_is_dropped_at_the_first_step_it_fails() -> None:
    questions = ibis.memtable(pa.Table.from_pylist(ROWS, schema=SCHEMA))
    steps = [
        StepSettings(step="titled", title_at_least=1),
        StepSettings(step="open", closed=False),
        StepSettings(step="scored", score_at_least=1),
    ]
    found = questions.select("id", fell=Funnel(questions).dropped_at(steps)).to_pyarrow().to_pylist()
    assert {one["id"]: one["fell"] for one in found} == {1: 3, 2: 1, 3: 2, 4: 0, 5: 2, 6: 3}
    assert count_items_per_step({0: 1, 1: 1, 2: 2, 3: 2}, 3) == [(6, 5), (5, 4), (4, 2)]


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.integers(0, 5), st.integers(0, 1_000)), st.integers(0, 5))
def test_each_step_begins_with_the_items_that_the_previous_one_kept(fell: dict[int, int], steps: int) -> None:
    counts = count_items_per_step(fell, steps)
    assert len(counts) == steps
    for (_, out), (into, _) in itertools.pairwise(counts):
        assert out == into
    if counts:
        assert counts[0][0] == sum(fell.values())
        assert counts[-1][1] == sum(count for number, count in fell.items() if number >= steps)


HOSTILE = [
    "__import__('os').system('true')", "().__class__", "title.to_pandas()", "open('/etc/passwd')", "[x for x in tags]",
    "lambda: 1", "title.op()", "f'{score}'", "score if score else 1", "title[0]", "title.__class__", "score := 3",
    "(1).real", "score ** 9999999", "title.sql('x')", "b'x' == title", "None", "...", "1", "'a'",
]  # fmt: skip


@pytest.mark.parametrize(
    "text", [*HOSTILE, "score >", "nope > 1", "title > 3 > 'a'", "x" * 5_000, "(" * 300 + ")" * 300]
)
def test_a_condition_can_only_compare_columns(text: str) -> None:
    table = ibis.table(SCHEMA, name="questions")
    with pytest.raises(SettingsError, match="condition") as refused:
        read_condition(text, table)
    assert "\n" not in str(refused.value)


def test_an_unknown_column_lists_the_nearest_names_first() -> None:
    with pytest.raises(SettingsError, match="the columns are view_count"):
        read_condition("viewcount > 3", ibis.table(SCHEMA, name="questions"))


def test_a_step_that_needs_a_column_the_source_lacks_says_so() -> None:
    table = ibis.table({"id": "int64", "title": "string"}, name="t")
    with pytest.raises(SettingsError, match="needs the column 'closed_date'"):
        Funnel(table).condition(StepSettings(step="open", closed=False))


def test_the_shuffled_order_is_the_same_on_every_engine_and_looks_random() -> None:
    numbers = list(range(1, 2_001))
    table = ibis.memtable(pa.table({"id": numbers}))
    keys = table.select(key=shuffle_key(table.id, 7)).to_pyarrow().column("key").to_pylist()

    def by_hand(number: int) -> int:
        prime = 2_147_483_647
        return (number * 48_271 + 7 * 7_919 + 11) % prime * 69_621 % prime * 16_807 % prime

    assert keys == [by_hand(number) for number in numbers]
    first = sorted(numbers, key=by_hand)[:200]
    assert 800 < sum(first) / 200 < 1_200


def test_a_step_is_described_with_the_keys_of_the_study_file() -> None:
    step = StepSettings(step="s", tags=("a", "b*"), accepted_answer=True)
    assert describe_step(step) == "accepted answer: true; tags: a, b*"


@pytest.mark.parametrize(
    ("file", "precision", "recall"),
    [("question_kinds_heldout.csv", 0.80, 0.85), ("question_kinds_development.csv", 0.95, 0.95)],
)
def test_how_to_questions_are_found_with_the_documented_accuracy(file: str, precision: float, recall: float) -> None:
    found = measure_kinds(TESTS / "corpus" / file)["how-to"]
    assert found.precision >= precision
    assert found.recall >= recall


def test_every_bundled_kind_is_a_pattern_for_both_engines() -> None:
    connection = ibis.duckdb.connect()
    for kind in bundled_kinds().values():
        for pattern in (*kind.title, *kind.body, *kind.unless_title):
            re.compile(pattern)
            assert connection.con.execute("SELECT regexp_matches('x', ?)", ["(?i)" + pattern]).fetchone() is not None
    connection.disconnect()
    assert len(bundled_kinds()) == 10
