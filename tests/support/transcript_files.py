"""Read transcript files in tests."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from quaestor.interviews.transcript_formats import read_transcript as read_bytes
from quaestor.interviews.transcript_formats.records import ReadTranscript


def read_transcript(path: Path, named: Collection[str] = (), encoding: str = "") -> ReadTranscript:
    return read_bytes(path.read_bytes(), path.name, named=named, encoding=encoding)
