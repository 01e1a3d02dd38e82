"""The demo's interviews: two raters recover the codes that were planted in six interviews."""

from __future__ import annotations

from pathlib import Path

import pytest

from quaestor.base.errors import InputError, StateError
from quaestor.coding.codebook import CODEBOOK_FILE
from quaestor.coding.session import open_coding
from quaestor.demo.coding import import_bundled_codebook
from quaestor.demo.folder import create_demo_folder
from quaestor.demo.interviews import TRANSCRIPTS, build_demo_interviews
from quaestor.demo.progress import InterviewsCoded
from quaestor.demo.run import STUDY
from quaestor.demo.strands import add_strands
from quaestor.interviews.coding.decided_passages import read_coded_passages
from quaestor.interviews.conduct.conversation_state import ASKED, SKIPPED, read_conversation
from quaestor.interviews.model.records import Voice
from quaestor.interviews.names.matches import REFUSED, list_proposals
from quaestor.interviews.participants.consent import list_consents
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.themes.cells import build_interview_tables
from quaestor.interviews.themes.quotations import read_themes
from quaestor.study.folder import Study, open_study
from quaestor.synth.interview_truth import InterviewTruth, read_truth
from quaestor.synth.simulated_interviews import find_planted_passages, import_interviews, simulate_round
from quaestor.synth.simulated_raters import simulate_ratings

pytestmark = pytest.mark.slow

MESSAGES: list[str] = []


@pytest.fixture(scope="module")
def coded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, InterviewsCoded]:
    root = tmp_path_factory.mktemp("demo") / "study"
    create_demo_folder(root, STUDY, add_strands)
    study = open_study(root)
    with open_coding(study) as coding:
        import_bundled_codebook(coding, root / CODEBOOK_FILE)
        outcome = build_demo_interviews(coding, 7, MESSAGES.append)
    return study, outcome


@pytest.fixture(scope="module")
def study(coded: tuple[Study, InterviewsCoded]) -> Study:
    return coded[0]


@pytest.fixture(scope="module")
def truth(study: Study) -> InterviewTruth:
    return read_truth(study.root / TRANSCRIPTS)


def test_the_planted_themes_are_recovered(coded: tuple[Study, InterviewsCoded], truth: InterviewTruth) -> None:
    study, outcome = coded
    assert (outcome.planted, outcome.recovered, outcome.more) == (36, 36, 0)
    assert outcome.new_recovered == outcome.new_planted == (20, 8, 5, 3, 0, 0)
    assert outcome.stopped == 4
    indicators = sorted((indicator.quantity, indicator.threshold) for indicator in outcome.indicators)
    assert indicators == sorted((fields["what"], fields["threshold"]) for fields in truth.list_fields("indicator"))
    assert MESSAGES[-1].startswith(
        "36 of 36 planted codes recovered; new codes by interview: 20, 8, 5, 3, 0, 0, saturated after"
    )
    with open_interviews(study) as interviews:
        themes = read_themes(interviews)
    assert (themes.simulated, themes.synthetic, themes.unsettled) == (True, True, 0)
    assert sorted(themes.unused) == ["Expectations › faster compilation", "Measures against defects › local patch"], (
        "no participant mentions these"
    )
    planted = {
        (f"P{number}", code)
        for number, interview in enumerate(truth.interviews, start=1)
        for code in interview.interview.codes
    }
    coded = {(quotation.participant, quotation.code) for quotation in themes.quotations}
    assert coded <= planted
    assert len(planted - coded) <= 2, "both raters seldom miss the same"


def test_nearly_every_passage_is_coded_where_it_was_planted(study: Study, truth: InterviewTruth) -> None:
    with open_interviews(study) as interviews:
        planted = {
            (item, stretch.code): (stretch.start, stretch.end)
            for item, (_, stretches) in find_planted_passages(interviews, truth).items()
            for stretch in stretches
        }
        found = {(one.item, one.code): (one.start, one.end) for one in read_coded_passages(interviews).passages}
    assert len(found.keys() ^ planted.keys()) <= 3, "both raters seldom miss the same"
    for place in found.keys() & planted.keys():
        (low, high), (start, end) = planted[place], found[place]
        assert low < end, place
        assert start < high, place
    exact = sum(found[place] == planted[place] for place in found.keys() & planted.keys())
    assert exact / len(planted) > 0.6


def test_defects_and_ambiguous_models_keep_their_fields(study: Study, truth: InterviewTruth) -> None:
    with open_interviews(study) as interviews:
        themes = read_themes(interviews)
    for code in ("crash", "wrong-result", "compatibility", "ambiguous-model"):
        found = sorted(str(sorted(one.fields.items())) for one in themes.of(code))
        assert found == sorted(str(sorted(field.items())) for field in truth.list_fields(code)), code


def test_the_table_of_defects_has_participant_importance_case_and_measure(study: Study, truth: InterviewTruth) -> None:
    with open_interviews(study) as interviews:
        themes = read_themes(interviews)
    tables = {interview_table.id: interview_table for interview_table in build_interview_tables(themes)}
    defects = tables["defects"]
    assert [column.title for column in defects.columns] == ["importance", "case", "measure", "quotation"]
    told = {(row.title, *(cell.parts[0] for cell in row.cells[:3])) for row in defects.rows()}
    planted = {
        (f"P{place}", *(one[name] for name in ("importance", "case", "measure")))
        for place, talk in enumerate(truth.interviews, start=1)
        for turn in talk.interview.turns
        for one in (stretch.fields for stretch in turn.passages)
        if "measure" in one
    }
    assert told <= planted
    assert len(planted - told) <= 1, "both raters seldom miss the same"
    assert len(told) == sum(1 for _ in defects.rows()) > 15
    by_importance = tables["defects-importance"]
    assert [column.title for column in by_importance.columns] == ["low", "medium", "high", "mentions", "participants"]


def test_all_participants_consented_and_the_conversations_are_recorded(study: Study, truth: InterviewTruth) -> None:
    with open_interviews(study) as interviews:
        assert [participant.synthetic for participant in interviews.participants()] == [True] * 6
        assert {consent.what for consent in list_consents(interviews).values()} == {"accepted"}
        held = interviews.interviews()
        assert [one.status for one in held] == ["held"] * 6
        assert len({one.day for one in held}) == 6, "one a day"
        for one, written in zip(held, truth.interviews, strict=True):
            talk = read_conversation(interviews, one.id)
            assert 10 * 60 < one.seconds < 40 * 60
            assert {tick.item for tick in talk.ticked("factors") if tick.item} == set(written.interview.plan.ticks)
            assert [tick.other for tick in talk.ticked("factors") if tick.other] == list(written.interview.plan.other)
            assert all(talk.state_of(name) == SKIPPED for name in written.interview.skipped)
            assert talk.state_of("indicators") == ASKED
            assert len(talk.notes) >= 10
            said = [turn.voice for turn in interviews.transcript(one.id).turns]
            assert said.count(Voice.PARTICIPANT) == said.count(Voice.INTERVIEWER)


def test_no_planted_name_is_left_in_any_file_or_transcript(study: Study, truth: InterviewTruth) -> None:
    names = {
        turn.text[name.start : name.end]
        for interview in truth.interviews
        for turn in interview.interview.turns
        for name in turn.names
    } | {interview.interview.plan.name for interview in truth.interviews}
    assert len(names) > 30
    with open_interviews(study) as interviews:
        assert list_proposals(interviews) == list_proposals(interviews, state=REFUSED) == []
        shown = [turn.text for talk in interviews.transcripts() for turn in talk.turns]
        shown += [note.text for one in interviews.interviews() for note in read_conversation(interviews, one.id).notes]
    assert not [name for name in names for text in shown if name in text]
    kept = [path for path in study.root.rglob("*") if path.is_file() and TRANSCRIPTS not in path.parts]
    for path in kept:
        held = path.read_bytes()
        assert not [name for name in names if name.encode() in held], path


def test_simulated_raters_need_the_known_codes(study: Study, tmp_path: Path) -> None:
    with open_interviews(study) as interviews, pytest.raises(StateError, match="closed"):
        simulate_ratings(interviews.coding, "interviews-main", accuracy=1.0, confusion=0.0, seed=1)
    with pytest.raises(StateError, match="'interviews-main' is closed"):
        simulate_round(study, "interviews-main", study.root / TRANSCRIPTS, accuracy=1.0, seed=1)
    with pytest.raises(InputError, match="name the folder"):
        simulate_round(study, "interviews-main", tmp_path, accuracy=1.0, seed=1)


def test_synthetic_interviews_are_not_mixed_with_others(study: Study, truth: InterviewTruth) -> None:
    with pytest.raises(StateError, match="a study of their own"):
        import_interviews(study, study.root / TRANSCRIPTS, truth)
