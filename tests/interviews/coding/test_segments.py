"""The answer to a question of the guide has every turn of the participant, and an id that stays."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.interviews.coding.code_agreement import split_answers
from quaestor.interviews.model.records import Replacement, SpokenTurn, Transcript, Voice

texts = st.text(st.sampled_from("ab 🙂👩‍💻\u0301שלמ\r\n模型"), min_size=0, max_size=20)


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    turns, question = [], ""
    for number in range(draw(st.integers(1, 10))):
        voice = draw(st.sampled_from(Voice))
        asks = voice is Voice.INTERVIEWER and draw(st.booleans())
        question = draw(st.sampled_from(["stages", "factors"])) if asks else question
        turns.append(SpokenTurn(number, voice, draw(texts), question=question, asks=asks))
    return Transcript("P1", "P1", "guide", 1, tuple(turns))


@settings(max_examples=60, deadline=None)
@given(transcripts())
def test_every_participant_turn_after_a_question_belongs_to_one_answer(transcript: Transcript) -> None:
    answers = split_answers(transcript)
    answering = [turn.number for segment in answers for turn in segment.turns]
    spoken = [turn for turn in transcript.turns if turn.voice is Voice.PARTICIPANT]
    assert answering == [turn.number for turn in spoken if turn.question]
    assert all(segment.id.startswith(f"P1/{turn.question}@") for segment in answers for turn in segment.turns)
    assert len({segment.id for segment in answers}) == len(answers)


def test_an_answer_is_masked_and_identified_by_the_turn_that_asks() -> None:
    turns = (
        SpokenTurn(0, Voice.INTERVIEWER, "Which stages?", question="stages", asks=True, start=1.0),
        SpokenTurn(1, Voice.PARTICIPANT, "Ask Zanthor.", (Replacement(1, 4, 11, "[person 1]"),), "stages", start=2.0),
        SpokenTurn(2, Voice.INTERVIEWER, "Mm-hm.", question="stages"),
        SpokenTurn(3, Voice.PARTICIPANT, "That is all.", question="stages", start=5.0, end=6.5),
    )  # fmt: skip
    [segment] = split_answers(Transcript("P1", "P1", "guide", 1, turns))
    assert segment.id == "P1/stages@00000"
    assert [turn.text for turn in segment.turns] == ["Ask [person 1].", "That is all."]
