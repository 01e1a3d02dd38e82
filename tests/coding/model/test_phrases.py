"""Constant comparison: unified words, falling discrepancy, and objects from phrases."""

from __future__ import annotations

import pytest
from tests.support.acting import PHRASE, Table

from quaestor.base.errors import InputError, StateError
from quaestor.coding.model.phrases import (
    HYPERNYM,
    SAME_MEANING,
    build_curves,
    build_reread_act,
    build_unify_act,
    find_words_before,
    list_agreed_phrases,
    propose_objects,
)
from quaestor.coding.model.records import Decision
from quaestor.coding.model.rounds import build_next_set_act
from quaestor.coding.model.views import build_rater_view


def sets_of_two(*phrases: tuple[str, str]) -> Table:
    """Items i0, i1, … in sets of two, a phrase of each rater for each; all sets but the last are over."""
    table = Table()
    table.open(items=[f"i{number}" for number in range(len(phrases))], facets=(PHRASE,), set_size=2)
    for number, pair in enumerate(phrases):
        if number and number % 2 == 0:
            table.record(build_next_set_act(table.state, "main", "lead"))
        for rater, phrase in zip(("first", "second"), pair, strict=True):
            table.rate(rater, f"i{number}", phrase=phrase)
    return table


def test_words_unified_in_a_set_apply_to_the_next_and_discrepancy_falls() -> None:
    table = Table()
    table.open(items=["i0", "i1", "i2", "i3"], facets=(PHRASE,), set_size=2)
    for item in ("i0", "i1"):
        table.rate("first", item, phrase="load, model")
        table.rate("second", item, phrase="restore, model")
    table.record(build_unify_act(table.state, "main", "first", "verb", ["restore"], "load", SAME_MEANING))
    assert build_rater_view(table.state, "main", "second").words["verb"] == {}, "known from the next set on"
    table.record(build_next_set_act(table.state, "main", "lead"))
    assert build_rater_view(table.state, "main", "second").words["verb"] == {"restore": "load"}
    for item in ("i2", "i3"):
        table.rate("first", item, phrase="load, model")
        table.rate("second", item, phrase="restore, model")
    curves = build_curves(table.state.round("main"))
    assert [(curve.discrepancy, curve.incompatibility) for curve in curves] == [(1.0, 1.0), (0.0, 0.0)]
    assert list_agreed_phrases(table.state.round("main")) == dict.fromkeys(["i0", "i1", "i2", "i3"], ("load", "model"))


def test_the_more_frequent_synonym_is_kept_unless_a_reason_is_given() -> None:
    table = sets_of_two(("load, model", "load, model"), ("load, model", "restore, model"))
    with pytest.raises(InputError, match=r"'load' \(3 times\) is more frequent than 'restore' \(1\)"):
        build_unify_act(table.state, "main", "first", "verb", ["load"], "restore", SAME_MEANING)
    table.record(
        build_unify_act(table.state, "main", "first", "verb", ["load"], "restore", SAME_MEANING, "the API says restore")
    )
    assert list_agreed_phrases(table.state.round("main"))["i0"] == ("restore", "model")


def test_a_specific_word_can_be_replaced_by_an_unused_wider_one() -> None:
    table = sets_of_two(("pick, output", "get, output"), ("pick, output", "pick, output"))
    table.record(build_unify_act(table.state, "main", "second", "verb", ["pick"], "get", HYPERNYM))
    table.record(build_unify_act(table.state, "main", "second", "object", ["output"], "result", HYPERNYM))
    assert set(list_agreed_phrases(table.state.round("main")).values()) == {("get", "result")}


def test_unifications_are_transitive() -> None:
    table = sets_of_two(("a, x", "b, x"), ("c, x", "c, x"))
    table.record(build_unify_act(table.state, "main", "first", "verb", ["a"], "b", SAME_MEANING))
    table.record(build_unify_act(table.state, "main", "first", "verb", ["b"], "c", SAME_MEANING))
    assert find_words_before(table.state.round("main"), 2)["verb"] == {"a": "c", "b": "c"}


def test_a_word_unified_with_a_replaced_word_gets_its_replacement() -> None:
    table = sets_of_two(("a, x", "b, x"), ("b, x", "c, x"))
    table.record(build_unify_act(table.state, "main", "first", "verb", ["a"], "b", SAME_MEANING))
    table.record(build_unify_act(table.state, "main", "first", "verb", ["c"], "a", SAME_MEANING, "as before"))
    assert find_words_before(table.state.round("main"), 2)["verb"] == {"a": "b", "c": "b"}
    table.record(build_unify_act(table.state, "main", "first", "verb", ["b"], "a", SAME_MEANING, "the other way round"))
    assert find_words_before(table.state.round("main"), 2)["verb"] == {"b": "a", "c": "a"}


def test_the_kept_word_can_be_among_the_unified_words() -> None:
    table = sets_of_two(("load, model", "restore, model"), ("load, model", "load, model"))
    table.record(build_unify_act(table.state, "main", "first", "verb", ["load", "restore"], "load", SAME_MEANING))
    assert find_words_before(table.state.round("main"), 2)["verb"] == {"restore": "load"}


def test_an_item_that_cannot_be_judged_is_left_out_of_the_curves() -> None:
    table = sets_of_two(("load, model", "cannot judge"), ("load, model", "load, model"))
    assert [(curve.items, curve.discrepancy) for curve in build_curves(table.state.round("main"))] == [(1, 0.0)]
    assert list_agreed_phrases(table.state.round("main")) == {"i1": ("load", "model")}


@pytest.mark.parametrize(
    ("part", "words", "to", "rule", "message"),
    [
        ("noun", ["load"], "read", SAME_MEANING, "choose from: verb or object"),
        ("verb", ["lod"], "load", SAME_MEANING, "no phrase of 'main' so far has the verb 'lod'"),
        ("verb", ["load"], "load", SAME_MEANING, "another word that replaces them"),
        ("verb", ["load"], "fetch", SAME_MEANING, "no phrase has the verb 'fetch'"),
        ("verb", ["load"], "get", "antonym", "choose from: same meaning or hypernym"),
    ],
)
def test_an_invalid_unification_is_refused_in_one_sentence(
    part: str, words: list[str], to: str, rule: str, message: str
) -> None:
    table = sets_of_two(("load, model", "read, model"))
    with pytest.raises(InputError, match=message):
        build_unify_act(table.state, "main", "first", part, words, to, rule)


def test_a_reread_phrase_is_rated_again_and_both_answers_are_kept() -> None:
    table = sets_of_two(("get, output", "get, layer"))
    table.record(build_reread_act(table.state, "main", "first", "i0"))
    assert build_rater_view(table.state, "main", "second").left == ("i0",)
    with pytest.raises(StateError, match="2 ratings missing"):
        build_unify_act(table.state, "main", "first", "object", ["layer"], "output", SAME_MEANING)
    for rater in ("first", "second"):
        table.rate(rater, "i0", phrase="get, output")
    assert build_rater_view(table.state, "main", "second").left == ()
    with pytest.raises(StateError, match="has been compared"):
        table.rate("second", "i0", phrase="get, layer")
    assert list_agreed_phrases(table.state.round("main"))["i0"] == ("get", "output")
    with pytest.raises(InputError, match="not in set 1"):
        build_reread_act(table.state, "main", "first", "i9")


def test_objects_are_counted_by_phase() -> None:
    phrases = {"i0": ("freeze", "layer"), "i1": ("add", "layer"), "i2": ("compute", "loss"), "i3": ("lost", "x")}
    phases = {
        item: Decision(1, item, "phase", phase, "agreement", "lead", "")
        for item, phase in (("i0", "setting"), ("i1", "setting"), ("i2", "training"))
    }
    assert propose_objects(phrases, phases) == [("setting", "layer", 2), ("training", "loss", 1)]
    assert propose_objects(phrases, phases, at_least=2) == [("setting", "layer", 2)]
