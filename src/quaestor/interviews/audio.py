"""Audio recordings of interviews: sealed in pieces, so that any part can be decrypted without reading the others."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.coding.session import require_lead
from quaestor.interviews.participants.consent import require_consent
from quaestor.interviews.repository import Interviews
from quaestor.store.sealed_file import NewEntry, SealedEntry, SealedFile

LARGEST = 2_000_000_000
PIECE_BYTES = 192 * 1024
_HEAD_BYTES = 64
_KIND = "audio"
_SIGNATURES: tuple[tuple[re.Pattern[bytes], str, str], ...] = (
    (re.compile(rb"RIFF.{4}WAVE", re.DOTALL), "WAV", "audio/wav"),
    # A tag, or the header of a frame: eleven set bits, then a version and a layer that MP3 has and AAC does not.
    (re.compile(rb"ID3[\x02-\x04]|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]"), "MP3", "audio/mpeg"),
    (re.compile(rb".{4}ftyp(?:M4[AB] |mp4[12]|isom|iso[2-6]|dash)", re.DOTALL), "M4A", "audio/mp4"),
    (re.compile(rb"OggS\x00"), "OGG", "audio/ogg"),
    (re.compile(rb"fLaC"), "FLAC", "audio/flac"),
    (re.compile(rb"\x1aE\xdf\xa3.{1,50}webm", re.DOTALL), "WebM", "audio/webm"),
)
"""The beginning of each format that browsers play, with its name and its media type."""


@dataclass(frozen=True)
class AudioRecording:
    """The audio recording of an interview."""

    interview: str
    participant: str
    format: str
    media_type: str
    bytes: int
    sha256: str
    day: str
    """The day on which it was added."""


def add_audio(
    interviews: Interviews, name: str, path: Path, actor: str | None = None, *, replace: bool = False
) -> tuple[AudioRecording, bool]:
    """Seals the recording of an interview; returns it and whether it is new. An interrupted import leaves nothing.

    The same file again changes nothing, another one needs `replace`.
    """
    interview = interviews.interview(name)
    require_consent(interviews, interview.participant, "add an audio recording")
    content = _describe_file(path)
    known = find_audio(interviews, name)
    if known is not None and known.sha256 == content["sha256"]:
        return known, False
    if known is not None and not replace:
        raise StateError(f"{name} already has another audio recording: use --replace to store this one instead")
    file = _open_file(interviews)
    store = file.replace_pieces if known else file.put_pieces
    who = actor or interviews.coding.lead
    entry = NewEntry(_KIND, who, content, interview.participant, _about(name), interviews.now())
    store(_about(name), interview.participant, _read_pieces(path, content["sha256"]), entry)
    if interview.participant in interviews.file.list_erased():  # withdrew meanwhile
        erase_audio(interviews, interview.participant)
        raise StateError(f"{interview.participant} has withdrawn: nothing about them can be stored")
    recording = find_audio(interviews, name)
    if recording is None:
        raise StateError(f"the audio recording of {name} was removed meanwhile: add it again")
    return recording, True


def remove_audio(interviews: Interviews, name: str, actor: str | None = None) -> bool:
    """Erases the recording of an interview, as the lead; returns whether there was one."""
    require_lead(interviews.coding, actor, "remove an audio recording")
    interview = interviews.interview(name)
    file = interviews.open_audio()
    return file is not None and file.delete_pieces(_about(name), interview.participant, _KIND)


def erase_audio(interviews: Interviews, participant: str) -> None:
    """Erases all recordings of a participant, and refuses later ones."""
    file = interviews.open_audio()
    if file is not None:
        file.erase(participant, interviews.today())


def find_audio(interviews: Interviews, name: str) -> AudioRecording | None:
    """Returns the recording of an interview; None if there is none."""
    file = interviews.open_audio()
    entries = file.read_entries(about=_about(name)) if file is not None else []
    return _read_recording(entries[-1]) if entries else None


def list_audio(interviews: Interviews) -> list[AudioRecording]:
    """Returns all recordings, in the order in which they were added."""
    file = interviews.open_audio()
    return [_read_recording(entry) for entry in file.read_entries()] if file is not None else []


def read_audio(
    interviews: Interviews, recording: AudioRecording, start: int, end: int, actor: str | None = None
) -> Iterator[bytes]:
    """Yields the bytes from `start` to before `end`, decrypted piece by piece; only the lead may hear names."""
    require_lead(interviews.coding, actor, "listen to a recording")
    file = _open_file(interviews)

    def read() -> Iterator[bytes]:
        for number in range(start // PIECE_BYTES, -(-end // PIECE_BYTES)):
            piece = file.read_piece(_about(recording.interview), number)
            if piece is None:  # erased while somebody listens
                return
            data, first = base64.b64decode(piece["data"]), number * PIECE_BYTES
            yield data[max(start - first, 0) : end - first]

    return read()


def _open_file(interviews: Interviews) -> SealedFile:
    file = interviews.open_audio(create=True)
    if file is None:
        raise RuntimeError("the file of audio recordings was not created")
    return file


def _about(name: str) -> str:
    """Returns the subject of a recording, which differs from that of its transcript under the same key."""
    return f"audio/{name}"


def _read_recording(entry: SealedEntry) -> AudioRecording:
    content = entry.content
    return AudioRecording(
        entry.about.removeprefix("audio/"),
        entry.participant,
        content["format"],
        content["media_type"],
        content["bytes"],
        content["sha256"],
        entry.time[:10],
    )


def _describe_file(path: Path) -> dict[str, Any]:
    """Returns format, size and digest of an audio file; raises InputError if it is none that browsers play."""
    if not path.is_file():
        raise InputError(f"{path} is not a file: name an audio file")
    size = path.stat().st_size
    if size > LARGEST:
        raise InputError(f"{path} has {size:,} bytes, at most {LARGEST:,} are allowed: compress it, for example to MP3")
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        known = next(((name, media) for pattern, name, media in _SIGNATURES if pattern.match(head)), None)
        if known is None:
            formats = "WAV, MP3, M4A, OGG, FLAC or WebM"
            problem = "is empty" if not head else "is not an audio file that a browser can play"
            raise InputError(f"{path} {problem}: give a {formats} file")
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"format": known[0], "media_type": known[1], "bytes": size, "sha256": digest}


def _read_pieces(path: Path, sha256: str) -> Iterator[dict[str, str]]:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(PIECE_BYTES):
            digest.update(data)
            yield {"data": base64.b64encode(data).decode()}
    if digest.hexdigest() != sha256:
        raise StateError(f"{path} changed while it was read: add it again once it is complete")
