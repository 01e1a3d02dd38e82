"""Texts of acts: stored by owner, found by act, replaced and erased."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from quaestor.store.act_texts import NewLabel, NewText, new_token
from quaestor.store.keys import Seal, get_or_create_secret, text_context
from quaestor.store.private_file import PrivateFile
from quaestor.store.sealed_file import NewEntry, SealedFile, sealed_file_schema

KIND = 0x54657374


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SealedFile]:
    with SealedFile(tmp_path / "talks.db", tmp_path / "talks.key", KIND, "talks") as opened:
        yield opened


def keep(file: SealedFile, act: str, texts: Sequence[tuple[str, str]]) -> None:
    file.words.store([NewText(act, number, (owner,), text) for number, (owner, text) in enumerate(texts)])


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_texts_are_found_by_their_act_and_are_not_readable_in_the_file(file: SealedFile, tmp_path: Path) -> None:
    keep(file, "act-1", [("P1", "a zygomorphic memo"), ("P2", "another")])
    assert file.words.read_texts("act-1") == {0: "a zygomorphic memo", 1: "another"}
    assert file.words.read_texts("act-2") == {}
    assert b"zygomorphic" not in everything(tmp_path)


def test_a_withdrawal_erases_only_the_texts_of_that_person(file: SealedFile, tmp_path: Path) -> None:
    keep(file, "act-1", [("P1", "mine"), ("P2", "yours")])
    with file._file.reading() as reading:
        (sealed,) = reading.execute("SELECT said FROM words WHERE owner = 'P1'").fetchone()
    assert file.erase("P1", "2026-11-16")
    assert file.words.read_texts("act-1") == {1: "yours"}
    assert bytes(sealed) not in everything(tmp_path)
    assert file.words.is_erased("P1")
    keep(file, "act-2", [("P2", "theirs"), ("P1", "again")])
    assert file.words.read_texts("act-2") == {0: "theirs"}


def test_texts_of_a_failed_attempt_are_replaced(file: SealedFile) -> None:
    keep(file, "act-1", [("P1", "first"), ("P1", "second")])
    keep(file, "act-1", [("P1", "other words")])
    assert file.words.read_texts("act-1") == {0: "other words"}


def test_a_replaced_text_leaves_no_trace(file: SealedFile, tmp_path: Path) -> None:
    keep(file, "act-1", [("P1", "asks Xanthe"), ("P2", "asks nobody")])
    with file._file.reading() as reading:
        (sealed,) = reading.execute("SELECT said FROM words WHERE owner = 'P1'").fetchone()
    assert file.words.replace_texts(lambda words: words.replace("Xanthe", "P1")) == 1
    assert file.words.read_texts("act-1") == {0: "asks P1", 1: "asks nobody"}
    assert bytes(sealed) not in everything(tmp_path)


def test_a_text_cannot_be_moved_to_another_act(file: SealedFile) -> None:
    keep(file, "act-1", [("P1", "here")])
    with file._file.writing() as writing:
        writing.execute("UPDATE words SET act = 'act-2'")
    with pytest.raises(Exception, match=r"cannot decrypt the stored texts"):
        file.words.read_texts("act-2")


def test_a_file_from_before_act_texts_is_upgraded(tmp_path: Path) -> None:
    form = sealed_file_schema("talks", KIND)
    PrivateFile(tmp_path / "talks.db", KIND, form.upgrades[:1], form.lost).close()
    with SealedFile(tmp_path / "talks.db", tmp_path / "talks.key", KIND, "talks") as file:
        file.add(NewEntry("note", "lead", {"text": "there"}, "P1"))
        keep(file, "act-1", [("P1", "here")])
        assert file.words.read_texts("act-1") == {0: "here"}


def test_a_file_with_one_owner_per_text_is_upgraded(tmp_path: Path) -> None:
    form = sealed_file_schema("talks", KIND)
    key = tmp_path / "talks.key"
    with PrivateFile(tmp_path / "talks.db", KIND, form.upgrades[:2], form.lost) as older, older.writing() as writing:
        said = Seal(get_or_create_secret(key, "talks")).seal('{"words": "from then"}', text_context("act-1", 0, "P1"))
        writing.execute("INSERT INTO words VALUES ('act-1', 0, 'P1', ?)", (said,))
    with SealedFile(tmp_path / "talks.db", key, KIND, "talks") as file:
        assert file.words.read_texts("act-1") == {0: "from then"}
        file.erase("P1", "2026-11-16")
        assert file.words.read_texts("act-1") == {}


def test_a_text_is_erased_with_its_first_owner_and_a_label_with_its_last(file: SealedFile) -> None:
    token = new_token()
    file.words.store([NewText("act-1", 0, ("P1", "P2"), "about both")], [NewLabel(token, ("P1", "P2"), "rotate")])
    assert (file.words.read_texts("act-1"), file.words.find_label(token), file.words.find_token("rotate")) == (
        {0: "about both"},
        "rotate",
        token,
    )
    file.erase("P1", "2026-11-16")
    assert (file.words.read_texts("act-1"), file.words.find_label(token)) == ({}, "rotate")
    file.erase("P2", "2026-11-16")
    assert (file.words.find_label(token), file.words.find_token("rotate")) == (None, None)


def test_a_replaced_label_is_found_by_its_new_word(file: SealedFile) -> None:
    file.words.store([], [NewLabel("0123456789ab", ("P1",), "ask xanthe")])
    assert file.words.replace_texts(lambda word: word.replace("xanthe", "[a name]")) == 1
    assert (file.words.find_label("0123456789ab"), file.words.find_token("ask xanthe")) == ("ask [a name]", None)
    assert file.words.find_token("ask [a name]") == "0123456789ab"
