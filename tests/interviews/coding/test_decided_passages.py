"""From turns to decided passages: two raters, agreement, decisions, in-vivo codes, new codebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.coded_interviews import (
    OPENED,
    ROUND,
    code_all,
    coded_study,
    copy_of,
    interviews_of,
    on_record,
    stretch,
)
from tests.support.settling import settle_with_assents
from tests.support.small_interviews import TALK

from quaestor.base.errors import InputError, StateError
from quaestor.base.table_files import ExportTable, write_table
from quaestor.coding.agreement import compute_round_agreement
from quaestor.coding.codebook import change_codebook
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.model.code_proposals import NewCode
from quaestor.coding.model.decisions import list_differing
from quaestor.coding.pages.disagreements import record_disagreements_view
from quaestor.coding.rating_files import export_ratings, import_ratings, rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.session import open_coding
from quaestor.coding.visibility import Viewer
from quaestor.interviews.coding.code_agreement import compute_agreement_by_code
from quaestor.interviews.coding.decided_passages import read_coded_passages
from quaestor.interviews.coding.in_vivo import adopt, list_in_vivo_passages
from quaestor.interviews.coding.progress import count_round_progress
from quaestor.interviews.overview import build_interview_line
from quaestor.interviews.participants.consent import DECLINED, SPOKEN, record_consent
from quaestor.interviews.themes.quotations import read_themes
from quaestor.interviews.themes.tables import themes_table
from quaestor.interviews.withdrawal import withdraw
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study

RATERS = ("rater-1", "rater-2")
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
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return coded_study(tmp_path_factory.mktemp("made"))


@pytest.fixture
def study(study_template: Study, tmp_path: Path) -> Study:
    return copy_of(study_template, tmp_path)


@pytest.fixture
def settled(study: Study) -> Study:
    code_all(study, {"rater-1": FIRST, "rater-2": SECOND})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    both = [*FIRST[ILLEGAL], *SECOND[ILLEGAL]]
    settle_with_assents(study, ROUND, "lead", ILLEGAL, "themes", both, "discussion", "read again")
    return study


def test_only_turns_of_participants_become_items(study: Study) -> None:
    with open_coding(study) as coding:
        assert coding.state.round(ROUND).plan.items == (DATA, ILLEGAL)


def test_a_round_closes_without_the_turns_of_withdrawn_participants(tmp_path: Path) -> None:
    study = coded_study(tmp_path, (TALK, TALK))
    with open_coding(study) as coding:
        rate(coding, ROUND, "rater-1", "P2/00001", {"themes": []})
    with interviews_of(study) as interviews:
        withdraw(interviews, "P2")
        place = count_round_progress(interviews.coding, interviews, ROUND, "rater-2")
        assert [(transcript.interview, transcript.total) for transcript in place.transcripts] == [("P1", 2)]
    with open_coding(study) as coding:
        for rater in ("rater-1", "rater-2"):
            for item in (DATA, ILLEGAL):
                rate(coding, ROUND, rater, item, {"themes": []})
    close_by_name(study, ROUND, None)
    with open_coding(study) as coding:
        assert coding.state.round(ROUND).incomplete == ""
        assert compute_round_agreement(coding.state, ROUND, "themes").n == 2


def test_agreed_codes_are_decided_with_the_passages_of_both_raters(settled: Study) -> None:
    with interviews_of(settled) as interviews:
        coded_passages = read_coded_passages(interviews)
    assert [(one.item, one.code, one.words, one.raters) for one in coded_passages.passages if one.item == DATA] == [
        (DATA, "practice/data", "First I look at the data, then ", ("rater-1", "rater-2")),
        (DATA, "practice/design", "the model is designed and trained.", ("rater-1", "rater-2")),
    ]
    first = coded_passages.passages[0]
    assert (first.participant, first.question, first.memo, first.how) == ("P1", "stages", "again", "agreement")
    assert (coded_passages.turns, coded_passages.unsettled, coded_passages.interviews) == (2, 0, ("P1",))


def test_a_decided_passage_names_its_raters_and_fields(settled: Study) -> None:
    with interviews_of(settled) as interviews:
        found = {one.code: one for one in read_coded_passages(interviews).passages if one.item == ILLEGAL}
    assert found["indicator"].fields == {"what": "loss", "threshold": "10"}
    assert found["indicator"].raters == ("rater-2",)
    assert found["shapes"].raters == ("rater-1",)
    assert (found["shapes"].question, found["shapes"].words) == ("illegal", "When shapes do not match.")


def test_differing_codes_are_a_disagreement_and_are_not_counted_until_settled(study: Study) -> None:
    code_all(study, {"rater-1": FIRST, "rater-2": SECOND})
    with interviews_of(study) as interviews, pytest.raises(StateError, match="is open"):
        read_coded_passages(interviews, [ROUND])
    close_by_name(study, ROUND, None)
    with open_coding(study) as coding:
        assert list_differing(coding.state, ROUND) == {(ILLEGAL, "themes")}
    settle_agreed(study, ROUND, None)
    with interviews_of(study) as interviews:
        coded_passages = read_coded_passages(interviews)
        themes = read_themes(interviews)
    assert {passage.item for passage in coded_passages.passages} == {DATA}
    assert (coded_passages.turns, coded_passages.unsettled) == (1, 1)
    assert (themes.unused, themes.undecided) == (
        (),
        ("legitimacy › shapes that do not match", "legitimacy › indicator"),
    ), "a code that a rater gave is none that nobody speaks of"
    assert "Not mentioned" not in " ".join(themes_table(themes).notes)
    assert themes_table(themes).notes[-1].startswith("Not decided yet: legitimacy › shapes")


def test_an_interview_is_coded_when_every_turn_is_decided_in_every_round(study: Study) -> None:
    def step() -> tuple[str, str, str, str]:
        with interviews_of(open_study(study.root)) as interviews:
            coding = build_interview_line(interviews, "P1", leads=True).steps[-1]
        return coding.name, coding.words, coding.route, coding.round

    code_all(study, {"rater-1": FIRST})
    assert step() == ("Coding", "2 of 4 ratings of turns", "rounds", "")
    code_all(study, {"rater-2": SECOND})
    assert step()[1:] == ("every turn is rated: close themes", "round", ROUND)
    close_by_name(study, ROUND, None)
    assert step()[1:] == ("settle the disagreements in themes", "disagreements", ROUND), (
        "the lead has not looked at its ratings"
    )
    record_disagreements_view(study, ROUND, Viewer("lead", Role.LEAD))
    assert step()[1:] == ("1 undecided turn in themes", "disagreements", ROUND)
    add_round(study, {**OPENED, "round": "later"})
    assert step()[1:] == ("1 undecided turn in themes; later is not opened yet", "disagreements", ROUND)
    settle_with_assents(study, ROUND, "lead", ILLEGAL, "themes", SECOND[ILLEGAL], "discussion", "read again")
    assert step()[1:] == ("later is not opened yet", "rounds", "")
    study = open_study(study.root)
    open_by_name(study, "later", None)
    assert step()[1] == "4 of 8 ratings of turns"
    for rater in RATERS:
        code_all(study, {rater: SECOND}, "later")
    close_by_name(study, "later", None)
    settle_agreed(study, "later", None)
    with interviews_of(study) as interviews:
        coding = build_interview_line(interviews, "P1", leads=True).steps[-1]
    assert coding.words == "8 ratings of turns, all decided; 1 in vivo, not adopted as a code"


def test_a_lead_who_rated_does_not_see_the_number_of_disagreements_before_a_recorded_view(tmp_path: Path) -> None:
    study = coded_study(tmp_path, round_={**OPENED, "raters": ["rater-1", "lead"]})
    code_all(study, {"rater-1": FIRST, "lead": SECOND})
    close_by_name(study, ROUND, None)
    with interviews_of(study) as interviews:
        assert (
            build_interview_line(interviews, "P1", leads=True).steps[-1].words == "settle the disagreements in themes"
        )


def test_in_vivo_codes_are_not_counted_until_the_lead_adopts_them(settled: Study) -> None:
    with interviews_of(settled) as interviews:
        (words,) = list_in_vivo_passages(interviews, ROUND)
        assert (words.passage.words, words.name, words.passage.code) == ("threshold", "", "")
        place = (ROUND, words.passage.item, words.passage.start, words.passage.end)
        with pytest.raises(StateError, match="not the lead"):
            adopt(interviews.coding, *place, "shapes", "rater-1")
        with pytest.raises(InputError, match="no active code 'shape'"):
            adopt(interviews.coding, *place, "shape")
        assert adopt(interviews.coding, *place, NewCode("a threshold of one's own", "legitimacy")) == (
            "legitimacy/a-threshold-of-one-s-own"
        )
        (adopted,) = list_in_vivo_passages(interviews, ROUND)
        assert adopted.name == "legitimacy › a threshold of one's own"
        assert adopted.passage.code in {passage.code for passage in read_coded_passages(interviews).passages}
        head = interviews.coding.state.head
        adopt(interviews.coding, *place, adopted.passage.code)
        assert interviews.coding.state.head == head, "adopted already"
        adopt(interviews.coding, *place, "")
        assert list_in_vivo_passages(interviews, ROUND)[0].name == ""


def decided_with(study: Study, first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    """What two raters marked in the turn about data, closed and settled."""
    code_all(study, {"rater-1": {DATA: first}, "rater-2": {DATA: second}})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)


def test_an_in_vivo_code_adopted_as_an_existing_code_of_the_passage_adds_no_quotation(study: Study) -> None:
    decided_with(study, [stretch(6, 24, "practice/data"), stretch(6, 24)], [stretch(6, 24, "practice/data")])
    with interviews_of(study) as interviews:
        adopt(interviews.coding, ROUND, DATA, 6, 24, "practice/data")
        (quoted,) = read_themes(interviews).quotations
        (words,) = list_in_vivo_passages(interviews, ROUND)
    assert (quoted.words, quoted.raters) == ("I look at the data", 2)
    assert (words.name, words.passage.raters) == ("practice › looking at the data", ("rater-1",))


def test_overlapping_in_vivo_codes_adopted_as_one_code_are_one_mention(study: Study) -> None:
    decided_with(study, [stretch(0, 18)], [stretch(8, 24)])
    with interviews_of(study) as interviews:
        assert [one.passage.raters for one in list_in_vivo_passages(interviews, ROUND)] == [("rater-1",), ("rater-2",)]
        adopt(interviews.coding, ROUND, DATA, 0, 18, "practice/data")
        (first,) = read_themes(interviews).quotations
        assert (first.words, first.raters) == ("First I look at th", 1), "the other marked other words"
        adopt(interviews.coding, ROUND, DATA, 8, 24, "practice/data")
        (both,) = read_themes(interviews).quotations
        assert (both.words, both.raters) == ("First I look at the data", 2)
        assert [(one.passage.start, one.passage.end) for one in list_in_vivo_passages(interviews, ROUND)] == [
            (0, 18),
            (8, 24),
        ]


def test_undoing_the_addition_of_a_code_uncounts_passages_adopted_as_it(study: Study) -> None:
    decided_with(study, [stretch(0, 5), stretch(6, 24, "practice/data")], [stretch(6, 24, "practice/data")])
    with interviews_of(study) as interviews:
        adopt(interviews.coding, ROUND, DATA, 0, 5, NewCode("order", "practice"))
        assert {one.code for one in read_themes(interviews).quotations} == {"practice/data", "practice/order"}
        change_codebook(interviews.coding, "codebook.undo", {"version": 2})
        themes = read_themes(interviews)
        assert ({one.code for one in themes.quotations}, themes.uncoded, themes.in_vivo) == ({"practice/data"}, 1, 0)
        assert "1 passage without a code" in " ".join(themes_table(themes).notes)
        (words,) = list_in_vivo_passages(interviews, ROUND)
        assert words.name == "", "it can be adopted as another"
        line = build_interview_line(interviews, "P1", leads=True).steps[-1].words
        assert "1 in vivo, not adopted as a code" in line


def split_of_design(**rule: str) -> dict[str, Any]:
    parts = [{"id": "practice/with-data", "name": "with data"}, {"id": "practice/alone", "name": "alone"}]
    return {"code": "practice/design", "parts": parts, "rules": [rule], "otherwise": "practice/alone"}


def test_a_split_rule_uses_the_other_codes_of_the_turn(study: Study) -> None:
    design = {ILLEGAL: [stretch(0, 4, "practice/design")]}
    given = {DATA: [stretch(0, 27, "practice/data"), stretch(31, 65, "practice/design")], **design}
    code_all(study, {"rater-1": given, "rater-2": given})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    split = split_of_design(facet="themes", answer="practice/data", part="practice/with-data")
    change_codebook(study, "codebook.split", split)
    with interviews_of(study) as interviews:
        found = {(passage.item, passage.code): passage.raters for passage in read_coded_passages(interviews).passages}
        (latest,) = [interviews.coding.state.history.latest.version]
        agreed = {code for code, _, _ in compute_agreement_by_code(interviews, ROUND, version=latest).codes}
    assert found == {
        (DATA, "practice/data"): RATERS,
        (DATA, "practice/with-data"): RATERS,
        (ILLEGAL, "practice/alone"): RATERS,
    }
    assert agreed == {"practice/data", "practice/with-data", "practice/alone"}


@pytest.mark.parametrize(
    "rule",
    [
        {"facet": "severity", "answer": "high", "part": "practice/with-data"},
        {"facet": "themes", "answer": "dat", "part": "practice/with-data"},
    ],
)
def test_a_split_rule_that_matches_no_turn_is_refused(study: Study, rule: dict[str, str]) -> None:
    with pytest.raises(
        StateError, match=f"{rule['facet']}={rule['answer']} matches no turn .* themes and one of its codes"
    ):
        change_codebook(study, "codebook.split", split_of_design(**rule))
    with open_coding(study) as coding:
        assert coding.state.history.latest.version == 1


def test_passages_are_read_under_the_latest_codebook(settled: Study) -> None:
    change_codebook(settled, "codebook.merge", {"codes": ["shapes"], "into": "indicator"})
    with interviews_of(settled) as interviews:
        assert {passage.code for passage in read_coded_passages(interviews).passages if passage.item == ILLEGAL} == {
            "indicator",
            "",
        }


def test_passages_whose_codes_were_merged_are_counted_once(study: Study) -> None:
    """Words that two codes stood on are one quotation of the code that took their place."""
    given = {DATA: [stretch(0, 27, "practice/data", link="a"), stretch(0, 27, "practice/design", memo="x")]}
    code_all(study, {"rater-1": given, "rater-2": given})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    change_codebook(study, "codebook.merge", {"codes": ["practice/data"], "into": "practice/design"})
    with interviews_of(study) as interviews:
        (one,) = read_coded_passages(interviews).passages
        (quoted,) = read_themes(interviews).quotations
    assert (one.start, one.end, one.code, one.memo, one.raters) == (0, 27, "practice/design", "x", RATERS)
    assert quoted.words == one.words


def test_overlapping_passages_of_one_code_stay_separate_under_a_later_codebook(study: Study) -> None:
    fields = ({"what": "loss", "threshold": "10"}, {"what": "epoch", "threshold": "1"})
    both = [stretch(29, 60, "indicator", fields=fields[0]), stretch(40, 86, "indicator", fields=fields[1])]
    given = {ILLEGAL: [stretch(0, 25, "shapes"), stretch(30, 60, "shapes"), *both]}
    code_all(study, {"rater-1": given, "rater-2": given})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)

    def told() -> list[tuple[int, int, object]]:
        with interviews_of(study) as interviews:
            found = read_coded_passages(interviews).passages
        assert {one.raters for one in found} == {RATERS}
        return [(one.start, one.end, one.fields) for one in found if one.code == "indicator"]

    assert told() == [(29, 60, fields[0]), (40, 86, fields[1])]
    change_codebook(study, "codebook.merge", {"codes": ["shapes"], "into": "indicator"})
    assert told() == [(0, 25, {}), (29, 60, fields[0]), (40, 86, fields[1])]


def test_an_unsettled_disagreement_of_a_later_round_replaces_an_earlier_decision(settled: Study) -> None:
    """An earlier decision about a turn does not count while raters of a later round disagree."""
    add_round(settled, {**OPENED, "round": "again"})
    again = open_study(settled.root)
    open_by_name(again, "again", None)
    code_all(again, {"rater-1": {DATA: FIRST[DATA], ILLEGAL: [stretch(29, 86, "indicator")]},
                     "rater-2": {DATA: FIRST[DATA]}}, "again")  # fmt: skip
    close_by_name(again, "again", None)
    settle_agreed(again, "again", None)
    with interviews_of(again) as interviews:
        for rounds in ((), (ROUND, "again"), ("again", ROUND)):
            found = read_coded_passages(interviews, rounds)
            assert {passage.item for passage in found.passages} == {DATA}, rounds
            assert (found.turns, found.unsettled) == (1, 1), rounds
        assert read_coded_passages(interviews, [ROUND]).unsettled == 0
        assert read_themes(interviews).unsettled == 1
        settle_with_assents(interviews.coding, "again", "lead", ILLEGAL, "themes", [], "discussion", "nothing of it")
        found = read_coded_passages(interviews)
        assert ({passage.item for passage in found.passages}, found.turns, found.unsettled) == ({DATA}, 2, 0)


def test_of_two_rounds_the_last_closed_counts(study: Study) -> None:
    add_round(study, {**OPENED, "round": "again"})
    both = open_study(study.root)
    open_by_name(both, "again", None)
    for name, code in (("again", "shapes"), (ROUND, "indicator")):
        given = {ILLEGAL: [stretch(0, 25, code)]}
        code_all(both, {"rater-1": given, "rater-2": given}, name)
        close_by_name(both, name, None)
        settle_agreed(both, name, None)
    with interviews_of(both) as interviews:
        assert [passage.code for passage in read_coded_passages(interviews).passages] == ["indicator"]


def test_turns_of_declining_participants_are_not_left_to_settle(study: Study) -> None:
    code_all(study, {"rater-1": FIRST, "rater-2": SECOND})
    close_by_name(study, ROUND, None)
    with interviews_of(study) as interviews:
        assert read_coded_passages(interviews).unsettled == 1
        record_consent(interviews, "P1", DECLINED, SPOKEN)
        assert read_coded_passages(interviews).unsettled == 0


def test_agreement_is_computed_for_code_sets_and_for_each_code(study: Study) -> None:
    code_all(study, {"rater-1": FIRST, "rater-2": SECOND})
    close_by_name(study, ROUND, None)
    with interviews_of(study) as interviews:
        by_turn = compute_agreement_by_code(interviews, ROUND)
        by_answer = compute_agreement_by_code(interviews, ROUND, "answer")
        overall = compute_round_agreement(interviews.coding.state, ROUND, "themes")
    assert (by_turn.overall.n, by_turn.overall.percent.value, overall.percent.value) == (2, 0.5, 0.5)
    told = {code: (found.percent.value, found.kappa.value) for code, _, found in by_turn.codes}
    assert told["practice/data"] == (1.0, 1.0)
    assert told["shapes"][0] == 0.5
    assert all(found.ac1.value is not None and found.alpha.value is not None for _, _, found in by_turn.codes)
    assert by_answer.overall.n == 2


def test_turns_of_one_answer_are_one_segment_for_agreement(tmp_path: Path) -> None:
    talk = [*TALK, ("Guest", "And when it never converges.")]
    study = coded_study(tmp_path, [talk])
    later = "P1/00004"
    said = {"rater-1": {ILLEGAL: [stretch(0, 4, "shapes")]}, "rater-2": {later: [stretch(0, 3, "shapes")]}}
    code_all(study, said)
    close_by_name(study, ROUND, None)
    with interviews_of(study) as interviews:
        by_turn = compute_agreement_by_code(interviews, ROUND)
        by_answer = compute_agreement_by_code(interviews, ROUND, "answer")
    assert (by_turn.overall.n, by_turn.overall.percent.value) == (3, pytest.approx(1 / 3))
    assert (by_answer.overall.n, by_answer.overall.percent.value) == (2, 1.0)


def test_an_answer_judged_only_in_part_is_left_out_of_agreement(tmp_path: Path) -> None:
    study = coded_study(tmp_path, [[*TALK, ("Guest", "And when it never converges.")]])
    code_all(study, {rater: {ILLEGAL: [stretch(0, 4, "shapes")]} for rater in RATERS})
    with open_coding(study) as coding:
        rate(coding, ROUND, "rater-2", "P1/00004", {"themes": "cannot judge"})
    close_by_name(study, ROUND, None)
    with interviews_of(study) as interviews:
        by_answer = compute_agreement_by_code(interviews, ROUND, "answer")
    assert by_answer.overall.n == 1, "the answer about stages alone"
    assert by_answer.codes == () or all(found.n == 1 for _, _, found in by_answer.codes)


def test_a_quotation_names_only_raters_who_gave_its_code(study: Study) -> None:
    code_all(
        study, {"rater-1": {DATA: [stretch(0, 27, "practice/data")]}, "rater-2": {DATA: [stretch(0, 27, "shapes")]}}
    )
    close_by_name(study, ROUND, None)
    both = [stretch(0, 27, "practice/data"), stretch(0, 27, "shapes")]
    settle_with_assents(study, ROUND, "lead", DATA, "themes", both, "discussion", "both hold")
    with interviews_of(study) as interviews:
        found = {passage.code: passage.raters for passage in read_coded_passages(interviews).passages}
        assert {quotation.raters for quotation in read_themes(interviews).quotations} == {1}
    assert found == {"practice/data": ("rater-1",), "shapes": ("rater-2",)}


def test_two_raters_who_code_nothing_agree(study: Study) -> None:
    code_all(study, {"rater-1": {}, "rater-2": {}})
    close_by_name(study, ROUND, None)
    with open_coding(study) as coding:
        assert compute_round_agreement(coding.state, ROUND, "themes").percent.value == 1.0
        assert len(coding.state.round(ROUND).last_decisions("themes")) == 2


def test_exported_codings_are_imported_unchanged(study: Study, tmp_path: Path) -> None:
    code_all(study, {"rater-1": FIRST})
    with open_coding(study) as coding:
        rows = export_ratings(coding, ROUND, "rater-1")
        write_table(
            ExportTable.from_mappings("ratings", [{**row, "rater": "rater-2"} for row in rows]),
            tmp_path / "ratings.csv",
        )
        import_ratings(coding, ROUND, tmp_path / "ratings.csv")
    assert on_record(study, "rater-2", DATA) == on_record(study, "rater-1", DATA) != []


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ([stretch(4, 4, "shapes")], "from 4 to 4"),
        ([stretch(-1, 4, "shapes")], "from -1 to 4"),
        ([stretch(0, 4, "shape")], "uses the code 'shape'; choose from: shapes"),
        ([stretch(0, 4, "shapes", fields={"what": "x"})], "shapes has no field 'what'"),
        ([stretch(0, 4, "indicator", fields={"how": "x"})], "indicator has no field 'how'"),
        ([stretch(0, 4, "shapes", memo="x" * 5_000)], "5,000 characters"),
        ([{**stretch(0, 4), "colour": "red"}], "has the key 'colour'"),
        ("shapes", "is not a list of passages"),
        ([[0, 4]], "a passage needs start"),
        ([stretch(number, number + 1) for number in range(500)], "500 passages"),
    ],
)
def test_invalid_passages_are_refused_in_one_sentence(study: Study, given: object, why: str) -> None:
    with open_coding(study) as coding, pytest.raises(InputError, match=why):
        rate(coding, ROUND, "rater-1", DATA, {"themes": given})
    assert on_record(study, "rater-1", DATA) is None
