"""`quaestor survey erase`: needs a confirmation, and erases permanently."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import PLAIN, in_this_process
from tests.support.reading_elsewhere import files_with, read_elsewhere
from tests.support.small_survey import NAME, imported

from quaestor.base.errors import InputError
from quaestor.surveys.lifecycle import open_surveys


def test_a_response_is_erased_only_with_a_confirmation(tmp_path: Path) -> None:
    study = imported(tmp_path / "study", 1)
    with open_surveys(study) as surveys:
        [response] = surveys.answers.listed(NAME)
    command = ("survey", "erase", NAME, response.id, "--reason", "asked to by letter", "--study", study.root)
    unsure = in_this_process(*command, **PLAIN)
    assert isinstance(unsure.exception, InputError)
    assert "add --yes to erase" in str(unsure.exception)
    with open_surveys(study) as surveys:
        assert surveys.answers.response(response.id) is not None
    done = in_this_process(*command, "--yes", **PLAIN)
    assert (done.exit_code, f"{response.id} is erased" in done.stderr) == (0, True)
    with open_surveys(study) as surveys:
        assert surveys.answers.response(response.id) is None


@pytest.mark.slow
def test_an_erasure_is_not_reported_as_done_while_another_program_reads_the_answers(tmp_path: Path) -> None:
    study = imported(tmp_path / "study", 1)
    with open_surveys(study) as surveys:
        [response] = surveys.answers.listed(NAME)
    with read_elsewhere(study.root / "answers.db"):
        command = ("survey", "erase", NAME, response.id, "--reason", "asked to", "--yes", "--study", study.root)
        done = in_this_process(*command, **PLAIN)
        assert (done.exit_code, "is erased" in done.stderr) == (1, False)
        assert "may still be in the bytes of answers.db" in done.stderr
        assert files_with(study.root, "They never fit")
        status = in_this_process("status", "--json", "--study", study.root, **PLAIN)
        assert [stage["name"] for stage in json.loads(status.stdout)["stages"]][-1] == "erasure"
        checked = in_this_process("doctor", "--study", study.root, **PLAIN)
        assert "may still be in the bytes of answers.db" in " ".join(checked.stdout.split())
    status = in_this_process("status", "--json", "--study", study.root, **PLAIN)
    assert "erasure" not in [stage["name"] for stage in json.loads(status.stdout)["stages"]]
    assert files_with(study.root, "They never fit") == []


def test_an_erasure_needs_a_reason(tmp_path: Path) -> None:
    done = in_this_process("survey", "erase", NAME, "0" * 16, "--yes", "--study", tmp_path, **PLAIN)
    assert (done.exit_code, "--reason" in done.stderr) == (2, True)
