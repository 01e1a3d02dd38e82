"""The real labelled posts: six codebook acts lead from their own codebook to the printed taxonomy and lose none."""

from __future__ import annotations

import csv
from collections import Counter

import pytest
from tests.support.paths import SHARED

from quaestor.base.errors import InputError
from quaestor.coding.model.codebook.file import read_codebook
from quaestor.coding.model.codebook.history import UNDO, History
from quaestor.publication.replicate.posts import read_labels
from quaestor.study.templates import template_folder

FOLDER = template_folder("dl-implementation-issues")
POSTS = SHARED / "data" / "dl-posts" / "open.csv"


def labelled() -> History:
    history = History()
    history.record("codebook.import", read_labels(FOLDER).payload())
    return history


def names(history: History, version: int) -> set[tuple[str, ...]]:
    book = history.at(version)
    return {
        tuple(book.codes[code].name for code in book.path(one.id))
        for one in book.active("issue")
        if book.depth(one.id) <= 2
    }


def test_six_changes_lead_from_the_labels_to_the_printed_taxonomy_and_back() -> None:
    history = labelled()
    labels = read_labels(FOLDER)
    assert len(labels.moves) == 6
    for kind, payload in labels.moves:
        history.record(kind, payload)
    printed = History()
    printed.record("codebook.import", read_codebook(FOLDER / "codebook.toml"))
    assert names(history, 7) == names(printed, 1)
    for number in range(7, 1, -1):
        history.record(UNDO, {"version": number})
    assert names(history, history.latest.version) == names(history, 1)


def test_every_post_keeps_a_code_through_the_six_changes() -> None:
    if not POSTS.exists():
        pytest.skip("the labelled posts ../shared/data/dl-posts/open.csv are not here")
    with POSTS.open(encoding="utf-8", newline="") as file:
        posts = list(csv.DictReader(file))
    history = labelled()
    labels = read_labels(FOLDER)
    codes = {post["id"]: labels.read(post["label"], history.latest)[1] for post in posts}
    assert len(codes) == len(posts) == 1600
    for kind, payload in labels.moves:
        history.record(kind, payload)
    book = history.latest
    after = {post: history.find_code(code, book.version).code for post, code in codes.items()}
    assert None not in after.values()
    before_phases = Counter(history.at(1).path(code)[0] for code in codes.values())
    phases = Counter(book.path(str(code))[0] for code in after.values())
    assert sum(phases.values()) == 1600
    leaving = {f"model-setting/{name}" for name in ("loss", "learning-rate", "statement", "optimizer", "derivative")}
    moved = sum(code in leaving for code in codes.values())
    label = sum(code == "model-setting/label" for code in codes.values())
    assert moved > 50
    assert phases["model-training"] == before_phases["model-training"] + moved
    assert phases["data-processing"] == before_phases["data-processing"] + label
    assert phases["model-setting"] == before_phases["model-setting"] - moved - label
    assert {history.find_code(code, 1).code for code in codes.values()} == set(codes.values())


@pytest.mark.parametrize(
    ("label", "code"),
    [
        ("freeze,convolution layer,m", "model-setting/layer"),
        ("load,bert trained model,m", "model-setting/trained-model"),
        ("feed data,model,m", "model-setting/model"),
        ("rotate,di,d", "data-processing/image"),
        ("get,dv,t", "model-training/variable"),
        ("compute,metric,e", "model-evaluation/other-metrics"),
        ("measure,training time,e", "model-evaluation/time"),
    ],
)
def test_a_label_is_read_by_its_longest_matching_object(label: str, code: str) -> None:
    assert read_labels(FOLDER).read(label, labelled().latest)[1] == code


@pytest.mark.parametrize("label", ["", "get,model", "get,model,x", "get,spoon,r"])
def test_an_unknown_label_is_refused_in_one_sentence(label: str) -> None:
    with pytest.raises(InputError, match="the label"):
        read_labels(FOLDER).read(label, labelled().latest)
