"""Phrases are placed in lines of the codebook, also by the study's own words; others get a reason."""

from __future__ import annotations

import csv
import re
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.paths import DOCS, SHARED

from quaestor.base.errors import SettingsError
from quaestor.coding.model.codebook.file import read_codebook
from quaestor.coding.model.codebook.history import History
from quaestor.coding.model.phrase_placement import PhrasePlacer, PlacementWords, read_placement_words
from quaestor.coding.model.records import Code, Codebook, CodeFacet
from quaestor.publication.replicate.posts import read_labels
from quaestor.study.templates import template_folder

FOLDER = template_folder("dl-implementation-issues")
POSTS = SHARED / "data" / "dl-posts" / "open.csv"
BY_TYPE_AND_OPERATION = {"model-setting/layer", "model-setting/model", "model-setting/trained-model"}

# What a printed line says word for word, but another line too, or nobody would.
PRINTED_TWICE = {
    ("special-operation/edit-layer", "add"): "compute-operate/add",
    ("special-operation/edit-layer", "split"): "transform-convert/split",
    ("special-operation/edit-layer", "remove"): "transform-convert/remove",
    ("special-operation/edit-layer", "change"): "create-initialize/initialize",
    # "(check/switch training/validation) mode" means the mode of training or of validation
    ("model-training/training-progress/switch-mode", "validation mode"): None,
}


def bundled_book() -> Codebook:
    history = History()
    history.record("codebook.import", read_codebook(FOLDER / "codebook.toml"))
    return history.latest


BOOK = bundled_book()
PLACING = PhrasePlacer.build(BOOK, read_placement_words(FOLDER / "placing.toml"))


def alternatives(name: str) -> list[str]:
    parts = re.split(r"\(([^)]*)\)", name)
    return ["".join(one) for one in product(*(part.split("/") if n % 2 else [part] for n, part in enumerate(parts)))]


def printed(facet: str, level: str) -> list[tuple[Code, str]]:
    return [(code, text) for code in BOOK.active(facet, level) for text in alternatives(code.name)]


def small(names: list[str], words: PlacementWords | None = None) -> PhrasePlacer:
    """A codebook of one object, with these lines below it, numbered from 0."""
    codes = {"thing": Code("thing", "issue", "thing")}
    codes |= {f"thing/{n}": Code(f"thing/{n}", "issue", name, parent="thing") for n, name in enumerate(names)}
    book = Codebook(1, "small", {"issue": CodeFacet("issue", levels=("object", "issue"))}, codes)
    return PhrasePlacer.build(book, words or PlacementWords())


@pytest.mark.parametrize(("code", "text"), printed("issue", "issue"), ids=lambda one: getattr(one, "id", one))
def test_every_alternative_of_a_printed_issue_is_placed_on_it(code: Code, text: str) -> None:
    expected = PRINTED_TWICE.get((code.id, text), code.id)
    assert PLACING.place(text, BOOK.codes[code.parent].name, code.parent).code == expected


@pytest.mark.parametrize(
    ("code", "text"), printed("operation-group", "operation"), ids=lambda one: getattr(one, "id", one)
)
def test_every_alternative_of_a_printed_operation_is_placed_on_it(code: Code, text: str) -> None:
    assert PLACING.operation(text, "layer").code == PRINTED_TWICE.get((code.id, text), code.id)


@pytest.mark.parametrize("code", BOOK.active("object-type"), ids=lambda code: code.id)
def test_every_printed_type_is_found_alone_and_before_an_object(code: Code) -> None:
    assert PLACING.object_type(code.name).code == code.id
    if code.name not in {"layer", "model", "trained model"}:
        for thing in ("layer", "model", "trained model"):
            assert PLACING.object_type(f"{code.name} {thing}").code == code.id


def test_placement_words_name_existing_lines() -> None:
    words = read_placement_words(FOLDER / "placing.toml")
    assert {code for code in words.lines if BOOK.level(code) not in {"issue", "operation"}} == set()
    assert set(words.below) | set(words.below.values()) <= set(BOOK.codes)
    grouped = Counter(tuple(sorted(group)) for group in words.same)
    assert max(grouped.values()) == 1


@pytest.mark.parametrize(
    ("verb", "thing", "code", "line"),
    [
        # every kind of data is data, and restoring is reading
        ("slice", "tensor", "data-processing/tensor", "data-processing/data/slice"),
        ("restore", "dv", "data-processing/variable", "data-processing/data/read"),
        ("get shape", "image", "data-processing/image", "data-processing/data/get-structure"),
        ("get content", "image", "data-processing/image", "data-processing/data/get"),
        ("create random", "matrix", "data-processing/matrix", "data-processing/data/create-special"),
        ("create", "matrix", "data-processing/matrix", "data-processing/data/create"),
        ("add gaussian noise", "image", "data-processing/image", "data-processing/data/upscale"),
        ("mean square", "vector", "data-processing/vector", "data-processing/data/product"),
        # a verb that says little, or none at all
        ("compute mean", "vector", "data-processing/vector", "data-processing/data/average"),
        ("euclidean distance", "vector", "data-processing/vector", "data-processing/data/distance"),
        ("dot product", "vector", "data-processing/vector", "data-processing/data/product"),
        ("centred mean product", "vector", "data-processing/vector", "data-processing/data/product"),
        # the only line with the verb
        ("check finite", "tensor", "data-processing/tensor", "data-processing/data/check"),
        ("create sigmoid", "activation", "model-setting/activation", "model-setting/activation/create"),
        ("load", "weight", "model-setting/weight", "model-setting/weight/get"),
        # the only line of the object
        ("replace", "optimizer", "model-training/optimizer", "model-training/optimizer/get"),
        ("train", "model", "model-training/model", "model-training/model/train"),
        ("train lstm", "model", "model-training/model", "model-training/model/train-architecture"),
        ("train siamese", "model", "model-training/model", "model-training/model/train"),
        ("branch", "statement", "model-training/statement", "model-training/statement/branch"),
        ("test", "layer", "model-prediction/layer", "model-prediction/layer/test"),
        ("test embedding", "layer", "model-prediction/layer", "model-prediction/layer/test-input"),
        ("calculate", "accuracy", "model-evaluation/accuracy", "model-evaluation/accuracy/compute"),
        ("compute for epoch", "accuracy", "model-evaluation/accuracy", "model-evaluation/accuracy/compute-for-run"),
        ("compute f1", "metric", "model-evaluation/other-metrics", "model-evaluation/other-metrics/named"),
        ("use", "gpu", "runtime-environment/gpu", "runtime-environment/gpu/use-one"),
        ("use multiple", "gpu", "runtime-environment/gpu", "runtime-environment/gpu/use-many"),
        # showing is one thing, whatever the word; what is shown decides
        ("show tensor", "data", "visualization/data", "visualization/data/print"),
        ("plot image", "data", "visualization/data", "visualization/data/display-image"),
        ("display weight", "model", "visualization/model", "visualization/model/display-inside"),
        ("print output", "hidden layer", "visualization/layer", "visualization/layer/print-output"),
        # a slip of the pen
        ("resahpe", "tensor", "data-processing/tensor", "data-processing/data/reshape"),
    ],
)
def test_phrases_of_every_phase_are_placed(verb: str, thing: str, code: str, line: str) -> None:
    assert PLACING.place(verb, thing, code).code == line


@pytest.mark.parametrize(
    ("verb", "thing", "operation"),
    [
        ("create", "convolution layer", "create-initialize/create"),
        ("freeze", "layer", "create-initialize/freeze"),
        ("load", "trained model", "read-save/restore"),
        ("get output", "model", "special-operation/get-ends"),
        ("get layer output", "model", "special-operation/get-ends"),
        ("get output layer", "model", "special-operation/get-layer"),
        ("get output shape", "layer", "get-check/get-shape"),
        ("add", "layer", "compute-operate/add"),
        ("add dropout layer", "model", "special-operation/edit-layer"),
        ("svd", "layer", "special-operation/edit-layer"),
    ],
)
def test_the_most_specific_word_decides_the_operation(verb: str, thing: str, operation: str) -> None:
    assert PLACING.operation(verb, thing).code == operation


@pytest.mark.parametrize(
    ("thing", "type_"),
    [
        ("model", "model"),
        ("trained model", "trained-model"),
        ("conv2d layer", "convolution"),
        ("max pooling layer", "pooling"),
        ("vgg16 trained model", "vgg"),
        ("trained embedding layer", "embedding"),
        ("encoder decoder model", "encoder-decoder"),
        ("stacked lstm", "lstm"),
        ("feed forward layer", "feedforward"),
        ("convoltuion layer", "convolution"),
        ("model graph", None),
        ("image", None),
        ("wooden layer", None),
    ],
)
def test_the_word_before_an_object_is_its_type(thing: str, type_: str | None) -> None:
    assert PLACING.object_type(thing).code == type_


@pytest.mark.parametrize(
    ("verb", "thing", "code", "why"),
    [
        ("juggle", "tensor", "data-processing/tensor", 'no line has the verb "juggle"'),
        ("compute inverse", "matrix", "data-processing/matrix", 'several lines have the verb "compute", and none'),
        ("create", "layer", "model-setting/layer", '"model setting › layer" has no lines below it'),
        ("create", "layer", "model-setting/spoon", 'the codebook has no code "model-setting/spoon"'),
        ("", " of the ", "data-processing/tensor", "the phrase has no words"),
    ],
)
def test_an_unplaced_phrase_has_a_reason(verb: str, thing: str, code: str, why: str) -> None:
    placed = PLACING.place(verb, thing, code)
    assert placed.code is None
    assert placed.why.startswith(why)


def test_equally_fitting_lines_are_both_named() -> None:
    placed = small(["(cut/trim) thing", "cut thing"]).place("cut", "thing", "thing")
    assert placed.code is None
    assert placed.why == "2 lines fit equally: (cut/trim) thing; cut thing"


def test_a_phrase_already_on_a_line_stays_there() -> None:
    assert PLACING.place("get", "gradient", "model-training/loss/compute").code == "model-training/loss/compute"


def test_without_placement_words_phrases_are_placed_by_code_names() -> None:
    placing = small(["crash at start", "wrong result", "slow start"])
    assert placing.place("crash", "program", "thing").code == "thing/0"
    assert placing.place("explain", "wrong results", "thing").code == "thing/1"
    assert placing.place("explain", "silence", "thing").code is None
    assert placing.object_type("program").why == 'the codebook has no codes of the facet "object-type"'
    assert placing.operation("crash", "program").why == 'the codebook has no codes of the facet "operation-group"'


def test_a_single_line_takes_every_phrase_only_if_lines_are_complete() -> None:
    assert small(["(get/save) thing"]).place("burn", "thing", "thing").code is None
    complete = small(["(get/save) thing"], PlacementWords(complete=True))
    assert complete.place("burn", "thing", "thing").code == "thing/0"


def test_an_exact_word_is_preferred_to_a_synonym() -> None:
    placing = small(["read thing", "restore thing"], PlacementWords(same=(("read", "restore", "load"),)))
    assert placing.place("restore", "thing", "thing").code == "thing/1"
    assert placing.place("read", "thing", "thing").code == "thing/0"
    assert placing.place("load", "thing", "thing").why.startswith("2 lines fit equally")


def test_a_match_of_several_words_is_preferred_to_a_bare_verb() -> None:
    placing = small(["show thing", "display image of thing"], PlacementWords(same=(("show", "display"),)))
    assert placing.place("show image nicely", "thing", "thing").code == "thing/1"


def test_the_object_decides_between_operations_with_the_same_verb() -> None:
    lines = {name: Code(name, "operation-group", name) for name in ("soften weight", "soften edge")}
    placing = PhrasePlacer.build(
        Codebook(1, "small", {"operation-group": CodeFacet("operation-group")}, lines), PlacementWords()
    )
    assert placing.operation("soften", "edge").code == "soften edge"
    assert placing.operation("soften weight", "edge").code == "soften weight"
    assert placing.operation("soften", "sound").code is None


def test_no_phrase_is_placed_on_a_retired_line() -> None:
    line = Code("thing/0", "issue", "read thing", parent="thing", status="retired")
    codes = {"thing": Code("thing", "issue", "thing"), line.id: line}
    book = Codebook(1, "small", {"issue": CodeFacet("issue", levels=("object", "issue"))}, codes)
    assert PhrasePlacer.build(book, PlacementWords()).place("read", "thing", "thing").code is None


def test_placement_words_about_missing_codes_are_ignored() -> None:
    history = History()
    history.record("codebook.import", read_labels(FOLDER).payload())
    placed = PhrasePlacer.build(history.latest, read_placement_words(FOLDER / "placing.toml"))
    assert placed.place("compute", "loss", "model-training").code == "model-training/loss"


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(["", "nowhere", *BOOK.codes]))
def test_any_text_is_placed_or_refused_with_a_reason(verb: str, thing: str, code: str) -> None:
    for placed in (PLACING.place(verb, thing, code), PLACING.operation(verb, thing), PLACING.object_type(thing)):
        assert placed.why
        assert placed.code is None or BOOK.codes[placed.code].active


WORDS = sorted({word for code in BOOK.codes.values() for word in re.findall(r"\w+", code.name)})


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), st.sampled_from(WORDS), st.sampled_from([*BOOK.codes]))
def test_placement_ignores_case_and_stays_below_the_given_code(verb: list[str], thing: str, code: str) -> None:
    placed = PLACING.place(" ".join(verb), thing, code)
    assert placed == PLACING.place("  ".join(verb).upper(), f" {thing.upper()}", code)
    if placed.code is not None:
        assert BOOK.path(placed.code)[0] == BOOK.path(code)[0]
        assert code in BOOK.path(placed.code) or code.startswith("data-processing/")


def test_without_a_file_there_are_no_placement_words(tmp_path: Path) -> None:
    assert read_placement_words(tmp_path / "placing.toml") == PlacementWords()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sane = []", "sane is not a known key; choose from: same, light"),
        ('same = [["a", 1]]', "same.0.1: input should be a valid string"),
        ("[lines]\na = 'b'", "lines.a: "),
        ("same = [", "is not valid TOML"),
    ],
)
def test_a_mistake_in_the_file_is_refused_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "placing.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=re.escape(message)) as refused:
        read_placement_words(path)
    assert str(path) in str(refused.value)


def test_every_key_of_the_file_is_documented() -> None:
    page = (DOCS / "reference" / "placing.md").read_text(encoding="utf-8")
    assert [name for name in PlacementWords.model_fields if not re.search(rf"^\| `\[?{name}\]?` \|", page, re.M)] == []


def check_placements(label: str, code: str) -> list[bool]:
    """For each table that counts a post: whether its words place it."""
    verb, thing, _ = label.rsplit(",", 2)
    if code in BY_TYPE_AND_OPERATION:
        return [PLACING.object_type(thing).code is not None, PLACING.operation(verb, thing).code is not None]
    return [PLACING.place(verb, thing, code).code is not None]


@pytest.mark.parametrize("half", [0, 1], ids=["even ids", "odd ids"])
def test_nearly_all_real_posts_are_placed(half: int) -> None:
    if not POSTS.exists():
        pytest.skip("the labelled posts ../shared/data/dl-posts/open.csv are not here")
    with POSTS.open(encoding="utf-8", newline="") as file:
        posts = [post for post in csv.DictReader(file) if int(post["id"]) % 2 == half]
    history, labels = History(), read_labels(FOLDER)
    history.record("codebook.import", labels.payload())
    for kind, payload in labels.moves:
        history.record(kind, payload)
    own, names = history.latest, {BOOK.path_name(code): code for code in BOOK.codes}
    answers: list[bool] = []
    for post in posts:
        code = history.find_code(labels.read(post["label"], history.at(1))[1], own.version).code
        answers += check_placements(post["label"], names[own.path_name(str(code))])
    assert Counter(answers)[True] + Counter(answers)[False] == len(answers) >= len(posts) > 700
    assert sum(answers) / len(answers) > 0.97
