"""Any typed text is a search for words, and a query round-trips through its URL."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.base.errors import InputError
from quaestor.search.query import DISAGREEMENTS, MAX_SEARCH_LENGTH, ORDERS, SIDES, Query, Terms, parse_terms


@pytest.mark.parametrize(
    ("words", "terms"),
    [
        ("", Terms()),
        ("   ", Terms()),
        ("save layer", Terms(('"save"', '"layer"'))),
        ('"save layer" load', Terms(('"save layer"', '"load"'))),
        ("freez*", Terms(('"freez"*',))),
        ('"save lay"*', Terms(('"save lay"*',))),
        ("layer -keras", Terms(('"layer"',), ('"keras"',))),
        ("-keras", Terms((), ('"keras"',))),
        ('-"by hand" -torch', Terms((), ('"by hand"', '"torch"'))),
        ("a AND b OR NOT NEAR(c)", Terms(('"a"', '"AND"', '"b"', '"OR"', '"NOT"', '"NEAR(c)"'))),
        ('un"balanced', Terms(('"un""balanced"',))),
        ('"open end', Terms(('"open end"',))),
        ("title:x ^y {z}", Terms(('"title:x"', '"^y"', '"{z}"'))),
        ('c++ - * ** ""', Terms(('"c++"',))),
        ("nul\0l \ud800half", Terms(('"nul"', '"l"', '"?half"'))),
    ],
)  # fmt: skip
def test_words_are_quoted_and_operators_are_parsed(words: str, terms: Terms) -> None:
    assert parse_terms(words) == terms


@pytest.mark.parametrize(
    ("words", "message"),
    [("x" * (MAX_SEARCH_LENGTH + 1), "501 characters"), ("a " * 31, "31 words"), ('*** --- "\'"', "no word")],
)
def test_an_invalid_search_text_is_refused(words: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_terms(words)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80) | st.text(alphabet="ab\"*-() :^{}+\\'", max_size=40))
def test_any_search_text_is_valid_for_the_index_or_refused(words: str) -> None:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE texts USING fts5(title, body)")
        connection.execute("INSERT INTO texts VALUES ('a b', 'ab')")
        try:
            terms = parse_terms(words)
        except InputError:
            return
        for part in (terms.match_expression if terms.required else "", " OR ".join(terms.excluded)):
            if part:
                connection.execute("SELECT rowid FROM texts WHERE texts MATCH ?", (part,)).fetchall()
    finally:
        connection.close()


plain = st.text(alphabet="aä b:-&=%#+/é", max_size=12).map(str.strip)


@settings(max_examples=60, deadline=None)
@given(
    st.builds(
        Query,
        words=plain,
        tag=plain,
        year=st.none() | st.integers(1, 9999),
        step=plain,
        side=st.sampled_from(("", *SIDES)),
        round=plain,
        facet=st.text(alphabet="ab-", max_size=5),
        code=plain,
        disagreement=st.sampled_from(("", *DISAGREEMENTS)),
        order=st.sampled_from(("", *ORDERS)),
        page=st.integers(1, 1_000_000),
    )
)
def test_a_query_round_trips_through_its_query_string(query: Query) -> None:
    from urllib.parse import parse_qsl

    assert Query.from_parameters(dict(parse_qsl(query.to_query_string()))) == query


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"year": "x"}, "year is 'x'"),
        ({"year": "0"}, "from 1 to 9,999"),
        ({"year": "²"}, "year is"),
        ({"page": "-1"}, "page is"),
        ({"page": "9" * 5000}, "page"),
        ({"side": "both"}, "choose from: kept or dropped"),
        ({"disagreement": "yes"}, "choose from"),
        ({"order": "random"}, "choose from"),
        ({"tag": "t" * 2000}, "2,000 characters"),
    ],
)
def test_invalid_query_parameters_are_refused(query: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Query.from_parameters(query)
