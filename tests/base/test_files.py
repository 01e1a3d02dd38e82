"""Files are whole or absent, folders have one user at a time, hashes are those of sha256sum."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from quaestor.base.errors import InputError, StateError
from quaestor.base.files import sole_user, write_whole
from quaestor.base.hashing import Hashing, sha256_of
from quaestor.base.names import listed, nearest_first
from quaestor.base.toml import MOST_BYTES, read_toml


def test_a_file_is_replaced_at_once_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert [one.name for one in tmp_path.iterdir()] == ["manifest.json"]


def test_a_write_that_fails_leaves_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    write_whole(path, b"old")
    with pytest.raises(TypeError):
        write_whole(path, "not bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["manifest.json"]


def test_a_folder_has_one_user_at_a_time(tmp_path: Path) -> None:
    with (
        sole_user(tmp_path, "an ingest"),
        pytest.raises(StateError, match="busy with an ingest"),
        sole_user(tmp_path, "an ingest"),
    ):
        pass
    with sole_user(tmp_path, "an ingest"):
        pass


@pytest.mark.parametrize("size", [0, 1, 1_000, (16 << 20) - 1, 16 << 20, (16 << 20) + 5])
def test_a_hash_is_that_of_the_whole_file(tmp_path: Path, size: int) -> None:
    content = (bytes(range(256)) * (size // 256 + 1))[:size]
    (tmp_path / "file").write_bytes(content)
    expected = hashlib.sha256(content).hexdigest()
    assert sha256_of(tmp_path / "file") == expected
    assert Hashing().of(tmp_path / "file") == expected


def test_a_file_that_cannot_be_hashed_says_so_when_asked(tmp_path: Path) -> None:
    hashing = Hashing()
    hashing.begin([tmp_path / "gone"])
    with pytest.raises(FileNotFoundError):
        hashing.of(tmp_path / "gone")


def test_the_nearest_name_comes_first() -> None:
    assert nearest_first("clsed", ["kind", "closed", "tags"]) == ["closed", "kind", "tags"]
    assert listed(["a", "b", "c"]) == "a, b or c"
    assert listed(["a"]) == "a"
    assert listed([]) == ""


def test_a_file_of_settings_longer_than_any_person_writes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mapping.toml"
    path.write_text(f'a = "{"x" * MOST_BYTES}"')
    with pytest.raises(InputError, match="is over 16 MB long"):
        read_toml(path, InputError)
