"""Segments have ids that stay and places that fit, whatever the words are written in."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.interviews.coding.code_agreement import answer_segments, turn_segments
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


@settings(max_examples=80, deadline=None)
@given(transcripts(), st.data())
def test_places_lead_from_an_answer_to_its_turns_and_back(transcript: Transcript, data: st.DataObject) -> None:
    for segment in answer_segments(transcript):
        start = data.draw(st.integers(0, len(segment.raw)))
        end = data.draw(st.integers(start, len(segment.raw)))
        pieces = []
        for turn, first, last in segment.to_turns(start, end):
            words = transcript.turns[turn].raw[first:last]
            low, high = segment.to_segment(turn, first, last)
            assert segment.raw[low:high] == words
            pieces.append(words)
        covered = "".join(segment.raw[start:end].replace("\n", ""))
        assert "".join(pieces).replace("\n", "") == covered


@settings(max_examples=60, deadline=None)
@given(transcripts())
def test_every_turn_of_the_participant_after_a_question_is_in_one_answer(transcript: Transcript) -> None:
    answers = answer_segments(transcript)
    held = [turn.number for one in answers for turn in one.turns]
    spoken = [turn for turn in transcript.turns if turn.voice is Voice.PARTICIPANT]
    assert held == [turn.number for turn in spoken if turn.question]
    assert all(turn.question == one.question for one in answers for turn in one.turns)
    assert [one.id for one in turn_segments(transcript)] == [f"P1/{turn.number:05d}" for turn in spoken]
    names = [one.id for one in answers]
    assert len(set(names)) == len(names)


def test_an_answer_shows_nobodys_name_and_is_called_by_the_turn_that_asks() -> None:
    turns = (
        SpokenTurn(0, Voice.INTERVIEWER, "Which stages?", question="stages", asks=True, start=1.0),
        SpokenTurn(1, Voice.PARTICIPANT, "Ask Zanthor.", (Replacement(1, 4, 11, "[person 1]"),), "stages", start=2.0),
        SpokenTurn(2, Voice.INTERVIEWER, "Mm-hm.", question="stages"),
        SpokenTurn(3, Voice.PARTICIPANT, "That is all.", question="stages", start=5.0, end=6.5),
    )  # fmt: skip
    [found] = answer_segments(Transcript("P1", "P1", "guide", 1, turns))
    assert (found.id, found.text) == ("P1/stages@00000", "Ask [person 1].\nThat is all.")
    assert (found.start, found.end) == (2.0, 6.5)
