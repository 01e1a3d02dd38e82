"""A transcript from a file: which format it is, and what it says."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.names import listed, nearest_first
from quaestor.sources.transcripts.cues import from_subrip, from_webvtt
from quaestor.sources.transcripts.documents import document_lines
from quaestor.sources.transcripts.records import ReadTranscript
from quaestor.sources.transcripts.spoken_lines import from_lines, lines_with_openings
from quaestor.sources.transcripts.texts import decoded, lines_of
from quaestor.sources.transcripts.times import timing
from quaestor.sources.transcripts.turns import turns_of

FORMATS = ("webvtt", "srt", "docx", "text")
"""Markdown is text."""
LARGEST = 20_000_000
"""Bytes of a file."""
_ZIP = b"PK\x03\x04"
_OLD_WORD = b"\xd0\xcf\x11\xe0"
_WEBVTT = re.compile(r"WEBVTT(?:[ \t].*)?")


def read_transcript(path: Path, format: str = "", named: Collection[str] = ()) -> ReadTranscript:
    """What is said in a file; it is only read."""
    if not path.is_file():
        raise InputError(f"{path} is no file: name the transcript")
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    return transcript_in(data, path.name, format, named)


def transcript_in(data: bytes, name: str, format: str = "", named: Collection[str] = ()) -> ReadTranscript:
    """The same of what a page sent. The format is what the file itself says, unless it is given.

    `named` are the labels that are speakers, where the file leaves it open.
    """
    if len(data) > LARGEST:
        raise InputError(f"{name} is larger than {LARGEST // 1_000_000} MB, as no transcript is: is it the recording?")
    if format and format not in FORMATS:
        raise InputError(f"there is no format {format!r}, allowed: {listed(nearest_first(format, FORMATS))}")
    if data.startswith(_OLD_WORD):
        raise InputError(f"{name} is an old Word document: save it as .docx or as text")
    if data.startswith(_ZIP) or format == "docx":
        return _document(data, name, format, named)
    text, encoding = decoded(data, name)
    lines = lines_of(text)
    chosen = format or _format_of(lines)
    if chosen == "text":
        utterances, beside = from_lines(lines_with_openings(lines), named), list[str]()
    else:
        utterances, beside = (from_webvtt if chosen == "webvtt" else from_subrip)(lines, named)
    joint = "\n" if chosen == "text" else " "
    return ReadTranscript(chosen, encoding, turns_of(utterances, joint, name), tuple(beside))


def _document(data: bytes, name: str, format: str, named: Collection[str]) -> ReadTranscript:
    if format not in ("", "docx"):
        raise InputError(f"{name} is packed as a Word document is: leave --format out, or save it as {format}")
    lines, beside = document_lines(data, name)
    return ReadTranscript("docx", "UTF-8", turns_of(from_lines(lines, named), "\n", name), tuple(beside))


def _format_of(lines: list[str]) -> str:
    """WebVTT says its name; SubRip begins with the times of its first cue."""
    filled = [line for line in lines[:50] if line.strip()][:2]
    if filled and _WEBVTT.fullmatch(filled[0].strip()):
        return "webvtt"
    numbered = len(filled) > 1 and filled[0].strip().isdecimal() and timing(filled[1]) is not None
    bare = len(filled) > 1 and timing(filled[0]) is not None and "," in filled[0]
    return "srt" if numbered or bare else "text"
