"""No sequence of codebook changes and undos loses a rating."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.base.errors import InputError, StateError
from quaestor.coding.model.codebook.file import read_codebook, write_codebook
from quaestor.coding.model.codebook.history import UNDO, History, list_differences
from quaestor.coding.model.records import Codebook

START = {
    "name": "small",
    "facets": [{"id": "issue", "levels": ["phase", "object"]}, {"id": "group", "levels": ["group"]}],
    "codes": [
        {"id": "setting", "facet": "issue", "name": "model setting"},
        {"id": "training", "facet": "issue", "name": "model training"},
        {"id": "setting/loss", "facet": "issue", "parent": "setting", "name": "loss", "across": {"group": "create"}},
        {"id": "setting/layer", "facet": "issue", "parent": "setting", "name": "layer"},
        {"id": "training/loss", "facet": "issue", "parent": "training", "name": "loss"},
        {"id": "training/session", "facet": "issue", "parent": "training", "name": "session"},
        {"id": "create", "facet": "group", "name": "create"},
    ],
}


def begun() -> History:
    history = History()
    history.record("codebook.import", START)
    return history


def active_ids(book: Codebook) -> set[str]:
    return {code.id for code in book.codes.values() if code.active}


def random_change(history: History, dice: random.Random) -> tuple[str, dict[str, Any]]:
    book = history.latest
    active = sorted(active_ids(book))
    number = len(history.changes)
    if not active:  # everything was retired
        return "codebook.add", {"id": f"n{number}", "facet": "issue", "name": f"new {number}"}
    code, other = dice.choice(active), dice.choice(active)
    return dice.choice(
        [
            ("codebook.add", {"id": f"n{number}", "facet": "issue", "parent": code, "name": f"new {number}"}),
            ("codebook.rename", {"code": code, "name": f"renamed {dice.randrange(4)}"}),
            ("codebook.redefine", {"code": code, "definition": f"definition {number}"}),
            ("codebook.merge", {"codes": [code], "into": other}),
            (
                "codebook.split",
                {
                    "code": code,
                    "parts": [
                        {"id": f"p{number}a", "name": f"a {number}"},
                        {"id": f"p{number}b", "name": f"b {number}"},
                    ],
                    "items": {f"item/{dice.randrange(30)}": f"p{number}a" for _ in range(5)},
                    "otherwise": f"p{number}b",
                },
            ),
            ("codebook.move", {"code": code, "parent": other}),
            ("codebook.retire", {"code": code}),
            (UNDO, {"version": dice.randrange(1, number + 2)}),
            (UNDO, {"version": number}),
        ]
    )


@settings(max_examples=1000, deadline=None)
@given(st.integers(0, 2**32))
def test_no_sequence_of_changes_and_undos_loses_a_rating(seed: int) -> None:
    dice = random.Random(seed)
    history = begun()
    ratings: list[tuple[str, str, int]] = []
    for _ in range(15):
        for _ in range(3 if active_ids(history.latest) else 0):
            code = dice.choice(sorted(active_ids(history.latest)))
            ratings.append((f"item/{dice.randrange(30)}", code, history.latest.version))
        kind, payload = random_change(history, dice)
        try:
            history.record(kind, payload)
        except StateError:
            continue
    for item, code, version in ratings:
        assert history.find_code(code, version, item).code == code, "under its own version a rating keeps its code"
        for later in range(version, len(history.versions)):
            reading = history.find_code(code, later, item)
            assert reading.code in history.at(later).codes
            assert history.at(later).codes[reading.code].status in ("active", "retired", "withdrawn")
        for earlier in range(1, version):
            reading = history.find_code(code, earlier, item)
            assert reading.code in history.at(earlier).codes if reading.code else reading.why


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_undoing_all_changes_restores_the_tree_and_the_code_of_every_rating(seed: int) -> None:
    dice = random.Random(seed)
    history = begun()
    for _ in range(10):
        kind, payload = random_change(history, dice)
        if kind == UNDO:
            continue
        try:
            history.record(kind, payload)
        except StateError:
            continue
    for number in range(len(history.changes), 1, -1):
        history.record(UNDO, {"version": number})
    before, after = history.at(1), history.latest
    assert {code: entry for code, entry in after.codes.items() if entry.active} == dict(before.codes)
    for code in before.codes:
        assert history.find_code(code, after.version).code == code


def test_undoing_an_undo_repeats_the_change() -> None:
    history = begun()
    history.record("codebook.rename", {"code": "training", "name": "fitting"})
    history.record(UNDO, {"version": 2})
    assert history.latest.codes["training"].name == "model training"
    history.record(UNDO, {"version": 3})
    assert history.latest.codes["training"].name == "fitting"
    with pytest.raises(StateError, match="no change 3 to undo"):
        history.record(UNDO, {"version": 3})


def test_undoing_a_merge_keeps_ratings_from_before_and_after_it() -> None:
    history = begun()
    history.record("codebook.merge", {"codes": ["setting/loss"], "into": "training/loss"})
    assert history.find_code("setting/loss", 2).code == "training/loss"
    assert history.find_code("setting/loss", 1).code == "setting/loss"
    history.record(UNDO, {"version": 2})
    assert history.find_code("setting/loss", 3).code == "setting/loss"
    assert history.find_code("training/loss", 3).code == "training/loss"


def test_a_split_assigns_by_item_then_by_rule_then_by_default() -> None:
    history = begun()
    history.record(
        "codebook.split",
        {
            "code": "training/loss",
            "parts": [{"id": "custom", "name": "custom loss"}, {"id": "plain", "name": "plain loss"}],
            "items": {"item/1": "custom"},
            "rules": [{"facet": "group", "answer": "create", "part": "custom"}],
            "otherwise": "plain",
        },
    )
    assert history.find_code("training/loss", 2, "item/1").code == "custom"
    assert history.find_code("training/loss", 2, "item/2", {"group": "create"}).code == "custom"
    assert history.find_code("training/loss", 2, "item/2", {"group": "read"}).code == "plain"
    assert history.find_code("plain", 1, "item/9").code == "training/loss"


def test_a_change_that_others_build_on_cannot_be_undone() -> None:
    history = begun()
    history.record("codebook.add", {"id": "x", "facet": "issue", "parent": "training", "name": "x"})
    history.record("codebook.rename", {"code": "x", "name": "y"})
    with pytest.raises(StateError, match="because change 3 builds on it"):
        history.record(UNDO, {"version": 2})


@pytest.mark.parametrize(
    ("kind", "payload", "words"),
    [
        ("codebook.add", {"id": "training", "facet": "issue", "name": "again"}, "is or was used by a code"),
        ("codebook.add", {"id": "n", "facet": "issues", "name": "n"}, "choose from: issue"),
        ("codebook.add", {"id": "n", "facet": "issue", "parent": "training/loss", "name": "n"}, "below the last level"),
        (
            "codebook.add",
            {"id": "n", "facet": "issue", "parent": "training", "name": "Loss"},
            "already has the name 'loss'",
        ),
        ("codebook.rename", {"code": "trainin", "name": "x"}, "nearest: training"),
        ("codebook.merge", {"codes": ["training"], "into": "training"}, "into itself"),
        ("codebook.merge", {"codes": ["training"], "into": "setting/loss"}, "different levels"),
        ("codebook.move", {"code": "training", "parent": "training/loss"}, "below itself"),
        ("codebook.retire", {"code": "training"}, "has codes below it"),
        ("codebook.redefine", {"code": "training", "colour": "red"}, "write it as #4269d0"),
        ("codebook.redefine", {"code": "training", "key": "tr"}, "single character"),
        ("codebook.facet", {"id": "", "levels": ["a"]}, "a facet needs an id"),
        ("codebook.redefine", {"code": "training", "across": {"group": "creat"}}, "choose from: create"),
        (UNDO, {"version": 1}, "imported the codebook"),
        (UNDO, {"version": 7}, "no change 7"),
    ],
)
def test_an_invalid_change_is_refused_in_one_sentence(kind: str, payload: dict[str, Any], words: str) -> None:
    history = begun()
    with pytest.raises(StateError, match=words):
        history.record(kind, payload)
    assert history.latest.version == 1


def test_an_import_replaces_the_whole_codebook_and_ends_what_can_be_undone() -> None:
    history = begun()
    history.record("codebook.rename", {"code": "training", "name": "fitting"})
    replacement = {
        "name": "other",
        "facets": [{"id": "issue", "levels": ["phase"]}],
        "codes": [{"id": "training", "facet": "issue", "name": "training"}],
    }
    history.record("codebook.import", replacement)
    assert list(history.latest.codes) == ["training"]
    assert history.latest.version == 3
    with pytest.raises(StateError, match="change 2 cannot be undone because change 3 replaced the whole codebook"):
        history.record(UNDO, {"version": 2})
    history.record("codebook.rename", {"code": "training", "name": "learning"})
    history.record(UNDO, {"version": 4})
    assert history.latest.codes["training"].name == "training"
    differences = {(difference.code, difference.what) for difference in list_differences(history.at(2), history.at(3))}
    assert differences >= {("", "name changed"), ("issue", "facet changed"), ("group", "facet removed"),
                           ("training", "renamed"), ("setting", "withdrawn")}  # fmt: skip


def test_differences_between_versions_name_every_change() -> None:
    history = begun()
    history.record("codebook.merge", {"codes": ["setting/loss"], "into": "training/loss"})
    history.record("codebook.rename", {"code": "training", "name": "fitting"})
    history.record("codebook.move", {"code": "setting/layer", "parent": "training"})
    history.record("codebook.add", {"id": "setting/weight", "facet": "issue", "parent": "setting", "name": "weight"})
    found = {(one.code, one.what): one.after for one in list_differences(history.at(1), history.latest)}
    assert found == {
        ("setting/loss", "merged"): "training/loss",
        ("training", "renamed"): "fitting",
        ("setting/layer", "moved"): "training",
        ("setting/weight", "added"): "model setting › weight",
    }
    assert not list_differences(history.latest, history.latest)


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    str.strip
)


@settings(max_examples=100, deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=6, unique_by=str.casefold), st.text(max_size=30))
def test_a_codebook_is_read_back_unchanged_from_its_file(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], text: str
) -> None:
    codes = [
        {"id": f"c{number}", "facet": "f", "name": name, "definition": text, "examples": [text], "not": name}
        for number, name in enumerate(names)
    ]
    history = History()
    history.record("codebook.import", {"name": "any", "facets": [{"id": "f", "levels": ["l"]}], "codes": codes})
    path = tmp_path_factory.mktemp("codebook") / "codebook.toml"
    path.write_bytes(write_codebook(history.latest).encode("utf-8", "surrogatepass"))
    again = History()
    again.record("codebook.import", read_codebook(path))
    assert again.latest == history.latest


def test_a_codebook_with_cross_references_is_read_back_unchanged(tmp_path: Path) -> None:
    history = begun()
    path = tmp_path / "codebook.toml"
    path.write_text(write_codebook(history.latest), "utf-8")
    again = History()
    again.record("codebook.import", read_codebook(path))
    assert again.latest == history.latest


def test_a_cross_reference_follows_a_merge(tmp_path: Path) -> None:
    history = begun()
    history.record("codebook.add", {"id": "make", "facet": "group", "name": "make"})
    history.record("codebook.merge", {"codes": ["create"], "into": "make"})
    path = tmp_path / "codebook.toml"
    path.write_text(write_codebook(history.latest), "utf-8")
    again = History()
    again.record("codebook.import", read_codebook(path))
    assert again.latest.codes["setting/loss"].across == {"group": "make"}


def test_a_split_rule_can_use_the_answer_of_a_keep_facet() -> None:
    history = begun()
    history.record(
        "codebook.split",
        {
            "code": "training/loss",
            "parts": [{"id": "a", "name": "a"}, {"id": "b", "name": "b"}],
            "rules": [{"facet": "relevance", "answer": "keep", "part": "a"}],
            "otherwise": "b",
        },
    )
    assert history.find_code("training/loss", 2, "i", {"relevance": {"answer": "keep"}}).code == "a"
    assert history.find_code("training/loss", 2, "i", {"relevance": {"answer": "exclude"}}).code == "b"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name = 1", "name: input should be a valid string"),
        ("nome = 'x'", "nome is not a known key"),
        ("[[code]]\nid = 'a'\nname = 'a'", "code a, facet is missing: add it"),
        ("[[code]]\nid = 'a'\nname = 'a'\nfacet = 'f'\ncolor = 'red'", "code a, color is not a known key"),
        ("[[code", "not valid TOML"),
    ],
)
def test_an_invalid_codebook_file_is_refused_in_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "codebook.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=words):
        read_codebook(path)
