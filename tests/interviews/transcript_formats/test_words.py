"""Every format keeps all words with their speakers and adds none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.transcript_writers import WRITERS, Said, times

from quaestor.interviews.transcript_formats import read_transcript
from quaestor.interviews.transcript_formats.records import ReadTranscript
from quaestor.interviews.transcript_formats.text_decoding import split_lines

WORDS = (
    "so", "the", "model:", "loss", "12:30", "00:01:02", "[laughs]", "(..)", "Note:", "3.14", "a<b", "x & y", "AT&T",
    "&amp;", "<i>", "naïve", "🙂", "👩‍💻", "שלום", "مرحبا", "模型", "e\u0301", "don't", "https://example.org/a:b",
    "Interviewer:", "→", "-->", "'quoted'", "\u200fRTL\u200e", "TensorFlow:", "#1", "*", "1", "42", "“so”", "—",
    "\u2028", "{x}", "<v>", "vector<v>", "&notanentity;", "NOTE", "STYLE", "[12:30]", "(10:45)", "PyTorch:", "start",
)  # fmt: skip
NAMES = (
    "Interviewer", "Participant", "Speaker 1", "Speaker 2", "Guest A", "Guest A (External)", "Moderator", "S00", "S01",
    "user42", "P7", "参加者 2", "משתתף", "Guest-3", "Person of interest", "Obviax Trin (he/him)", "Prof. Obviax Trin",
    "Trin, Obviax [EXT]", "Obviax Trin - Initech / R&D", "Speaker 3 (she/her) [EXT]", "Dr. Quell, they/them",
)  # fmt: skip

said = st.lists(st.sampled_from(WORDS) | st.text("abc:äß😀", min_size=1, max_size=6), min_size=1, max_size=12)
talks = st.lists(
    st.tuples(st.sampled_from(NAMES), said.map(" ".join).map(str.strip).filter(bool)), min_size=1, max_size=14
)


def spoken(pairs: Sequence[Said]) -> list[tuple[str, list[str]]]:
    """The words of each who speaks until somebody else does."""
    return [
        (who, [word for _, words in turns for word in words.split()])
        for who, turns in groupby(pairs, key=lambda one: one[0])
    ]


def read(found: ReadTranscript) -> list[tuple[str, list[str]]]:
    return spoken([(turn.speaker, turn.text) for turn in found.turns])


@pytest.mark.parametrize("way", WRITERS)
@settings(max_examples=40, deadline=None)
@given(talk=talks)
def test_every_format_returns_the_words_and_their_speakers(way: str, talk: list[Said]) -> None:
    assert read(read_transcript(WRITERS[way](talk), "talk")) == spoken(talk)


CUE_NAMES = {
    "none": lambda place: "",
    "numbers": lambda place: f"{place + 1}\n",
    "from-0": lambda place: f"{place}\n",
    "made": lambda place: f"7c0e-{place}/{place * 3}-{place % 2}\n",
}
lines = st.sampled_from(["so", "lost words here", "12", "2", "how many", "layers 3", "a-1", "1"])
paragraphs = st.lists(st.lists(lines, min_size=1, max_size=3), min_size=1, max_size=3)


@pytest.mark.parametrize("naming", CUE_NAMES)
@settings(max_examples=60, deadline=None)
@given(cues=st.lists(paragraphs, min_size=1, max_size=6), close=st.booleans())
def test_only_numbers_and_names_of_cues_are_left_out(naming: str, cues: list[list[list[str]]], close: bool) -> None:
    """A cue may contain empty lines, and cues need no separator."""
    name, between = CUE_NAMES[naming], "" if close else "\n"
    written = (
        f"{name(place)}{times(place)}\n" + "\n\n".join("\n".join(lines) for lines in said)
        for place, said in enumerate(cues)
    )
    transcript = read_transcript(f"WEBVTT\n\n{f'{chr(10)}{between}'.join(written)}\n".encode(), "talk")
    words = [word for cue in cues for lines in cue for line in lines for word in line.split()]
    assert [word for turn in transcript.turns for word in turn.text.split()] == words
    assert transcript.left_out == ()


HEADS = (
    "00:00:{0:02d} {1}\n{2}", "[00:00:{0:02d}] {1}\n\n{2}", "**{1}**\n{2}", "{1}\n{2}", "{1}\t{2}",
    "[00:00:{0:02d}] **{1}:** {2}", "> **{1}:** {2}", "#00:00:{0:02d}-0# {1}: {2}", "00:00:{0:02d}\n{1}\n{2}",
)  # fmt: skip


@pytest.mark.parametrize("way", HEADS)
@settings(max_examples=60, deadline=None)
@given(talk=talks)
def test_speakers_named_without_a_colon_keep_their_words(way: str, talk: list[Said]) -> None:
    """A speaker name at the start of a line would start a turn, so each turn begins with another word."""
    talk = [(who, f"well {words}") for who, words in talk]
    text = "\n\n".join(way.format(place, who, words) for place, (who, words) in enumerate(talk))
    assert read(read_transcript(text.encode(), "talk", named=sorted(dict(talk)))) == spoken(talk)


@settings(max_examples=30, deadline=None)
@given(
    talk=talks,
    ending=st.sampled_from(["\n", "\r\n", "\r"]),
    way=st.sampled_from(["subrip", "markdown", "teams-webvtt"]),
)
def test_line_endings_do_not_change_turns(way: str, talk: list[Said], ending: str) -> None:
    written = WRITERS[way](talk).decode()
    assert (
        read_transcript(ending.join(split_lines(written)).encode(), "talk").turns
        == read_transcript(written.encode(), "talk").turns
    )


@pytest.mark.parametrize("way", ["headed-text", "teams-document", "table-document", "teams-webvtt"])
def test_quoting_a_speaker_by_name_does_not_change_the_speaker(way: str) -> None:
    talk = [("Interviewer", "Why?"), ("Guest A", "Interviewer: that is you."), ("Interviewer", "Guest A: you, then.")]
    assert read(read_transcript(WRITERS[way](talk), "talk")) == spoken(talk)


@settings(max_examples=30, deadline=None)
@given(talk=talks, way=st.sampled_from(["teams-webvtt", "zoom-webvtt", "subrip"]))
def test_cue_times_stay_at_the_positions_of_their_words(way: str, talk: list[Said]) -> None:
    transcript = read_transcript(WRITERS[way](talk), "talk")
    starts: list[float] = []
    for turn in transcript.turns:
        assert (turn.start, turn.end) == (min([turn.start or 0, *(cue.start for cue in turn.cues)]), turn.end)
        starts += [cue.start for cue in turn.cues] or [turn.start or 0]
        for cue in turn.cues:
            begins = next(words for place, (_, words) in enumerate(talk) if place * 4 == cue.start)
            assert turn.text[cue.place :].startswith(begins.split()[0])
    assert starts == [place * 4.0 for place in range(len(talk))]
