"""Audio recordings are sealed in pieces, erased with their participant, and in backups only as they are sealed."""

from __future__ import annotations

import random
import shutil
import tracemalloc
import wave
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.command_line import in_this_process
from tests.support.small_interviews import a_study, with_interview, with_participant

from quaestor.base.errors import InputError, StateError
from quaestor.interviews.audio import (
    LARGEST,
    PIECE_BYTES,
    add_audio,
    erase_audio,
    find_audio,
    list_audio,
    read_audio,
    remove_audio,
)
from quaestor.interviews.repository import AUDIO_FILE, Interviews, open_audio_file, open_interviews
from quaestor.interviews.withdrawal import withdraw
from quaestor.store.sealed_file import NewEntry
from quaestor.study.backup import back_up_study, restore_study
from quaestor.study.folder import Study, open_study


def write_wav(path: Path, seconds: float = 3, seed: int = 1) -> bytes:
    """Writes noise, which no two files share."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(44_100)
        file.writeframes(random.Random(seed).randbytes(int(seconds * 44_100) * 2))
    return path.read_bytes()


def read_all(interviews: Interviews, name: str = "P1") -> bytes:
    recording = find_audio(interviews, name)
    assert recording is not None
    return b"".join(read_audio(interviews, recording, 0, recording.bytes))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = a_study(tmp_path / "study")
    with open_interviews(study) as interviews:
        with_interview(interviews)
    return study


@pytest.fixture
def interviews(study: Study) -> Iterator[Interviews]:
    with open_interviews(study) as opened:
        yield opened


def test_a_recording_is_sealed_and_any_part_of_it_can_be_read(interviews: Interviews, tmp_path: Path) -> None:
    assert (find_audio(interviews, "P1"), list_audio(interviews)) == (None, [])
    assert not (interviews.study.root / AUDIO_FILE).exists(), "nothing is created before it is needed"
    data = write_wav(tmp_path / "talk.wav")
    recording, is_new = add_audio(interviews, "P1", tmp_path / "talk.wav")
    assert (recording.format, recording.media_type, recording.bytes, is_new) == ("WAV", "audio/wav", len(data), True)
    assert read_all(interviews) == data
    for start, end in ((0, 1), (PIECE_BYTES - 1, PIECE_BYTES + 1), (PIECE_BYTES, 2 * PIECE_BYTES), (5, len(data))):
        assert b"".join(read_audio(interviews, recording, start, end)) == data[start:end]
    sealed = b"".join(path.read_bytes() for path in interviews.study.root.glob(f"{AUDIO_FILE}*"))
    assert not any(data[place : place + 32] in sealed for place in range(100, len(data) - 32, 9973))
    with pytest.raises(StateError, match="only 'lead' can listen to a recording"):
        read_audio(interviews, recording, 0, 10, "interviewer-1")


def test_the_same_file_changes_nothing_and_another_one_needs_replace(interviews: Interviews, tmp_path: Path) -> None:
    first, second = tmp_path / "first.wav", tmp_path / "second.wav"
    write_wav(first)
    data = write_wav(second, 0.5, seed=2)
    add_audio(interviews, "P1", first)
    assert add_audio(interviews, "P1", first)[1] is False
    with pytest.raises(StateError, match="already has another audio recording: use --replace"):
        add_audio(interviews, "P1", second)
    assert add_audio(interviews, "P1", second, replace=True)[1] is True
    assert (read_all(interviews), len(list_audio(interviews))) == (data, 1)
    assert (remove_audio(interviews, "P1"), remove_audio(interviews, "P1")) == (True, False)
    assert find_audio(interviews, "P1") is None


@pytest.mark.parametrize(
    ("head", "format"),
    [
        (b"ID3\x04\x00", "MP3"),
        (b"\xff\xfb\x90\x00", "MP3"),
        (b"\x00\x00\x00\x1cftypM4A \x00", "M4A"),
        (b"OggS\x00\x02", "OGG"),
        (b"fLaC\x00", "FLAC"),
        (b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\x82\x84webm", "WebM"),
    ],
)
def test_a_format_is_recognised_by_its_content(
    interviews: Interviews, tmp_path: Path, head: bytes, format: str
) -> None:
    path = tmp_path / "talk.bin"
    path.write_bytes(head + bytes(100))
    assert add_audio(interviews, "P1", path)[0].format == format


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"<html><script>alert(1)</script>", "is not an audio file that a browser can play"),
        (b"\xff\xf1\x50\x80", "is not an audio file"),
        (b"RIFF\x00\x00\x00\x00AVI LIST", "is not an audio file"),
        (b"\x00\x00\x00\x14ftypqt  ", "is not an audio file"),
        (b"\x1aE\xdf\xa3\x9fB\x86\x81\x01matroska", "is not an audio file"),
    ],
)
def test_other_files_are_refused_whatever_their_name(
    interviews: Interviews, tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "talk.wav"
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem):
        add_audio(interviews, "P1", path)
    assert not (interviews.study.root / AUDIO_FILE).exists()


def test_folders_huge_files_and_people_without_consent_are_refused(interviews: Interviews, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a file"):
        add_audio(interviews, "P1", tmp_path)
    path = tmp_path / "talk.wav"
    write_wav(path, 0.1)
    with path.open("r+b") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(InputError, match="compress it"):
        add_audio(interviews, "P1", path)
    path.unlink()
    write_wav(path, 0.1)
    name = with_interview(interviews, with_participant(interviews, consent=False)).id
    with pytest.raises(StateError, match="consent"):
        add_audio(interviews, name, path)


def test_an_interrupted_import_leaves_nothing(study: Study) -> None:
    def pieces() -> Iterator[dict[str, str]]:
        yield {"data": "AAAA"}
        raise KeyboardInterrupt

    with open_audio_file(study) as file:
        with pytest.raises(KeyboardInterrupt):
            file.put_pieces("audio/P1", "P1", pieces(), NewEntry("audio", "lead", {}, "P1", "audio/P1"))
        assert (file.read_pieces("audio/P1"), file.read_entries()) == ([], [])


def test_a_long_recording_is_never_in_memory_as_a_whole(interviews: Interviews, tmp_path: Path) -> None:
    size = len(write_wav(tmp_path / "talk.wav", 120))
    tracemalloc.start()
    try:
        recording, _ = add_audio(interviews, "P1", tmp_path / "talk.wav")
        assert sum(map(len, read_audio(interviews, recording, 0, size))) == size
        assert tracemalloc.get_traced_memory()[1] < size / 3
    finally:
        tracemalloc.stop()


def test_withdrawal_erases_the_recording_and_a_restore_does_not_bring_it_back(study: Study, tmp_path: Path) -> None:
    data = write_wav(tmp_path / "talk.wav")
    with open_interviews(study) as interviews:
        add_audio(interviews, "P1", tmp_path / "talk.wav")
        with_interview(interviews)
        add_audio(interviews, "P2", tmp_path / "talk.wav")
    backup = back_up_study(study, tmp_path / "study.backup").file
    other = a_study(tmp_path / "other")
    for name in ("interviews.key", "identities.key"):
        shutil.copyfile(study.root / name, other.root / name)
    restore_study(other, backup)
    with open_interviews(open_study(other.root)) as interviews:
        assert (read_all(interviews), len(list_audio(interviews))) == (data, 2)

    with open_interviews(study) as interviews:
        assert withdraw(interviews, "P1").pending is False
        assert [recording.interview for recording in list_audio(interviews)] == ["P2"]
        with pytest.raises(StateError, match="withdrew"):
            add_audio(interviews, "P1", tmp_path / "talk.wav")
    size = (study.root / AUDIO_FILE).stat().st_size
    assert size < 2 * len(data), "the bytes are gone from the file"
    restore_study(study, backup, replacing=True)
    with open_interviews(open_study(study.root)) as interviews:
        assert [recording.interview for recording in list_audio(interviews)] == ["P2"]


def test_nothing_can_be_added_for_somebody_who_withdraws_meanwhile(interviews: Interviews, tmp_path: Path) -> None:
    write_wav(tmp_path / "talk.wav", 0.1)
    recording, _ = add_audio(interviews, "P1", tmp_path / "talk.wav")
    erase_audio(interviews, "P1")
    assert b"".join(read_audio(interviews, replace(recording), 0, 10)) == b"", "a listener hears no more"
    with pytest.raises(StateError, match="P1 has withdrawn"):
        add_audio(interviews, "P1", tmp_path / "talk.wav")


def test_recordings_are_added_listed_and_removed_on_the_command_line(study: Study, tmp_path: Path) -> None:
    where = ["--study", str(study.root)]
    audio = ("interview", "audio")
    write_wav(tmp_path / "talk.wav", 0.1)
    assert "No audio recordings" in in_this_process(*audio, "list", *where).output
    assert (
        "bytes of WAV sealed as the recording of P1"
        in in_this_process(*audio, "add", "P1", str(tmp_path / "talk.wav"), *where).output
    )
    assert (
        "already has this recording" in in_this_process(*audio, "add", "P1", str(tmp_path / "talk.wav"), *where).output
    )
    assert "P1" in in_this_process(*audio, "list", *where).output
    assert "is erased" in in_this_process(*audio, "remove", "P1", *where).output
