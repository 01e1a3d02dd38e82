"""No act adds a known name to the codebook, where it could not be removed; an id with one is never published."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.support.coded_interviews import ROUND, code_all, copy_of, stretch
from tests.support.small_interviews import a_study
from tests.support.themed_interviews import FACET, themed_study

from quaestor.base.errors import StateError
from quaestor.coding.codebook import change_codebook, import_codebook
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.model.code_proposals import NewCode
from quaestor.coding.round_acts import close_by_name
from quaestor.coding.session import open_coding
from quaestor.interviews.coding.in_vivo import adopt, list_in_vivo_passages
from quaestor.interviews.names.known_names import add_name
from quaestor.interviews.names.remaining import find_remaining_names, refuse_names_in
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.themes.cells import build_interview_tables
from quaestor.interviews.themes.files import write_themes
from quaestor.interviews.themes.quotations import read_themes
from quaestor.study.folder import Study, open_study

KNOWN = ("Wexla Brimm", "Obviax GmbH")
ANSWERS = (
    (
        "{data:The size of the data}, and {time:how long}.",
        "{indicator|what=loss;threshold=10:the loss} or a feeling.",
        "Nothing.",
    ),
)
PLACE = (ROUND, "P1/00003", 12, 21)


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Two raters coded all of it the same, a feeling in vivo."""
    study = themed_study(tmp_path_factory.mktemp("made"), ANSWERS, settled=False)
    loss = stretch(0, 8, "indicator", fields={"what": "loss", "threshold": "10"})
    given = {
        "P1/00001": [stretch(0, 20, "data"), stretch(26, 34, "other-factor")],
        "P1/00003": [loss, stretch(12, 21)],
    }
    code_all(study, {"rater-1": given, "rater-2": given})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    return study


@pytest.fixture
def study(study_template: Study, tmp_path: Path) -> Study:
    return copy_of(study_template, tmp_path)


def with_names(study: Study) -> Study:
    with open_interviews(study) as interviews:
        for kind, form in zip(("person", "organisation"), KNOWN, strict=True):
            add_name(interviews, kind, [form])
    return study


def refused(study: Study, kind: str, payload: dict[str, Any]) -> str:
    """The error that refuses an act; checks that nothing is recorded and the name is not shown."""
    with open_coding(study) as coding:
        head = coding.state.head
        with pytest.raises(StateError) as why:
            change_codebook(coding, f"codebook.{kind}", payload)
        assert coding.state.head == head
    told = str(why.value)
    assert not any(word.casefold() in told.casefold() for form in KNOWN for word in form.split()[:1])
    return told


def test_an_in_vivo_code_cannot_be_adopted_under_a_known_name(study: Study) -> None:
    with open_interviews(with_names(study)) as interviews:
        head = interviews.coding.state.head
        with pytest.raises(StateError, match=r"the name of a new code contains the known name of \[person 1\]"):
            adopt(interviews.coding, *PLACE, NewCode("Wexla's feeling", "legitimacy"))
        assert interviews.coding.state.head == head
        assert list_in_vivo_passages(interviews, ROUND)[0].name == ""
        assert adopt(interviews.coding, *PLACE, NewCode("a feeling", "legitimacy")) == "legitimacy/a-feeling"


@pytest.mark.parametrize(
    ("kind", "payload", "what"),
    [
        ("add", {"id": "new", "facet": "themes", "name": "as at Obviax"}, "the name of a new code"),
        ("add", {"id": "as_obviax/does", "facet": "themes", "name": "new"}, "the id of a new code"),
        ("add", {"id": "new", "facet": "themes", "name": "new", "not": "Obviax"}, "the use of a new code"),
        ("rename", {"code": "data", "name": "data of Obviax"}, "the name of the code 'data'"),
        ("redefine", {"code": "data", "examples": ["as Brimm says"]}, "the examples of the code 'data'"),
        ("redefine", {"code": "data", "definition": "what Wexla Brimm\nsays"}, "the definition of the code 'data'"),
        ("facet", {"id": "more", "title": "Obviax and others"}, "the title of a new facet"),
        (
            "split",
            {
                "code": "data",
                "parts": [{"id": "small", "name": "small"}, {"id": "large", "name": "Brimm's"}],
                "otherwise": "small",
            },
            "the name of a new code",
        ),
    ],
)
def test_no_codebook_change_can_add_a_known_name(study: Study, kind: str, payload: dict[str, Any], what: str) -> None:
    change_codebook(copy := with_names(study), "codebook.rename", {"code": "time", "name": "time it takes"})
    assert refused(copy, kind, payload).startswith(f"{what} contains the known name of [")


def test_undoing_a_change_cannot_bring_back_a_known_name(study: Study) -> None:
    """A code can be mended whatever its words are; taking that back would bring the name in once more."""
    change_codebook(study, "codebook.rename", {"code": "data", "name": "data of Obviax"})
    change_codebook(with_names(study), "codebook.redefine", {"code": "data", "definition": "what there is"})
    version = change_codebook(study, "codebook.rename", {"code": "data", "name": "data"})
    assert "the name of the code 'data'" in refused(study, "undo", {"version": version})


def test_a_codebook_file_with_a_known_name_is_not_imported(tmp_path: Path) -> None:
    study = a_study(tmp_path / "study", more=FACET)
    text = (
        '[[facet]]\nid = "themes"\n[[code]]\nid = "one"\nfacet = "themes"\nname = "one"\ndefinition = "as Brimm says"\n'
    )
    (study.root / "codebook.toml").write_text(text, "utf-8")
    with_names(study)
    with pytest.raises(StateError, match="the definition of a new code contains the known name"):
        import_codebook(study)
    (study.root / "codebook.toml").write_text(text.replace("Brimm", "somebody"), "utf-8")
    assert list(import_codebook(study).codes) == list(tomllib.loads(text)["code"][0]["id"].split())


@pytest.mark.parametrize("key", ["interviews.key", "identities.key"])
def test_without_the_key_the_codebook_is_not_changed_and_no_key_is_created(study: Study, key: str) -> None:
    (with_names(study).root / key).unlink()
    with pytest.raises(StateError, match=f"{key} is missing"):
        change_codebook(study, "codebook.rename", {"code": "data", "name": "the data"})
    assert not (study.root / key).exists()


def test_a_study_without_interviews_has_no_name_check(tmp_path: Path) -> None:
    study = a_study(tmp_path / "study")
    change_codebook(study, "codebook.facet", {"id": "themes"})
    change_codebook(study, "codebook.add", {"id": "brimm", "facet": "themes", "name": "Wexla Brimm"})
    assert not [path.name for path in study.root.iterdir() if path.suffix == ".key" or path.stem == "interviews"]


@pytest.mark.parametrize("old", ["legitimacy/obviax_loss", "factors/as-wexla-brimm-says"])
def test_a_code_id_with_a_name_is_reported_until_another_code_replaces_it(
    study: Study, tmp_path: Path, old: str
) -> None:
    """It stays in the history of the codebook, and is in nothing that is published."""
    parent = old.partition("/")[0]
    new = f"{parent}/another"
    before = "indicator" if parent == "legitimacy" else "other-factor"
    change_codebook(study, "codebook.add", {"id": old, "facet": "themes", "parent": parent, "name": "harmless"})
    change_codebook(study, "codebook.merge", {"codes": [before], "into": old})
    with open_interviews(with_names(study)) as interviews:
        assert old in {quotation.code for quotation in read_themes(interviews).quotations}
        told = [(one.kind, one.where) for one in find_remaining_names(interviews) if one.kind in ("code", "id")]
        assert told == [("id", "the id of a code of the facet 'themes'")]
        with pytest.raises(StateError, match=r"merge the code into a new one \(`quaestor codebook merge`\)") as why:
            refuse_names_in(interviews)
        assert "obviax" not in str(why.value)
    change_codebook(study, "codebook.add", {"id": new, "facet": "themes", "parent": parent, "name": "another"})
    change_codebook(study, "codebook.merge", {"codes": [old], "into": new})
    with open_interviews(open_study(study.root)) as interviews:
        refuse_names_in(interviews)
        themes = read_themes(interviews)
        written = write_themes(interviews, themes, tmp_path / "out")
        assert new in {quotation.code for quotation in themes.quotations}
        assert old not in str(themes) + str(build_interview_tables(themes))
        assert written
    assert not [path for path in (tmp_path / "out").rglob("*.*") if old.encode() in path.read_bytes()]


def test_a_code_that_replaces_another_keeps_its_fields_and_reference_item(study: Study) -> None:
    for old, new, parent in (("indicator", "sign", "legitimacy"), ("data", "size", "factors")):
        change_codebook(study, "codebook.add", {"id": new, "facet": "themes", "parent": parent, "name": new})
        change_codebook(study, "codebook.merge", {"codes": [old], "into": new})
    with open_interviews(study) as interviews:
        themes = read_themes(interviews)
    (sign,) = (code for code in themes.codes if code.id == "sign")
    assert sign.fields == ("what", "threshold")
    tallies = {item.key: item for item in themes.references[0].items}
    assert (tallies["data"].named, tallies["data"].codes) == (("P1",), ("size",))
    assert (tallies["other"].named, tallies["other"].codes) == (("P1",), ("other-factor",))
    assert tallies["time"].named == ()
