"""A sealed file: encrypted, idempotent by key, erasable."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from quaestor.base.errors import InputError, StateError
from quaestor.store.sealed_file import NewEntry, SealedChanges, SealedFile

KIND = 0x51746573


def opened(folder: Path) -> SealedFile:
    return SealedFile(folder / "sealed.db", folder / "sealed.key", KIND, "tests")


def note(text: str, participant: str = "P1", about: str = "P1", **more: str) -> NewEntry:
    return NewEntry("note", "interviewer", {"text": text}, participant, about, **more)


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def test_entries_are_read_back_in_order(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        file.add(note("first"), note("second", about="P1-2"), note("third"))
    with opened(tmp_path) as file:
        assert [entry.content["text"] for entry in file.read_entries()] == ["first", "second", "third"]
        assert [entry.content["text"] for entry in file.read_entries(about="P1")] == ["first", "third"]
        assert [entry.content["text"] for entry in file.read_entries(about="P1", after=1)] == ["third"]
        assert (file.read_head(), file.read_head("P1-2"), file.read_head("P9")) == (3, 2, 0)


def test_the_change_counter_changes_exactly_with_every_change(tmp_path: Path) -> None:
    with opened(tmp_path) as file, opened(tmp_path) as elsewhere:
        changes = [
            lambda: file.add(note("first", key="k")),
            lambda: elsewhere.add(note("second")),
            lambda: file.replace_texts({"note": ["text"]}, str.upper),
            lambda: file.put_pieces("P1", "P1", [{"text": "said"}]),
            lambda: elsewhere.delete_entries("P1", "note", "P1"),
            lambda: file.erase("P1", "2026-03-01"),
        ]
        seen = [file.read_change_counter()]
        for change in changes:
            change()
            seen.append(file.read_change_counter())
            file.read_entries()
            assert file.read_change_counter() == seen[-1]
        assert len(set(seen)) == len(seen)


def test_no_content_is_readable_in_the_file(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        file.add(note("the gradients exploded"))
        file.put_pieces("P1", "P1", [{"text": "nobody could say why"}])
        assert b"gradients" not in bytes_of(tmp_path)
        assert b"nobody could" not in bytes_of(tmp_path)


def test_only_their_owner_can_read_file_and_key(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        file.add(note("said"))
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="modes say nothing here")
def test_a_key_readable_by_others_is_made_private_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(tmp_path).close()
    key = tmp_path / "sealed.key"
    tmp_path.chmod(0o755)
    key.chmod(0o644)
    opened(tmp_path).close()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.chmod(0o644)

    def refused(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refused)
    with pytest.raises(InputError, match=r"sealed\.key, the key of tests, can be read by others: .*`chmod 600 "):
        opened(tmp_path)


def test_an_entry_with_a_repeated_key_is_stored_once(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        first = file.add(note("once", key="k"))
        assert file.add(note("once", key="k")) == first
        assert len(file.read_entries()) == 1
        with pytest.raises(StateError, match="used for another entry"):
            file.add(note("twice", key="k"))


def test_entries_are_stored_all_or_none(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        file.add(note("there", key="k"))
        with pytest.raises(StateError):
            file.add(note("new"), note("other", key="k"))
        assert [entry.content["text"] for entry in file.read_entries()] == ["there"]


def test_erasing_leaves_only_the_record_of_the_erasure(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        file.add(note("of the first"), note("of the second", "P2", "P2"))
        file.put_pieces("P1", "P1", [{"text": "words"}] * 50)
        with sqlite3.connect(tmp_path / "sealed.db") as reading:
            sealed = [bytes(said) for (said,) in reading.execute("SELECT said FROM pieces")]
        assert file.erase("P1", "2026-01-02")
        assert [entry.participant for entry in file.read_entries()] == ["P2"]
        assert file.read_pieces("P1") == []
        assert file.list_erased() == {"P1": "2026-01-02"}
        left = bytes_of(tmp_path)
        assert not any(one[:32] in left for one in sealed)


def test_nothing_is_stored_about_a_withdrawn_participant(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        file.erase("P1", "2026-01-02")
        with pytest.raises(StateError, match="P1 has withdrawn"):
            file.add(note("late"))
        with pytest.raises(StateError, match="P1 has withdrawn"):
            file.put_pieces("P1", "P1", [{"text": "late"}])
        assert not file.erase("P1", "2026-02-02")
        assert file.list_erased() == {"P1": "2026-01-02"}


def test_pieces_are_replaced_together_with_their_entries(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        file.put_pieces("P1", "P1", [{"text": "a"}, {"text": "b"}])
        file.put_pieces("P1", "P1", [{"text": "c"}], NewEntry("transcript", "lead", {"turns": 1}, "P1", "P1"))
        assert file.read_pieces("P1") == [{"text": "c"}]
        assert [entry.kind for entry in file.read_entries()] == ["transcript"]


def test_a_changed_text_gets_a_new_version(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        first = file.texts.add("guide/a", "one", "2026-01-01")
        assert file.texts.add("guide/a", "one", "2026-01-05") == first
        second = file.texts.add("guide/a", "two", "2026-01-06")
        assert (first.version, second.version) == (1, 2)
        assert file.texts.get("guide/a") == second
        assert file.texts.get("guide/a", 1) == first
        assert file.texts.get("guide/b") is None
        assert file.texts.list_versions("guide/a") == [first, second]


def test_a_wrong_key_is_reported(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        file.add(note("said"))
    (tmp_path / "sealed.key").write_text("00" * 32)
    with opened(tmp_path) as file, pytest.raises(InputError, match=r"sealed\.key cannot decrypt"):
        file.read_entries()
    (tmp_path / "sealed.key").write_text("no key")
    with pytest.raises(InputError, match="key of tests"):
        opened(tmp_path)


def test_an_entry_cannot_be_moved_to_another_participant(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        file.add(note("said"))
    with sqlite3.connect(tmp_path / "sealed.db") as writing:
        writing.execute("UPDATE entries SET participant = 'P2'")
    with opened(tmp_path) as file, pytest.raises(InputError, match="cannot decrypt"):
        file.read_entries()


def test_two_concurrent_writers_lose_nothing(tmp_path: Path) -> None:
    def write(who: str) -> None:
        with opened(tmp_path) as file:
            for number in range(40):
                file.add(note(f"{who} {number}"))

    threads = [threading.Thread(target=write, args=(who,)) for who in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with opened(tmp_path) as file:
        said = [entry.content["text"] for entry in file.read_entries()]
    assert sorted(said) == sorted(f"{who} {number}" for who in "abc" for number in range(40))
    assert all([one for one in said if one[0] == who] == [f"{who} {number}" for number in range(40)] for who in "abc")


def test_computed_entries_see_the_newest_entries(tmp_path: Path) -> None:
    with opened(tmp_path) as file:

        def count(_: int) -> None:
            file.add_computed(
                lambda known: [NewEntry("count", "a", {"number": len(known) + 1}, about="all")], about="all"
            )

        threads = [threading.Thread(target=count, args=(one,)) for one in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [entry.content["number"] for entry in file.read_entries(about="all")] == list(range(1, 21))


def test_a_lost_key_is_not_created_again_over_encrypted_content(tmp_path: Path) -> None:
    with opened(tmp_path):
        pass
    (tmp_path / "sealed.key").unlink()
    with opened(tmp_path) as file:
        file.add(note("there"))
    kept = (tmp_path / "sealed.key").read_text()
    (tmp_path / "sealed.key").unlink()
    with pytest.raises(InputError, match="restore the original key"):
        opened(tmp_path)
    assert not (tmp_path / "sealed.key").exists()
    (tmp_path / "sealed.key").write_text(kept)
    with opened(tmp_path) as file:
        assert [entry.content["text"] for entry in file.read_entries()] == ["there"]


def test_changes_of_content_happen_all_or_none(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        piece = {"speaker": "Guest", "text": "I asked Xanthe."}
        file.put_pieces(
            "P1", "P1", [piece, piece], NewEntry("transcript", "lead", {"left_out": ["Xanthe"]}, "P1", "P1")
        )
        (entry,) = file.read_entries(about="P1")
        erased = {**piece, "text": "I asked ██████."}
        wrong = NewEntry("note", "lead", {}, "P1", "P1", key=entry.key)
        with pytest.raises(StateError, match="used for another entry"):
            file.change_content("P1", lambda: SealedChanges({}, {0: erased}, [wrong]))
        assert file.read_pieces("P1") == [piece, piece]
        assert (
            file.change_content("P1", lambda: SealedChanges({entry.number: {"left_out": []}}, {0: erased}, [])) is True
        )
        assert file.read_pieces("P1") == [erased, piece]
        assert [one.content for one in file.read_entries(about="P1")] == [{"left_out": []}]
        assert file.change_content("P1", lambda: SealedChanges({}, {}, [])) is False
