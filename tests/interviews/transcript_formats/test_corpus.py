"""Synthetic conversations as recording programs write them: the words, the speakers, the times."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from tests.support.paths import DOCS, TESTS
from tests.support.transcript_files import read_transcript

from quaestor.interviews.model.question_matching import ENOUGH
from quaestor.interviews.transcript_formats import ENCODINGS, FORMATS, LARGEST
from quaestor.interviews.transcript_formats.detect import LONGEST_TURN, MOST
from quaestor.interviews.transcript_formats.docx_package import DEEPEST, MOST_ELEMENTS, MOST_LETTERS
from quaestor.interviews.transcript_formats.text_decoding import MOST_LINES

FOLDER = TESTS / "data" / "transcripts"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text("utf-8"))["files"]


def test_every_file_of_the_corpus_has_an_expected_transcript() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*EXPECTED, "expected.json"}
    assert len(EXPECTED) >= 20


@pytest.mark.parametrize("name", EXPECTED)
def test_no_word_is_added_or_lost(name: str) -> None:
    expected = EXPECTED[name]
    transcript = read_transcript(FOLDER / name, encoding=expected.get("encoding", ""))
    words = [word for turn in transcript.turns for word in turn.text.split()]
    assert words == [word for _, said in expected["turns"] for word in said.split()]
    assert transcript.format == expected["format"]
    assert transcript.encoding == expected.get("encoding_told", "UTF-8")
    if "starts" in expected:
        assert [turn.start for turn in transcript.turns] == expected["starts"]


def test_speakers_are_right_for_at_least_99_percent_of_words() -> None:
    right: Counter[bool] = Counter()
    for name, expected in EXPECTED.items():
        read = read_transcript(FOLDER / name, encoding=expected.get("encoding", ""))
        found = [turn.speaker for turn in read.turns for _ in turn.text.split()]
        wanted = [speaker for speaker, said in expected["turns"] for _ in said.split()]
        right.update(one == two for one, two in zip(found, wanted, strict=True))
    assert right[True] >= 0.99 * right.total(), right


def test_notes_styles_and_headers_are_separated_from_speech() -> None:
    transcript = read_transcript(FOLDER / "teams_notes_styles_regions.vtt")
    assert [one.partition("\n")[0] for one in transcript.left_out] == [
        "WEBVTT - a synthetic talk", 'NOTE duration:"00:01:10.0000000"', "STYLE", "REGION", "NOTE",
    ]  # fmt: skip
    assert read_transcript(FOLDER / "table.docx").left_out == ("Time | Speaker | Text",)
    assert len(read_transcript(FOLDER / "teams.docx").left_out) == 2


def test_speakers_can_be_named_explicitly() -> None:
    transcript = read_transcript(FOLDER / "plain.txt", named=["Interviewer", "Participant", "First", "Second"])
    assert [turn.speaker for turn in transcript.turns][:4] == ["Interviewer", "Participant", "First", "Second"]


def test_the_reference_lists_formats_and_limits() -> None:
    page = (DOCS / "reference" / "transcripts.md").read_text("utf-8")
    for name in FORMATS:
        assert f"`{name}`" in page, name
    assert f"After {LONGEST_TURN} words" in page
    assert f"A score of {ENOUGH} " in page
    assert f"up to {LARGEST // 1_000_000} MB, {MOST_LINES:,} lines and\n{MOST:,} turns" in page
    assert f"{MOST_LETTERS:,} letters and {MOST_ELEMENTS:,} elements, at most {DEEPEST} within" in page
    for name in ENCODINGS:
        assert f"`{name}`" in page, name
