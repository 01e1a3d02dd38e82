"""Transcripts are imported once and with consent; manual corrections of voices and questions are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.coded_interviews import code_all, coded_study, interviews_of
from tests.support.small_interviews import a_study, with_interview, with_participant
from tests.support.transcript_writers import teams_webvtt, text, zoom_webvtt

from quaestor.base.errors import InputError, StateError
from quaestor.interviews.model.records import Voice
from quaestor.interviews.names.known_names import get_finder
from quaestor.interviews.participants.consent import DECLINED, SPOKEN, record_consent
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.interviews.transcript_sheet import (
    MOST,
    WINDOW,
    build_transcript_sheet,
    list_turn_lines,
    read_omitted_text,
)
from quaestor.interviews.transcripts.corrections import (
    list_speaker_names,
    list_speakers,
    match_again,
    set_question,
    set_speaker,
    set_voice,
)
from quaestor.interviews.transcripts.import_file import import_bytes, read_transcript_file

TALK = [
    ("Zanthor Quell", "Thanks for coming. So tell me, which stages does your work have?"),
    ("Obviax Trin", "First I look at the data. Then the model is designed and trained, which takes days."),
    ("Zanthor Quell", "And the factors that you weigh, which are those?"),
    ("Obviax Trin", "Mostly time. Is that what you mean? I also look at the size of the data, and at habit."),
    ("Zanthor Quell", "Mm-hm."),
    ("Obviax Trin", "That is all of them, I believe."),
    ("Zanthor Quell", "When do you call a model illegal?"),
    ("Obviax Trin", "When shapes do not match: then nothing runs."),
    ("Guest 3", "Sorry, wrong room."),
]
INTERVIEWER, PARTICIPANT, OTHER = Voice.INTERVIEWER, Voice.PARTICIPANT, Voice.OTHER


@pytest.fixture
def interviews(tmp_path: Path) -> Iterator[Interviews]:
    with open_interviews(a_study(tmp_path / "study")) as opened:
        yield opened


def matched_questions(interviews: Interviews, name: str = "P1") -> dict[int, str]:
    return {turn.number: turn.question for turn in interviews.transcript(name).turns if turn.asks}


def test_an_imported_file_becomes_turns_with_voices_times_and_questions(interviews: Interviews, tmp_path: Path) -> None:
    with_interview(interviews)
    path = tmp_path / "talk.vtt"
    path.write_bytes(teams_webvtt(TALK))
    done = import_bytes(interviews, "P1", read_transcript_file(path), path.name)
    assert (done.format, done.turns, done.asked, done.questions, done.new) == ("webvtt", 9, 3, 3, True)
    assert done.voices == (1, 1, 1)
    turns = interviews.transcript("P1").turns
    assert [turn.text for turn in turns] == [words for _, words in TALK]
    assert [turn.voice for turn in turns] == [INTERVIEWER, PARTICIPANT] * 4 + [OTHER]
    assert matched_questions(interviews) == {0: "stages", 2: "factors", 6: "illegal"}
    assert [turn.question for turn in turns] == ["stages"] * 2 + ["factors"] * 4 + ["illegal"] * 3
    assert (turns[1].start, turns[1].end) == (4.0, 7.5)
    assert path.read_bytes() == teams_webvtt(TALK)


def test_importing_the_same_file_again_changes_nothing_and_another_needs_replace(interviews: Interviews) -> None:
    with_interview(interviews)
    import_bytes(interviews, "P1", teams_webvtt(TALK), "talk.vtt")
    set_question(interviews, "P1", 4, "factors")
    head = interviews.file.read_head()
    assert not import_bytes(interviews, "P1", teams_webvtt(TALK), "renamed.vtt").new
    assert interviews.file.read_head() == head
    with pytest.raises(StateError, match="--replace"):
        import_bytes(interviews, "P1", zoom_webvtt(TALK[:3]), "other.vtt")
    done = import_bytes(interviews, "P1", zoom_webvtt(TALK[:3]), "other.vtt", replace=True)
    assert (done.replaced, done.turns) == (True, 3)
    assert len(interviews.transcript("P1").turns) == 3
    assert matched_questions(interviews) == {0: "stages", 2: "factors"}


def test_a_coded_transcript_cannot_be_replaced(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    with interviews_of(study) as interviews:
        before = interviews.transcript("P1")
    code_all(study, {"rater-1": {"P1/00001": [], "P1/00003": []}})
    with interviews_of(study) as interviews:
        with pytest.raises(StateError, match="has been coded"):
            import_bytes(interviews, "P1", teams_webvtt(TALK), "talk.vtt", replace=True)
        assert interviews.transcript("P1") == before


@pytest.mark.parametrize("replace", [True, False])
def test_a_transcript_assigned_to_raters_cannot_be_replaced(tmp_path: Path, replace: bool) -> None:
    with interviews_of(coded_study(tmp_path)) as interviews:
        before = interviews.transcript("P1")
        with pytest.raises(StateError, match=r"assigned to raters \(themes\)"):
            import_bytes(interviews, "P1", teams_webvtt(TALK), "talk.vtt", replace=replace)
        assert interviews.transcript("P1") == before


def test_a_transcript_needs_consent(interviews: Interviews) -> None:
    name = with_participant(interviews, consent=False)
    with_interview(interviews, name)
    with pytest.raises(StateError, match="has not agreed"):
        import_bytes(interviews, name, teams_webvtt(TALK), "talk.vtt")
    record_consent(interviews, name, "accepted", SPOKEN)
    assert import_bytes(interviews, name, teams_webvtt(TALK), "talk.vtt").new
    other = with_interview(interviews).id
    record_consent(interviews, other, DECLINED, SPOKEN)
    with pytest.raises(StateError, match="declined"):
        import_bytes(interviews, other, teams_webvtt(TALK), "talk.vtt")


def test_an_unreadable_file_keeps_the_existing_transcript(interviews: Interviews) -> None:
    with_interview(interviews)
    import_bytes(interviews, "P1", teams_webvtt(TALK), "talk.vtt")
    with pytest.raises(InputError):
        import_bytes(interviews, "P1", b"PK\x03\x04 broken", "talk.docx", replace=True)
    assert len(interviews.transcript("P1").turns) == len(TALK)


def test_a_corrected_voice_is_kept_and_questions_are_matched_again(interviews: Interviews) -> None:
    with_interview(interviews)
    import_bytes(interviews, "P1", teams_webvtt(TALK), "talk.vtt")
    set_speaker(interviews, "P1", "Zanthor Quell", "participant")
    assert set_speaker(interviews, "P1", "2", "interviewer").by_hand
    assert [turn.voice for turn in interviews.transcript("P1").turns][:2] == [PARTICIPANT, INTERVIEWER]
    assert matched_questions(interviews) == {}
    set_speaker(interviews, "P1", "1", "interviewer")
    set_speaker(interviews, "P1", "Obviax Trin", "participant")
    assert matched_questions(interviews) == {0: "stages", 2: "factors", 6: "illegal"}
    set_voice(interviews, "P1", 6, "other")
    assert interviews.transcript("P1").turns[6].voice is OTHER
    assert matched_questions(interviews) == {0: "stages", 2: "factors"}


def test_a_corrected_question_survives_new_matching(interviews: Interviews) -> None:
    with_interview(interviews)
    import_bytes(interviews, "P1", teams_webvtt(TALK), "talk.vtt")
    set_question(interviews, "P1", 4, "factors")
    set_question(interviews, "P1", 0, "")
    assert match_again(interviews, "P1").changed == 0
    set_speaker(interviews, "P1", "3", "participant")
    assert matched_questions(interviews) == {2: "factors", 4: "factors", 6: "illegal"}


def test_an_unknown_speaker_or_question_is_refused_with_the_allowed_ones(interviews: Interviews) -> None:
    with_interview(interviews)
    import_bytes(interviews, "P1", teams_webvtt(TALK), "talk.vtt")
    with pytest.raises(InputError, match="1 \\(Voice 1\\), 2 \\(Voice 2\\) or 3 \\(Guest 3\\)"):
        set_speaker(interviews, "P1", "nobody", "participant")
    with pytest.raises(InputError, match="choose from: interviewer"):
        set_speaker(interviews, "P1", "1", "interviewr")
    with pytest.raises(InputError, match="there is no question 'factor'"):
        set_question(interviews, "P1", 0, "factor")
    with pytest.raises(InputError, match="use 0 to 8"):
        set_voice(interviews, "P1", 9, "other")


def test_speaker_names_are_known_names_and_generic_labels_are_not(interviews: Interviews) -> None:
    with_interview(interviews)
    import_bytes(interviews, "P1", teams_webvtt(TALK), "talk.vtt")
    speaker_names = list_speaker_names(interviews)
    assert [(speaker_name.label, speaker_name.voice, speaker_name.participant) for speaker_name in speaker_names] == [
        ("Zanthor Quell", INTERVIEWER, ""), ("Obviax Trin", PARTICIPANT, "P1"),
    ]  # fmt: skip
    assert [speaker.shown for speaker in list_speakers(interviews, "P1")] == ["Voice 1", "Voice 2", "Guest 3"]


@pytest.mark.parametrize(
    ("names", "voices"),
    [
        (("Interviewer", "Participant"), (INTERVIEWER, PARTICIPANT)),
        (("Moderator", "Guest A"), (INTERVIEWER, PARTICIPANT)),
        (("Speaker 1", "Speaker 2"), (INTERVIEWER, PARTICIPANT)),
        (("SPEAKER_01", "SPEAKER_00"), (INTERVIEWER, PARTICIPANT)),
        (("I", "B"), (INTERVIEWER, PARTICIPANT)),
        (("Interviewer (she/her)", "Guest [EXT]"), (INTERVIEWER, PARTICIPANT)),
        (("Quell", "P1"), (INTERVIEWER, PARTICIPANT)),
        (("Interviewer", "Trin"), (INTERVIEWER, PARTICIPANT)),
    ],
)
def test_voices_are_proposed_by_label_and_by_who_asks_questions(
    interviews: Interviews, names: tuple[str, str], voices: tuple[Voice, Voice]
) -> None:
    with_interview(interviews)
    talk = [(names[place % 2], words) for place, (_, words) in enumerate(TALK[:8])]
    import_bytes(interviews, "P1", text(talk), "talk.txt")
    assert tuple(speaker.voice for speaker in list_speakers(interviews, "P1")) == voices


def test_a_speaker_name_is_known_without_its_additions(interviews: Interviews) -> None:
    with_interview(interviews)
    called = {"Zanthor Quell": "Quell2 (she/her)", "Obviax Trin": "Trin, Obviax [EXT]", "Guest 3": "+49 170 ***1234"}
    import_bytes(interviews, "P1", zoom_webvtt([(called[who], words) for who, words in TALK]), "talk.vtt")
    assert [(speaker_name.label, speaker_name.voice) for speaker_name in list_speaker_names(interviews)] == [
        ("Quell", INTERVIEWER), ("Trin, Obviax", PARTICIPANT),
    ]  # fmt: skip
    assert [speaker.shown for speaker in list_speakers(interviews, "P1")] == ["Voice 1", "Voice 2", "Voice 3"]
    assert get_finder(interviews).find_sure_names("Obviax Trin and Quell met (she/her) an EXT guest")[0].shown == "P1"
    assert len(get_finder(interviews).find_sure_names("her EXT he 2")) == 0


def test_notes_of_a_file_are_stored_and_shown_without_names(interviews: Interviews) -> None:
    with_interview(interviews)
    assert read_omitted_text(interviews, "P1").count == 0
    notes = [f"NOTE {place}\nby Obviax Trin {chr(27)}[2J" for place in range(MOST + 3)]
    data = teams_webvtt(TALK).decode().replace("WEBVTT", "WEBVTT\n\n" + "\n\n".join(notes), 1).encode()
    done = import_bytes(interviews, "P1", data, "talk.vtt")
    found = read_omitted_text(interviews, "P1")
    assert (done.left_out, found.count, len(found.lines), found.more) == (MOST + 3, MOST + 3, MOST, 3)
    assert found.lines[0] == "NOTE 0 by P1 [2J"
    assert not import_bytes(interviews, "P1", teams_webvtt(TALK), "talk.vtt", replace=True).left_out
    assert read_omitted_text(interviews, "P1").lines == ()


def test_a_doubtful_encoding_is_reported_and_can_be_corrected(interviews: Interviews) -> None:
    with_interview(interviews)
    data = "Interviewer: Как дела?\n\nGuest: Хорошо, спасибо.".encode("cp1251")
    assert import_bytes(interviews, "P1", data, "talk.txt").doubtful
    assert read_omitted_text(interviews, "P1").doubtful
    assert import_bytes(interviews, "P1", data, "talk.txt").doubtful, "the same file again is no better"
    done = import_bytes(interviews, "P1", data, "talk.txt", encoding="cp1251", replace=True)
    assert (done.encoding, done.doubtful) == ("Windows-1251", False)
    assert [turn.text for turn in interviews.transcript("P1").turns] == ["Как дела?", "Хорошо, спасибо."]


def test_a_file_without_speakers_is_assigned_to_the_participant(interviews: Interviews) -> None:
    with_interview(interviews)
    import_bytes(interviews, "P1", b"only words\n\nand more of them", "talk.txt")
    assert [turn.voice for turn in interviews.transcript("P1").turns] == [PARTICIPANT]


def test_only_the_lead_sees_unmasked_text(interviews: Interviews) -> None:
    with_interview(interviews)
    import_bytes(interviews, "P1", teams_webvtt(TALK), "talk.vtt")
    assert len(list_turn_lines(interviews, "P1", raw=True)) == len(TALK)
    with pytest.raises(StateError, match="not the lead"):
        list_turn_lines(interviews, "P1", raw=True, actor="rater-1")


def test_a_long_transcript_is_shown_in_parts(interviews: Interviews) -> None:
    with_interview(interviews)
    assert build_transcript_sheet(interviews, "P1") is None
    talk = [("Interviewer" if place % 2 == 0 else "Guest", f"words {place}") for place in range(2 * WINDOW + 10)]
    import_bytes(interviews, "P1", teams_webvtt(talk), "talk.vtt")
    sheet = build_transcript_sheet(interviews, "P1", 3)
    assert sheet is not None
    assert (sheet.pages, sheet.page, len(sheet.lines), sheet.turns) == (3, 3, 10, 310)
    assert sheet.lines[0].turn.number == 2 * WINDOW
    with pytest.raises(InputError, match="3 pages"):
        build_transcript_sheet(interviews, "P1", 4)


def test_a_missing_transcript_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a file: name the transcript"):
        read_transcript_file(tmp_path / "none.vtt")
