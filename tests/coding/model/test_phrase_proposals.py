"""The verb and the object that a title proposes, and how proposals are scored; every title here is invented."""

from __future__ import annotations

import csv
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.paths import SHARED
from tests.support.phrase_scoring import (
    Labelled,
    Score,
    exactly,
    first_verb,
    is_for_tuning,
    labelled,
    leniently_object,
    leniently_verb,
    score,
)

from quaestor.coding.model.phrase_proposals.lexicon import read_title, read_words, singular
from quaestor.coding.model.phrase_proposals.proposal import PhraseProposal, propose

REAL = SHARED / "data" / "dl-posts" / "open.csv"


def phrase(title: str) -> tuple[str, str] | None:
    proposal = propose(title)
    return (proposal.verb, proposal.object) if proposal else None


@pytest.mark.parametrize(
    ("title", "verb", "object"),
    [
        ("How to rotate an image for a poster?", "rotate", "image"),
        ("Keras: how to set the learning rate per epoch", "set", "learning rate"),
        ("[pytorch] How to quickly shuffle my two datasets", "shuffle", "dataset"),
        ("How to &quot;clear&quot; a TensorFlow graph?", "clear", "graph"),
        ("Theano how to load a pre-trained Keras model", "load", "trained model"),
        ("How to plot a custom loss function in tensor flow", "plot", "loss"),
        ("how to initialise the weights", "initialize", "weight"),
        ("How to stack Conv2D layers", "stack", "convolution layer"),
        ("How to sort a tf.RaggedTensor", "sort", "tensor"),
        ("How to get rid of a variable", "remove", "variable"),
    ],
)
def test_a_simple_question_gives_its_verb_and_head_noun(title: str, verb: str, object: str) -> None:
    assert propose(title) == PhraseProposal(verb, object, "plain")


@pytest.mark.parametrize(
    ("title", "verb", "object"),
    [
        ("How to use a lambda to sort the records of a table?", "sort", "table"),
        ("How to use a grammar for parsing sentences", "parse", "sentence"),
        ("How to do vector normalization in Theano?", "normalize", "vector"),
        ("How to apply a mask to the last image", "mask", "image"),
        ("How to add zero padding to an image", "pad", "image"),
        ("How to change the shape of a tensor", "reshape", "tensor"),
        ("How to keep adding layers", "add", "layer"),
        ("How to download and restore a trained network", "restore", "trained network"),
        ("How to slice and sum a tensor", "slice", "tensor"),
        ("How to do retrain a classifier", "retrain", "classifier"),
    ],
)
def test_a_later_main_verb_is_proposed_as_a_guess(title: str, verb: str, object: str) -> None:
    assert propose(title) == PhraseProposal(verb, object, "guess")


@pytest.mark.parametrize(
    ("title", "object"),
    [
        ("How to print the tensor shape", "tensor"),
        ("How to print the number of rows in a matrix", "matrix"),
        ("How to print a list of gradients", "gradient"),
        ("How to print every row that is empty from a table", "table"),
        ("How to print the image tensor", "image"),
        ("How to print a saved model input shape", "saved model"),
        ("How to print trained and frozen models", "frozen model"),
        ("How to print the weights uploaded by a callback", "weight"),
        ("How to print to a file", "file"),
        ("How to print whether a GPU is idle", "gpu"),
    ],
)
def test_the_object_is_found_behind_parts_containers_and_prepositions(title: str, object: str) -> None:
    assert phrase(title) == ("print", object)


def test_the_object_of_feeding_is_the_receiver() -> None:
    assert phrase("How to feed a batch of pictures into a network?") == ("feed", "network")
    assert phrase("How to feed a batch of pictures?") == ("feed", "picture")
    assert phrase("How to assign a value to a placeholder") == ("assign", "placeholder")


@pytest.mark.parametrize(
    "title",
    [
        "Is there a way to merge two tables?",
        "How can I merge two tables?",
        "What is the best way of merging tables",
        "Merging tables by key",
        "Merge tables by key",
    ],
)
def test_questions_without_how_to_are_recognized(title: str) -> None:
    assert phrase(title) == ("merge", "table")


@pytest.mark.parametrize("title", ["", "How to", "Why is my build red?", "How to?!", "how to how to", "[tf] (none)"])
def test_a_title_without_a_phrase_gives_no_proposal(title: str) -> None:
    assert propose(title) is None


def test_an_unknown_verb_is_a_guess() -> None:
    assert propose("How to defenestrate a tensor") == PhraseProposal("defenestrate", "tensor", "guess")


def test_the_baseline_takes_the_first_known_verb_and_the_next_word() -> None:
    assert first_verb("How to print the learning rate") == PhraseProposal("print", "learning", "plain")
    assert first_verb("How to defenestrate or print a tensor") == PhraseProposal("print", "tensor", "plain")
    assert first_verb("Printing a tensor") is None


TITLE_WORDS = st.sampled_from([
    "how", "to", "use", "for", "of", "and", "the", "image", "tensor", "shape", "loading", "saved", "model", "clipping",
    "mask", "do", "apply", "-", "?", "/", "[", ")", "add", "padding", "change", "size", "tf.Variable", "SavedModel",
    "&amp;", "get", "rid", "3d", "list", "feed", "into", "in", "network", "it", "w.r.t", "conv2d", "assign", "save",
])  # fmt: skip


@given(st.text(max_size=600))
def test_no_text_raises_an_error(title: str) -> None:
    propose(title)
    propose("how to " + title)
    first_verb("how to " + title)


@given(st.lists(TITLE_WORDS, max_size=30).map(" ".join))
def test_proposed_words_come_from_the_title_or_a_documented_form(title: str) -> None:
    known = read_words()
    proposal = propose("how to " + title)
    assert proposal == propose("how to " + title)
    if proposal is None:
        return
    said = set(read_title("how to " + title, known))
    nouns = {singular(word) for word in said}
    nouns |= {known.aliases.get(word, word) for word in nouns}
    nouns |= {word for noun in nouns for word in known.full_names.get(noun, "").split()}
    forms = {known.verb(word) for word in said} | {known.action_nouns.get(noun) for noun in nouns} | said
    forms |= {*known.idioms.values(), *known.verb_pairs.values()}
    assert proposal.verb in forms
    assert set(proposal.object.split()) <= nouns


def test_only_the_beginning_of_a_very_long_text_is_read() -> None:
    assert phrase("How to sort a list " + "(" * 3_000_000) == ("sort", "list")
    assert phrase("how to sort the " + "size of the " * 300_000) == ("sort", "size")
    assert propose("x" * 600 + " how to sort a list") is None


@pytest.mark.parametrize(
    "title", ["how to sort \ud800 lists", "&#0;&#x110000; how to sort lists", "ｈｏｗ how to sort \u202elists\u202c"]
)
def test_unusual_characters_are_ignored(title: str) -> None:
    assert phrase(title) == ("sort", "list")


def test_word_tables_contain_the_forms_that_are_looked_up() -> None:
    known = read_words()
    bases = set(known.verbs.values())
    assert {*known.action_nouns.values(), *known.verb_pairs.values()} <= bases
    for role, members in known.roles.items():
        if role != "receivers":
            assert members <= bases | set(known.idioms.values()), role
    for name, nouns in known.nouns.items():
        assert {singular(noun) for noun in nouns} == set(nouns), name


@pytest.mark.parametrize(
    ("plural", "noun"),
    [
        ("matrices", "matrix"),
        ("losses", "loss"),
        ("entries", "entry"),
        ("boxes", "box"),
        ("bias", "bias"),
        ("gas", "gas"),
    ],
)
def test_plural_nouns_become_singular(plural: str, noun: str) -> None:
    assert singular(plural) == noun
    assert singular(noun) == noun


@pytest.mark.parametrize(("gerund", "verb"), [("splitting", "split"), ("saving", "save"), ("tying", "tie")])
def test_gerunds_become_base_forms(gerund: str, verb: str) -> None:
    assert read_words().verb(gerund) == verb


def test_the_tuning_half_depends_only_on_the_id() -> None:
    assert [is_for_tuning(str(number)) for number in range(1, 9)] == [
        True, False, True, True, False, False, True, True,
    ]  # fmt: skip


def test_a_label_is_parsed_into_verb_and_object() -> None:
    assert labelled("7", "a title", "get shape,dt,d") == Labelled("7", "a title", "get", "tensor")
    assert labelled("7", "a title", "save,trained model,m") == Labelled("7", "a title", "save", "trained model")


def test_scores_count_verbs_objects_and_both() -> None:
    items = [
        Labelled("1", "How to sort lists", "sort", "list"),
        Labelled("2", "How to sort lists", "order", "lists"),
        Labelled("3", "How to sort lists", "Sort", "tree"),
        Labelled("4", "Why?", "sort", "list"),
    ]
    found = score(items, propose)
    assert found == Score(items=4, proposed=3, verbs=2, objects=2, both=1)
    assert (found.coverage, found.precision(found.both), found.recall(found.both)) == (3 / 4, 1 / 3, 1 / 4)


def test_an_empty_half_scores_zero() -> None:
    found = score([], propose)
    assert (found.coverage, found.precision(found.both), found.recall(found.both)) == (0.0, 0.0, 0.0)


def test_lenient_matching_accepts_synonyms_and_the_same_head_noun() -> None:
    assert leniently_verb("load", "restore")
    assert not exactly("load", "restore")
    assert not leniently_verb("load", "save")
    assert leniently_object("trained model", "model")
    assert leniently_object("files", "data")
    assert not leniently_object("layer", "tensor")


def test_proposals_beat_the_baseline_on_the_tuning_half() -> None:
    if not REAL.exists():
        pytest.skip("the labelled posts ../shared/data/dl-posts/open.csv are not here")
    with REAL.open(encoding="utf-8", newline="") as file:
        posts = [labelled(row["id"], row["title"], row["label"]) for row in csv.DictReader(file)]
    tuning = [post for post in posts if is_for_tuning(post.item)]
    baseline, ours = (score(tuning, way) for way in (first_verb, propose))
    assert ours.both > 2 * baseline.both
    assert ours.objects > 2 * baseline.objects
    assert ours.verbs > baseline.verbs
    plain = score(tuning, lambda title: found if (found := propose(title)) and found.certainty == "plain" else None)
    shares = [baseline.precision(baseline.both), ours.precision(ours.both), plain.precision(plain.both)]
    assert all(lower < higher for lower, higher in pairwise(shares))
