"""The journal on both databases: ordered, idempotent by key, append-only, and atomic."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import DBAPIError

from quaestor.base.errors import InputError, StateError
from quaestor.store.journal import Journal
from quaestor.store.records import Act, NewAct, build_row, parse_acts
from quaestor.store.schema import PAGE


def rating(item: str = "a", **given: Any) -> NewAct:
    return NewAct("rating", "r1", {"item": item, "codes": ["x", "y"]}, **given)


def test_a_new_journal_is_empty(journal: Journal) -> None:
    assert journal.head() == 0
    assert list(journal.acts()) == []


def test_an_act_is_read_back_as_it_was_acknowledged(address: str | Path) -> None:
    moment = datetime(2026, 1, 31, 12, 0, 0, 123, tzinfo=timezone(timedelta(hours=1)))
    with Journal.open(address, clock=lambda: moment) as journal:
        (act,) = journal.append([NewAct("rating", "r1", {"b": (1, 2), "a": None}, codebook=3, key="k")])
    assert act == Act(1, "2026-01-31T11:00:00.000123+00:00", "rating", "r1", {"a": None, "b": [1, 2]}, 3, "k")
    with Journal.open(address) as again:
        assert list(again.acts()) == [act]


@given(
    st.lists(
        st.dictionaries(
            st.text(max_size=20),
            st.recursive(st.none() | st.integers() | st.text(max_size=20), lambda inner: st.lists(inner, max_size=4)),
            max_size=4,
        ),
        max_size=8,
    )
)
def test_payloads_parsed_together_equal_those_parsed_alone(payloads: list[dict[str, Any]]) -> None:
    rows = [build_row(NewAct("rating", "r1", payload), "2026-01-01", number) for number, payload in enumerate(payloads)]
    assert parse_acts(rows) == [row.act() for row in rows]


def test_the_default_clock_is_utc_with_microseconds(journal: Journal) -> None:
    before = datetime.now(UTC)
    (act,) = journal.append([rating()])
    assert before <= datetime.fromisoformat(act.time) <= datetime.now(UTC)
    assert len(act.time) == len("2026-01-31T11:00:00.000123+00:00")


def test_act_numbers_have_no_gaps_and_follow_the_order(journal: Journal) -> None:
    journal.append([rating(), rating()])
    with pytest.raises(ZeroDivisionError), journal.writing() as writing:
        writing.append([rating()])
        _ = 1 / 0
    journal.append([rating(str(number)) for number in range(2 * PAGE)])
    assert [act.number for act in journal.acts()] == list(range(1, 2 * PAGE + 3))
    assert [act.number for act in journal.acts(after=2 * PAGE)] == [2 * PAGE + 1, 2 * PAGE + 2]
    assert list(journal.acts(after=2 * PAGE + 2)) == []


def test_a_transaction_sees_what_it_wrote_and_others_do_not(journal: Journal) -> None:
    with journal.writing() as writing:
        writing.append([rating("a")])
        assert writing.head() == 1
        assert [act.payload["item"] for act in writing.acts()] == ["a"]
        writing.append([rating("b")])
        assert [act.number for act in writing.acts(after=1)] == [2]
        assert journal.head() == 0
        assert list(journal.acts()) == []
    assert journal.head() == 2


def test_an_exception_undoes_the_whole_transaction(journal: Journal) -> None:
    with pytest.raises(StateError), journal.writing() as writing:
        writing.append([rating()])
        raise StateError("no")
    assert journal.head() == 0
    journal.append([rating()])
    assert journal.head() == 1


def test_an_act_with_a_repeated_key_is_recorded_once(journal: Journal) -> None:
    first = journal.append([rating(key="k")])
    assert journal.append([rating(key="k")]) == first
    assert journal.append([rating(key="k"), rating(key="k"), rating(key="l")])[:2] == first * 2
    assert journal.head() == 2


def test_an_act_with_a_repeated_key_in_one_call_is_recorded_once(journal: Journal) -> None:
    act = rating(key="k")
    first, second = journal.append([act, act])
    assert first == second
    assert journal.head() == 1


@pytest.mark.parametrize(
    "other",
    [
        NewAct("rating", "r4", {"a": 1}, 1, "k"),
        NewAct("decision", "r1", {"a": 1}, 1, "k"),
        NewAct("rating", "r1", {"a": 2}, 1, "k"),
        NewAct("rating", "r1", {"a": 1.0}, 1, "k"),
        NewAct("rating", "r1", {"a": 1}, 2, "k"),
    ],
)
def test_the_same_key_with_another_content_is_refused(journal: Journal, other: NewAct) -> None:
    journal.append([NewAct("rating", "r1", {"a": 1}, 1, "k")])
    with pytest.raises(StateError, match=r"the key 'k' is already used by act 1 \(rating by r1\).*use a new key") as no:
        journal.append([rating(), other])
    assert "\n" not in str(no.value)
    assert journal.head() == 1


@pytest.mark.parametrize("key", ["a\0b", "\0", "\ud800"])
def test_a_key_that_cannot_be_stored_is_not_found(journal: Journal, key: str) -> None:
    with journal.writing() as writing:
        assert writing.find(key) is None
        assert writing.find(key) is None


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (NewAct("rating", "r1", {"a": float("nan")}), "payload of a rating act is not JSON"),
        (NewAct("rating", "r1", {"a": float("inf")}), "not JSON"),
        (NewAct("rating", "r1", {"a": {1}}), "not JSON: Object of type set"),
        (NewAct("rating", "r1", {"a": b"x"}), "not JSON: Object of type bytes"),
        (NewAct("rating", "r1", {"a": [{1: 2}]}), "not JSON: the key 1 is not a text"),
        (NewAct("rating", "r1", ["a"]), "is a list: expected an object with keys"),  # type: ignore[arg-type]
        (NewAct("", "r1", {}), "the kind of an act is ''"),
        (NewAct("rating", "a\0b", {}), r"the actor of an act is 'a\x00b'"),
        (NewAct("rating", "a\ud800", {}), r"the actor of an act is 'a\ud800'"),
        (NewAct("rating", "r1", {}, key=""), "the key of an act is ''"),
        (NewAct("rating", "r1", {}, key="a\0"), r"the key of an act is 'a\x00'"),
        (NewAct("rating", "r1", {}, key="\ud800"), r"the key of an act is '\ud800'"),
        (NewAct("rating", "r1", {}, key=7), "the key of an act is 7"),  # type: ignore[arg-type]
        (NewAct("rating", "r1", {}, codebook=-1), "the codebook version of a rating act is -1"),
        (NewAct("rating", "r1", {}, codebook=2**63), "expected a whole number"),
    ],
)
def test_an_act_that_could_not_be_read_back_is_refused(journal: Journal, act: NewAct, expected: str) -> None:
    with pytest.raises(InputError) as refused:
        journal.append([rating(), act])
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)
    assert journal.head() == 0


def test_a_payload_too_deep_for_json_is_refused(journal: Journal) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputError, match="not JSON"):
        journal.append([NewAct("rating", "r1", {"a": deep})])


_TEXTS = st.text(st.characters(exclude_categories=[]))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(payload=st.dictionaries(_TEXTS, _JSON, max_size=5))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_with_unusual_unicode_is_read_back_unchanged(journal: Journal, payload: dict[str, Any]) -> None:
    (act,) = journal.append([NewAct("note", "r1", payload)])
    # Two halves of a character side by side are that character, once they were JSON.
    assert act.payload == json.loads(json.dumps(payload))
    assert list(journal.acts(after=act.number - 1)) == [act]
    assert journal.append([NewAct("note", "r1", payload, key=act.key)]) == [act]


@pytest.mark.parametrize("character", ["\0", "\ud800", "\udfff\ud800", "😀", "\u2028", "\ufeff", "\x7f"])
def test_unusual_characters_are_read_back_unchanged(journal: Journal, character: str) -> None:
    (act,) = journal.append([NewAct("note", "änn 😀", {character: character})])
    assert [one.payload for one in journal.acts()] == [act.payload] == [{character: character}]
    assert act.actor == "änn 😀"


def test_adjacent_surrogates_become_one_character(journal: Journal) -> None:
    halves = chr(0xD83D) + chr(0xDE00)
    # The halves sort before the second key, the character after it.
    (act,) = journal.append([NewAct("note", "r1", {halves: halves, "\uffff": 1}, key="k")])
    assert act.payload == {"😀": "😀", "\uffff": 1}
    assert journal.append([NewAct("note", "r1", {"😀": "😀", "\uffff": 1}, key="k")]) == [act]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE acts SET actor = 'r4'",
        "UPDATE acts SET number = 7",
        "DELETE FROM acts",
        "DELETE FROM acts WHERE number = 1",
    ],
)
def test_the_database_refuses_to_change_or_remove_an_act(journal: Journal, statement: str) -> None:
    recorded = journal.append([rating()])
    with (
        pytest.raises(DBAPIError, match="an act on record is never"),
        journal.database.writing() as connection,
    ):
        connection.exec_driver_sql(statement)
    assert list(journal.acts()) == recorded


@pytest.mark.parametrize(("number", "key"), [(1, "new"), (2, "k")])
def test_the_database_refuses_to_replace_an_act(tmp_path: Path, number: int, key: str) -> None:
    with Journal.open(tmp_path / "study.db") as journal:
        recorded = journal.append([rating(key="k")])
        with pytest.raises(DBAPIError, match="never replaced"), journal.database.writing() as connection:
            values = (number, "t", "rating", "r4", 0, key, "{}")
            connection.exec_driver_sql("INSERT OR REPLACE INTO acts VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        assert list(journal.acts()) == recorded


def test_a_server_refuses_to_empty_the_journal(postgresql: str) -> None:
    with Journal.open(postgresql) as journal:
        recorded = journal.append([rating()])
        with pytest.raises(DBAPIError, match="never changed or removed"), journal.database.writing() as connection:
            connection.exec_driver_sql("TRUNCATE acts")
        assert list(journal.acts()) == recorded


def test_commits_are_durable_even_if_the_server_is_configured_otherwise(postgresql: str) -> None:
    with Journal.open(f"{postgresql}&options=-c%20synchronous_commit%3Doff") as journal:
        for transaction in (journal.database.reading(), journal.database.writing()):
            with transaction as connection:
                assert connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "on"


def test_commits_in_a_file_are_durable(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "study.db") as journal, journal.database.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"


def test_a_second_transaction_in_the_same_thread_is_refused(journal: Journal) -> None:
    with journal.writing() as writing:
        with pytest.raises(RuntimeError, match="use its JournalTransaction"):
            journal.append([rating()])
        writing.append([rating()])
    assert journal.head() == 1


def test_an_abandoned_reader_blocks_nobody(journal: Journal) -> None:
    journal.append([rating() for _ in range(3)])
    reader = journal.acts()
    assert next(reader).number == 1
    journal.append([rating()])
    assert journal.head() == 4
    reader.close()  # type: ignore[attr-defined]
