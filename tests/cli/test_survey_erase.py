"""`quaestor survey erase`: nothing without being sure, then for good."""

from __future__ import annotations

from pathlib import Path

from command_line import PLAIN, in_this_process
from quaestor.base.errors import InputError
from quaestor.study.surveys.fielding import open_surveys
from small_survey import NAME, imported


def test_a_response_is_erased_by_whoever_is_sure(tmp_path: Path) -> None:
    study = imported(tmp_path / "study", 1)
    with open_surveys(study) as surveys:
        [one] = surveys.answers.listed(NAME)
    command = ("survey", "erase", NAME, one.id, "--why", "asked to by letter", "--study", study.root)
    unsure = in_this_process(*command, **PLAIN)
    assert isinstance(unsure.exception, InputError)
    assert "say --yes" in str(unsure.exception)
    with open_surveys(study) as surveys:
        assert surveys.answers.response(one.id) is not None
    done = in_this_process(*command, "--yes", **PLAIN)
    assert (done.exit_code, f"{one.id} is erased" in done.stderr) == (0, True)
    with open_surveys(study) as surveys:
        assert surveys.answers.response(one.id) is None


def test_a_reason_is_asked_for(tmp_path: Path) -> None:
    done = in_this_process("survey", "erase", NAME, "0" * 16, "--yes", "--study", tmp_path, **PLAIN)
    assert (done.exit_code, "--why" in done.stderr) == (2, True)
