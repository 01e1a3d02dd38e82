"""An answer ends where the interviewer asks something that is not in the guide, or where a person says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.small_interviews import a_study, with_transcript

from quaestor.interviews.coding.code_agreement import split_answers
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.interviews.transcripts.corrections import set_question

CLOSING = "Is there anything that I should have asked?"


@pytest.fixture
def interviews(tmp_path: Path) -> Iterator[Interviews]:
    with open_interviews(a_study(tmp_path)) as opened:
        yield opened


def list_answered(interviews: Interviews, *questions: str) -> list[str]:
    """Returns which question of the guide each answer belongs to; the first question is `illegal`."""
    turns = [line for words in questions for line in (("Interviewer", words), ("Guest", "It depends."))]
    transcript = with_transcript(interviews, "", turns, {0: "illegal"})
    return [turn.question for turn in transcript.turns if turn.voice == "participant"]


ILLEGAL = "When do you call a model illegal?"


def test_the_answer_to_a_closing_question_belongs_to_no_question_of_the_guide(interviews: Interviews) -> None:
    assert list_answered(interviews, ILLEGAL, CLOSING) == ["illegal", ""]


@pytest.mark.parametrize(
    "words",
    [
        "Why?",
        "Could you say more about that?",
        "What do you mean by that?",
        "Can you give me an example?",
        "By which threshold would you judge it?",
        "And if it is not illegal, what then?",
        "I see.",
        "Anything else?",
    ],
)
def test_a_follow_up_belongs_to_the_question_before_it(interviews: Interviews, words: str) -> None:
    assert list_answered(interviews, ILLEGAL, words) == ["illegal", "illegal"]


def test_only_questions_end_an_answer(interviews: Interviews) -> None:
    words = "Our colleagues in the other building told us the same yesterday."
    assert list_answered(interviews, ILLEGAL, words) == ["illegal", "illegal"]


def test_a_turn_without_a_question_by_hand_ends_the_answer(interviews: Interviews) -> None:
    assert list_answered(interviews, ILLEGAL, "Why?", "I see.") == ["illegal"] * 3
    set_question(interviews, "P1", 2, "")
    turns = interviews.transcript("P1").turns
    assert [turn.question for turn in turns] == ["illegal", "illegal", "", "", "", ""]
    set_question(interviews, "P1", 4, "illegal")
    assert [turn.question for turn in interviews.transcript("P1").turns[3:]] == ["", "illegal", "illegal"]


def test_segments_end_with_the_answer(interviews: Interviews) -> None:
    list_answered(interviews, ILLEGAL, "Why?", CLOSING)
    (segment,) = split_answers(interviews.transcript("P1"))
    assert segment.id == "P1/illegal@00000"
    assert [turn.number for turn in segment.turns] == [1, 3]


def test_a_participants_question_ends_nothing(interviews: Interviews) -> None:
    turns = [("Interviewer", ILLEGAL), ("Guest", CLOSING), ("Guest", "It depends.")]
    transcript = with_transcript(interviews, "", turns, {0: "illegal"})
    assert {turn.question for turn in transcript.turns} == {"illegal"}
