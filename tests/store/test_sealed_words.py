"""Words of acts: kept sealed under whom they are about, found by their act, changed and erased for good."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from quaestor.base.errors import StateError
from quaestor.store.private_file import PrivateFile
from quaestor.store.sealed_file import NewEntry, SealedFile, sealed_form

KIND = 0x54657374


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SealedFile]:
    with SealedFile(tmp_path / "talks.db", tmp_path / "talks.key", KIND, "talks") as opened:
        yield opened


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_they_are_found_by_their_act_in_their_places_and_no_file_shows_them(file: SealedFile, tmp_path: Path) -> None:
    file.words.keep("act-1", [("P1", "a zygomorphic memo"), ("P2", "another")])
    assert file.words.of("act-1") == {0: "a zygomorphic memo", 1: "another"}
    assert file.words.of("act-2") == {}
    assert b"zygomorphic" not in everything(tmp_path)


def test_who_withdraws_takes_their_words_along_and_nobody_elses(file: SealedFile, tmp_path: Path) -> None:
    file.words.keep("act-1", [("P1", "mine"), ("P2", "yours")])
    with file._file.reading() as reading:
        (sealed,) = reading.execute("SELECT said FROM words WHERE participant = 'P1'").fetchone()
    assert file.erase("P1", "2026-11-16")
    assert file.words.of("act-1") == {1: "yours"}
    assert bytes(sealed) not in everything(tmp_path)
    with pytest.raises(StateError, match="P1 has withdrawn"):
        file.words.keep("act-2", [("P2", "kept by mistake"), ("P1", "again")])
    assert file.words.of("act-2") == {}


def test_what_a_failed_attempt_left_is_replaced(file: SealedFile) -> None:
    file.words.keep("act-1", [("P1", "first"), ("P1", "second")])
    file.words.keep("act-1", [("P1", "other words")])
    assert file.words.of("act-1") == {0: "other words"}


def test_words_that_are_changed_leave_nothing_of_what_they_were(file: SealedFile, tmp_path: Path) -> None:
    file.words.keep("act-1", [("P1", "asks Xanthe"), ("P2", "asks nobody")])
    with file._file.reading() as reading:
        (sealed,) = reading.execute("SELECT said FROM words WHERE participant = 'P1'").fetchone()
    assert file.words.change(lambda words: words.replace("Xanthe", "P1")) == 1
    assert file.words.of("act-1") == {0: "asks P1", 1: "asks nobody"}
    assert bytes(sealed) not in everything(tmp_path)


def test_they_belong_to_their_act_alone(file: SealedFile) -> None:
    file.words.keep("act-1", [("P1", "here")])
    with file._file.writing() as writing:
        writing.execute("UPDATE words SET act = 'act-2'")
    with pytest.raises(Exception, match=r"does not open what was written"):
        file.words.of("act-2")


def test_a_file_from_before_there_were_words_takes_them(tmp_path: Path) -> None:
    form = sealed_form("talks", KIND)
    PrivateFile(tmp_path / "talks.db", KIND, form.upgrades[:1], form.lost).close()
    with SealedFile(tmp_path / "talks.db", tmp_path / "talks.key", KIND, "talks") as file:
        file.add(NewEntry("note", "lead", {"text": "there"}, "P1"))
        file.words.keep("act-1", [("P1", "here")])
        assert file.words.of("act-1") == {0: "here"}
