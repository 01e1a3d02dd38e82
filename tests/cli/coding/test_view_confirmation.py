"""A command that shows ratings of a blind round for the first time asks first, as the desk does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.command_line import in_this_process
from tests.support.small_study import small_study
from tests.support.terminal import at_terminal

from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.study.folder import Study

VIEWS = [("agreement", "--round", "pilot"), ("ratings", "export", "pilot")]
VIEWS_OF_A_CLOSED_ROUND = [*VIEWS, ("decisions", "list", "pilot"), ("decisions", "export", "pilot"), ("agreement",)]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """An open round that two raters have completed, with one disagreement."""
    study = small_study(tmp_path / "study")
    import_codebook(study)
    open_by_name(study, "pilot", None)
    with open_coding(study) as coding:
        for number, item in enumerate(coding.state.rounds["pilot"].plan.items):
            for rater in ("rater-1", "rater-2"):
                rate(
                    coding,
                    "pilot",
                    rater,
                    item,
                    {"relevance": "keep" if number or rater == "rater-1" else "exclude: crash"},
                )
    return study


def list_viewers(study: Study) -> list[str]:
    with open_coding(study) as coding:
        return coding.state.round("pilot").unblinded


@pytest.mark.parametrize("command", VIEWS)
def test_the_lead_is_asked_before_seeing_an_open_blind_round(study: Study, command: tuple[str, ...]) -> None:
    refused = in_this_process(*command, "--study", study.root)
    assert refused.exit_code != 0
    assert "open and blind" in str(refused.exception)
    assert "Add --yes" in str(refused.exception)
    assert list_viewers(study) == []
    assert in_this_process(*command, "--yes", "--study", study.root).exit_code == 0
    assert list_viewers(study) == ["lead"]
    assert in_this_process(*command, "--study", study.root).exit_code == 0, "asked once"


@pytest.mark.parametrize("command", VIEWS_OF_A_CLOSED_ROUND)
def test_a_round_that_could_be_reopened_as_blind_is_not_shown_unasked(study: Study, command: tuple[str, ...]) -> None:
    close_by_name(study, "pilot", None)
    assert "reopened only as not blind" in str(in_this_process(*command, "--study", study.root).exception)
    assert list_viewers(study) == []
    assert in_this_process(*command, "--yes", "--study", study.root).exit_code == 0
    assert list_viewers(study) == ["lead"]


def test_a_terminal_shows_the_question_and_no_ends_the_command(study: Study) -> None:
    code, shown = at_terminal("agreement", "--round", "pilot", "--study", study.root, typed="n\n")
    assert code == 1
    assert "you can no longer rate in it" in shown
    assert "Go on? [y/N]" in shown
    assert "κ" not in shown
    assert list_viewers(study) == []
    code, shown = at_terminal("agreement", "--round", "pilot", "--study", study.root, typed="y\n")
    assert code == 0
    assert "κ" in shown
    assert list_viewers(study) == ["lead"]


def test_a_rater_exports_their_own_ratings_unasked(study: Study) -> None:
    assert in_this_process("ratings", "export", "pilot", "--as", "rater-1", "--study", study.root).exit_code == 0
    assert list_viewers(study) == []
