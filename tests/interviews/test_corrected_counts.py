"""A turn that no longer counts is missing from every number about its round, not only from the themes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.coded_interviews import ROUND
from tests.support.command_line import in_this_process
from tests.support.themed_interviews import themed_study

from quaestor.coding.agreement import compute_round_agreement
from quaestor.coding.coded_items import VisibleDecisions
from quaestor.coding.model.state import AGREEMENT
from quaestor.coding.pages.codebook.code_detail import collect_uses, count_items
from quaestor.coding.rating_files import export_decisions, export_ratings
from quaestor.coding.round_acts import close_by_name
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.interviews.coding.progress import find_coding_steps
from quaestor.interviews.participants.consent import ACCEPTED, DECLINED, SPOKEN, record_consent
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.interviews.themes.quotations import read_themes
from quaestor.interviews.transcripts.corrections import set_voice
from quaestor.interviews.withdrawal import withdraw
from quaestor.people.roles import Role
from quaestor.publication.results.figures import process_figure
from quaestor.publication.results.values import Computed, compute_value
from quaestor.study.folder import Study
from quaestor.study.settings.publication import ValueSettings


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """P1 and P2 mention data in their first answers; both raters coded all 18 turns alike."""
    return themed_study(tmp_path)


def correct_turn(interviews: Interviews) -> None:
    set_voice(interviews, "P1", 1, "interviewer")


def decline(interviews: Interviews) -> None:
    record_consent(interviews, "P1", DECLINED, SPOKEN)


def withdraw_participant(interviews: Interviews) -> None:
    withdraw(interviews, "P1")


CHANGES = pytest.mark.parametrize(("change", "left"), [(correct_turn, 17), (decline, 15), (withdraw_participant, 15)])
Change = Callable[[Interviews], None]


def read_json(study: Study, *command: str) -> Any:
    return json.loads(in_this_process(*command, "--json", "--study", study.root).stdout)


@CHANGES
def test_the_status_and_the_list_of_rounds_count_the_turns_that_are_left(
    study: Study, change: Change, left: int
) -> None:
    with open_interviews(study) as interviews:
        change(interviews)
    (line,) = (stage for stage in read_json(study, "status")["stages"] if stage["name"] == f"round {ROUND}")
    assert line["detail"] == f"settled, {left} items, {left} decided"
    (listed,) = read_json(study, "round", "list")
    assert listed["items"] == left


@CHANGES
def test_the_codebook_counts_the_turns_that_are_left(study: Study, change: Change, left: int) -> None:
    with open_interviews(study) as interviews:
        change(interviews)
        state = interviews.coding.state
        counts = count_items(collect_uses(state, decided=[ROUND]), state.history.latest)
    assert counts.items("data") == {"P2/00001", "P4/00001"}


@CHANGES
def test_a_search_for_a_code_finds_the_turns_that_are_left(study: Study, change: Change, left: int) -> None:
    with open_interviews(study) as interviews:
        lead = interviews.coding.lead
        before = VisibleDecisions(Visibility(interviews.coding.state, lead, Viewer(lead, Role.LEAD)))
        assert before.find_items("themes", {"data"}) == {"P1/00001", "P2/00001", "P4/00001"}
        change(interviews)
        after = VisibleDecisions(Visibility(interviews.coding.state, lead, Viewer(lead, Role.LEAD)))
        assert after.find_items("themes", {"data"}) == {"P2/00001", "P4/00001"}
        assert after.list_answers("P1/00001") == ()


@CHANGES
def test_exported_decisions_are_those_that_count(study: Study, change: Change, left: int) -> None:
    with open_interviews(study) as interviews:
        change(interviews)
        rows = export_decisions(interviews.coding.state, ROUND)
    assert len(rows) == left
    assert "P1/00001" not in {row["item"] for row in rows}


@CHANGES
def test_exported_ratings_are_those_that_agreement_counts(study: Study, change: Change, left: int) -> None:
    with open_interviews(study) as interviews:
        change(interviews)
        coding = interviews.coding
        rows = export_ratings(coding, ROUND, coding.lead)
        assert len(rows) == 2 * left
        assert len(rows) == 2 * compute_round_agreement(coding.state, ROUND, "themes").n
        every = export_ratings(coding, ROUND, coding.lead, superseded=True)
        assert {row["item"] for row in every if row["superseded"]} == {row["item"] for row in every} - {
            row["item"] for row in rows
        }


@CHANGES
def test_no_interview_has_undecided_turns_after_turns_were_left_out(study: Study, change: Change, left: int) -> None:
    with open_interviews(study) as interviews:
        change(interviews)
        steps = find_coding_steps(interviews)
    assert {name: step.done for name, step in steps.items()} == dict.fromkeys(steps, True)
    assert steps["P2"].words == "6 ratings of turns, all decided"
    if change is correct_turn:
        assert steps["P1"].words == "4 ratings of turns, all decided"


@CHANGES
def test_findings_and_figures_count_the_turns_that_are_left(study: Study, change: Change, left: int) -> None:
    with open_interviews(study) as interviews:
        change(interviews)
        computed = Computed(study, coding=interviews.coding)
        settings = ValueSettings(name="turns", claim="turns", kind="round_items", round=ROUND)
        assert compute_value(computed, settings).number == left
        assert f"{left} items" in process_figure(computed).draw().alt


def test_a_turn_that_counts_again_is_decided_where_its_raters_agree(tmp_path: Path) -> None:
    """The round is closed while the turn does not count; what raters agree on needs no further act by a person."""
    study = themed_study(tmp_path, settled=False)
    with open_interviews(study) as interviews:
        correct_turn(interviews)
        record_consent(interviews, "P2", DECLINED, SPOKEN)
    close_by_name(study, ROUND, None)
    with open_interviews(study) as interviews:
        assert read_themes(interviews).turns == 14
        set_voice(interviews, "P1", 1, "participant")
        record_consent(interviews, "P2", ACCEPTED, SPOKEN)
        themes = read_themes(interviews)
        assert (themes.turns, themes.uncounted) == (18, ())
        decisions = interviews.coding.state.round(ROUND).decisions
        assert decisions["P1/00001", "themes"][-1].how == AGREEMENT
