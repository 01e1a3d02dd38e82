"""Keys of codes at the desk, and the order in which raters are offered codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.acting import Table
from tests.support.small_study import CODEBOOK, small_study

from quaestor.base.errors import StateError
from quaestor.coding.codebook import change_codebook, import_codebook, read_codebook_version
from quaestor.coding.model.records import Facet
from quaestor.coding.pages.codebook.browser import build_trees
from quaestor.coding.rating import list_choices
from quaestor.store.records import NewAct
from quaestor.study.templates import bundled_studies, template_names

PHASE = Facet("phase", "single", codes="issue")
SPLIT = {
    "code": "training/loss", "parts": [{"id": "own", "name": "own loss"}, {"id": "built-in", "name": "built-in loss"}],
    "otherwise": "own",
}  # fmt: skip


@pytest.mark.parametrize("key", "umsbz0/")
def test_a_key_that_the_desk_needs_is_refused_at_import_with_the_free_keys(tmp_path: Path, key: str) -> None:
    study = small_study(tmp_path / "study")
    text = CODEBOOK.replace('id = "training"', f'key = "{key}"\nid = "training"')
    (study.root / "codebook.toml").write_text(text.replace('id = "setting"', 'key = "1"\nid = "setting"'), "utf-8")
    with pytest.raises(StateError, match=f"the key '{key}' of 'training' has another function at the desk") as refused:
        import_codebook(study)
    free = str(refused.value).partition("free keys: ")[2].split(" ")
    assert free[:4] == ["2", "3", "4", "5"]
    assert not set(free) & set("1umsbz0/")


def test_a_key_that_the_desk_needs_is_refused_in_a_later_change(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    import_codebook(study)
    with pytest.raises(StateError, match="free keys: 1 2 3"):
        change_codebook(study, "codebook.redefine", {"code": "training", "key": "z"})
    change_codebook(study, "codebook.redefine", {"code": "training", "key": "v"})
    assert read_codebook_version(study, None).codes["training"].key == "v"


def test_a_facet_of_passages_needs_other_keys(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    text = study.file.read_text("utf-8").replace('kind = "single"\ncodes = "issue"\nlevel = "phase"',
                                                 'kind = "stretches"\ncodes = "issue"')  # fmt: skip
    study.file.write_text(text.partition("[[rounds]]")[0].replace(
        '[[funnel.steps]]\nstep = "kept by raters"\nround = "main"\n', ""
    ), "utf-8")  # fmt: skip
    from quaestor.study.folder import open_study

    study = open_study(study.root)
    import_codebook(study)
    with pytest.raises(StateError, match="the key 'w'"):
        change_codebook(study, "codebook.redefine", {"code": "training", "key": "w"})
    change_codebook(study, "codebook.redefine", {"code": "training", "key": "b"})


def test_an_older_code_with_such_a_key_gets_another_one() -> None:
    table = Table()
    codes = [{"id": "memory", "facet": "issue", "name": "memory", "key": "m"}]
    payload = {"name": "", "facets": [{"id": "issue", "levels": ["phase"]}], "codes": codes}
    table.record(NewAct("codebook.import", "lead", payload))
    assert [choice.key for choice in list_choices(PHASE, table.state.history.latest)] == ["1"]


@pytest.mark.parametrize(
    "name", [name for name in template_names() if (bundled_studies() / name / "codebook.toml").exists()]
)
def test_the_codebook_of_a_bundled_study_can_be_imported(tmp_path: Path, name: str) -> None:
    from quaestor.study.folder import open_study
    from quaestor.study.templates import new_study

    assert import_codebook(open_study(new_study(tmp_path / "study", name))).codes


def test_the_parts_of_a_split_code_are_offered_below_their_parent(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    text = CODEBOOK + '\n[[code]]\nid = "training/step"\nfacet = "issue"\nparent = "training"\nname = "step"\n'
    (study.root / "codebook.toml").write_text(text, "utf-8")
    book = import_codebook(study)
    assert [code.id for code in book.active("issue")] == ["training", "training/loss", "training/step", "setting"]
    change_codebook(study, "codebook.split", SPLIT)
    change_codebook(study, "codebook.add", {"id": "rate", "facet": "issue", "parent": "training", "name": "rate"})
    book = read_codebook_version(study, None)
    expected = ["training", "own", "built-in", "training/step", "rate", "setting"]
    assert [choice.value for choice in list_choices(PHASE, book)] == expected
    (tree,) = build_trees(book)
    assert [branch.code.id for branch in tree.branches[0].branches] == expected[1:-1]
