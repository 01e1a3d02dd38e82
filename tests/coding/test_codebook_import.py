"""Importing a codebook again: it is replaced until the first round opens, and changed by acts afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.small_study import CODEBOOK, ITEMS, small_study

from quaestor.base.errors import StateError
from quaestor.coding.codebook import (
    CodebookChanged,
    import_codebook,
    list_changes,
    preview_import,
    read_codebook_version,
)
from quaestor.coding.model.decisions import build_published_act
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.session import open_coding
from quaestor.coding.status import coding_status
from quaestor.study.contributions import StatusRequest
from quaestor.study.folder import Study

RENAMED = CODEBOOK.replace('name = "model training"', 'name = "fitting"')


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return small_study(tmp_path / "study")


def write_file(study: Study, text: str) -> None:
    (study.root / "codebook.toml").write_text(text, "utf-8")


def test_until_a_round_opens_a_file_replaces_the_codebook_even_an_empty_one(study: Study) -> None:
    write_file(study, "")
    assert import_codebook(study).codes == {}
    write_file(study, CODEBOOK.replace("setting", "wrong"))
    import_codebook(study)
    write_file(study, CODEBOOK)
    planned = preview_import(study)
    assert {(difference.code, difference.what) for difference in planned.differences} == {
        ("setting", "added"), ("wrong", "withdrawn")
    }  # fmt: skip
    book = import_codebook(study, stamp=planned.stamp)
    assert set(book.codes) == {"training", "setting", "training/loss"}
    assert [change["kind"] for change in list_changes(study)] == ["import", "import", "import"]
    open_by_name(study, "pilot", None)
    assert read_codebook_version(study, None).version == 3


def test_an_empty_codebook_is_replaced_even_if_a_round_without_codes_is_open(study: Study) -> None:
    write_file(study, "")
    import_codebook(study)
    open_by_name(study, "pilot", None)
    with open_coding(study) as coding:
        status = coding_status(StatusRequest(study, coding, {}, wait=True))
    assert status.next is not None
    assert status.next.command == "quaestor codebook import"
    write_file(study, CODEBOOK)
    assert set(import_codebook(study).codes) == {"training", "setting", "training/loss"}
    assert list_changes(study)[-1]["kind"] == "import"


def test_importing_the_same_file_again_records_nothing(study: Study) -> None:
    import_codebook(study)
    assert import_codebook(study).version == 1
    open_by_name(study, "pilot", None)
    assert preview_import(study).acts == ()
    assert import_codebook(study).version == 1


def test_after_a_round_opened_a_file_becomes_acts(study: Study) -> None:
    import_codebook(study)
    open_by_name(study, "pilot", None)
    write_file(study, RENAMED.replace('name = "loss"', 'name = "loss"\ndefinition = "What is minimised."'))
    planned = preview_import(study)
    assert planned.describe_acts() == ["rename training to 'fitting'", "redefine training/loss (definition)"]
    assert import_codebook(study, stamp=planned.stamp).version == 3
    changes = list_changes(study)
    assert [change["kind"] for change in changes] == ["import", "rename", "redefine"]
    with open_coding(study) as coding:
        assert coding.state.rounds["pilot"].plan.codebook == 1


def test_published_decisions_also_end_the_time_in_which_a_file_replaces(study: Study) -> None:
    import_codebook(study)
    entries = [{"item": ITEMS[0], "facet": "phase", "answer": "training"}]
    with open_coding(study) as coding:
        coding.act(lambda state: build_published_act("printed", coding.lead, "table 2", entries, 1))
    write_file(study, RENAMED)
    import_codebook(study)
    assert list_changes(study)[-1]["kind"] == "rename"


def test_a_file_or_codebook_that_changed_since_the_preview_is_not_imported(study: Study) -> None:
    import_codebook(study)
    write_file(study, RENAMED)
    planned = preview_import(study)
    open_by_name(study, "pilot", None)
    with pytest.raises(CodebookChanged, match="has changed since the preview"):
        import_codebook(study, stamp=planned.stamp)
    planned = preview_import(study)
    write_file(study, RENAMED.replace("fitting", "learning"))
    with pytest.raises(CodebookChanged, match="has changed since the preview"):
        import_codebook(study, stamp=planned.stamp)
    assert read_codebook_version(study, None).version == 1


def test_all_acts_of_a_file_are_recorded_or_none(study: Study) -> None:
    import_codebook(study)
    open_by_name(study, "pilot", None)
    write_file(study, RENAMED.replace('name = "loss"', 'name = "loss"\nkey = "z"'))
    with pytest.raises(StateError, match="the key 'z'"):
        import_codebook(study)
    assert read_codebook_version(study, None).version == 1
