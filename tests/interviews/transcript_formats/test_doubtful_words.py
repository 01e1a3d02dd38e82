"""Spoken words that look like times, tags, numbers, headers or speakers are kept."""

from __future__ import annotations

import pytest
from tests.support.transcript_writers import clock, document

from quaestor.interviews.transcript_formats import read_transcript

CUE = "00:00:{0:02d}.000 --> 00:00:{1:02d}.000"


def read(data: str | bytes, format: str = "") -> list[tuple[str, str]]:
    transcript = read_transcript(data.encode() if isinstance(data, str) else data, "talk", format)
    return [(turn.speaker, turn.text) for turn in transcript.turns]


def webvtt(*cues: str) -> str:
    timed = (f"{CUE.format(4 * place, 4 * place + 3)}\n{words}" for place, words in enumerate(cues))
    return "WEBVTT\n\n" + "\n\n".join(timed) + "\n"


def cells(*rows: tuple[str, ...]) -> bytes:
    def row(words: tuple[str, ...]) -> str:
        return "".join(f"<w:tc><w:p><w:r><w:t>{one}</w:t></w:r></w:p></w:tc>" for one in words)

    return document("<w:tbl>" + "".join(f"<w:tr>{row(one)}</w:tr>" for one in rows) + "</w:tbl>")


def test_a_voice_tag_without_a_name_is_text() -> None:
    said = webvtt("Moderator: What do you use?", "Guest A: I use vector<v> there", "Guest A: and map<v int> too")
    assert read(said) == [
        ("Moderator", "What do you use?"), ("Guest A", "I use vector<v> there and map<v int> too"),
    ]  # fmt: skip


def test_a_cue_without_a_voice_continues_the_previous_speaker() -> None:
    said = webvtt("<v Moderator>Why?</v>", "<v Guest A>Because", "of the <v> tag", "<v Moderator>I see.</v>", "Go on.")
    assert read(said) == [("Moderator", "Why?"), ("Guest A", "Because of the <v> tag"), ("Moderator", "I see. Go on.")]


def test_voices_can_be_named_only_where_they_change() -> None:
    said = webvtt("<v Moderator>Why?", "And how?", "Tell me.", "<v Guest A>Because", "it is", "so.")
    assert read(said) == [("Moderator", "Why? And how? Tell me."), ("Guest A", "Because it is so.")]


@pytest.mark.parametrize(
    "line", ["10:30 --> 11:30", "10:30 --> 11:30 was the outage window", "[12:30] was lunch", "(10:45) maybe"]
)
@pytest.mark.parametrize("stamp", ["", "[0:0{}] ", "[00:00:0{}] "])
def test_a_spoken_time_is_text_and_does_not_start_a_turn(line: str, stamp: str) -> None:
    names = ("Interviewer", "Participant", "Interviewer")
    turns = [f"{stamp.format(place + 1)}{name}: so it goes" for place, name in enumerate(names)]
    transcript = read_transcript("\n".join([*turns[:2], line, "and on", turns[2]]).encode(), "talk")
    assert [turn.text for turn in transcript.turns] == ["so it goes", f"so it goes\n{line}\nand on", "so it goes"]
    assert [turn.start for turn in transcript.turns] == ([1, 2, 3] if stamp else [None] * 3)
    assert transcript.turns[1].cues == ()


def test_time_lines_throughout_a_file_are_times_and_single_ones_are_text() -> None:
    cues = [f"{CUE.format(4 * place, 4 * place + 3)}\nso it goes" for place in range(3)]
    transcript = read_transcript("\n\n".join(cues).encode(), "talk")
    assert [(turn.start, turn.text) for turn in transcript.turns] == [(0, "so it goes\nso it goes\nso it goes")]
    back = "\n".join(reversed(cues))
    assert read(back) == [("", back)]
    windows = "From\n10:30 --> 11:30\non Monday, and again\n11:30 --> 12:30\nif I am right,\nas far as I know."
    rest = "Interviewer: And then?\nGuest: Nothing.\nInterviewer: Thanks.\nGuest: Bye."
    assert read(f"Interviewer: When?\nGuest: {windows}\n{rest}")[1] == ("Guest", windows)
    said = [f"this is cue {place}" + "\nand on" * 9 for place in range(3)]
    long = "\n".join(f"{CUE.format(4 * place, 4 * place + 3)}\n{words}" for place, words in enumerate(said))
    assert read(long) == [("", "\n".join(said))], "a file that begins with a time"


def test_time_stamps_throughout_a_file_are_times() -> None:
    found = read_transcript(b"[00:01] so\n[00:05] it goes\n[00:09] on", "talk")
    assert [(turn.text, [cue.start for cue in turn.cues]) for turn in found.turns] == [("so\nit goes\non", [1, 5, 9])]
    assert read("[00:05] so\n[00:01] it goes\n[00:09] on") == [("", "[00:05] so\n[00:01] it goes\n[00:09] on")]


@pytest.mark.parametrize("words", ["&notanentity; &copyleft;", "10:30 --> 11:30 was the window", "R&D; &x;"])
def test_words_of_a_cue_that_resemble_markup_are_kept(words: str) -> None:
    assert read(webvtt("Guest A: so", f"Guest A: {words}")) == [("Guest A", f"so {words}")]


def test_cue_settings_are_not_text() -> None:
    settings = "align:start position:10%,line-left line:0 size:80%"
    assert read(f"WEBVTT\n\n00:01.000 --> 00:02.000 {settings}\nso") == [("", "so")]
    assert read("1\n00:00:01,000 --> 00:00:02,000  X1:40 X2:600 Y1:20 Y2:50\nso") == [("", "so")]


def test_a_paragraph_inside_a_cue_that_begins_like_a_note_is_speech() -> None:
    transcript = read_transcript(webvtt("<v Guest A>I would\n\nNOTE that down\n\nSTYLE matters").encode(), "talk")
    assert [turn.text for turn in transcript.turns] == ["I would NOTE that down STYLE matters"]
    kept = read_transcript(
        webvtt("<v Guest A>I would.</v>\n\nNOTE checked twice", "<v Guest A>So.</v>").encode(), "talk"
    )
    assert [turn.text for turn in kept.turns] == ["I would. So."]
    assert kept.left_out[-1] == "NOTE checked twice"


def test_only_the_first_row_of_a_table_is_its_header() -> None:
    rows = ("Speaker", "Text"), ("Guest A", "We press"), ("start",), ("Guest B", "Name"), ("Name", "Text")
    assert read(cells(*rows)) == [("Guest A", "We press\nstart"), ("Guest B", "Name"), ("Name", "Text")]
    assert read(cells(("start",), ("Guest A", "so"))) == [("", "start"), ("Guest A", "so")]


def test_equations_are_read_and_footnotes_are_reported() -> None:
    loss = "<m:oMath><m:r><m:t>x=1</m:t></m:r></m:oMath>"
    body = f'<w:p><w:r><w:t xml:space="preserve">Guest A: loss </w:t></w:r>{loss}<w:r><w:t> ok</w:t></w:r></w:p>'
    note = "<w:footnote><w:p><w:r><w:t>{0}</w:t></w:r></w:p></w:footnote>"
    parts = {"word/footnotes.xml": note.format("") + note.format("checked"), "word/endnotes.xml": note.format("twice")}
    transcript = read_transcript(document(body, beside=parts), "talk")
    assert [turn.text for turn in transcript.turns] == ["loss x=1 ok"]
    assert transcript.left_out == ("Footnote: checked", "Endnote: twice")


def test_teams_status_lines_are_left_out_only_above_and_below_the_talk() -> None:
    said = "Then my manager stopped transcription"
    lines = [
        "Quell Zanthor started transcription",
        "Guest A   0:03",
        said,
        "Guest B   0:09",
        "Guest A stopped transcription",
    ]
    lines += ["Guest A   0:12", "Bye", "Guest A stopped transcription"]
    found = read_transcript(document("".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in lines)), "talk")
    assert [turn.text for turn in found.turns] == [said, "Guest A stopped transcription", "Bye"]
    assert found.left_out == (lines[0], lines[-1])


def test_text_above_the_first_cue_is_reported_and_the_format_mark_is_not() -> None:
    cue = "1\n00:00:01,000 --> 00:00:02,000\nso\n\n2\n00:00:03,000 --> 00:00:04,000\nit goes\n"
    for above in ("A talk", "\n\n".join(f"About it {number}" for number in range(48))):
        transcript = read_transcript(f"{above}\n\n{cue}".encode(), "talk")
        assert (transcript.format, [turn.text for turn in transcript.turns]) == ("srt", ["so it goes"])
        assert transcript.left_out == tuple(above.split("\n\n"))
    named = webvtt("so", "it goes").replace(CUE.format(0, 3), f"The beginning of it\n{CUE.format(0, 3)}")
    named = named.replace(CUE.format(4, 7), f"The rest\n{CUE.format(4, 7)}")
    transcript = read_transcript(named.encode(), "talk")
    assert ([turn.text for turn in transcript.turns], transcript.left_out) == (
        ["so it goes"],
        ("The beginning of it", "The rest"),
    )
    assert read_transcript(webvtt("so").encode(), "talk").left_out == ()


def test_a_note_with_metadata_is_left_out_anywhere() -> None:
    found = read_transcript(webvtt("so\n\nNOTE Confidence: 0.9", "it goes").encode(), "talk")
    assert ([turn.text for turn in found.turns], found.left_out) == (["so it goes"], ("NOTE Confidence: 0.9",))


def test_symbol_characters_of_a_document_are_read() -> None:
    def symbol(font: str, char: str) -> str:
        return f'<w:sym w:font="{font}" w:char="{char}"/>'

    signs = symbol("Symbol", "F061") + symbol("Symbol", "F0A3") + symbol("Wingdings", "F04A") + symbol("Arial", "2192")
    body = f"<w:p><w:r><w:t>Guest A: so </w:t>{signs}{symbol('Symbol', 'none')}<w:t> it</w:t></w:r></w:p>"
    assert read(document(body)) == [("Guest A", "so α≤☺→ it")]


def test_cue_numbers_are_not_text_and_spoken_numbers_are() -> None:
    times = [f"{clock(4 * place, ',')} --> {clock(4 * place + 3, ',')}" for place in range(3)]
    close = "\n".join(f"{place + 1}\n{time}\nso {place}\n42" for place, time in enumerate(times))
    assert read(close) == [("", "so 0 42 so 1 42 so 2 42")]
    bare = "\n\n".join(f"{time}\n{place + 7}" for place, time in enumerate(times))
    assert read(bare) == [("", "7 8 9")]


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_compared_tools_in_a_turn_are_not_speakers(between: str) -> None:
    compared = "I tried them.\nPyTorch: good\nKeras: ok\nPyTorch: bad"
    talk = ("Interviewer: Which?", f"Participant: {compared}", "Interviewer: So?", "Participant: None.")
    assert read(between.join(talk)) == [
        ("Interviewer", "Which?"), ("Participant", compared), ("Interviewer", "So?"), ("Participant", "None."),
    ]  # fmt: skip


def test_a_third_person_labelled_like_the_others_is_a_speaker() -> None:
    talk = [("Interviewer", "Which?"), ("Participant", "None."), ("Trin", "Some."), ("Interviewer", "So?")]
    assert read("\n\n".join(f"{who}: {words}" for who, words in talk)) == talk


PAIR = [("Interviewer", "Which?"), ("Trin", "Some."), ("Interviewer", "And?"), ("Trin", "More.")]


def written(talk: list[tuple[str, str]], mark: str = "", between: str = "\n") -> str:
    return between.join(f"{mark.format(place + 1)}{who}: {words}" for place, (who, words) in enumerate(talk))


@pytest.mark.parametrize("mark", ["- ", "* ", "• ", "– ", "{}. ", "{}) "])
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_list_items_in_a_turn_are_not_speakers_unless_all_turns_are_list_items(mark: str, between: str) -> None:
    items = written([("Speed", "very much"), ("Random Forest", "not at all"), ("Speed", "again")], mark)
    talk = [*PAIR, ("Interviewer", "What matters?"), ("Trin", f"These.\n{items}\nThat is all."), ("Interviewer", "Ok.")]
    assert read(written(talk, between=between)) == talk
    assert read(written(PAIR, mark, between)) == PAIR
    named = read_transcript(written(PAIR, mark, between).encode(), "talk", named=["Trin", "Interviewer"])
    assert [turn.speaker for turn in named.turns] == [who for who, _ in PAIR]


def test_a_list_in_a_text_without_speakers_is_speech() -> None:
    items = written([("Speed", "much"), ("Cost", "no"), ("Speed", "again")], "{}. ")
    said = f"We weigh two things.\nThey are these.\nIn this order:\n{items}\nSo it is.\nThat is all.\nThank you."
    assert read(said) == [("", said)]


def test_repeated_words_before_a_colon_do_not_hide_speakers() -> None:
    quoted = "So.\nhe said: never\nand I said: yes\nhe said: well\nI went on"
    talk = [("Quell", "So?"), ("Trin", quoted), ("Zanthor", "Me too."), ("Quell", "And?"), ("Trin", f"{quoted}\nso")]
    assert read(written(talk)) == talk


def test_a_list_mark_can_be_part_of_a_named_speaker() -> None:
    found = read_transcript(b"Interviewer: So?\n- Trin: Yes.\n- Speed: much", "talk", named=["Interviewer", "- Trin"])
    assert [(turn.speaker, turn.text) for turn in found.turns] == [
        ("Interviewer", "So?"), ("- Trin", "Yes.\n- Speed: much"),
    ]  # fmt: skip


@pytest.mark.parametrize("names", [("Interviewer", "Trin"), ("Quell", "Trin"), ("Zanthor Quell", "Obviax Trin")])
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_a_label_used_once_or_inside_one_turn_is_not_a_speaker(names: tuple[str, str], between: str) -> None:
    one, other = names
    compared = "I use two.\nPyTorch: good for research.\nKeras: simple.\nPyTorch: also large.\nThat is all."
    talk = [(one, "Which?"), (other, "Some."), (one, "And?"), (other, compared), (one, "So?"), (other, "Keras: no.")]
    assert read(written([*talk, (one, "Why?"), (other, "So.")], between=between))[:6] == talk


@pytest.mark.parametrize(
    "label", ["Zanthor Quell", "Dr. Quell", "Quell (she/her)", "Speaker 3", "P2", "+49 170 ***1234"]
)
def test_a_label_that_only_people_have_is_a_speaker_even_once(label: str) -> None:
    talk = [*PAIR, (label, "May I?"), *PAIR]
    assert read(written(talk)) == talk


def test_a_label_in_several_places_or_before_the_others_is_a_speaker() -> None:
    talk = [("Quell", "Welcome."), *PAIR, ("Zanthor", "Me too."), *PAIR, ("Zanthor", "Yes.")]
    assert read(written(talk)) == talk
    once = [*PAIR, ("Zanthor", "Me too."), *PAIR]
    assert read(written(once, between="\n\n")) == once
    transcript = read_transcript(written(once).encode(), "talk", named=["Interviewer", "Trin", "Zanthor"])
    assert [(turn.speaker, turn.text) for turn in transcript.turns] == once


@pytest.mark.parametrize("said", ["<I>ANNA: Hello</I>", '<FONT COLOR="#fff">ANNA: Hello</FONT>', "<i>ANNA: Hello</I>"])
def test_tags_in_capitals_are_not_text(said: str) -> None:
    cues = "\n\n".join(f"{place + 1}\n{clock(place, ',')} --> {clock(place + 1, ',')}\n{said}" for place in range(2))
    assert read(cues) == [("ANNA", "Hello Hello")]


def test_a_nested_voice_returns_to_the_outer_one() -> None:
    cues = webvtt("<v Bob>Will you <v Anna>yes</v> come back?", "Soon?", "<v Anna>Yes.</v> <v Bob>Good.</v>")
    assert read(cues) == [
        ("Bob", "Will you"), ("Anna", "yes"), ("Bob", "come back? Soon?"), ("Anna", "Yes."), ("Bob", "Good."),
    ]  # fmt: skip
