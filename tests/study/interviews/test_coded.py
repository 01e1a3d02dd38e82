"""Transcripts from items to stretches that count: two raters, agreement, decisions, words in vivo, new codebooks."""

from __future__ import annotations

from pathlib import Path

import pytest

from coded_interviews import ROUND, code_all, coded_study, copy_of, interviews_of, on_record, stretch
from quaestor.base.errors import InputError, StateError
from quaestor.coding.decisions import differing
from quaestor.study.agreement import round_agreement
from quaestor.study.codebook import change_codebook
from quaestor.study.coding import open_coding
from quaestor.study.decisions import settle_agreed, settle_item
from quaestor.study.folder import Study
from quaestor.study.interviews.code_agreement import agreement_by_code
from quaestor.study.interviews.coded import coded_stretches
from quaestor.study.interviews.in_vivo import NewCode, adopt, in_vivo_of
from quaestor.study.ratings import export_ratings, import_ratings, rate, write_table
from quaestor.study.round_acts import close_by_name
from small_interviews import TALK

DATA, ILLEGAL = "P1/00001", "P1/00003"
FIRST = {
    DATA: [stretch(0, 27, "practice/data"), stretch(31, 65, "practice/design")],
    ILLEGAL: [stretch(0, 25, "shapes")],
}
SECOND = {
    DATA: [stretch(8, 31, "practice/data", memo="again"), stretch(40, 65, "practice/design")],
    ILLEGAL: [stretch(29, 86, "indicator", fields={"what": "loss", "threshold": "10"}), stretch(77, 86)],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return coded_study(tmp_path_factory.mktemp("made"))


@pytest.fixture
def study(made: Study, tmp_path: Path) -> Study:
    return copy_of(made, tmp_path)


@pytest.fixture
def settled(study: Study) -> Study:
    code_all(study, {"rater-1": FIRST, "rater-2": SECOND})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    both = [*FIRST[ILLEGAL], *SECOND[ILLEGAL]]
    settle_item(study, ROUND, "lead", ILLEGAL, "themes", both, "discussion", "read again")
    return study


def test_only_what_participants_said_becomes_an_item(study: Study) -> None:
    with open_coding(study) as coding:
        assert coding.state.round(ROUND).plan.items == (DATA, ILLEGAL)


def test_what_raters_agree_on_is_decided_with_the_stretches_of_both(settled: Study) -> None:
    with interviews_of(settled) as interviews:
        found = coded_stretches(interviews)
    assert [(one.item, one.code, one.words, one.raters) for one in found.stretches if one.item == DATA] == [
        (DATA, "practice/data", "First I look at the data, then ", ("rater-1", "rater-2")),
        (DATA, "practice/design", "the model is designed and trained.", ("rater-1", "rater-2")),
    ]
    first = found.stretches[0]
    assert (first.participant, first.question, first.memo, first.how) == ("P1", "stages", "again", "agreement")
    assert (found.turns, found.unsettled, found.interviews) == (2, 0, ("P1",))


def test_who_named_a_code_and_with_which_fields_is_told(settled: Study) -> None:
    with interviews_of(settled) as interviews:
        found = {one.code: one for one in coded_stretches(interviews).stretches if one.item == ILLEGAL}
    assert found["indicator"].fields == {"what": "loss", "threshold": "10"}
    assert found["indicator"].raters == ("rater-2",)
    assert found["shapes"].raters == ("rater-1",)
    assert (found["shapes"].question, found["shapes"].words) == ("illegal", "When shapes do not match.")


def test_raters_who_give_other_codes_differ_and_nothing_is_counted_before_it_is_settled(study: Study) -> None:
    code_all(study, {"rater-1": FIRST, "rater-2": SECOND})
    with interviews_of(study) as interviews, pytest.raises(StateError, match="is open"):
        coded_stretches(interviews, [ROUND])
    close_by_name(study, ROUND, None)
    with open_coding(study) as coding:
        assert differing(coding.state, ROUND) == {(ILLEGAL, "themes")}
    settle_agreed(study, ROUND, None)
    with interviews_of(study) as interviews:
        found = coded_stretches(interviews)
    assert {one.item for one in found.stretches} == {DATA}
    assert (found.turns, found.unsettled) == (1, 1)


def test_words_in_vivo_count_for_nobody_until_the_lead_adopts_them(settled: Study) -> None:
    with interviews_of(settled) as interviews:
        (words,) = in_vivo_of(interviews, ROUND)
        assert (words.stretch.words, words.name, words.stretch.code) == ("threshold", "", "")
        place = (ROUND, words.stretch.item, words.stretch.start, words.stretch.end)
        with pytest.raises(StateError, match="not the lead"):
            adopt(interviews.coding, *place, "shapes", "rater-1")
        with pytest.raises(InputError, match="no code 'shape'"):
            adopt(interviews.coding, *place, "shape")
        assert adopt(interviews.coding, *place, NewCode("a threshold of one's own", "legitimacy")) == (
            "legitimacy/a-threshold-of-one-s-own"
        )
        (adopted,) = in_vivo_of(interviews, ROUND)
        assert adopted.name == "legitimacy › a threshold of one's own"
        assert adopted.stretch.code in {one.code for one in coded_stretches(interviews).stretches}
        head = interviews.coding.state.head
        adopt(interviews.coding, *place, adopted.stretch.code)
        assert interviews.coding.state.head == head, "adopted already"
        adopt(interviews.coding, *place, "")
        assert in_vivo_of(interviews, ROUND)[0].name == ""


def test_codes_are_read_under_the_latest_codebook(settled: Study) -> None:
    change_codebook(settled, "codebook.merge", {"codes": ["shapes"], "into": "indicator"})
    with interviews_of(settled) as interviews:
        assert {one.code for one in coded_stretches(interviews).stretches if one.item == ILLEGAL} == {"indicator", ""}


def test_agreement_compares_the_sets_of_codes_and_each_code_by_itself(study: Study) -> None:
    code_all(study, {"rater-1": FIRST, "rater-2": SECOND})
    close_by_name(study, ROUND, None)
    with interviews_of(study) as interviews:
        by_turn = agreement_by_code(interviews, ROUND)
        by_answer = agreement_by_code(interviews, ROUND, "answer")
        overall = round_agreement(interviews.coding.state, ROUND, "themes")
    assert (by_turn.overall.n, by_turn.overall.percent.value, overall.percent.value) == (2, 0.5, 0.5)
    told = {code: (found.percent.value, found.kappa.value) for code, _, found in by_turn.codes}
    assert told["practice/data"] == (1.0, 1.0)
    assert told["shapes"][0] == 0.5
    assert all(found.ac1.value is not None and found.alpha.value is not None for _, _, found in by_turn.codes)
    assert by_answer.overall.n == 2


def test_turns_of_one_answer_are_one_segment(tmp_path: Path) -> None:
    talk = [*TALK, ("Guest", "And when it never converges.")]
    study = coded_study(tmp_path, [talk])
    later = "P1/00004"
    said = {"rater-1": {ILLEGAL: [stretch(0, 4, "shapes")]}, "rater-2": {later: [stretch(0, 3, "shapes")]}}
    code_all(study, said)
    close_by_name(study, ROUND, None)
    with interviews_of(study) as interviews:
        by_turn = agreement_by_code(interviews, ROUND)
        by_answer = agreement_by_code(interviews, ROUND, "answer")
    assert (by_turn.overall.n, by_turn.overall.percent.value) == (3, pytest.approx(1 / 3))
    assert (by_answer.overall.n, by_answer.overall.percent.value) == (2, 1.0)


def test_two_raters_who_code_nothing_agree(study: Study) -> None:
    code_all(study, {"rater-1": {}, "rater-2": {}})
    close_by_name(study, ROUND, None)
    with open_coding(study) as coding:
        assert round_agreement(coding.state, ROUND, "themes").percent.value == 1.0
    assert settle_agreed(study, ROUND, None) == 2


def test_ratings_go_out_to_a_file_and_come_back_the_same(study: Study, tmp_path: Path) -> None:
    code_all(study, {"rater-1": FIRST})
    with open_coding(study) as coding:
        rows = export_ratings(coding, ROUND, "rater-1")
        write_table([{**row, "rater": "rater-2"} for row in rows], tmp_path / "ratings.csv")
        import_ratings(coding, ROUND, tmp_path / "ratings.csv")
    assert on_record(study, "rater-2", DATA) == on_record(study, "rater-1", DATA) != []


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ([stretch(4, 4, "shapes")], "from 4 to 4"),
        ([stretch(-1, 4, "shapes")], "from -1 to 4"),
        ([stretch(0, 4, "shape")], "codes with 'shape', allowed: shapes"),
        ([stretch(0, 4, "shapes", fields={"what": "x"})], "shapes has no field 'what'"),
        ([stretch(0, 4, "indicator", fields={"how": "x"})], "indicator has no field 'how'"),
        ([stretch(0, 4, "shapes", memo="x" * 5_000)], "5,000 characters"),
        ([{**stretch(0, 4), "colour": "red"}], "says 'colour'"),
        ("shapes", "is no list of stretches"),
        ([[0, 4]], "a stretch says start"),
        ([stretch(number, number + 1) for number in range(500)], "500 stretches"),
    ],
)
def test_stretches_that_make_no_sense_are_refused_in_a_sentence(study: Study, given: object, why: str) -> None:
    with open_coding(study) as coding, pytest.raises(InputError, match=why):
        rate(coding, ROUND, "rater-1", DATA, {"themes": given})
    assert on_record(study, "rater-1", DATA) is None
