"""A folder derived from a private file is private too, and other files are not changed."""

from __future__ import annotations

from pathlib import Path
from stat import S_IMODE

from quaestor.base.files import is_private, match_privacy


def read_modes(folder: Path) -> dict[str, int]:
    return {path.name: S_IMODE(path.lstat().st_mode) for path in (folder, *folder.rglob("*"))}


def test_a_folder_derived_from_a_private_file_becomes_private(tmp_path: Path) -> None:
    model, derived, outside = tmp_path / "words.csv", tmp_path / "derived", tmp_path / "outside.txt"
    model.touch(0o600)
    outside.touch(0o644)
    (derived / "part").mkdir(parents=True)
    (derived / "part" / "file").touch(0o644)
    (derived / "link").symlink_to(outside)
    match_privacy(model, derived)
    assert {name: mode for name, mode in read_modes(derived).items() if name != "link"} == {
        "derived": 0o700, "part": 0o700, "file": 0o600,
    }  # fmt: skip
    assert S_IMODE(outside.stat().st_mode) == 0o644, "a link is not followed"
    match_privacy(model, tmp_path / "new")
    assert is_private(tmp_path / "new")


def test_a_folder_derived_from_a_readable_file_stays_unchanged(tmp_path: Path) -> None:
    model, derived = tmp_path / "open.csv", tmp_path / "derived"
    model.touch(0o644)
    derived.mkdir(0o755)
    match_privacy(model, derived)
    match_privacy(tmp_path / "not there", derived)
    assert read_modes(derived) == {"derived": 0o755}
    match_privacy(model, tmp_path / "new")
    assert not (tmp_path / "new").exists()
