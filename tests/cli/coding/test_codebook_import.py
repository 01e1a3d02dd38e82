"""`codebook import` shows what it replaces, and asks before it changes a codebook that rounds use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import in_this_process
from tests.support.small_study import CODEBOOK, small_study
from tests.support.terminal import at_terminal

from quaestor.coding.codebook import import_codebook, read_codebook_version
from quaestor.coding.round_acts import open_by_name
from quaestor.study.folder import Study

RENAMED = CODEBOOK.replace('name = "model training"', 'name = "fitting"')


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study with an imported codebook and a file that renames a code."""
    study = small_study(tmp_path / "study")
    import_codebook(study)
    (study.root / "codebook.toml").write_text(RENAMED, "utf-8")
    return study


def current_version(study: Study) -> int:
    return read_codebook_version(study, None).version


def test_before_the_first_round_the_differences_are_shown(study: Study) -> None:
    done = in_this_process("codebook", "import", "--study", study.root)
    assert done.exit_code == 0, done.output
    assert "renamed    training  model training → fitting" in done.stdout
    assert "Version 2, replaces version 1: 3 codes in 1 facet" in done.stderr
    again = in_this_process("codebook", "import", "--study", study.root)
    assert "nothing was imported" in again.stderr
    assert current_version(study) == 2


def test_afterwards_a_script_needs_yes_and_reads_the_changes(study: Study) -> None:
    open_by_name(study, "pilot", None)
    refused = in_this_process("codebook", "import", "--study", study.root)
    assert "add --yes to record rename training to 'fitting'" in str(refused.exception)
    assert current_version(study) == 1
    done = in_this_process("codebook", "import", "--yes", "--json", "--study", study.root)
    assert json.loads(done.stdout) == {
        "version": 2, "codes": 3, "facets": ["issue"], "changes": ["rename training to 'fitting'"]
    }  # fmt: skip


@pytest.mark.parametrize(("answer", "exit_code", "version"), [("n", 1, 1), ("y", 0, 2)])
def test_a_person_is_asked(study: Study, answer: str, exit_code: int, version: int) -> None:
    open_by_name(study, "pilot", None)
    done, output = at_terminal("codebook", "import", "--study", study.root, typed=f"{answer}\n")
    assert done == exit_code, output
    assert "rename training to 'fitting'" in output
    assert current_version(study) == version
