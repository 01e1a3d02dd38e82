"""Detects the format of a transcript file and reads it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice, pairwise

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or, suggest
from quaestor.interviews.transcript_formats.docx import read_document_lines
from quaestor.interviews.transcript_formats.plain_text import find_openings, read_utterances
from quaestor.interviews.transcript_formats.records import CuePlace, ReadTranscript, RecordedTurn, Utterance
from quaestor.interviews.transcript_formats.subtitles import read_subrip, read_webvtt
from quaestor.interviews.transcript_formats.text_decoding import (
    FALLBACK,
    decode_text,
    is_misread,
    require_few_lines,
    split_lines,
)
from quaestor.interviews.transcript_formats.timestamps import parse_timing

LONGEST_TURN = 400
"""From this number of words on, the next cue or paragraph begins a new turn, because raters code turns."""
MOST = 100_000


def build_turns(
    utterances: Iterable[Utterance], joint: str, where: str, *, apart: bool = False
) -> tuple[RecordedTurn, ...]:
    """Joins utterances of a speaker into turns with a space or line break; `apart` makes each one a turn."""
    longest = 0 if apart else LONGEST_TURN
    readers = [
        _build_turn(group, joint)
        for group in _group_by_speaker((utterance for utterance in utterances if utterance.text), longest)
    ]
    if not readers:
        raise InputError(f"{where} contains no speech: check that it is a transcript")
    if len(readers) > MOST:
        raise InputError(f"{where} has {len(readers):,} turns, over {MOST:,}: check that it is one transcript")
    return tuple(readers)


def _group_by_speaker(utterances: Iterable[Utterance], longest: int) -> Iterator[list[Utterance]]:
    group: list[Utterance] = []
    words = 0
    for utterance in utterances:
        if group and (utterance.speaker != group[-1].speaker or words >= longest):
            yield group
            group, words = [], 0
        group.append(utterance)
        words += len(utterance.text.split())
    if group:
        yield group


def _build_turn(group: Sequence[Utterance], joint: str) -> RecordedTurn:
    cues, place = [], 0
    for turn in group:
        if turn.start is not None:
            cues.append(CuePlace(place, turn.start, turn.end))
        place += len(turn.text) + len(joint)
    starts = [turn.start for turn in group if turn.start is not None]
    ends = [turn.end for turn in group if turn.end is not None]
    return RecordedTurn(
        group[0].speaker,
        joint.join(turn.text for turn in group),
        min(starts, default=None),
        max(ends, default=None),
        tuple(cues) if len(group) > 1 else (),
    )


FORMATS = ("webvtt", "srt", "docx", "text")
"""Markdown counts as text."""
LARGEST = 20_000_000
"""Most bytes of a file."""
_ZIP = b"PK\x03\x04"
_OLD_WORD = b"\xd0\xcf\x11\xe0"
_HEAD = 50
"""The first cue of SubRip is within this number of nonempty lines; a description may precede it."""
_WEBVTT = re.compile(r"WEBVTT(?:[ \t].*)?")


def read_transcript(
    data: bytes, name: str, format: str = "", named: Collection[str] = (), encoding: str = "", *, apart: bool = False
) -> ReadTranscript:
    """Reads a transcript; format and encoding are detected unless they are given.

    `named` are the exact labels of the speakers, if the file does not make them clear. With `apart` each cue or
    paragraph is a turn, so that one with the wrong speaker can be corrected alone.
    """
    if len(data) > LARGEST:
        raise InputError(f"{name} is larger than {LARGEST // 1_000_000} MB: choose the transcript, not the recording")
    if format and format not in FORMATS:
        raise InputError(f"there is no format {format!r}; choose from: {suggest(format, FORMATS)}")
    if data.startswith(_OLD_WORD):
        raise InputError(f"{name} is an old Word document: save it as .docx or as text")
    speakers = tuple(
        dict.fromkeys(speaker for label in named if (speaker := " ".join(label.split()).rstrip(":：").rstrip()))
    )
    if data.startswith(_ZIP) or format == "docx":
        return _read_document(data, name, format, speakers, encoding, apart)
    text, encoding_found = decode_text(data, name, encoding)
    require_few_lines(text, name)
    lines = split_lines(text)
    chosen = format or _detect_format(lines)
    if chosen == "text":
        utterances, left_out = read_utterances(find_openings(lines, speakers), speakers), list[str]()
    else:
        utterances, left_out = (read_webvtt if chosen == "webvtt" else read_subrip)(lines, speakers)
    _require_speakers(speakers, utterances, name)
    joint = "\n" if chosen == "text" else " "
    doubtful = not encoding and encoding_found == FALLBACK and is_misread(text)
    return ReadTranscript(
        chosen, encoding_found, build_turns(utterances, joint, name, apart=apart), tuple(left_out), doubtful
    )


def _read_document(
    data: bytes, name: str, format: str, named: tuple[str, ...], encoding: str, apart: bool
) -> ReadTranscript:
    if format not in ("", "docx"):
        raise InputError(f"{name} is a Word document: leave --format out, or save it as {format}")
    if encoding:
        raise InputError(f"{name} is a Word document, which needs no encoding: leave it out")
    lines, left_out = read_document_lines(data, name, named)
    utterances = read_utterances(lines, named)
    _require_speakers(named, utterances, name)
    return ReadTranscript("docx", "UTF-8", build_turns(utterances, "\n", name, apart=apart), tuple(left_out))


def _require_speakers(named: Collection[str], utterances: Sequence[Utterance], where: str) -> None:
    """Raises InputError if a given speaker never speaks: a typing error would give their words to somebody else."""
    speakers = {utterance.speaker for utterance in utterances}
    missing = [speaker for speaker in named if speaker not in speakers]
    if missing:
        raise InputError(
            f"there is no speaker {join_with_or(map(repr, missing))} in {where}: write speakers exactly as in the file"
        )


def _detect_format(lines: list[str]) -> str:
    """Detects WebVTT by its header, and SubRip by the timing of its first cue."""
    filled = list(islice((line for line in lines if line.strip()), _HEAD))
    if filled and _WEBVTT.fullmatch(filled[0].strip()):
        return "webvtt"
    numbered = len(filled) > 1 and filled[0].strip().isdecimal() and parse_timing(filled[1]) is not None
    bare = len(filled) > 1 and parse_timing(filled[0]) is not None and "," in filled[0]
    below = any(
        line.strip().isdecimal() and parse_timing(two) is not None and "," in two for line, two in pairwise(filled)
    )
    return "srt" if numbered or bare or below else "text"
