"""Saturation says in which order it counts, withdraws a claim that a later interview refutes, and knows groups."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from tests.support.command_line import in_this_process
from tests.support.small_interviews import a_study, with_interview
from tests.support.themed_interviews import themed_study

from quaestor.base.errors import InputError
from quaestor.interviews.overview import build_interview_line
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.themes.co_occurrence import build_saturation_table, compute_saturation, describe_stop
from quaestor.interviews.themes.figures import render_figure
from quaestor.interviews.themes.files import saturation_json
from quaestor.interviews.themes.quotations import read_themes
from quaestor.interviews.transcripts.import_file import import_bytes, record_occasion
from quaestor.measures.co_occurrence import StoppingRule, apply_rule
from quaestor.study.features import study_status
from quaestor.study.folder import Study

THREE = [("{data:One}.", "two", "three"), ("{time:Two}.", "two", "three"), ("{data:Three}.", "two", "three")]
HELD, BY_PSEUDONYM = "in the order in which they were held", "in the order of their pseudonyms"


def hold(study: Study, days: Mapping[str, str], group: str | None = None) -> None:
    with open_interviews(study) as interviews:
        for name, day in days.items():
            record_occasion(interviews, name, day, group)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study whose interviews were imported, none of them held at the desk."""
    return themed_study(tmp_path, THREE, held_here=False)


def read_saturation(study: Study) -> tuple[list[str], str, str]:
    """Returns the rows of the table, its notes and the text of the figure."""
    with open_interviews(study) as interviews:
        themes = read_themes(interviews)
    table = build_saturation_table(themes)
    return [row.title for row in table.rows()], " ".join(table.notes), render_figure(themes, "saturation") or ""


def test_imported_interviews_without_dates_are_in_the_order_of_pseudonyms_and_say_so(study: Study) -> None:
    rows, notes, figure = read_saturation(study)
    assert rows == ["P1", "P2", "P3"]
    assert "In the order of their pseudonyms: no date is known for P1, P2 and P3." in notes
    assert BY_PSEUDONYM in figure
    assert HELD not in figure


def test_interviews_with_dates_are_in_the_order_in_which_they_were_held(study: Study) -> None:
    hold(study, {"P1": "2026-03-09", "P2": "2026-03-01"})
    assert read_saturation(study)[0] == ["P1", "P2", "P3"], "P3 has no date"
    hold(study, {"P3": "2026-03-05"})
    rows, notes, figure = read_saturation(study)
    assert rows == ["P2", "P3", "P1"]
    assert "In the order in which they were held." in notes
    assert HELD in figure
    hold(study, {"P3": "2026-03-11"})
    assert read_saturation(study)[0] == ["P2", "P1", "P3"], "the last date counts"


def test_interviews_of_one_day_without_times_are_in_the_order_of_pseudonyms(study: Study) -> None:
    hold(study, {"P1": "2026-03-09", "P2": "2026-03-01", "P3": "2026-03-01"})
    rows, notes, _ = read_saturation(study)
    assert rows == ["P2", "P3", "P1"]
    assert "those of the same day in the order of their pseudonyms" in notes


def test_a_focus_group_is_one_interview(study: Study) -> None:
    hold(study, {"P2": "2026-03-01"})
    hold(study, {"P1": "2026-03-09", "P3": "2026-03-09"}, group="focus")
    rows, notes, _ = read_saturation(study)
    assert rows == ["P2", "P1 + P3"]
    assert "P1 and P3 were interviewed together and count as one interview." in notes
    with open_interviews(study) as interviews:
        themes = read_themes(interviews)
        found = compute_saturation(themes)
        printed = saturation_json(themes)
    assert (found.new, found.total) == ((1, 1), (1, 2))
    assert [event["interviews"] for event in printed["interviews"]] == [["P2"], ["P1", "P3"]]
    assert themes.participants == ("P2", "P1", "P3"), "participants are still counted one by one"


def test_interviews_imported_from_the_same_recording_are_one_interview(tmp_path: Path) -> None:
    study = themed_study(tmp_path, [THREE[0], THREE[1], THREE[0]], held_here=False)
    assert read_saturation(study)[0] == ["P1 + P3", "P2"]


def test_a_group_is_known_by_its_name_in_any_case_and_can_be_removed(study: Study) -> None:
    hold(study, {"P1": "2026-03-01"}, group="Focus group")
    hold(study, {"P3": "2026-03-01"}, group="focus  group")
    assert read_saturation(study)[0] == ["P1 + P3", "P2"]
    hold(study, {"P3": "2026-03-01"})
    assert read_saturation(study)[0] == ["P1 + P3", "P2"], "a date alone changes no group"
    hold(study, {"P3": "2026-03-01"}, group="")
    assert read_saturation(study)[0] == ["P1", "P2", "P3"]


def test_a_wrong_date_is_refused(study: Study) -> None:
    for day in ("1.3.2026", "2026-02-30", "2999-01-01"):
        with pytest.raises(InputError, match="date"):
            hold(study, {"P1": day})


def test_the_date_is_given_with_the_import(tmp_path: Path) -> None:
    study = a_study(tmp_path / "study")
    file = tmp_path / "talk.txt"
    file.write_text("Interviewer: Which stages?\nGuest: Some.\n", "utf-8")
    with open_interviews(study) as interviews:
        with_interview(interviews)
        import_bytes(interviews, "P1", file.read_bytes(), file.name, day="2026-03-01", group="focus")
        interview = interviews.interview("P1")
        assert (interview.day, interview.group) == ("2026-03-01", "focus")
    command = ["interview", "import", "P1", file, "--study", study.root]
    assert in_this_process(*command, "--held", "2026-03-02").exit_code == 0
    with open_interviews(study) as interviews:
        interview = interviews.interview("P1")
        assert (interview.day, interview.group) == ("2026-03-02", "focus"), "the same file may give another date"
    assert in_this_process(*command, "--group", "").exit_code == 0
    with open_interviews(study) as interviews:
        interview = interviews.interview("P1")
        assert (interview.day, interview.group) == ("2026-03-02", "")
    assert in_this_process(*command, "--held", "yesterday").exit_code
    listed = json.loads(in_this_process("interview", "list", "--json", "--study", study.root).stdout)
    assert "2026-03-02" in json.dumps(listed)


def test_an_interview_with_a_transcript_counts_as_held(study: Study) -> None:
    hold(study, {"P2": "2026-03-01"})
    (line,) = (stage for stage in study_status(study).stages if stage.name == "interviews")
    assert line.detail == "3 take part, 3 agreed, 3 held, 3 transcribed, 3 coded"
    listed = json.loads(in_this_process("interview", "list", "--json", "--study", study.root).stdout)
    assert {row["status"] for row in listed} == {"held"}
    with open_interviews(study) as interviews:
        words = {name: build_interview_line(interviews, name, leads=True).steps[1].words for name in ("P1", "P2")}
    assert words == {"P1": "held, no date is known", "P2": "held on 2026-03-01"}


def flags(*new: int) -> np.ndarray:
    """Interviews of which each adds as many codes as given, and repeats the first."""
    occurrences = np.zeros((len(new), sum(new)), bool)
    occurrences[:, 0] = True
    done = 0
    for place, number in enumerate(new):
        occurrences[place, done : done + number] = True
        done += number
    return occurrences


NOTHING_NEW = StoppingRule("nothing new", 4, 2, 0.0)


def test_a_claim_of_saturation_is_withdrawn_when_a_later_interview_adds_a_code() -> None:
    assert apply_rule(flags(5, 1, 0, 0, 0, 0, 0), NOTHING_NEW).reached == 4
    refuted = apply_rule(flags(5, 1, 0, 0, 0, 0, 0, 1), NOTHING_NEW)
    assert (refuted.reached, refuted.lapsed) == (None, 4)
    assert "not reached" in describe_stop(refuted)
    assert "after 4 interviews it seemed reached, but a later one adds a code" in describe_stop(refuted)


def test_saturation_can_be_reached_again_after_a_late_code() -> None:
    later = apply_rule(flags(5, 1, 0, 0, 0, 0, 0, 1, 0, 0), NOTHING_NEW)
    assert (later.reached, later.lapsed) == (8, 4)
    assert describe_stop(later).startswith("nothing new (4 + 2): reached after 8 interviews")
