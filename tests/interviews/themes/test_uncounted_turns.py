"""What is undecided, or in no closed round, is counted and named wherever results are shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.support.coded_interviews import ROUND, code_all
from tests.support.command_line import in_this_process
from tests.support.small_interviews import with_interview, with_transcript
from tests.support.themed_interviews import ASKED, MATCHED, themed_study

from quaestor.base.errors import StateError
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.model.state import State
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.items import SOURCE, STEP, make_items
from quaestor.interviews.pages.themes import themes_page
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.themes.cells import build_interview_tables
from quaestor.interviews.themes.co_occurrence import compute_saturation, find_pairs
from quaestor.interviews.themes.quotations import read_themes
from quaestor.interviews.transcripts.corrections import set_voice
from quaestor.interviews.withdrawal import withdraw
from quaestor.publication.report.make import build_report
from quaestor.study.folder import Study, open_study

LATE = "late"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return themed_study(tmp_path)


def add_late_interview(study: Study) -> Study:
    """Adds an interview with P7, whose turns are items but in no round."""
    with open_interviews(study) as interviews:
        name = with_interview(interviews).id
        turns = [line for question in ASKED for line in (("Interviewer", question), ("Guest", "The data."))]
        with_transcript(interviews, name, turns, dict(MATCHED))
        make_items(interviews)
    return refresh_evidence(study)


def refresh_evidence(study: Study) -> Study:
    study = open_study(study.root)
    ingest_source(study, SOURCE)
    run_funnel(study)
    return study


def open_late_round(study: Study) -> Study:
    items = {"after": STEP, "without": [ROUND]}
    add_round(study, {"round": LATE, "items": items, "facets": ["themes"], "raters": ["rater-1", "rater-2"]})
    study = open_study(study.root)
    open_by_name(study, LATE, None)
    return study


OUTSIDE = f"3 turns outside of {ROUND}, not counted: P7 (3)."
MISSING = "P7 is not counted: nothing that they said is decided yet."


def test_participants_of_a_later_round_are_named_until_they_are_decided(study: Study) -> None:
    study = add_late_interview(study)
    with open_interviews(study) as interviews:
        themes = read_themes(interviews)
    assert themes.participants == ("P1", "P2", "P3", "P4", "P5", "P6")
    for table in build_interview_tables(themes):
        assert OUTSIDE in table.notes, table.id
        assert MISSING in table.notes, table.id
    assert {OUTSIDE, MISSING} <= set(themes_page(themes).base)
    study = open_late_round(study)
    said = {"P7/00001": [{"start": 4, "end": 8, "code": "data"}]}
    code_all(study, {"rater-1": said, "rater-2": said}, LATE)
    with open_interviews(study) as interviews:
        assert OUTSIDE in build_interview_tables(read_themes(interviews))[0].notes
    close_by_name(study, LATE, None)
    settle_agreed(study, LATE, None)
    with open_interviews(study) as interviews:
        themes = read_themes(interviews)
    assert (themes.uncounted, themes.missing, len(themes.participants)) == ((), (), 7)


def test_closing_a_round_counts_the_turns_that_its_raters_agree_on(tmp_path: Path) -> None:
    study = themed_study(tmp_path, settled=False)
    close_by_name(study, ROUND, None)
    with open_interviews(study) as interviews:
        themes = read_themes(interviews)
    assert (themes.turns, len(themes.quotations), themes.uncounted, themes.missing) == (18, 23, (), ())
    assert compute_saturation(themes).total[-1] == len(themes.codes)
    assert {(pair.first.id, pair.second.id): len(pair.turns) for pair in find_pairs(themes)}["data", "time"] == 1


def test_turns_that_fewer_raters_coded_than_planned_are_counted_as_undecided(tmp_path: Path) -> None:
    study = themed_study(tmp_path, [("{data:One}.", "two", "three")], settled=False, rated=False)
    with open_coding(study) as coding:
        for item in ("P1/00001", "P1/00003", "P1/00005"):
            rate(coding, ROUND, "rater-1", item, {"themes": [{"start": 0, "end": 3, "code": "data"}]})
    close_by_name(study, ROUND, None, incomplete="one rater is ill")
    with open_interviews(study) as interviews:
        themes = read_themes(interviews)
    assert "3 turns rated but not decided, not counted: P1 (3)." in themes_page(themes).base
    assert themes.missing == ("P1",)


def test_a_turn_that_nobody_rated_is_named(tmp_path: Path) -> None:
    study = themed_study(tmp_path, [("{data:One}.", "two", "three"), ("{time:One}.", "two", "three")], settled=False)
    study = add_late_interview(study)
    study = open_late_round(study)
    with open_coding(study) as coding:
        for rater in ("rater-1", "rater-2"):
            rate(coding, LATE, rater, "P3/00001", {"themes": [{"start": 4, "end": 8, "code": "data"}]})
    close_by_name(study, LATE, None, incomplete="the others are off topic")
    close_by_name(study, ROUND, None)
    for name in (ROUND, LATE):
        settle_agreed(study, name, None)
    with open_interviews(study) as interviews:
        themes = read_themes(interviews)
    assert "2 turns that nobody rated, not counted: P3 (2)." in themes_page(themes).base
    assert themes.participants == ("P1", "P2", "P3")


def test_a_later_round_without_a_decision_leaves_its_turns_undecided(study: Study) -> None:
    """The round that was closed last counts, even while nobody has decided in it."""
    add_round(study, {"round": "again", "items": {"after": STEP}, "facets": ["themes"],
                      "raters": ["rater-1", "rater-2"]})  # fmt: skip
    study = open_study(study.root)
    open_by_name(study, "again", None)
    with open_coding(study) as coding:
        for rater, passages in (("rater-1", [{"start": 0, "end": 3, "code": "data"}]), ("rater-2", [])):
            rate(coding, "again", rater, "P1/00001", {"themes": passages})
    close_by_name(study, "again", None, incomplete="only one turn")
    with open_interviews(study) as interviews:
        themes = read_themes(interviews)
    assert themes.unsettled == 1
    assert not any(quotation.item == "P1/00001" for quotation in themes.quotations)


def test_command_line_and_report_name_what_is_not_counted(study: Study) -> None:
    study = add_late_interview(study)
    for command in (["themes"], ["saturation"], ["quotations", "data"]):
        result = in_this_process("interview", *command, "--study", study.root)
        assert result.exit_code == 0
        assert OUTSIDE in result.stdout + result.stderr, command
    printed = json.loads(in_this_process("interview", "themes", "--json", "--study", study.root).stdout)
    assert printed["uncounted"] == [{"reason": "in no closed round", "turns": {"P7": 3}}]
    assert printed["missing"] == ["P7"]
    build_report(study, lambda words: None)
    report = " ".join(re.sub("<[^>]*>", " ", (study.published / "report" / "index.html").read_text("utf-8")).split())
    assert "3 turns of the interviews are not counted" in report


def list_missing_items(state: State, name: str) -> set[str]:
    """Returns the items of a round that some rater still has to rate."""
    slots = state.round(name).slots
    return {item for slot in slots for item in slot.items_of(slot.rater) if not state.round(name).is_rated(slot, item)}


def test_a_round_drawn_after_a_withdrawal_asks_for_no_erased_turn_and_can_be_closed(study: Study) -> None:
    study = add_late_interview(study)
    with open_interviews(study) as interviews:
        withdraw(interviews, "P1")
    add_round(study, {"round": "again", "items": {"after": STEP}, "facets": ["themes"],
                      "raters": ["rater-1", "rater-2"]})  # fmt: skip
    study = open_study(study.root)
    open_by_name(study, "again", None)
    with open_coding(study) as coding:
        assert not [item for item in coding.state.round("again").plan.items if item.startswith("P1/")]
    code_all(study, {"rater-1": {}, "rater-2": {}}, "again")
    close_by_name(study, "again", None)


def test_a_round_drawn_after_a_correction_does_not_ask_for_the_turn(study: Study) -> None:
    """Only raters of the first round saw the turn; the funnel of before the correction is refused."""
    with open_interviews(study) as interviews:
        set_voice(interviews, "P1", 1, "interviewer")
    add_round(study, {"round": "again", "items": {"after": STEP}, "facets": ["themes"],
                      "raters": ["rater-1", "rater-2"]})  # fmt: skip
    study = open_study(study.root)
    with pytest.raises(StateError, match="run `quaestor funnel` again"):
        open_by_name(study, "again", None)
    run_funnel(study)
    open_by_name(study, "again", None)
    with open_coding(study) as coding:
        missing = list_missing_items(coding.state, "again")
        assert "P1/00003" in missing
        assert "P1/00001" not in missing
        for item in missing:
            for rater in ("rater-1", "rater-2"):
                rate(coding, "again", rater, item, {"themes": []})
    close_by_name(study, "again", None)
