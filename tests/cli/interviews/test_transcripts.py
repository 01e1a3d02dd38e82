"""`quaestor interview import`, `transcript`, `speakers` and `match`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import in_this_process
from tests.support.small_interviews import a_study, with_interview
from tests.support.transcript_writers import teams_webvtt, zoom_webvtt

from quaestor.base.errors import QuaestorError
from quaestor.interviews.repository import open_interviews

TALK = [
    ("Zanthor Quell", "Thanks. Which stages does your work have?"),
    ("Obviax Trin", "First the data [sic], then the model; it takes days, believe me."),
    ("Zanthor Quell", "And when do you call a model illegal?"),
    ("Obviax Trin", "When shapes do not match: then nothing runs at all."),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    study = a_study(tmp_path / "study")
    with open_interviews(study) as interviews:
        with_interview(interviews)
    (tmp_path / "talk.vtt").write_bytes(teams_webvtt(TALK))
    (tmp_path / "other.vtt").write_bytes(zoom_webvtt(TALK[:2]))
    return study.root


def run(folder: Path, *words: str | Path) -> str:
    """Returns the output of `quaestor interview WORDS`."""
    done = in_this_process("interview", *words, "--study", folder)
    assert done.exit_code == 0, done.output
    return done.output


def run_json(folder: Path, *words: str | Path) -> Any:
    return json.loads(run(folder, *words, "--json"))


def refusal(folder: Path, *words: str | Path) -> str:
    """Returns the message of a refused call."""
    done = in_this_process("interview", *words, "--study", folder)
    assert isinstance(done.exception, QuaestorError), done.output
    return str(done.exception)


def test_a_transcript_is_imported_printed_and_corrected(folder: Path) -> None:
    file = folder.parent / "talk.vtt"
    done = run_json(folder, "import", "P1", file)
    assert (done["format"], done["turns"], done["asked"], done["new"]) == ("webvtt", 4, 2, True)
    assert not run_json(folder, "import", "P1", file)["new"]
    turns = run_json(folder, "transcript", "P1")["turns"]
    assert [turn["text"] for turn in turns] == [words for _, words in TALK]
    assert [turn["question"] for turn in turns] == ["stages", "stages", "illegal", "illegal"]
    assert [turn["voice"] for turn in turns] == ["interviewer", "participant"] * 2
    changed = run_json(folder, "speakers", "P1", "--set", "2=interviewer", "--set", "turn:0=other")["speakers"]
    assert [(speaker["speaker"], speaker["voice"], speaker["how"]) for speaker in changed] == [
        ("Voice 1", "interviewer", "proposed"), ("Voice 2", "interviewer", "by hand"),
    ]  # fmt: skip
    matches = run_json(folder, "match", "P1", "--set", "1=factors", "--set", "2=")
    assert matches == {
        "interview": "P1",
        "asked": [{"turn": 1, "question": "factors", "how": "by hand"}],
        "missing": ["stages", "illegal"],
    }


def test_times_within_a_turn_are_kept_with_their_positions(folder: Path) -> None:
    file = folder.parent / "cues.vtt"
    cues = [("00:01", "00:03", "First I look"), ("00:03", "00:05", "at the data,"), ("00:06", "00:09", "then I train.")]
    shown = [f"00:{begin}.000 --> 00:{end}.000\n<v Guest>{words}</v>\n" for begin, end, words in cues]
    file.write_text("WEBVTT\n\n" + "\n".join(shown), "utf-8")
    run_json(folder, "import", "P1", file)
    (turn,) = run_json(folder, "transcript", "P1")["turns"]
    assert (turn["start"], turn["end"]) == (1, 9)
    cues_by_word = [(turn["text"][cue["at"] :].split()[0], cue["start"], cue["end"]) for cue in turn["cues"]]
    assert cues_by_word == [("First", 1, 3), ("at", 3, 5), ("then", 6, 9)]
    run_json(folder, "import", "P1", file, "--replace", "--apart")
    run_json(folder, "speakers", "P1", "--set", "turn:1=other")
    turns = run_json(folder, "transcript", "P1")["turns"]
    assert [cue["text"] for cue in turns] == [words for _, _, words in cues], "each can be corrected alone"
    assert [cue["voice"] for cue in turns].count("other") == 1


def test_the_printed_output_describes_the_import_without_names(folder: Path) -> None:
    done = run(folder, "import", "P1", folder.parent / "talk.vtt")
    assert "words in 4 turns from webvtt, UTF-8" in done
    assert "2 of 3 questions of the guide found" in done
    printed = run(folder, "transcript", "P1")
    assert "stages · Which stages does your work have?" in printed
    assert "First the data [sic], then the model" in printed
    listed = run(folder, "speakers", "P1")
    assert "Voice 2" in listed
    for words in (done, printed, listed, run(folder, "match", "P1")):
        assert "Obviax" not in words
    assert "Obviax Trin" in run(folder, "speakers", "P1", "--original-names")


def test_left_out_notes_and_a_wrong_encoding_are_reported(folder: Path) -> None:
    file = folder.parent / "noted.vtt"
    file.write_bytes((folder.parent / "talk.vtt").read_bytes().replace(b"WEBVTT", b"WEBVTT\n\nNOTE by Obviax Trin", 1))
    done = run(folder, "import", "P1", file)
    assert "1 note or header outside the conversation left out:\n  NOTE by P1" in done
    again = run_json(folder, "import", "P1", file)
    assert (again["left_out"], again["beside"], again["doubtful"]) == (1, ["NOTE by P1"], False)
    odd = folder.parent / "odd.txt"
    odd.write_bytes("Interviewer: Как дела?\n\nGuest: Хорошо, спасибо.".encode("cp1251"))
    assert "The text may be garbled" in run(folder, "import", "P1", odd, "--replace")
    corrected = run(folder, "import", "P1", odd, "--replace", "--encoding", "windows-1251")
    assert "turns from text, Windows-1251" in corrected
    assert "garbled" not in corrected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["import", "P1", "talk.vtt", "--encoding", "utf-9"], "choose from: UTF-8"),
        (["import", "P1", "talk.vtt", "--speaker", "Nobody"], "there is no speaker 'Nobody' in talk.vtt"),
        (["import", "P9", "talk.vtt"], "no interview 'P9'"),
        (["import", "P1", "none.vtt"], "is not a file"),
        (["import", "P1", "talk.vtt", "--format", "pdf"], "choose from: webvtt, srt, docx or text"),
        (["transcript", "P1"], "has no transcript yet"),
        (["speakers", "P1", "--set", "wrong"], "SPEAKER=VOICE"),
        (["match", "P1", "--set", "two=stages"], "is not a turn number"),
    ],
)
def test_wrong_calls_are_refused_with_one_sentence(folder: Path, words: list[str], expected: str) -> None:
    arguments = [folder.parent / word if word.endswith(".vtt") else word for word in words]
    assert expected in refusal(folder, *arguments)


def test_replacing_a_transcript_needs_an_option_and_names_are_only_for_the_lead(folder: Path) -> None:
    run(folder, "import", "P1", folder.parent / "talk.vtt")
    other = ("import", "P1", folder.parent / "other.vtt")
    assert "--replace" in refusal(folder, *other)
    assert "2 turns" in run(folder, *other, "--replace")
    assert "not the lead" in refusal(folder, "transcript", "P1", "--original-names", "--as", "rater-1")
    assert "not the lead" in refusal(folder, "speakers", "P1", "--original-names", "--as", "rater-1")
