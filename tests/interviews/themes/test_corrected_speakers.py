"""After a turn is corrected to another speaker, no count has its passages, and agreement leaves it out too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.coded_interviews import ROUND
from tests.support.command_line import in_this_process
from tests.support.themed_interviews import themed_study

from quaestor.coding.agreement import compute_round_agreement
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.model.decisions import list_disagreements
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name
from quaestor.coding.session import open_coding
from quaestor.interviews.coding.code_agreement import compute_agreement_by_code
from quaestor.interviews.items import make_items
from quaestor.interviews.participants.consent import ACCEPTED, DECLINED, SPOKEN, record_consent
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.interviews.themes.cells import build_interview_tables
from quaestor.interviews.themes.quotations import read_themes
from quaestor.interviews.themes.records import InterviewThemes
from quaestor.interviews.transcripts.corrections import set_speaker, set_voice
from quaestor.interviews.withdrawal import withdraw
from quaestor.publication.report.make import build_report
from quaestor.store.sealed_file import NewEntry
from quaestor.study.folder import Study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return themed_study(tmp_path)


def count_mentions_and_people(themes: InterviewThemes, code: str) -> tuple[int, int]:
    quotations = themes.of(code)
    return len(quotations), len({quotation.participant for quotation in quotations})


def list_notes(themes: InterviewThemes) -> Sequence[str]:
    return build_interview_tables(themes)[0].notes


def count_compared(interviews: Interviews) -> tuple[int, int]:
    """Returns how many items the agreement of the round counts, over the round and code by code."""
    overall = compute_round_agreement(interviews.coding.state, ROUND, "themes").n
    return overall, compute_agreement_by_code(interviews, ROUND).overall.n


def test_passages_of_a_turn_that_becomes_the_interviewers_are_not_counted(study: Study) -> None:
    with open_interviews(study) as interviews:
        assert count_mentions_and_people(read_themes(interviews), "factors") == (8, 6)
        set_voice(interviews, "P1", 1, "interviewer")
        themes = read_themes(interviews)
        assert count_mentions_and_people(themes, "factors") == (6, 5)
        assert len(themes.quotations) == 21
        assert not any(part.item == "P1/00001" for quotation in themes.quotations for part in quotation.parts)
        note = "1 turn coded before the speaker was corrected to somebody else, not counted: P1 (1)."
        assert note in list_notes(themes)


def test_agreement_leaves_out_turns_that_are_no_longer_the_participants(study: Study) -> None:
    with open_interviews(study) as interviews:
        assert count_compared(interviews) == (18, 18)
        set_voice(interviews, "P1", 1, "interviewer")
        assert count_compared(interviews) == (17, 17)
        set_speaker(interviews, "P2", "Guest", "other")
        assert count_compared(interviews) == (14, 14)


def test_a_correction_that_is_taken_back_restores_every_count(study: Study) -> None:
    with open_interviews(study) as interviews:
        before = read_themes(interviews)
        set_speaker(interviews, "P2", "Guest", "interviewer")
        set_speaker(interviews, "P2", "Guest", "participant")
        assert read_themes(interviews).quotations == before.quotations
        assert count_compared(interviews) == (18, 18)
    with open_interviews(study) as interviews:
        assert count_compared(interviews) == (18, 18)


def test_a_correction_of_an_uncoded_turn_records_nothing_in_the_journal(study: Study) -> None:
    with open_interviews(study) as interviews:
        head = interviews.coding.state.head
        set_voice(interviews, "P1", 0, "other")
        assert interviews.coding.state.head == head


def test_raters_are_not_asked_for_a_turn_that_is_no_longer_the_participants(tmp_path: Path) -> None:
    study = themed_study(tmp_path, [("{data:One}.", "two", "three")], settled=False)
    with open_interviews(study) as interviews:
        set_voice(interviews, "P1", 3, "interviewer")
        round_state = interviews.coding.state.round(ROUND)
        assert round_state.items_left() == ("P1/00001", "P1/00005")
        assert not [case.item for case in list_disagreements(interviews.coding.state, ROUND)]


def test_a_correction_made_before_corrections_were_recorded_reaches_agreement(study: Study) -> None:
    """An older study has the correction in its transcript and no act of it in the journal."""
    with open_interviews(study) as interviews:
        correction = {"turn": 1, "voice": "interviewer"}
        interviews.file.add(NewEntry("voice", interviews.coding.lead, correction, "P1", "P1", interviews.now()))
        assert count_mentions_and_people(read_themes(interviews), "factors") == (6, 5)
        make_items(interviews)
        assert count_compared(interviews) == (17, 17)


def test_declining_later_takes_a_participant_out_of_every_count_and_says_so(study: Study) -> None:
    with open_interviews(study) as interviews:
        record_consent(interviews, "P1", DECLINED, SPOKEN)
        themes = read_themes(interviews)
        assert themes.participants == ("P2", "P3", "P4", "P5", "P6")
        assert "1 participant declined after the interview and is not counted." in list_notes(themes)
        assert count_compared(interviews) == (15, 15)
        record_consent(interviews, "P1", ACCEPTED, SPOKEN)
        assert len(read_themes(interviews).quotations) == 23
        assert count_compared(interviews) == (18, 18)


def test_agreement_after_a_withdrawal_leaves_out_all_turns_of_the_participant(study: Study) -> None:
    with open_interviews(study) as interviews:
        withdraw(interviews, "P1")
        assert count_compared(interviews) == (15, 15)
        compute_agreement_by_code(interviews, ROUND, "answer")


def read_threats(study: Study) -> str:
    """Returns what a report says about the judgement of the round."""
    build_report(study, lambda words: None, leave_out_undecided=True)
    report = (study.published / "report" / "index.html").read_text("utf-8")
    return " ".join(re.sub("<[^>]*>", " ", report).split())


def test_the_report_counts_disagreements_among_the_turns_that_are_left(tmp_path: Path) -> None:
    study = themed_study(tmp_path, settled=False)
    with open_coding(study) as coding:
        for item in ("P1/00001", "P2/00001"):
            rate(coding, ROUND, "rater-2", item, {"themes": []})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    assert "they disagreed on 2 of 18 items" in read_threats(study)
    with open_interviews(study) as interviews:
        withdraw(interviews, "P1")
    assert "they disagreed on 1 of 15 items" in read_threats(study)


def test_the_report_prints_the_statistic_that_the_round_names(tmp_path: Path) -> None:
    study = themed_study(tmp_path, statistic="alpha")
    text = read_threats(study)
    assert "reached an alpha of 1.00 on themes" in text
    assert "a kappa of" not in text


def test_the_command_that_corrects_a_speaker_says_what_is_no_longer_counted(study: Study) -> None:
    command = ["interview", "speakers", "P1", "--study", study.root]
    assert "not counted" not in in_this_process(*command, "--set", "turn:0=other").output
    corrected = in_this_process(*command, "--set", "turn:1=interviewer")
    assert "1 turn was coded before its speaker was corrected, and is not counted in any result: 1" in corrected.output
    corrected = in_this_process(*command, "--set", "turn:5=other")
    assert "2 turns were coded before their speaker was corrected, and are not counted in any result: 1, 5" in (
        corrected.output
    )
    back = in_this_process(*command, "--set", "turn:1=participant", "--set", "turn:5=participant")
    assert "not counted" not in back.output
