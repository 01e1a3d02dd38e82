"""Disagreements: settled in the ways a round allows, and shown to each person as far as they may see them."""

from __future__ import annotations

import dataclasses
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.support.settled_study import MEMO, differing
from tests.support.small_study import ITEMS

from quaestor.base.errors import InputError, StateError
from quaestor.coding.disagreements import break_tie, comment_on_item, settle_item
from quaestor.coding.model.records import Facet
from quaestor.coding.pages.activity import describe_deadline, list_pending_tasks
from quaestor.coding.pages.disagreements import (
    DisagreementFilter,
    assent_case,
    build_case,
    comment_case,
    is_active_tie_breaker,
    list_disagreements_page,
    mask_names,
    needs_view_consent,
    record_disagreements_view,
    settle_all_agreed,
    settle_case,
)
from quaestor.coding.pages.disputed_answers import SubmittedAnswer, read_submitted_answer
from quaestor.coding.pages.ties import answer_tie, build_tie, list_ties
from quaestor.coding.round_acts import reopen_by_name
from quaestor.coding.session import open_coding
from quaestor.coding.visibility import Viewer
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study

LEAD, FIRST, SECOND, BREAKER = (
    Viewer("lead", Role.LEAD),
    Viewer("rater-1", Role.RATER),
    Viewer("rater-2", Role.RATER),
    Viewer("tie-breaker", Role.TIE_BREAKER),
)
ALL = DisagreementFilter()


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return differing(tmp_path_factory.mktemp("settling") / "study").root


@pytest.fixture
def study(study_template: Path, tmp_path: Path) -> Study:
    return open_study(Path(shutil.copytree(study_template, tmp_path / "study")))


def look(study: Study, *viewers: Viewer) -> None:
    for viewer in viewers:
        record_disagreements_view(study, "main", viewer)


def settle(study: Study, viewer: Viewer, item: str, answer: str, how: str = "one-person", **more: Any) -> int:
    look(study, viewer)
    fields = {"seen": 0, "key": "", **more}
    return settle_case(study, "main", viewer, item, "relevance", SubmittedAnswer(answer), how, "it fits", **fields)


def all_words(value: object) -> str:
    return json.dumps(dataclasses.asdict(value))  # type: ignore[call-overload]


def test_answers_are_shown_with_their_raters_and_confidence(study: Study) -> None:
    look(study, LEAD)
    opinions = build_case(study, "main", LEAD, ITEMS[0], "", ALL).question.opinions
    assert [(opinion.label, opinion.key, opinion.voices[0].name) for opinion in opinions] == [
        ("keep", "1", "rater-1"),
        ("exclude: crash", "2", "rater-2"),
    ]
    assert opinions[0].voices[0].memo == MEMO
    assert opinions[1].voices[0].unsure


def test_a_rater_sees_letters_where_the_lead_sees_names(study: Study) -> None:
    look(study, LEAD)
    comment_on_item(study, "main", "rater-2", ITEMS[0], None, "rater-1, read the body again")
    look(study, FIRST)
    case = build_case(study, "main", FIRST, ITEMS[0], "", ALL)
    assert [opinion.voices[0].name for opinion in case.question.opinions] == ["you", "rater B"]
    assert (case.remarks[0].who, case.remarks[0].text) == ("rater B", "you, read the body again")
    assert list_disagreements_page(study, "main", FIRST, ALL).people == ("you", "rater B")
    assert "rater-2" not in all_words(case) + all_words(list_disagreements_page(study, "main", FIRST, ALL))
    assert build_case(study, "main", LEAD, ITEMS[0], "", ALL).remarks[0].who == "rater-2"
    assert mask_names(study, "main", FIRST, "ask rater-2") == "ask rater B"


def unblinded(study: Study) -> list[str]:
    with open_coding(study) as coding:
        return coding.state.round("main").unblinded


def test_a_rater_sees_no_disagreements_before_a_recorded_view(study: Study) -> None:
    refused = [
        lambda: list_disagreements_page(study, "main", FIRST, ALL),
        lambda: build_case(study, "main", FIRST, ITEMS[0], "", ALL),
        lambda: comment_case(study, "main", FIRST, ITEMS[0], "relevance", "hello", key=""),
        lambda: settle_case(
            study, "main", FIRST, ITEMS[0], "relevance", SubmittedAnswer("keep"), "discussion", "", seen=0, key=""
        ),
    ]
    for act in refused:
        with pytest.raises(StateError, match="confirm that on their page first"):
            act()
    assert (needs_view_consent(study, "main", FIRST), needs_view_consent(study, "main", LEAD)) == (True, True)
    assert unblinded(study) == [], "asking is not a look"
    look(study, FIRST, LEAD)
    assert (needs_view_consent(study, "main", FIRST), unblinded(study)) == (False, ["rater-1", "lead"])


def test_people_without_access_cannot_record_a_view(study: Study) -> None:
    for viewer in (Viewer("rater-9", Role.RATER), BREAKER):
        with pytest.raises(StateError):
            look(study, viewer)
    reopen_by_name(study, "main", None, "a typo")
    for viewer in (FIRST, LEAD):
        with pytest.raises(StateError):
            look(study, viewer)
    assert unblinded(study) == []


def test_a_raters_view_is_recorded_once_and_prevents_blind_reopening(study: Study) -> None:
    for _ in range(2):
        look(study, FIRST)
        list_disagreements_page(study, "main", FIRST, ALL)
        build_case(study, "main", FIRST, ITEMS[0], "", ALL)
    with open_coding(study) as coding:
        assert coding.state.round("main").unblinded == ["rater-1"]
    with pytest.raises(StateError, match="no longer blind"):
        reopen_by_name(study, "main", None, "a typo")


def test_tie_breakers_and_people_outside_the_round_see_no_disagreements(study: Study) -> None:
    for viewer, words in ((Viewer("rater-9", Role.RATER), "no role"), (BREAKER, "is the tie-breaker")):
        for look in (
            lambda viewer=viewer: list_disagreements_page(study, "main", viewer, ALL),
            lambda viewer=viewer: build_case(study, "main", viewer, ITEMS[0], "", ALL),
        ):
            with pytest.raises(StateError, match=words):
                look()
    with pytest.raises(StateError, match="not the lead"):
        settle_all_agreed(study, "main", FIRST)


def test_the_list_can_be_filtered_by_status_and_answer(study: Study) -> None:
    look(study, LEAD)
    settle(study, FIRST, ITEMS[1], "keep")
    found = list_disagreements_page(study, "main", LEAD, ALL)
    assert (found.settled, found.total, found.first_open) == (1, 3, (ITEMS[0], "relevance"))
    assert [row.outcome.label if row.outcome else "" for row in found.rows] == ["", "keep", ""]
    assert [
        row.item for row in list_disagreements_page(study, "main", LEAD, DisagreementFilter(open_only=True)).rows
    ] == [ITEMS[0], ITEMS[2]]
    assert len(list_disagreements_page(study, "main", LEAD, DisagreementFilter(answer="CRASH")).rows) == 3
    assert list_disagreements_page(study, "main", LEAD, DisagreementFilter(answer="installation")).rows == ()


def test_a_case_links_to_the_previous_and_next_open_case(study: Study) -> None:
    look(study, LEAD)
    keys = [(item, "relevance") for item in ITEMS[:3]]
    ways = {item: build_case(study, "main", LEAD, item, "relevance", ALL) for item in ITEMS[:3]}
    assert [(case.before, case.after) for case in ways.values()] == [
        (None, keys[1]),
        (keys[0], keys[2]),
        (keys[1], keys[0]),
    ]
    settle(study, LEAD, ITEMS[1], "keep")
    assert build_case(study, "main", LEAD, ITEMS[0], "", ALL).after == keys[2]
    with pytest.raises(InputError, match="do not differ"):
        build_case(study, "main", LEAD, ITEMS[5], "", ALL)


def test_of_two_simultaneous_decisions_the_second_is_refused(study: Study) -> None:
    first = settle(study, FIRST, ITEMS[0], "keep", key="one")
    assert settle(study, FIRST, ITEMS[0], "keep", key="one") == first, "a click twice settles once"
    with pytest.raises(StateError, match="in the meantime"):
        settle(study, SECOND, ITEMS[0], "exclude: crash")
    settle(study, SECOND, ITEMS[0], "exclude: crash", seen=1)
    outcomes = build_case(study, "main", SECOND, ITEMS[0], "", ALL).outcomes
    assert [(outcome.label, outcome.who) for outcome in outcomes] == [("keep", "rater A"), ("exclude: crash", "you")]
    with pytest.raises(StateError, match="used before for another act"):
        settle(study, SECOND, ITEMS[1], "keep", key="one")


@pytest.mark.parametrize(
    ("item", "answer", "how", "reason"),
    [
        (ITEMS[0], "exclude: crash", "discussion", "why"),
        (ITEMS[1], "keep", "discussion", "why"),
        (ITEMS[0], "keep", "together", "why"),
        (ITEMS[0], "keep", "discussion", "another"),
    ],
)
def test_resending_a_decision_with_other_content_is_refused(
    study: Study, item: str, answer: str, how: str, reason: str
) -> None:
    def send(item: str, answer: str, how: str, reason: str) -> int:
        return settle_item(study, "main", "rater-1", item, None, answer, how, reason, key="one")

    made = send(ITEMS[0], "keep", "discussion", "why")
    assert send(ITEMS[0], "keep", "discussion", "why") == made
    with pytest.raises(StateError, match="already sent with different content"):
        send(item, answer, how, reason)


@pytest.mark.parametrize(
    ("item", "answer", "text", "settling"),
    [
        (ITEMS[0], "exclude: crash", "why", False),
        (ITEMS[1], "keep", "why", False),
        (ITEMS[0], "keep", "other", False),
        (ITEMS[0], "keep", "why", True),
    ],
)
def test_resending_a_tie_answer_with_other_content_is_refused(
    tmp_path: Path, item: str, answer: str, text: str, settling: bool
) -> None:
    study = differing(tmp_path / "study", settle="discussion")

    def send(item: str, answer: str, text: str, settling: bool, key: str = "one") -> int:
        return answer_tie(
            study, "main", "tie-breaker", item, "", SubmittedAnswer(answer), text, settling=settling, key=key
        )  # fmt: skip

    made = send(ITEMS[0], "keep", "why", False)
    settle(study, FIRST, ITEMS[0], "keep")
    assert send(ITEMS[0], "keep", "why", False) == made
    both = send(ITEMS[2], "keep", "why", True, "two")
    assert send(ITEMS[2], "keep", "why", True, "two") == both
    with pytest.raises(StateError, match="already sent"):
        send(item, answer, text, settling)


def test_a_key_used_for_another_act_is_refused(study: Study) -> None:
    comment_on_item(study, "main", "rater-1", ITEMS[0], None, "a thought", key="one")
    for text, item in (("another", ITEMS[0]), ("a thought", ITEMS[1])):
        with pytest.raises(StateError, match="already sent"):
            comment_on_item(study, "main", "rater-1", item, None, text, key="one")
    with pytest.raises(StateError, match="already sent"):
        settle(study, FIRST, ITEMS[0], "keep", key="one")


def test_a_comment_sent_twice_is_recorded_once(study: Study) -> None:
    look(study, FIRST)
    for _ in range(2):
        comment_case(study, "main", FIRST, ITEMS[0], "relevance", "look at the code", key="said")
    assert [one.text for one in build_case(study, "main", FIRST, ITEMS[0], "", ALL).remarks] == ["look at the code"]


def test_in_two_step_settling_a_joint_decision_needs_the_tie_breakers_answer(study: Study) -> None:
    look(study, FIRST)
    before = build_case(study, "main", FIRST, ITEMS[0], "", ALL)
    assert [way for way, _ in before.methods] == ["discussion", "one-person"]
    assert [step.state for step in before.steps] == ["now", "now", "to come"]
    comment_on_item(study, "main", "rater-1", ITEMS[0], None, "first")
    break_tie(study, "main", "tie-breaker", ITEMS[0], None, "keep", "second")
    comment_on_item(study, "main", "rater-2", ITEMS[0], None, "third")
    case = build_case(study, "main", FIRST, ITEMS[0], "", ALL)
    assert [way for way, _ in case.methods] == ["together", "discussion", "one-person"]
    assert [step.state for step in case.steps] == ["done", "done", "now"]
    assert [(remark.text, remark.answer, remark.is_independent) for remark in case.remarks] == [
        ("first", "", False),
        ("second", "keep", True),
        ("third", "", False),
    ]
    assert [[voice.name for voice in opinion.voices] for opinion in case.question.opinions] == [
        ["you", "tie-breaker"],
        ["rater B"],
    ]


def test_a_settled_list_shows_the_next_steps(study: Study) -> None:
    look(study, LEAD)
    assert list_disagreements_page(study, "main", LEAD, ALL).next_steps == ()
    for item in ITEMS[:3]:
        settle(study, FIRST, item, "keep")
    found = list_disagreements_page(study, "main", LEAD, ALL)
    assert found.undecided_agreements == 0
    assert [words.split(":")[0] for words in found.next_steps] == [
        "The step 'kept by raters' of the funnel uses this round",
        "The round 'phrases' waits for this one",
        "The round 'phases' waits for this one",
        "The round 'triplets' waits for this one",
    ]
    assert settle_all_agreed(study, "main", LEAD) == 0, "closing the round recorded them"
    assert is_active_tie_breaker(study, "main", BREAKER) is False
    assert list_disagreements_page(study, "main", BREAKER, ALL).people == ("rater A", "rater B")


def test_the_number_of_undecided_agreements_equals_the_decisions_they_give(study: Study) -> None:
    look(study, LEAD, FIRST, SECOND)
    proposed = settle(study, FIRST, ITEMS[0], "keep", "discussion", key="one")
    assert settle(study, FIRST, ITEMS[0], "keep", "discussion", key="one") == proposed, "sent twice, it counts once"
    case = build_case(study, "main", FIRST, ITEMS[0], "", ALL)
    assert case.proposal is not None
    assert (case.outcome, case.proposal.label, case.proposal.waits_for) == (None, "keep", "rater B")
    assert not case.proposal.can_assent
    with pytest.raises(StateError, match="'lead' does not rate"):
        assent_case(study, "main", LEAD, ITEMS[0], "relevance", case.proposal.number, key="")
    with pytest.raises(StateError, match="has already assented"):
        assent_case(study, "main", FIRST, ITEMS[0], "relevance", case.proposal.number, key="")
    newer = settle(study, SECOND, ITEMS[0], "exclude: crash", "discussion")
    with pytest.raises(StateError, match="changed in the meantime"):
        assent_case(study, "main", FIRST, ITEMS[0], "relevance", proposed, key="")
    assert assent_case(study, "main", FIRST, ITEMS[0], "relevance", newer, key="two")
    assert assent_case(study, "main", FIRST, ITEMS[0], "relevance", newer, key="two"), "sent twice, it counts once"
    outcome = build_case(study, "main", LEAD, ITEMS[0], "", ALL).outcome
    assert outcome is not None
    assert (outcome.label, outcome.how, outcome.who) == ("exclude: crash", "by discussion", "rater-1, rater-2")


def test_codes_in_a_case_are_shown_with_their_definitions(tmp_path: Path) -> None:
    study = differing(tmp_path / "study", facet="phase")
    look(study, LEAD)
    first, second = build_case(study, "main", LEAD, ITEMS[0], "", ALL).question.opinions
    assert (first.label, first.meanings[0].not_) == ("model training", "The model is only put together.")
    assert first.meanings[0].use.startswith("The question is about")
    assert (second.label, second.meanings[0].has_text) == ("model setting", False)


@pytest.mark.parametrize(
    ("kind", "chosen", "answer"),
    [
        ("single", SubmittedAnswer("b"), "b"),
        ("single", SubmittedAnswer("", ("c",)), "c"),
        ("multiple", SubmittedAnswer("a; b"), ["a", "b"]),
        ("multiple", SubmittedAnswer("", ("c", "d")), ["c", "d"]),
        ("confirm", SubmittedAnswer("", ("no",), " a loss "), "no: a loss"),
        ("confirm", SubmittedAnswer("", ("yes",), "a loss"), "yes"),
        ("phrase", SubmittedAnswer("", ("rotate, image",)), "rotate, image"),
    ],
)
def test_a_form_gives_exactly_one_answer(kind: str, chosen: SubmittedAnswer, answer: object) -> None:
    assert read_submitted_answer(Facet("facet", kind), chosen, ["b", ["a", "b"]]) == answer


@pytest.mark.parametrize("chosen", [SubmittedAnswer(), SubmittedAnswer("", (" ",)), SubmittedAnswer("a", ("b",))])
def test_a_form_without_or_with_two_answers_is_refused(chosen: SubmittedAnswer) -> None:
    with pytest.raises(InputError, match="chosen"):
        read_submitted_answer(Facet("facet", "single"), chosen, ["a"])


def test_the_tie_breaker_sees_answers_but_nothing_about_their_raters(study: Study) -> None:
    comment_on_item(study, "main", "rater-1", ITEMS[0], None, "a telling comment")
    tie = build_tie(study, "main", "tie-breaker")
    assert tie is not None
    assert (tie.item, tie.done, tie.total) == (ITEMS[0], 0, 3)
    assert {opinion.label for opinion in tie.question.opinions} == {"keep", "exclude: crash"}
    told = all_words(tie) + all_words(list_ties(study, "main", "tie-breaker"))
    assert not [word for word in ("rater-", "telling", MEMO, 'unsure": true') if word in told]
    for stranger in ("rater-1", "lead"):
        with pytest.raises(StateError, match="is not the tie-breaker"):
            build_tie(study, "main", stranger)


def test_a_tie_breaker_answers_each_case_once_and_gets_the_next(study: Study) -> None:
    for item in ITEMS[:2]:
        answer_tie(study, "main", "tie-breaker", item, "", SubmittedAnswer("keep"), "why", settling=False, key=item)
    again = answer_tie(
        study, "main", "tie-breaker", ITEMS[0], "", SubmittedAnswer("keep"), "why", settling=False, key=ITEMS[0]
    )
    assert again, "sent twice with the same key it is one answer"
    with pytest.raises(StateError, match="cannot be changed"):
        answer_tie(study, "main", "tie-breaker", ITEMS[0], "", SubmittedAnswer("keep"), "", settling=False, key="other")
    tie = build_tie(study, "main", "tie-breaker")
    assert tie is not None
    assert tie.item == ITEMS[2]
    settle(study, FIRST, ITEMS[2], "keep")
    assert build_tie(study, "main", "tie-breaker") is None
    ties = list_ties(study, "main", "tie-breaker")
    assert (ties.done, ties.is_settled) == (3, False)
    assert [row.answer for row in ties.rows] == ["keep", "keep", ""]


def test_an_answer_of_a_deciding_tie_breaker_settles_the_case(tmp_path: Path) -> None:
    study = differing(tmp_path / "study", settle="tie-breaker", cases=1)
    look(study, FIRST)
    assert build_case(study, "main", FIRST, ITEMS[0], "", ALL).methods == ()
    tie = build_tie(study, "main", "tie-breaker")
    assert tie is not None
    assert tie.must_settle
    answer_tie(study, "main", "tie-breaker", ITEMS[0], "", SubmittedAnswer("keep"), "it works", settling=False, key="k")
    outcome = build_case(study, "main", FIRST, ITEMS[0], "", ALL).outcome
    assert outcome is not None
    assert (outcome.label, outcome.how, outcome.who, outcome.reason) == (
        "keep", "by the tie-breaker", "tie-breaker", "it works",
    )  # fmt: skip


def test_in_a_discussion_the_tie_breaker_can_comment_or_settle(tmp_path: Path) -> None:
    study = differing(tmp_path / "study", settle="discussion", cases=2)
    for item, settling in zip(ITEMS[:2], (False, True), strict=True):
        answer_tie(study, "main", "tie-breaker", item, "", SubmittedAnswer("keep"), "", settling=settling, key=item)
    assert [row.is_settled for row in list_ties(study, "main", "tie-breaker").rows] == [False, True]
    look(study, FIRST)
    assert build_case(study, "main", FIRST, ITEMS[0], "", ALL).steps == ()


def test_the_task_of_a_closed_round_shows_no_number_before_a_recorded_view(study: Study) -> None:
    def waits(name: str) -> list[tuple[str, bool, int, int]]:
        with open_coding(study) as coding:
            return [(one.part, one.has_viewed, one.done, one.items) for one in list_pending_tasks(coding.state, name)]

    assert waits("rater-1") == [("discuss", False, 0, 0)]
    assert waits("tie-breaker") == [("break ties", True, 0, 3)]
    look(study, FIRST)
    settle(study, FIRST, ITEMS[0], "keep")
    assert waits("rater-1") == [("discuss", True, 1, 3)]
    for item in ITEMS[1:3]:
        settle(study, FIRST, item, "keep")
    assert waits("rater-1") == waits("tie-breaker") == []
    assert waits("lead") == []


def test_raters_have_no_task_if_the_tie_breaker_decides_alone(tmp_path: Path) -> None:
    with open_coding(differing(tmp_path / "study", settle="tie-breaker")) as coding:
        assert list_pending_tasks(coding.state, "rater-1") == []


@pytest.mark.parametrize(
    ("deadline", "words"),
    [
        ("", ("", False)),
        ("2026-03-01T18:00:00.000000+00:00", ("until Sunday 1 March, 18:00 UTC, today", False)),
        ("2026-03-02T09:00:00.000000+00:00", ("until Monday 2 March, 09:00 UTC, tomorrow", False)),
        ("2027-01-05T23:59:59.000000+00:00", ("until Tuesday 5 January 2027, 23:59 UTC, in 310 days", False)),
        ("2026-02-27T23:59:59.000000+00:00", ("was due on Friday 27 February", True)),
    ],
)
def test_a_deadline_is_described_in_words(deadline: str, words: tuple[str, bool]) -> None:
    assert describe_deadline(deadline, datetime(2026, 3, 1, 12, tzinfo=UTC)) == words
