"""Files are replaced atomically, folders are locked, and hashes equal those of sha256sum."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from quaestor.base.errors import InputError, StateError
from quaestor.base.files import BackgroundHasher, hash_file, lock_folder, write_atomically
from quaestor.base.names import join_with_and, join_with_or, sort_by_similarity
from quaestor.base.toml import MAX_BYTES, read_toml


def test_a_file_is_replaced_in_one_step_without_leftover_files(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert [file.name for file in tmp_path.iterdir()] == ["manifest.json"]


def test_a_write_that_fails_leaves_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    write_atomically(path, b"old")
    with pytest.raises(TypeError):
        write_atomically(path, "not bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["manifest.json"]


def test_a_locked_folder_refuses_a_second_process(tmp_path: Path) -> None:
    with (
        lock_folder(tmp_path, "an ingest"),
        pytest.raises(StateError, match="busy with an ingest"),
        lock_folder(tmp_path, "an ingest"),
    ):
        pass
    with lock_folder(tmp_path, "an ingest"):
        pass


@pytest.mark.parametrize("size", [0, 1, 1_000, (16 << 20) - 1, 16 << 20, (16 << 20) + 5])
def test_the_hash_of_a_file_covers_all_its_windows(tmp_path: Path, size: int) -> None:
    content = (bytes(range(256)) * (size // 256 + 1))[:size]
    (tmp_path / "file").write_bytes(content)
    expected = hashlib.sha256(content).hexdigest()
    assert hash_file(tmp_path / "file") == expected
    assert BackgroundHasher().wait_for(tmp_path / "file") == expected


def test_waiting_for_the_hash_of_a_missing_file_raises_its_error(tmp_path: Path) -> None:
    hasher = BackgroundHasher()
    hasher.start([tmp_path / "gone"])
    with pytest.raises(FileNotFoundError):
        hasher.wait_for(tmp_path / "gone")


def test_the_most_similar_name_comes_first() -> None:
    assert sort_by_similarity("clsed", ["kind", "closed", "tags"]) == ["closed", "kind", "tags"]
    assert join_with_or(["a", "b", "c"]) == "a, b or c"
    assert join_with_or(["a"]) == "a"
    assert join_with_or([]) == ""
    assert [join_with_and(words) for words in ([], ["a"], ["a", "b", "c"])] == ["nothing", "a", "a, b and c"]


def test_a_settings_file_over_the_size_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mapping.toml"
    path.write_text(f'a = "{"x" * MAX_BYTES}"')
    with pytest.raises(InputError, match="is over 16 MB"):
        read_toml(path, InputError)
