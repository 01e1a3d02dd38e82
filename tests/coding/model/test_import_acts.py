"""A codebook file becomes acts that lead to its codes, or is refused with the commands to use."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.coding.model.test_codebook import START, active_ids, begun, random_change

from quaestor.base.errors import StateError
from quaestor.coding.model.codebook.file import build_entry, read_codebook, write_codebook
from quaestor.coding.model.codebook.history import History
from quaestor.coding.model.codebook.import_acts import list_import_acts
from quaestor.coding.model.records import Codebook


def edit_file(*removed: str, added: tuple[dict[str, Any], ...] = (), **changed: dict[str, Any]) -> dict[str, Any]:
    """Returns the start with some codes removed, added or changed; `__` stands for a slash."""
    payload = copy.deepcopy(START)
    codes: list[dict[str, Any]] = payload["codes"]  # type: ignore[assignment]
    for code in codes:
        code.update(changed.get(str(code["id"]).replace("/", "__"), {}))
    return {**payload, "codes": [*(code for code in codes if code["id"] not in removed), *added]}


def import_file(history: History, payload: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    acts = list_import_acts(history, payload)
    for kind, content in acts:
        history.record(kind, content)
    return acts


def list_entries(book: Codebook) -> dict[str, dict[str, Any]]:
    return {code.id: build_entry(book, code) for code in book.codes.values() if code.active}


def read_back(history: History, path: Path) -> dict[str, Any]:
    path.write_bytes(write_codebook(history.latest).encode("utf-8"))
    return read_codebook(path)


def test_each_difference_becomes_one_act() -> None:
    history = begun()
    seed = {"id": "training/seed", "facet": "issue", "parent": "training", "name": "seed"}
    payload = edit_file(
        "setting/layer", added=(seed,), setting={"name": "configuration"}, setting__loss={"across": {}},
        training__session={"parent": "setting", "definition": "A run.", "key": "1"},
    )  # fmt: skip
    assert import_file(history, payload) == [
        ("codebook.rename", {"code": "setting", "name": "configuration"}),
        ("codebook.redefine", {"code": "setting/loss", "across": {}}),
        ("codebook.move", {"code": "training/session", "parent": "setting"}),
        ("codebook.redefine", {"code": "training/session", "definition": "A run.", "key": "1"}),
        ("codebook.add", seed),
        ("codebook.retire", {"code": "setting/layer"}),
    ]
    assert history.latest.codes["setting/layer"].status == "retired"


def test_the_order_of_codes_is_no_difference_and_an_export_has_none(tmp_path: Path) -> None:
    history = begun()
    history.record("codebook.add", {"id": "make", "facet": "group", "name": "make"})
    history.record("codebook.merge", {"codes": ["create"], "into": "make"})
    payload = read_back(history, tmp_path / "codebook.toml")
    payload["codes"].sort(key=lambda code: (code.get("parent", ""), code["name"]))
    assert list_import_acts(history, payload) == []


def test_codes_can_exchange_keys_and_new_codes_can_refer_to_each_other() -> None:
    history = begun()
    history.record("codebook.redefine", {"code": "setting", "key": "1"})
    history.record("codebook.redefine", {"code": "training", "key": "2"})
    new = (
        {"id": "testing", "facet": "issue", "name": "testing", "across": {"group": "check"}},
        {"id": "check", "facet": "group", "name": "check", "across": {"issue": "testing"}},
    )
    payload = edit_file(added=new, setting={"key": "2"}, training={"key": "1"})
    import_file(history, payload)
    codes = history.latest.codes
    assert (codes["setting"].key, codes["training"].key) == ("2", "1")
    assert codes["testing"].across == {"group": "check"}
    assert codes["check"].across == {"issue": "testing"}


def test_a_name_can_pass_from_a_retired_code_to_another() -> None:
    history = begun()
    import_file(history, edit_file("training/loss", training__session={"name": "loss"}))
    assert history.latest.codes["training/session"].name == "loss"
    assert not history.latest.codes["training/loss"].active


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({**START, "name": "other"}, "the name of the codebook is 'small' and cannot change"),
        ({**START, "facets": START["facets"][:1], "codes": START["codes"][:2]}, "the facet 'group' is missing"),
        ({**START, "facets": [{"id": "issue", "levels": ["phase", "thing"]}, START["facets"][1]]},  # type: ignore[index]
         "title and levels of the facet 'issue' cannot change"),
        (edit_file(training__session={"facet": "group", "parent": ""}), "'training/session' cannot move to the facet"),
        (edit_file("training/session", added=({"id": "training/run", "facet": "issue", "parent": "training",
                                               "name": "run"},)),
         "keep the id 'training/session' if it is the same code, else run `quaestor codebook retire training/session`"),
        (edit_file("training/loss", added=tuple({"id": name, "facet": "issue", "parent": "training", "name": name}
                                                for name in ("own", "plain"))),
         'run `quaestor codebook split training/loss --part own="own" --part plain="plain" --otherwise own`'),
        (edit_file("setting", setting__loss={"parent": "training", "name": "model loss"},
                   setting__layer={"parent": "training"}),
         "run `quaestor codebook merge setting --into training`"),
        (edit_file(setting={"name": "model training"}, training={"name": "model setting"}), "already has the name"),
    ],
)  # fmt: skip
def test_what_no_act_expresses_is_refused_with_the_command(payload: dict[str, Any], words: str) -> None:
    history = begun()
    with pytest.raises(StateError) as refused:
        list_import_acts(history, payload)
    assert words in str(refused.value)


def test_all_reasons_are_given_at_once() -> None:
    payload = edit_file("training/session", added=({"id": "run", "facet": "issue", "parent": "training",
                                                    "name": "run"},))  # fmt: skip
    with pytest.raises(StateError, match=r"name of the codebook.*'run' is new in its place"):
        list_import_acts(begun(), {**payload, "name": "other"})


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("codebook.retire", {"code": "setting/layer"}, "'setting/layer' was retired: run `quaestor codebook undo 2`"),
        ("codebook.merge", {"codes": ["setting/layer"], "into": "setting/loss"}, "was merged into 'setting/loss'"),
    ],
)
def test_a_code_that_is_no_longer_active_comes_back_by_undo(kind: str, change: dict[str, Any], words: str) -> None:
    history = begun()
    history.record(kind, change)
    history.record("codebook.rename", {"code": "training", "name": "fitting"})
    with pytest.raises(StateError) as refused:
        list_import_acts(history, edit_file())
    assert words in str(refused.value)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 6), st.integers(0, 6))
def test_the_acts_of_any_file_lead_to_its_codes(
    tmp_path_factory: pytest.TempPathFactory, seed: int, shared: int, more: int
) -> None:
    dice = random.Random(seed)
    current, other = begun(), begun()
    for number in range(shared + more):
        if not active_ids(other.latest):
            break
        kind, payload = random_change(other, dice)
        for history in (current, other) if number < shared else (other,):
            try:
                history.record(kind, payload)
            except StateError:
                continue
    path = tmp_path_factory.mktemp("codebook") / "codebook.toml"
    try:
        import_file(current, read_back(other, path))
    except StateError:
        assert more
        return
    assert list_entries(current.latest) == list_entries(other.latest)
    assert list_import_acts(current, read_back(current, path)) == []
