"""What is made of a private file is private too, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path
from stat import S_IMODE

from quaestor.base.files import as_private_as, is_private


def modes(folder: Path) -> dict[str, int]:
    return {path.name: S_IMODE(path.lstat().st_mode) for path in (folder, *folder.rglob("*"))}


def test_what_is_made_of_a_private_file_is_private(tmp_path: Path) -> None:
    model, made, outside = tmp_path / "words.csv", tmp_path / "made", tmp_path / "outside.txt"
    model.touch(0o600)
    outside.touch(0o644)
    (made / "part").mkdir(parents=True)
    (made / "part" / "file").touch(0o644)
    (made / "link").symlink_to(outside)
    as_private_as(model, made)
    assert {name: mode for name, mode in modes(made).items() if name != "link"} == {
        "made": 0o700, "part": 0o700, "file": 0o600,
    }  # fmt: skip
    assert S_IMODE(outside.stat().st_mode) == 0o644, "a link is not followed"
    as_private_as(model, tmp_path / "new")
    assert is_private(tmp_path / "new")


def test_what_is_made_of_anything_else_stays_as_it_is(tmp_path: Path) -> None:
    model, made = tmp_path / "open.csv", tmp_path / "made"
    model.touch(0o644)
    made.mkdir(0o755)
    as_private_as(model, made)
    as_private_as(tmp_path / "not there", made)
    assert modes(made) == {"made": 0o755}
    as_private_as(model, tmp_path / "new")
    assert not (tmp_path / "new").exists()
