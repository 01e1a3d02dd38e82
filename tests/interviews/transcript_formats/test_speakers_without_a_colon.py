"""Speakers above the words, in bold, behind a time, before a tab, in a row with a number; and times among words."""

from __future__ import annotations

import pytest
from tests.support.transcript_writers import Said, document, paragraph, table

from quaestor.interviews.transcript_formats import read_transcript

TALK = [("Anna", "How are you?"), ("Bob", "Fine. Note: so far."), ("Anna", "And then?"), ("Bob", "Yes.")]
ONCE = [("Anna", "How are you?"), ("Bob", "Fine."), ("Anna", "And then?")]
SPEAKERS = [("Speaker 1", "How are you?"), ("Speaker 2", "Fine."), ("Speaker 1", "And then?")]


def read(data: bytes | str, *named: str) -> list[Said]:
    transcript = read_transcript(data.encode() if isinstance(data, str) else data, "talk", named=named)
    return [(turn.speaker, turn.text) for turn in transcript.turns]


def starts(data: bytes | str) -> list[float | None]:
    return [turn.start for turn in read_transcript(data.encode() if isinstance(data, str) else data, "talk").turns]


def written(way: str, talk: list[Said], between: str = "\n") -> str:
    return between.join(way.format(place + 1, who, words) for place, (who, words) in enumerate(talk))


@pytest.mark.parametrize("between", ["\n", "\n\n"])
@pytest.mark.parametrize("talk", [TALK, ONCE, SPEAKERS])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(
    "way",
    ["00:00:0{} {}\n{}", "[00:00:0{}] {}\n{}", "[00:00:0{}] **{}**\n{}", "00:00:0{} {}\n\n{}",
     "[00:00:0{}] **{}:** {}", "00:00:0{} - **{}**: {}", "> **{1}:** {2}\n>", "> [00:00:0{}] **{}:** {}",
     "**{1}**\n{2}", "__{1}__\n\n{2}", "{1}\t{2}", "00:00:0{}\t{}\t{}", "**{1}:** [00:00:0{0}] {2}",
     "{1}: (00:00:0{0}) {2}", "#00:00:0{0}-0# {1}: {2}", "{1}: #00:00:0{0}-0# {2}", "00:00:0{0}\n{1}\n{2}"],
)  # fmt: skip
def test_every_layout_gives_speakers_and_times(way: str, talk: list[Said], named: bool, between: str) -> None:
    text = written(way, talk, between)
    assert read(text, *(dict(talk) if named else ())) == talk
    packed = document("".join(map(paragraph, text.split("\n"))))
    assert read(packed, *(dict(talk) if named else ())) == talk
    timed = [float(place + 1) for place in range(len(talk))]
    assert (
        starts(text) == starts(packed) == (timed if "{}" in way.replace("{0}", "{}") and "0" in way else starts(text))
    )
    if "00:00" in way:
        assert starts(text) == timed


def test_a_bare_name_above_the_text_is_a_speaker_only_if_named() -> None:
    text = written("{1}\n{2}", TALK)
    assert read(text) == [("", text)]
    assert read(text, "Anna", "Bob") == TALK
    spoken = written("{1}: {2}", [("Anna", "Who?"), ("Bob", "It was\nAnna\nas I said."), ("Anna", "Me?")])
    assert read(spoken, "Anna", "Bob")[1] == ("Bob", "It was\nAnna\nas I said.")


def test_a_named_speaker_before_a_tab_needs_only_one_line() -> None:
    assert read("so\nAnna\tit goes\nand on\nand on\nand on", "Anna") == [
        ("", "so"),
        ("Anna", "it goes\nand on\nand on\nand on"),
    ]


@pytest.mark.parametrize(
    "said",
    ["10:30 Meeting\nwith the team", "10:30 was lunch\nand on\n11:30 was lunch", "**Results**\nare good", "so\tit goes",
     "Model\t0.93\nand on\nand on\nModel\t0.94\nand on\nand on\nand on",
     "00:05:00\nwas the time", "12:30", "> quoted\n> words", "#12 and #00:05", "[10:30 --> 11:30 was the window"],
)  # fmt: skip
def test_a_line_that_only_resembles_a_speaker_label_is_speech(said: str) -> None:
    talk = [("Interviewer", "So?"), ("Guest", f"Well,\n{said}"), ("Interviewer", "And?"), ("Guest", "No.")]
    for way in ("{1}: {2}", "**{1}:** {2}", "{1}  0:0{0}\n{2}"):
        assert read(written(way, talk)) == talk
    assert read(f"so it goes\n{said}") == [("", f"so it goes\n{said}")]


@pytest.mark.parametrize("first", [0, 1])
def test_table_rows_with_numbers_or_times_give_speakers(first: int) -> None:
    numbered = [(str(place + first), who, words) for place, (who, words) in enumerate(TALK)]
    assert read(document(table(*numbered))) == TALK
    timed = [(f"00:00:0{place}.000 --> 00:00:0{place + 1}.000", who, words) for place, (who, words) in enumerate(TALK)]
    assert read(document(table(*timed))) == TALK
    assert starts(document(table(*timed))) == [0, 1, 2, 3]
    both = [(str(place + first), f"0:0{place}", who, words) for place, (who, words) in enumerate(TALK)]
    assert (read(document(table(*both))), starts(document(table(*both)))) == (TALK, [0, 1, 2, 3])
    said = [("7", "Anna", "so"), ("3", "Bob", "it")]
    assert [text for _, text in read(document(table(*said)))] != ["so", "it"], "numbers that do not run are words"


def test_whisper_times_are_read() -> None:
    assert read("[00:00.000 --> 00:02.000]  Hello") == [("", "Hello")]
    lines = [
        "[00:00.000 --> 00:02.000]  Hello",
        "[59:58.000 --> 01:00:01.000]  so",
        "[01:00:01.000 --> 01:00:02.500]  on",
    ]
    (turn,) = read_transcript("\n".join(lines).encode(), "talk").turns
    assert (turn.text, turn.start, turn.end) == ("Hello\nso\non", 0, 3602.5)
    assert [cue.start for cue in turn.cues] == [0, 3598, 3601]


def test_google_meet_times_between_turns_are_read() -> None:
    text = (
        "Transcript\n\nAnna: So?\nBob: Yes.\n\n00:05:00\n\nAnna: And?\nBob: No.\n\n00:10:00\n\nAnna: Well.\nBob: Bye."
    )
    found = read_transcript(text.encode(), "talk").turns
    assert [turn.text for turn in found] == ["Transcript", "So?", "Yes.", "And?", "No.", "Well.", "Bye."]
    assert [turn.start for turn in found] == [None, None, None, 300, None, 600, None]


def test_f4_time_marks_are_read_anywhere() -> None:
    text = "I: How are#00:00:02-5# you? #00:00:04-2#\n\nB: Fine #00:00:06-0#, so far.\n"
    text += "And on. #00:00:09-9#\n#00:00:10#\nI: Ok."
    assert read(text) == [("I", "How are you?"), ("B", "Fine, so far.\nAnd on."), ("I", "Ok.")]
    assert starts(text) == [None, 4.2, 10]
    cells = document(table(("I", "#00:00:02-5# So?"), ("B", "Yes #00:00:03-0# so.")))
    assert read(cells) == [("I", "So?"), ("B", "Yes so.")]
    assert starts(cells) == [2.5, None]
